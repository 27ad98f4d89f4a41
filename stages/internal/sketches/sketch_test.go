package sketches

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// A row of a made domain.
type made struct {
	id, label string
	numbers   []float32
	texts     []string
}

func header(id bool) Header {
	h := Header{Sample: 50, Label: "label", Columns: []Column{{Name: "x", Kind: Number}, {Name: "colour", Kind: Text}, {Name: "v", Kind: Vector, Width: 2}, {Name: "day", Kind: Day}}}
	if id {
		h.ID = "id"
	}
	return h
}

// makeRows makes rows of three classes, one of them rare, with gaps.
func makeRows(n int, seed uint64) []made {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := make([]made, n)
	for i := range rows {
		label := []string{"a", "b", ""}[i%3]
		if i%40 == 0 {
			label = "rare"
		}
		rows[i] = made{fmt.Sprint("r", i), label, []float32{float32(rng.NormFloat64()), float32(i), float32(rng.ExpFloat64()), float32(rng.IntN(9000))}, []string{[]string{"red", "blue", ""}[rng.IntN(3)]}}
		if i%11 == 0 {
			rows[i].numbers[0] = float32(math.NaN())
		}
	}
	return rows
}

func sketchOf(tb testing.TB, h Header, part string, rows []made) *Sketch {
	tb.Helper()
	b := NewBuilder(h, part)
	for _, r := range rows {
		if err := b.Add(r.id, r.label, r.numbers, r.texts); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := b.Sketch()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func merged(tb testing.TB, all ...*Sketch) *Sketch {
	tb.Helper()
	s, err := Merge(all, make([]string, len(all)))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func saved(tb testing.TB, s *Sketch) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s.arrow")
	if err := s.Save(path); err != nil {
		tb.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// cut divides rows among parts at random.
func cut(tb testing.TB, h Header, rows []made, parts int, rng *rand.Rand) []*Sketch {
	of := make([][]made, parts)
	for i, r := range rows {
		p := rng.IntN(parts)
		if i < parts { // none is empty
			p = i
		}
		of[p] = append(of[p], r)
	}
	all := make([]*Sketch, parts)
	for i := range of {
		all[i] = sketchOf(tb, h, fmt.Sprint("part-", i), of[i])
	}
	return all
}

// The sample, the counts and the moments of a union are those of the whole, however it was cut.
func TestCutsDoNotMatter(t *testing.T) {
	for _, id := range []bool{true, false} {
		rows, h := makeRows(5000, 1), header(id)
		whole := sketchOf(t, h, "all", rows)
		for _, parts := range []int{7, 64} {
			s := merged(t, cut(t, h, rows, parts, rand.New(rand.NewPCG(2, uint64(parts))))...)
			if len(s.Rows) != len(whole.Rows) || !slices.EqualFunc(s.Rows, whole.Rows, func(a, b *Row) bool { return a.Key == b.Key && a.same(b) && a.times(&h) == b.times(&h) }) {
				t.Errorf("%d parts: the sample is of other rows", parts)
			}
			if got, want := s.Totals(), whole.Totals(); got.Rows != want.Rows || fmt.Sprint(got.Classes) != fmt.Sprint(want.Classes) || got.Overlap != 1 {
				t.Errorf("%d parts: the totals are %v, want %v", parts, got, want)
			}
			for _, class := range []string{"a", "b", "rare", ""} {
				for j, m := range s.ClassMoments(class) {
					w := whole.ClassMoments(class)[j]
					if m.Rows != w.Rows || m.Sum.String() != w.Sum.String() || m.Squares.String() != w.Squares.String() || m.Least != w.Least || m.Most != w.Most {
						t.Errorf("%d parts: the moments of number %d of class %q differ", parts, j, class)
					}
				}
			}
		}
	}
}

// Sketches that are merged as they come are those that are merged at once.
func TestMerger(t *testing.T) {
	parts := cut(t, header(true), makeRows(5000, 5), 70, rand.New(rand.NewPCG(5, 5)))
	var m Merger
	for i := range parts {
		if err := m.Add(parts[len(parts)-1-i], "a part"); err != nil {
			t.Fatal(err)
		}
		if len(m.sketches) >= mergedAtOnce {
			t.Fatalf("%d sketches are kept", len(m.sketches))
		}
	}
	s, err := m.Sketch()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved(t, s), saved(t, merged(t, parts...))) {
		t.Error("it is another sketch")
	}
}

// A merge is associative, commutative and idempotent, to the byte of its file.
func TestMergeIsAUnion(t *testing.T) {
	for _, id := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(3, 3))
		parts := cut(t, header(id), makeRows(3000, 4), 6, rng)
		want := saved(t, merged(t, parts...))
		for range 10 {
			shuffled := slices.Clone(parts)
			rng.Shuffle(len(parts), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			n := 1 + rng.IntN(4)
			tree := merged(t, merged(t, shuffled[:n]...), merged(t, shuffled[n-1:]...), shuffled[rng.IntN(6)])
			if !bytes.Equal(saved(t, tree), want) {
				t.Fatal("a merge of merges, with parts that are in several, is another sketch")
			}
		}
		if one := merged(t, parts[0]); !bytes.Equal(saved(t, one), saved(t, parts[0])) {
			t.Error("a sketch merged alone is another")
		}
	}
}

// Rows with identities that are in two parts count once, by an estimate, and are in the sample
// once.
func TestOverlap(t *testing.T) {
	rows, h := makeRows(6000, 5), header(true)
	h.Sample = 2000
	a, b := sketchOf(t, h, "a", rows[:4000]), sketchOf(t, h, "b", rows[2000:])
	s := merged(t, a, b)
	whole := sketchOf(t, h, "all", rows)
	if !slices.EqualFunc(s.Rows, whole.Rows, func(a, b *Row) bool { return a.Key == b.Key }) {
		t.Error("the sample is not that of the rows")
	}
	got := s.Totals()
	if math.Abs(float64(got.Rows)-6000) > 250 || math.Abs(got.Overlap-4./3) > 0.05 {
		t.Errorf("the totals are %+v, want about 6000 rows", got)
	}
	for class, want := range whole.Totals().Classes {
		if n := float64(got.Classes[class]); math.Abs(n-float64(want)) > 0.15*float64(want) {
			t.Errorf("class %q has %g rows, want about %d", class, n, want)
		}
	}
}

// Contents that are there many times are in the sample as often as is their share.
func TestRepeatedContents(t *testing.T) {
	h := Header{Sample: 400, Columns: []Column{{Name: "colour", Kind: Text}}}
	var rows []made
	for i := range 10_000 {
		colour := "red"
		if i%4 == 0 {
			colour = "blue"
		}
		rows = append(rows, made{texts: []string{colour}})
	}
	s := merged(t, sketchOf(t, h, "a", rows[:3000]), sketchOf(t, h, "b", rows[3000:]))
	counts := map[string]int{}
	for _, r := range s.Sample() {
		counts[r.Texts[0]]++
	}
	if counts["red"] != 300 || counts["blue"] != 100 {
		t.Errorf("the sample is %v, want 300 and 100", counts)
	}
	if got := s.Totals().Rows; got != 10_000 {
		t.Errorf("there are %d rows", got)
	}
}

// Without identities rows of one content are one row of the sample: 0 is −0, every missing number
// is missing alike, and that is not 0.
func TestContentsThatAreEqual(t *testing.T) {
	h := Header{Sample: 10, Columns: []Column{{Name: "x", Kind: Number}}}
	var rows []made
	for _, bits := range []uint32{0, 1 << 31, 0x7fc00000, 0x7fc00001, 0xffc00000} {
		rows = append(rows, made{numbers: []float32{math.Float32frombits(bits)}})
	}
	s := merged(t, sketchOf(t, h, "a", rows[:1]), sketchOf(t, h, "b", rows[1:3]), sketchOf(t, h, "c", rows[3:]))
	counts := map[string]int64{}
	for _, r := range s.Rows {
		counts[fmt.Sprint(r.Numbers[0] == 0)] += r.times(&h)
	}
	if len(s.Rows) != 2 || counts["true"] != 2 || counts["false"] != 3 {
		t.Errorf("%d contents, of which rows are 0: %v; want 2 of them and 3 that are missing", len(s.Rows), counts)
	}
}

// The sample is fair: keys do not follow what is in the rows.
func TestSampleIsFair(t *testing.T) {
	h := Header{Sample: 1000, Columns: []Column{{Name: "x", Kind: Number}}}
	var rows []made
	for i := range 50_000 {
		rows = append(rows, made{numbers: []float32{float32(i)}})
	}
	s := sketchOf(t, h, "a", rows)
	for i, q := range s.Quantiles(0, []float64{.1, .5, .9}) {
		if want := []float64{5000, 25_000, 45_000}[i]; math.Abs(q-want) > 2500 {
			t.Errorf("the quantile is %v, want about %v", q, want)
		}
	}
	if len(s.Sample()) != 1000 {
		t.Errorf("the sample has %d rows", len(s.Sample()))
	}
}

func TestMomentsAreExact(t *testing.T) {
	h := Header{Sample: 5, Columns: []Column{{Name: "x", Kind: Number}}}
	s := sketchOf(t, h, "a", []made{{numbers: []float32{1e30}}, {numbers: []float32{3}}, {numbers: []float32{-1e30}}, {numbers: []float32{float32(math.NaN())}}})
	if m := s.Moments()[0]; m.Rows != 3 || m.Mean() != 1 || m.Least != -1e30 || m.Most != 1e30 {
		t.Errorf("the mean of %d rows is %v", m.Rows, m.Mean())
	}
	s = sketchOf(t, h, "a", []made{{numbers: []float32{1}}, {numbers: []float32{3}}})
	if d := s.Moments()[0].Deviation(); d != 1 {
		t.Errorf("the deviation is %v", d)
	}
}

func TestMergeRefuses(t *testing.T) {
	rows := makeRows(100, 6)
	base := sketchOf(t, header(true), "a", rows)
	for want, change := range map[string]func(*Header){
		"--sample":          func(h *Header) { h.Sample = 60 },
		"--seed 1":          func(h *Header) { h.Seed = 1 },
		"--id":              func(h *Header) { h.ID = "" },
		"--label":           func(h *Header) { h.Label = "class" },
		`column 1 is "y"`:   func(h *Header) { h.Columns[0].Name = "y" },
		"--categorical day": func(h *Header) { h.Columns[3].Kind = Number },
	} {
		h := header(true)
		change(&h)
		_, err := Merge([]*Sketch{base, sketchOf(t, h, "b", rows)}, []string{"a.arrow", "b.arrow"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "b.arrow: ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for i, columns := range [][]Column{header(true).Columns[:3], append(header(true).Columns, Column{Name: "more", Kind: Number})} {
		h := header(true)
		h.Columns = columns
		if err := base.Mismatch(&h); err == nil || !strings.Contains(err.Error(), []string{"has no column", "has a column"}[i]) {
			t.Error(err)
		}
	}
	other := slices.Clone(rows)
	other[0].numbers = []float32{9, 9, 9, 9}
	if _, err := Merge([]*Sketch{base, sketchOf(t, header(true), "b", other[:1])}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), `"r0" is of another row`) {
		t.Error(err)
	}
	if err := NewBuilder(header(true), "a").Add("1", "", []float32{1, 2, 3, 4}, []string{""}); err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(header(true), "a")
	for i := range 2 {
		if err := b.Add("1", "", []float32{1, 2, 3, 4}, []string{""}); (err != nil) != (i == 1) {
			t.Errorf("row %d: %v", i, err)
		}
	}
}

// What was saved is read as it was, and what was changed is refused, whichever byte it is.
func TestFile(t *testing.T) {
	for _, id := range []bool{true, false} {
		s := merged(t, cut(t, header(id), makeRows(90, 7), 3, rand.New(rand.NewPCG(1, 1)))...)
		content := saved(t, s)
		got, err := Read(bytes.NewReader(content), "s")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(saved(t, got), content) {
			t.Error("what was read is saved as something else")
		}
		for i := 0; i < len(content); i += 37 {
			changed := bytes.Clone(content)
			changed[i] ^= 1 << (i % 8)
			if got, err := Read(bytes.NewReader(changed), "s"); err == nil && !bytes.Equal(saved(t, got), content) {
				t.Errorf("byte %d changed: other values are taken for right", i)
			}
		}
	}
}

// FuzzRead reads any file as a sketch: what it takes can be merged and saved, and is read again.
func FuzzRead(f *testing.F) {
	for _, id := range []bool{true, false} {
		f.Add(saved(f, merged(f, cut(f, header(id), makeRows(90, 8), 2, rand.New(rand.NewPCG(1, 1)))...)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := Read(bytes.NewReader(content), "s")
		if err != nil {
			return
		}
		s.Totals()
		s.Sample()
		first := saved(t, merged(t, s, s))
		again, err := Read(bytes.NewReader(first), "s")
		if err != nil || !bytes.Equal(saved(t, again), first) {
			t.Errorf("a sketch that was read is saved as something else: %v", err)
		}
	})
}

// Read is Load of what r gives; name names it in errors.
func Read(r io.Reader, name string) (*Sketch, error) {
	in, err := arrowio.NewReader(r, name, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return read(in, name)
}
