package featurize

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/sketches"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/tables"
	fit "mars.dev/mars/tables/image"
)

// refused tests that an error says that.
func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: the error is %v, and does not say %q", what, err, want)
	}
}

// What is counted of columns is counted within the budget: with one byte less it is refused.
func TestCountsAreOfTheBudget(t *testing.T) {
	// A word of whole numbers for each row, and of spreads room for all columns.
	rare := suspect(30, true, map[string]func(int) float32{"a": func(i int) float32 { return float32(64 * i) }, "b": func(i int) float32 { return float32(i) / 7 }})
	for range rare.Columns {
		rare.Fields = append(rare.Fields, tables.Field{Kind: tables.Number})
	}
	array := *rare
	array.Columns, array.Fields, array.Shape = nil, nil, []int{2}
	mem := arrowio.NewBudget(0)
	own, err := spreadsOf(rare, mem)
	if err != nil {
		t.Fatal(err)
	}
	spreads, words := mem.Used(), int64(30*wordCost)
	env := stages.Env{}
	for name, tc := range map[string]struct {
		need int64
		f    func(mem *arrowio.Budget) error
		want string
	}{
		"identities of an array": {words, func(mem *arrowio.Budget) error { return warnOfNumbers(t.Context(), env, &array, mem) }, "s.csv: column 1: telling its values from row numbers: needs"},
		"identities of a table": {words, func(mem *arrowio.Budget) error {
			o := Options{}
			o.Source.Format.Memory = mem
			table := *rare
			return (&recipe{}).learn(t.Context(), env, []*tables.Table{&table}, arrowio.SourceDomain, o)
		}, "s.csv: column a: telling its values from row numbers: needs"},
		"doubts of both domains": {2 * spreads, func(mem *arrowio.Budget) error {
			_, err := doubtsOfSides(rare, rare, mem)
			return err
		}, "s.csv: 2 columns: needs"},
		"early doubts": {spreads, func(mem *arrowio.Budget) error {
			_, err := earlyDoubts(rare, rare.Columns, own, mem)
			return err
		}, "s.csv: 2 columns: needs"},
	} {
		for _, limit := range []int64{1, tc.need / 4, tc.need / 2, 3 * tc.need / 4, tc.need - 1} {
			refused(t, fmt.Sprintf("%s in %d bytes", name, limit), tc.f(arrowio.NewBudget(limit)), tc.want)
		}
		if err := tc.f(arrowio.NewBudget(tc.need)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run whose rows can be read, but whose columns cannot be looked at within the limit, is refused: as a whole, in one file or in several.
func TestManyColumnsAreOfTheBudget(t *testing.T) {
	folder := t.TempDir()
	wide := func(name string, rows int) string {
		fields := []arrow.Field{{Name: "label", Type: arrow.BinaryTypes.String}}
		for _, name := range namesOf(100) {
			fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32})
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		defer b.Release()
		for i := range rows {
			b.Field(0).(*array.StringBuilder).Append(class(i))
			for j := range 100 {
				b.Field(1 + j).(*array.Float32Builder).Append(float32((i*(j+1))%397) + 0.5)
			}
		}
		var out bytes.Buffer
		w := ipc.NewWriter(&out, ipc.WithSchema(b.Schema()))
		if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
			t.Fatal(err)
		}
		return writeFile(t, folder, name, out.String())
	}
	source, one, two := wide("s.arrows", 300), wide("t1.arrows", 280), wide("t2.arrows", 280)
	for name, o := range map[string]Options{
		"as a whole":     {Source: SideOptions{Path: source}, Target: SideOptions{Path: one, MaxRows: 280}},
		"in one file":    {Source: SideOptions{Path: source}, Target: SideOptions{Path: one}},
		"in two files":   {Source: SideOptions{Path: source}, Target: SideOptions{Path: one + "," + two}},
		"a target alone": {Target: SideOptions{Path: one + "," + two}},
	} {
		whole := 0
		for _, limit := range []int64{0, 600e3, 900e3, 1200e3, 1400e3, 1600e3} {
			o, out := o, &collected{rows: map[string][][]float32{}}
			mem := arrowio.NewBudget(limit)
			o.Source.Format.Memory, o.Target.Format.Memory = mem, mem
			o.Mixed.MaxCategories = DefaultMaxCategories
			env := stages.Env{Columns: arrowio.DefaultColumns()}
			st, err := o.recipe(&env)
			if err != nil {
				t.Fatal(err)
			}
			d, err := read(t.Context(), env, o, st)
			if err == nil {
				err = d.write(t.Context(), env, out)
			}
			if short := (*arrowio.LimitError)(nil); err != nil && (!errors.As(err, &short) || strings.Count(err.Error(), ".arrows") != 1) {
				t.Errorf("%s, in %d bytes: %v", name, limit, err)
			}
			rows := len(out.rows["target"])
			if limit == 0 {
				whole = rows
			}
			if err == nil && (rows != whole || rows < 280) {
				t.Errorf("%s, in %d bytes: %d rows are written, and where there is room %d", name, limit, rows, whole)
			}
		}
	}
}

// A target of very many columns is refused by the limit, or read as a whole.
func TestWideTargetIsOfTheBudget(t *testing.T) {
	const columns = 2000
	var fields []arrow.Field
	var values []arrow.Array
	for _, name := range namesOf(columns) {
		fields, values = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32}), append(values, arrowio.NewFloatArray([]float32{0.5, 1}))
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), values, 2)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, t.TempDir(), "t.arrows", out.String())
	for limit := int64(100e3); ; limit += 50e3 {
		o := Options{Target: SideOptions{Path: path, Format: tables.Options{Memory: arrowio.NewBudget(limit)}}}
		o.Mixed.MaxCategories = DefaultMaxCategories
		d, err := read(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &recipe{})
		if err == nil {
			if d.width() != columns {
				t.Errorf("%d columns are features", d.width())
			}
			break
		}
		if short := (*arrowio.LimitError)(nil); !errors.As(err, &short) {
			t.Fatalf("in %d bytes: %v", limit, err)
		}
	}
}

