package responses

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/state"
)

// part is that of some rows of two classes, by one classifier of four.
func part(tb testing.TB, pass int, model, name string, seed uint64) *Responses {
	tb.Helper()
	rng, em := rand.New(rand.NewPCG(seed, 0)), []*labelshift.EMSums{labelshift.NewEMSums(2), labelshift.NewEMSums(2)}
	for _, s := range em {
		s.Rows = int64(10 + rng.IntN(5))
		for i := range s.First {
			s.First[i].Add(rng.Float64())
		}
		for i := range s.Second {
			s.Second[i].Add(rng.Float64() * 1e-9)
		}
		em[1].Rows = em[0].Rows
	}
	return New(Header{Model: model, Classes: []string{"a", "b"}, Pass: pass, Point: hedge.Point{{.25, .75}, nil}}, name, &hedge.Sums{EM: []*labelshift.EMSums{em[0], nil}, Posteriors: em[1]})
}

func saved(tb testing.TB, r *Responses) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "r.arrow")
	if err := r.Save(path); err != nil {
		tb.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func merged(tb testing.TB, all ...*Responses) *Responses {
	tb.Helper()
	r, err := Merge(all, make([]string, len(all)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A merge is associative, commutative and idempotent, to the byte of its file.
func TestMergeIsAUnion(t *testing.T) {
	var parts []*Responses
	rows := int64(0)
	for i := range uint64(6) {
		parts = append(parts, part(t, 1, "m", fmt.Sprint(i), i))
		rows += parts[i].Rows()
	}
	all := merged(t, parts...)
	want := saved(t, all)
	if all.Rows() != rows {
		t.Errorf("there are %d rows, want %d", all.Rows(), rows)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		shuffled := slices.Clone(parts)
		rng.Shuffle(6, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if tree := merged(t, merged(t, shuffled[:3]...), merged(t, shuffled[2:]...), shuffled[5]); !bytes.Equal(saved(t, tree), want) {
			t.Fatal("a merge of merges is something else")
		}
	}
	got, err := Read(bytes.NewReader(want), "r")
	if err != nil || !bytes.Equal(saved(t, got), want) {
		t.Errorf("what was saved is read as something else: %v", err)
	}
}

func TestMergeRefuses(t *testing.T) {
	for want, other := range map[string]*Responses{"another model": part(t, 1, "n", "b", 2), "another pass": part(t, 2, "m", "b", 2)} {
		if _, err := Merge([]*Responses{part(t, 1, "m", "a", 1), other}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "b: ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := part(t, 1, "m", "a", 1).Check(&hedge.Model{Classes: []string{"a", "b"}}, "n"); err == nil {
		t.Error("sums of another model pass")
	}
}

// Sums that are not whole, or of another shape than their point, are refused.
func TestPartsAreWhole(t *testing.T) {
	h := &Header{Classes: []string{"a", "b"}, Pass: 1, Point: hedge.Point{{.25, .75}, nil}}
	whole := func(rows int, em ...string) string {
		return fmt.Sprintf(`{"rows":%d,"em":[%s]}`, rows, strings.Join(em, ","))
	}
	good := `[["1p0","0"],["1p0"` + strings.Repeat(`,"0"`, len(labelshift.NewEMSums(2).Second)-1) + "]]"
	p, err := parsePart("x", whole(7, good, "null", good), h)
	if err != nil || p.Sums.Rows() != 7 {
		t.Fatalf("sums that are whole are refused: %v", err)
	}
	if p, err := parsePart("x", whole(1, good, "null", good), h); err != nil || p.Sums.Rows() != 1 {
		t.Errorf("the sums of one row are refused: %v", err)
	}
	for name, text := range map[string]string{
		"no JSON": "{", "no rows": whole(0, good, "null", good), "a classifier too few": whole(7, good, good), "one too many": whole(7, good, "null", "null", good),
		"of another point": whole(7, good, good, good), "none of the first": whole(7, "null", "null", good), "no posteriors": whole(7, good, "null", "null"),
		"half of a pair": whole(7, `[["1p0","0"]]`, "null", good), "a sum too few": whole(7, strings.Replace(good, `"1p0","0"`, `"1p0"`, 1), "null", good),
		"no sum": whole(7, strings.Replace(good, "1p0", "x", 1), "null", good), "too large": whole(7, strings.Replace(good, "1p0", "1p1024", 1), "null", good),
	} {
		if _, err := parsePart("x", text, h); err == nil {
			t.Errorf("%s: %s is taken", name, text)
		}
	}
}

// FuzzRead reads any file as sums: what it takes is saved and read as it was.
func FuzzRead(f *testing.F) {
	f.Add(saved(f, merged(f, part(f, 1, "m", "a", 1), part(f, 1, "m", "b", 2))))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := Read(bytes.NewReader(content), "r")
		if err != nil {
			return
		}
		first := saved(t, merged(t, r, r))
		again, err := Read(bytes.NewReader(first), "r")
		if err != nil || !bytes.Equal(saved(t, again), first) {
			t.Errorf("sums that were read are saved as something else: %v", err)
		}
	})
}

// Read is Load of what r gives; name names it in errors.
func Read(r io.Reader, name string) (*Responses, error) {
	t, err := state.ReadTable(r, name, Kind)
	if err != nil {
		return nil, err
	}
	return parse(t, name)
}
