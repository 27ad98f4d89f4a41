package label

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/streamtest"
)

// rows are a batch as a method labels it. Columns that are nil are left out; without domains all rows are
// the target's.
type rows struct {
	domains    []string
	id         arrow.Array
	class      []string  // "" is null
	p          []float32 // the posteriors, row by row
	typicality []float32
	truth      []int32
	features   []float32 // one a row
}

func (r rows) record(meta arrowio.Meta) arrow.Record {
	var t arrowio.Table
	t.AddNullable("predicted_class", arrowio.NewStringsOrNull(r.class))
	t.Add("probability", arrowio.NewVectorArray(arrowio.Vectors{Data: r.p, Rows: len(r.class), Width: len(r.p) / len(r.class)}))
	if r.domains != nil {
		t.Add("domain", arrowio.NewStringArray(r.domains))
	}
	if r.id != nil {
		t.Add("id", r.id)
	}
	if r.typicality != nil {
		t.Add("typicality", arrowio.NewFloatArray(r.typicality))
	}
	if r.truth != nil {
		t.Add("truth", arrowio.NewIntArray(r.truth, nil))
	}
	if r.features != nil {
		t.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: r.features, Rows: len(r.class), Width: 1}))
	}
	return t.Record(meta)
}

// streamOf has a batch of each.
func streamOf(meta arrowio.Meta, batches ...rows) *arrowio.Batches {
	var all []arrow.Record
	for _, b := range batches {
		all = append(all, b.record(meta))
	}
	return arrowio.NewBatches("test", all[0].Schema(), all...)
}

var pets = arrowio.Meta{Classes: []string{"cat", "dog"}}