// Identities are looked for in an array within the limit too.
func TestArrayIsOfTheBudget(t *testing.T) {
	const rows = 3000
	values := make([]float32, rows)
	for i := range values {
		values[i] = float32(64 * i) // a word of its own each
	}
	head := func(kind, shape string) string {
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
		return "\x93NUMPY\x01\x00\x76\x00" + fmt.Sprintf("%-117s\n", text)
	}
	var x bytes.Buffer
	if err := binary.Write(&x, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	o := Options{Source: SideOptions{Path: writeFile(t, folder, "x.npy", head("<f4", "(3000, 1)")+x.String())}}
	o.Source.Format.Labels = writeFile(t, folder, "y.npy", head("|u1", "(3000,)")+strings.Repeat("\x00\x01", rows/2))
	last := ""
	for limit := int64(50e3); ; limit += 10e3 {
		o.Source.Format.Memory = arrowio.NewBudget(limit)
		d, err := read(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &recipe{})
		if err == nil && d.sides[0].x.Rows == rows {
			break
		}
		if short := (*arrowio.LimitError)(nil); !errors.As(err, &short) {
			t.Fatalf("in %d bytes: %v", limit, err)
		}
		last = err.Error()
	}
	if want := o.Source.Path + ": column 1: telling its values from row numbers: needs"; !strings.HasPrefix(last, want) {
		t.Errorf("the last that has no room is %s", last)
	}
}

// brokenWriter fails after some writes.
type brokenWriter struct{ room int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.room--; w.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// What cannot be written is an error: the table of what became of columns, the state and the picture.
func TestUnwrittenFilesAreReported(t *testing.T) {
	folder := t.TempDir()
	path := writeFile(t, folder, "s.csv", mixedTable(30, 0))
	digits := "label," + strings.Join(namesOf(16), ",") + "\n"
	for i := range 6 {
		digits += fmt.Sprintf("%d%s\n", i%2, strings.Repeat(fmt.Sprintf(",%d", i), 16))
	}
	images := SideOptions{Path: writeFile(t, folder, "d.csv", digits), Images: ImageOptions{Shape: []int{1, 4, 4}}}
	images.Format.Columns = namesOf(16)
	files := func(o Options) error {
		return Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &rowsSink{})
	}
	nowhere := filepath.Join(folder, "none", "x")
	refused(t, "a state", files(Options{Source: SideOptions{Path: path}, Save: nowhere}), nowhere)
	refused(t, "a picture", files(Options{Source: images, Preview: Preview{Path: nowhere, Augment: "none"}}), nowhere)
	d := &dataset{shape: []int{1, 4, 4}, sides: []side{{x: blas32.General{Rows: 1, Cols: 16, Stride: 16, Data: make([]float32, 16)}}}}
	refused(t, "a picture in no memory", Preview{Path: nowhere, Augment: "none"}.write(d, 1, arrowio.NewBudget(100)), nowhere+": needs")
	refused(t, "a picture of unknown changes", files(Options{Source: images, Preview: Preview{Path: filepath.Join(folder, "p.png"), Augment: "magic"}}), "magic")
	room := 0
	for ; ; room++ {
		err := files(Options{Source: SideOptions{Path: path}, Mixed: MixedOptions{Explain: &brokenWriter{room}}})
		if err == nil {
			break
		}
		if !errors.Is(err, errFull) {
			t.Fatal(err)
		}
	}
	if room < 5 { // the head, a, b, kind and day
		t.Errorf("a table of columns has %d lines", room)
	}
}

// Each step of images returns its error, be it that of the context, of the memory or of what it is given.
func TestStepsOfImagesFail(t *testing.T) {
	folder := t.TempDir()
	f, err := os.Create(filepath.Join(folder, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, image.NewGray(image.Rect(0, 0, 9, 9))), f.Close()); err != nil {
		t.Fatal(err)
	}
	table := func() *tables.Table {
		return &tables.Table{Name: "t", Largest: 255, Shape: []int{1, 4, 4}, Features: blas32.General{Rows: 2, Cols: 16, Stride: 16, Data: make([]float32, 32)}}
	}
	for name, o := range map[string]ImageOptions{
		"unit": {}, "resize": {Raw: true, Fit: fit.Fit{Height: 2, Width: 2}}, "pad": {Raw: true, Pad: 1}, "binarise": {Raw: true, Binarise: true},
		"photographs": {Raw: true, Photographs: folder}, "colour": {Raw: true, Colour: true},
	} {
		contexttest.Stops(t, 1, func(ctx context.Context) error {
			_, err := o.apply(ctx, table(), 1, nil)
			return err
		})
		if name == "unit" || name == "binarise" {
			continue // in place
		}
		_, err := o.apply(t.Context(), table(), 1, arrowio.NewBudget(15))
		refused(t, name, err, " KB of memory, the limit is 0 KB")
	}
	_, err = ImageOptions{Shape: []int{1, 4, 5}}.apply(t.Context(), table(), 1, nil)
	refused(t, "a shape of another size", err, "t: shape [1 4 5] needs another number of features than the 16 of a row")
	_, err = ImageOptions{Photographs: filepath.Join(folder, "none")}.apply(t.Context(), table(), 1, nil)
	refused(t, "no photographs", err, "photographs: ")
	none := table()
	none.Shape = []int{1, 0, 16}
	_, err = ImageOptions{}.apply(t.Context(), none, 1, nil)
	refused(t, "images of no pixels", err, "is not that of images")
	flat := table()
	flat.Shape = []int{16}
	_, err = ImageOptions{Pad: 1}.apply(t.Context(), flat, 1, nil)
	refused(t, "rows that are no images", err, "rows of 16 numbers are no images: say which shape they have with --shape CxHxW")
}

// Rows that come to a target between two looks at it are an error: their identities are not known.
func TestTargetsThatGrow(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, folder, "1.csv", mixedTable(30, 0))
	o := Options{Target: SideOptions{Path: filepath.Join(folder, "*.csv")}, Prepared: preparedOf(t, mixedTable(60, 0))}
	for name, later := range map[string]string{"a file more": "2.csv", "a row more": "1.csv"} {
		env := stages.Env{Columns: arrowio.DefaultColumns()}
		st, err := o.recipe(&env)
		if err != nil {
			t.Fatal(err)
		}
		f, err := newFlow(t.Context(), env, o, st, nil)
		if err != nil || f == nil {
			t.Fatal(f, err)
		}
		writeFile(t, folder, later, strings.ReplaceAll(mixedTable(31, 0), "\nr", "\n"+later[:1]+"r"))
		rows := 0
		err = f.run(t.Context(), func(s side) error { rows += s.x.Rows; return nil })
		refused(t, name, err, o.Target.Path+": has changed while it was read: run again when nothing writes to it")
		if err := os.Remove(filepath.Join(folder, later)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, folder, "1.csv", mixedTable(30, 0))
	}
}

// A row of the target that cannot be prepared is told by its file and place, be it read in blocks or as a whole.
func TestBadRowsOfATarget(t *testing.T) {
	folder := t.TempDir()
	source := SideOptions{Path: writeFile(t, folder, "s.csv", numberTable(40, 0))}
	low := writeFile(t, folder, "low.csv", "a,b\n1,2\n3,-2\n")
	gap := writeFile(t, folder, "gap.csv", "a,b\n1,2\n3,\n")
	for _, rows := range []int{0, 2} {
		for name, tc := range map[string]struct {
			o    Options
			want string
		}{
			"no logarithm": {Options{Target: SideOptions{Path: low, MaxRows: rows}, Transform: scale.Transform{Log1p: true}}, low + `: line 3, column "b": -2 has no log1p`},
			"a gap":        {Options{Target: SideOptions{Path: gap, MaxRows: rows}, Mixed: MixedOptions{RefuseMissing: true}}, gap + `: line 3, column "b": the value is missing: fill or drop the row`},
		} {
			tc.o.Source = source
			out := &collected{rows: map[string][][]float32{}}
			refused(t, fmt.Sprintf("%s, %d rows drawn", name, rows), Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, tc.o, out), tc.want)
		}
	}
}

// Rows of which none has a value are refused, be they read as a whole or in blocks.
func TestRowsWithoutValues(t *testing.T) {
	path := writeFile(t, t.TempDir(), "t.csv", "a,b,kind,day\n,,,\n,,,\n")
	for _, rows := range []int{0, 2} {
		o := Options{Target: SideOptions{Path: path, MaxRows: rows}, Prepared: preparedOf(t, mixedTable(60, 0)), Classes: []string{"p", "q"}}
		err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, &rowsSink{})
		refused(t, "rows without a value", err, path+": no row has a value in a, b, kind, day: check what wrote the file, or name other columns with --columns")
	}
}