// unions are identities that no library joins.
func unions(n int) arrow.Array {
	b := array.NewSparseUnionBuilder(memory.DefaultAllocator, arrow.SparseUnionOf([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, []arrow.UnionTypeCode{0}))
	for i := range n {
		b.Append(0)
		b.Child(0).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewArray()
}

// broken has metadata that cannot be read.
func broken(in *arrowio.Batches) arrowio.Stream {
	meta := arrow.NewMetadata([]string{arrowio.ClassesKey}, []string{"cat"})
	return arrowio.NewBatches("test", arrow.NewSchema(in.Schema().Fields(), &meta))
}

var errSource = errors.New("the disk is gone")

// failing gives its batches, and then an error.
type failing struct{ *arrowio.Batches }

func (f failing) Next() (arrow.Record, error) {
	rec, err := f.Batches.Next()
	if errors.Is(err, io.EOF) {
		err = errSource
	}
	return rec, err
}

// What is wrong with rows is said, wherever it is found.
func TestErrors(t *testing.T) {
	two := rows{class: []string{"cat", "dog"}, p: []float32{.8, .2, .4, .6}}
	with := func(change func(r *rows)) *arrowio.Batches {
		r := two
		change(&r)
		return streamOf(pets, r)
	}
	nan := float32(math.NaN())
	for _, test := range []struct {
		name string
		in   arrowio.Stream
		o    Options
		want string
	}{
		{"metadata", broken(streamOf(pets, two)), Options{}, `test: schema metadata mars.classes: invalid character 'c' looking for beginning of value: drop or repair the key`},
		{"no typicality", streamOf(pets, two), Options{Unknown: .01}, `test: there is no column "typicality" (there are "predicted_class", "probability"): only the method hedge can tell rows unlike the source: choose it, or leave --unknown out`},
		{"no labels in a sheet", streamOf(pets, two), Options{Given: &Sheet{Path: "sheet.csv", Column: "label", Rows: []sheet.Row{{Order: 1}}}}, `sheet.csv: no row has a label in the column "label": fill it in, from the first row on`},
		{"no names of classes", streamOf(arrowio.Meta{}, two), Options{Confidence: .9}, `test: its metadata do not name the classes: run mars-train or mars-predict before`},
		{"a class unknown", streamOf(arrowio.Meta{Classes: []string{"cat", "unknown"}}, two), Options{Confidence: .9}, `test: a class is called "unknown", as are rows that --unknown or --confidence leave without one: name the class otherwise, or leave the flag out`},
		{"damaged levels", streamOf(arrowio.Meta{Classes: pets.Classes, Levels: []byte(`7`)}, two), Options{}, `test: mars.levels: json: cannot unmarshal number into Go value of type []levels.written: drop or repair the key`},
		{"a domain", with(func(r *rows) { r.domains = []string{"target", "elsewhere"} }), Options{}, `test: column "domain": row 2: is "elsewhere": must be "source" or "target"`},
		{"features", with(func(r *rows) { r.features = []float32{1, float32(math.Inf(1))} }), Options{}, `test: column "features": row 2: element 1 is +Inf: fill or drop the row`},
		{"identities that cannot be joined", streamOf(pets, rows{domains: []string{"target", "source", "target"}, id: unions(3), class: []string{"cat", "dog", "cat"}, p: []float32{1, 0, 0, 1, 1, 0}}), Options{}, `test: column "id": concatenate not implemented for type sparse_union<n: type=int64=0>`},
		{"a probability", with(func(r *rows) { r.p = []float32{1, 0, nan, nan} }), Options{}, `test: column "probability": row 2: element 1 is NaN: fill or drop the row`},
		{"too few probabilities", streamOf(arrowio.Meta{Classes: []string{"cat", "dog", "cow"}}, two), Options{Confidence: .9}, `test: column "probability": has 2 numbers a row, and there are 3 classes: run mars label anew`},
		{"too few probabilities for a sheet", streamOf(arrowio.Meta{Classes: []string{"cat", "dog", "cow"}}, two), Options{Given: &Sheet{Plan: sheet.Plan{Uniform: 1}, Rows: []sheet.Row{{Order: 1, Label: "cow"}}}}, `test: column "probability": has 2 numbers a row, and there are 3 classes: run mars label anew`},
		{"classes by number", streamtest.With(streamOf(pets, two), "predicted_class", func(int, arrow.Record) arrow.Array { return arrowio.NewIntArray([]int32{0, 1}, nil) }), Options{Confidence: .9}, `test: column "predicted_class": is not text: run mars label anew`},
		{"a true class", with(func(r *rows) { r.truth = []int32{1, 2} }), Options{}, `test: column "truth": class 2 is not one of 2: featurize the rows again`},
		{"a true class below 0", with(func(r *rows) { r.truth = []int32{0, -1} }), Options{}, `test: column "truth": class -1 is not one of 2: featurize the rows again`},
		{"the source", failing{streamOf(pets, two)}, Options{}, errSource.Error()},
	} {
		l, err := New(env, test.in, test.o)
		if err == nil {
			tally := NewTally(l)
			if err = tally.Look(); err == nil {
				err = Summarise(t.Context(), io.Discard, tally)
			}
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n%v\nwant\n%s", test.name, err, test.want)
		}
	}
}

// A row is named by its number among all rows of the target, those without a label included.
func TestErrorOfConfidence(t *testing.T) {
	l, err := New(env, streamOf(pets, rows{class: []string{"cat", ""}, p: []float32{1, 0, 1, 0}}, rows{class: []string{"dog", "dog"}, p: []float32{0, 1, 0, 1.5}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `test: column "confidence": row 4 holds a confidence of 1.5: want 0 to 1: run mars label anew`
	if err := Summarise(t.Context(), io.Discard, NewTally(l)); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if err := NewCount(nil).Count(func() Row { return Row{} }, "cat", -.1, ""); err == nil || err.Error() != "a confidence of -0.1: want 0 to 1" {
		t.Errorf("got %v", err)
	}
}

// A row is named by its number in all of the input, whatever rows are between.
func TestRowOfError(t *testing.T) {
	domains := []string{"target", "source", "target", "target", "source", "target"}
	fine := rows{domains: domains, class: slices.Repeat([]string{"cat"}, 6), p: slices.Repeat([]float32{1, 0}, 6), features: make([]float32, 6)}
	for row, domain := range domains {
		p, features := slices.Clone(fine.p), slices.Clone(fine.features)
		bad := fine
		bad.p, bad.features = p, features
		column := "probability"
		if p[2*row] = float32(math.Inf(1)); domain == "source" { // whose posteriors nobody needs
			p[2*row], features[row], column = 1, p[2*row], "features"
		}
		l, err := New(env, streamOf(pets, fine, bad), Options{})
		if err != nil {
			t.Fatal(err)
		}
		tally := NewTally(l)
		if err := tally.Look(); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`test: column "%s": row %d: element 1 is +Inf: fill or drop the row`, column, 7+row)
		if err := Summarise(t.Context(), io.Discard, tally); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// A file of labels is not written of what are none.
func TestErrorsOfWrite(t *testing.T) {
	two := rows{class: []string{"cat", "dog"}, p: []float32{1, 0, 0, 1}}
	bad := two
	bad.p = []float32{1, 0, 0, float32(math.NaN())}
	none := rows{class: []string{"cat"}, p: []float32{1}}.record(pets)
	for _, test := range []struct {
		name string
		in   arrowio.Stream
		want string
	}{
		{"metadata", broken(streamOf(pets, two)), `test: schema metadata mars.classes: invalid character 'c' looking for beginning of value: drop or repair the key`},
		{"no probabilities", arrowio.NewBatches("test", arrow.NewSchema(none.Schema().Fields()[:1], nil)), `test: there is no column "probability": run mars label before`},
		{"no names of classes", streamOf(arrowio.Meta{}, two), `test: its metadata do not name the classes: run mars-train or mars-predict before`},
		{"too few probabilities", streamOf(arrowio.Meta{Classes: []string{"cat", "dog", "cow"}}, two), `test: there are 2 probabilities a row for 3 classes: run mars-train or mars-predict before`},
		{"a probability", streamOf(pets, two, bad), `test: column "probability": row 4: element 2 is NaN: fill or drop the row`},
		{"the source", failing{streamOf(pets, two)}, errSource.Error()},
	} {
		if err := Write(t.Context(), io.Discard, Format{Name: "csv"}, test.in); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n%v\nwant\n%s", test.name, err, test.want)
		}
	}
}

// full is a disk that is full after so many bytes.
type full struct {
	out  bytes.Buffer
	room int
}

func (f *full) Write(p []byte) (int, error) {
	if f.out.Len()+len(p) > f.room {
		return 0, errors.New("no space is left")
	}
	return f.out.Write(p)
}

// A summary that is not written whole is an error, wherever it ends.
func TestSummariseToAFullDisk(t *testing.T) {
	summarise := func(w io.Writer) error {
		l, err := New(env, streamOf(pets, rows{class: []string{"cat", "dog", ""}, p: []float32{.8, .2, .45, .55, .5, .5}}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return Summarise(t.Context(), w, NewTally(l))
	}
	var whole bytes.Buffer
	if err := summarise(&whole); err != nil {
		t.Fatal(err)
	}
	for room := range whole.Len() {
		if err := summarise(&full{room: room}); err == nil || err.Error() != "no space is left" {
			t.Fatalf("with room for %d of %d bytes the error is %v", room, whole.Len(), err)
		}
	}
}