// A state that lacks a part, or asks for what there is not, is refused.
func TestDamagedStates(t *testing.T) {
	for name, tc := range map[string]struct {
		meta string
		add  func(*state.Table)
		want string
	}{
		"no deviations": {"{}", func(s *state.Table) { s.AddFloats("source_mean", []float64{0, 1}) }, "source_deviation"},
		"a transform":   {`{"Transform": {"log1p": true, "arcsinh": 5}}`, nil, "want one of them, and a cofactor above 0: save it again"},
		"a pad":         {`{"Target": {"pad": -1}}`, nil, "images have a pad of -1, want 0 to 16384: save it again"},
		"no text":       {"{", nil, "its metadata key mars.featurize cannot be read: save it again"},
	} {
		s := state.NewTable("featurize", 2)
		s.AddInts("feature", []int32{0, 1})
		s.SetMeta(recipeKey, tc.meta)
		if tc.add != nil {
			tc.add(s)
		}
		path := filepath.Join(t.TempDir(), "x.state")
		if _, err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		_, _, err := loadRecipe(path)
		refused(t, name, err, path)
		refused(t, name, err, tc.want)
	}
	_, _, err := loadRecipe("none.state")
	refused(t, "no state", err, "none.state")
	for name, tc := range map[string]struct{ text, want string }{
		"inputs":   {`{"version":1,"inputs":{"columns":[{"kind":"colour"}]},"source":{},"target":{}}`, arrowio.PreparationKey + ": inputs: "},
		"images":   {`{"version":1,"source":{"images":7},"target":{}}`, arrowio.PreparationKey + ": images: "},
		"a pad":    {`{"version":1,"source":{},"target":{"images":{"pad":-1}}}`, arrowio.PreparationKey + ": images have a pad of -1"},
		"versions": {`{"version":2,"source":{},"target":{}}`, "version 2 is not known"},
	} {
		_, err := parseRecipe(tc.text, nil)
		refused(t, name, err, tc.want)
	}
}

// Sketches that cannot be merged are an error.
func TestSketchesThatAreNone(t *testing.T) {
	folder := t.TempDir()
	b := sketches.NewBuilder(sketches.Header{Version: 1, Sample: 4, Label: "label", Columns: []sketches.Column{{Name: "a", Kind: sketches.Number}}}, "p")
	if err := b.Add("", "x", []float32{1}, nil); err != nil {
		t.Fatal(err)
	}
	sketch, err := b.Sketch()
	if err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(folder, "a.arrow")
	if err := sketch.Save(good); err != nil {
		t.Fatal(err)
	}
	other := writeFile(t, folder, "b.csv", "a,label\n1,x\n")
	o := Options{Source: SideOptions{Path: good + "," + other}}
	_, err = o.openSketches(stages.Env{})
	refused(t, "a table among sketches", err, other)
	o = Options{Source: SideOptions{Path: good}}
	if totals, err := o.openSketches(stages.Env{}); err != nil || !strings.Contains(totals, `"source"`) || o.Source.Stream == nil {
		t.Errorf("%s, %v", totals, err)
	}
	o = Options{Source: SideOptions{Path: good}}
	o.Source.Format.Label = "kind"
	_, err = o.openSketches(stages.Env{})
	refused(t, "another label", err, `its labels are in the column "label", and --label says "kind": leave it out`)
	o = Options{Source: SideOptions{Path: good}}
	o.Source.Format.Label = "label"
	if _, err := o.openSketches(stages.Env{}); err != nil {
		t.Error(err)
	}
}

// Columns stop being looked at, and rows being gathered, when the context ends.
func TestColumnsStopWithTheirContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	table := suspect(30, true, map[string]func(int) float32{"a": func(i int) float32 { return float32(i) }})
	table.Labels = slices.Repeat([]string{"p", "q"}, 15)
	st, err := parseRecipe(preparedOf(t, mixedTable(60, 0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	fields := st.Encoder.Fields()
	mixed := &tables.Table{Columns: st.Encoder.Inputs(), Fields: fields}
	mixed.Features = blas32.General{Rows: 1, Cols: len(fields), Stride: len(fields), Data: make([]float32, len(fields))}
	for name, f := range map[string]func() error{
		"identities": func() error {
			_, err := identities(ended, table, nil, nil)
			return err
		},
		"copies": func() error { return warnOfCopies(ended, stages.Env{}, table, nil) },
		"gathered rows": func() error {
			return (&dataset{classes: []string{"p"}}).addSide(ended, stages.Env{}, table, arrowio.SourceDomain, Options{Classes: []string{"p"}}, &recipe{})
		},
		"rows of a domain": func() error {
			return st.encode(ended, stages.Env{}, mixed, arrowio.SourceDomain, newStrangeness(len(fields)))
		},
		"encoded rows":     func() error { return (&flow{st: st, strange: newStrangeness(len(fields))}).encode(ended, mixed) },
		"transformed rows": func() error { return (&recipe{Transform: &scale.Transform{Log1p: true}}).transform(ended, table) },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Lists of one number are a column like any other: what is taken off large numbers is the same in both domains, and differences are kept.
func TestListsOfOneNumber(t *testing.T) {
	list := func(name string, first float64) string {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "label", Type: arrow.BinaryTypes.String}, {Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)}}, nil))
		defer b.Release()
		lists := b.Field(1).(*array.ListBuilder)
		for i := range 30 {
			b.Field(0).(*array.StringBuilder).Append(class(i))
			lists.Append(true)
			lists.ValueBuilder().(*array.Float64Builder).Append(first + float64(i*i%30))
		}
		var out bytes.Buffer
		w := ipc.NewWriter(&out, ipc.WithSchema(b.Schema()))
		if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
			t.Fatal(err)
		}
		return writeFile(t, t.TempDir(), name, out.String())
	}
	source, target := list("s.arrows", 4e9), list("t.arrows", 4e9+5)
	for name, o := range map[string]Options{
		"both":           {Source: SideOptions{Path: source}, Target: SideOptions{Path: target}},
		"a source alone": {Source: SideOptions{Path: source}},
		"a target alone": {Target: SideOptions{Path: target}},
	} {
		out := &collected{rows: map[string][][]float32{}}
		if err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, o, out); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := math.NaN()
		for _, domain := range []string{"source", "target"} {
			for i, row := range out.rows[domain] {
				v := float64(row[0]) - float64(i*i%30)
				if domain == "target" && len(out.rows) > 1 {
					v -= 5
				}
				if first != first {
					first = v
				}
				if len(row) != 1 || v != first || len(out.rows[domain]) != 30 {
					t.Errorf("%s: row %d of the %s is %v, after %v", name, i, domain, row, first)
				}
			}
		}
	}
}

// A target of numbers alone, some of which are missing, is read as a whole: what is missing is filled in.
func TestTargetWithGaps(t *testing.T) {
	text := "a,b\n"
	for i := range 40 {
		text += fmt.Sprintf("%d.5,", i%7)
		if i%3 > 0 {
			text += fmt.Sprintf("%d.25", i%5)
		}
		text += "\n"
	}
	var log bytes.Buffer
	env, out := logged(&log), &collected{rows: map[string][][]float32{}}
	env.Columns = arrowio.DefaultColumns()
	if err := Files(t.Context(), env, Options{Target: SideOptions{Path: writeFile(t, t.TempDir(), "t.csv", text)}}, out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "missing values are filled in: b (14 rows, 35.0 %)") {
		t.Errorf("it said %s", log.String())
	}
	for i, row := range out.rows["target"] {
		if slices.ContainsFunc(row, func(v float32) bool { return math.IsNaN(float64(v)) }) {
			t.Errorf("row %d is %v", i, row)
		}
	}
}
