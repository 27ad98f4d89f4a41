package stream

import (
	"context"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// columns are a batch, in the order of their names.
type columns map[string]arrow.Array

// with is c with other columns; nil takes one away.
func (c columns) with(more columns) columns {
	all := maps.Clone(c)
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, a arrow.Array) bool { return a == nil })
	return all
}

// rowsOf are batches with metadata, to be read more than once; of means those of the column features.
func rowsOf(meta arrowio.Meta, of map[string]string, batches ...columns) *Rows {
	return over(batchesOf(meta, of, batches...))
}

func over(in arrowio.Stream) *Rows {
	return &Rows{Env: stages.Env{Columns: arrowio.DefaultColumns(), MaxClasses: 3}, Stream: arrowio.NewSpool(in, 0)}
}

func batchesOf(meta arrowio.Meta, of map[string]string, batches ...columns) *arrowio.Batches {
	var records []arrow.Record
	for _, b := range batches {
		var t arrowio.Table
		for _, name := range slices.Sorted(maps.Keys(b)) {
			f := arrow.Field{Name: name, Type: b[name].DataType(), Nullable: true}
			if name == "features" && of != nil {
				f.Metadata = arrow.MetadataFrom(of)
			}
			t.AddField(f, b[name])
		}
		records = append(records, t.Record(meta))
	}
	return arrowio.NewBatches("rows", records[0].Schema(), records...)
}

// domains has a row a letter: s is of the source, t of the target, and any other null.
func domains(letters string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, c := range letters {
		switch c {
		case 's':
			b.Append("source")
		case 't':
			b.Append("target")
		default:
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// null is a number that is missing.
const null = -99

func ints(values ...int32) arrow.Array {
	valid := make([]bool, len(values))
	for i, v := range values {
		valid[i] = v != null
	}
	return arrowio.NewIntArray(values, valid)
}

func words(values ...string) arrow.Array { return arrowio.NewStringArray(values) }

// lists are rows of numbers.
func lists(values ...[]float32) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
	for _, row := range values {
		b.Append(true)
		b.ValueBuilder().(*array.Float32Builder).AppendValues(row, nil)
	}
	return b.NewArray()
}

// few are two rows of the source, of a class each, and two of the target.
var few = columns{"domain": domains("sstt"), "label": ints(0, 1, null, null), "truth": ints(null, null, 1, 1),
	"features": lists([]float32{1, 2}, []float32{3, 4}, []float32{5, 6}, []float32{7, 8})}

var named = arrowio.Meta{Classes: []string{"a", "b"}}

// What rows are asked for.
func classesOf(r *Rows) error { _, err := r.Classes(context.Background()); return err }

func truthOf(r *Rows) error {
	_, err := r.TruthShares(context.Background(), []string{"a", "b"})
	return err
}

func provenanceOf(r *Rows) error { _, err := r.Provenance(); return err }

func blocksOf(r *Rows) error {
	for _, err := range r.TargetBlocks(context.Background(), "features") {
		if err != nil {
			return err
		}
	}
	return nil
}

func gathered(r *Rows) error {
	_, err := r.Gather(context.Background(), []string{"a", "b"}, Want{Vector: "features", Source: true, Target: true, Labels: true, Start: true, Batches: true})
	return err
}

func heldOut(r *Rows) error { r.HoldOut(0); return gathered(r) }

// What is wrong with rows is said with their number.
func TestErrorsOfRows(t *testing.T) {
	two := func(more columns) []columns { return []columns{few, few.with(more)} }
	for _, test := range []struct {
		name string
		ask  func(*Rows) error
		meta arrowio.Meta
		rows []columns
		want string
	}{
		{"classes of one name", classesOf, arrowio.Meta{Classes: []string{"a", "a"}}, []columns{few},
			`schema metadata mars.classes: two classes are named "a": rename one`},
		{"too many classes", classesOf, arrowio.Meta{Classes: []string{"a", "b", "c", "d"}}, []columns{few},
			`schema metadata mars.classes: there are 4 classes or more, the limit is 3: choose another label column, or raise --max-classes`},
		{"too many names", classesOf, arrowio.Meta{}, []columns{few.with(columns{"label": words("a", "b", "c", "d")})},
			`column "label": there are 4 classes or more, the limit is 3: choose another label column, or raise --max-classes`},
		{"no label", classesOf, arrowio.Meta{}, []columns{few.with(columns{"label": nil})},
			`column "label": is missing (the columns are domain, features, truth): name another by its flag, or run the stage that adds it`},
		{"a label that is none", classesOf, arrowio.Meta{}, []columns{few.with(columns{"label": lists(nil, nil, nil, nil)})},
			`column "label": has type list<item: float32, nullable>: must be an integer, or floats that are whole numbers`},
		{"a label of the limit", classesOf, arrowio.Meta{}, two(columns{"label": ints(0, 1, 3, 0)}),
			`column "label": row 3 of its batch has label 3: labels go from 0 to the number of classes − 1, of which the limit is 3: number the classes from 0 on, write labels as text, or raise --max-classes`},
		{"a label below 0", classesOf, arrowio.Meta{}, two(columns{"label": ints(0, -1, 0, 0)}),
			`column "label": row 2 of its batch has label -1: labels go from 0 to the number of classes − 1, of which the limit is 3: number the classes from 0 on, write labels as text, or raise --max-classes`},

		{"damaged metadata", provenanceOf, arrowio.Meta{Classes: []string{"a", "a"}}, []columns{few},
			`schema metadata mars.classes: two classes are named "a": rename one`},

		{"no features", gathered, named, []columns{few.with(columns{"features": ints(0, 0, 0, 0)})},
			`column "features": has type int32: must be lists of numbers, all of one length`},
		{"wider features", gathered, named, two(columns{"features": lists([]float32{1}, []float32{1}, []float32{1}, []float32{1})}),
			`column "features": rows of 1 numbers follow rows of 2`},
		{"no numbers", gathered, named, []columns{few.with(columns{"features": lists(nil, nil, nil, nil)}), few},
			`column "features": rows have no numbers`},
		{"no domain", gathered, named, two(columns{"domain": domains("sst-")}),
			`column "domain": row 8: is null: must be "source" or "target"`},
		{"another label", gathered, named, two(columns{"label": words("a", "c", "a", "a")}),
			`column "label": row 6: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"no label of a row", gathered, named, two(columns{"label": ints(0, null, 0, 0)}),
			`column "label": row 2 of its batch is a source row without a label: label every source row, or drop those that have none`},
		{"a label above all", gathered, named, two(columns{"label": ints(0, 2, 0, 0)}),
			`column "label": row 2 of its batch is a source row with label 2, and there are 2 classes: number the classes from 0, and list all their names in the metadata key mars.classes or drop that key`},
		{"a label below all", gathered, named, two(columns{"label": ints(-1, 0, 0, 0)}),
			`column "label": row 1 of its batch is a source row with label -1, and there are 2 classes: number the classes from 0, and list all their names in the metadata key mars.classes or drop that key`},
		{"batches that are none", gathered, named, []columns{few.with(columns{"batch": ints(0, 0, 0, 0)})},
			`column "batch": has type int32: must be strings`},
		{"no batch of a row", gathered, named, []columns{few.with(columns{"batch": words("x", "", "", "")})},
			`column "batch": a source row has no batch: say of each which batch it is of, or drop the column`},
		{"no weight", gathered, named, two(columns{"weight": ints(1, 1, null, 1)}),
			`column "weight": row 7: is null: fill or drop the row`},
		{"a match that is none", gathered, named, two(columns{"matched": words("", "", "", "")}),
			`column "matched": has type utf8: must be an integer, or floats that are whole numbers`},
		{"a mark that is none", heldOut, named, []columns{few.with(columns{"unseen": words("", "", "", "")})},
			`column "unseen": has type utf8: must be an integer, or floats that are whole numbers`},
		{"a mark of more", heldOut, named, []columns{few.with(columns{"unseen": ints(0, 2, 3, 3)})},
			`column "unseen": row 2 of its batch has 2: write true or 1 for source rows that are not trained on, and false or 0 for the others`},
		{"all held out", heldOut, named, []columns{few.with(columns{"unseen": ints(1, 1, 0, 0)})},
			`column "unseen": all source rows are held out, so none is left to train on: hold fewer rows out, or drop the column`},
		{"no source", gathered, named, []columns{few.with(columns{"domain": domains("tttt")})},
			`there are no source rows: give rows whose domain is "source"`},
		{"no target", gathered, named, []columns{few.with(columns{"domain": domains("ssss"), "label": ints(0, 1, 0, 0)})},
			`there are no target rows: give rows whose domain is "target"`},
		{"no value of the target", gathered, named, []columns{few.with(columns{"domain": domains("ssst"), "label": ints(0, 1, 0, null), "features": lists([]float32{1, 2}, []float32{3, 4}, gap, gap)})},
			`column "features": no target row has a value: give rows that have values in these columns`},
		{"a class without rows", gathered, named, []columns{few.with(columns{"label": ints(0, 0, 0, 0)})},
			`no source row has class "b": give labelled rows of every class, or leave the class out (mars-featurize --classes)`},

		{"no domain of a block", blocksOf, named, two(columns{"domain": domains("-stt")}),
			`column "domain": row 5: is null: must be "source" or "target"`},
		{"no features of a block", blocksOf, named, two(columns{"features": ints(0, 0, 0, 0)}),
			`column "features": has type int32: must be lists of numbers, all of one length`},

		{"no domain of a truth", truthOf, named, two(columns{"domain": domains("-stt")}),
			`column "domain": row 5: is null: must be "source" or "target"`},
		{"another truth", truthOf, named, two(columns{"truth": words("a", "c", "a", "a")}),
			`column "truth": row 6: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"a truth above all", truthOf, named, two(columns{"truth": ints(5, 5, 1, 2)}),
			`column "truth": row 4 of its batch has class 2, and there are 2`},
		{"a truth below all", truthOf, named, two(columns{"truth": ints(5, 5, -1, 1)}),
			`column "truth": row 3 of its batch has class -1, and there are 2`},
		{"no truth", truthOf, named, []columns{few.with(columns{"truth": ints(0, 0, null, null)})},
			`no target row has a true class: ask for it with mars-featurize --truth`},
	} {
		err := test.ask(rowsOf(test.meta, nil, test.rows...))
		if err == nil || strings.TrimPrefix(err.Error(), "rows: ") != test.want {
			t.Errorf("%s: %v\nwant %s", test.name, err, test.want)
		}
	}
	for ask, want := range map[string]string{"": `rows: the source rows have 0 class: give labelled rows of at least two classes`, "a": `rows: the source rows have 1 class: give labelled rows of at least two classes`} {
		if err := rowsOf(named, nil, few).CheckClasses(strings.Fields(ask), nil); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	r := rowsOf(named, nil, few.with(columns{"label": nil}))
	if err, want := r.Require("run it", "label"), `rows: there is no column "label" (there are "domain", "features", "truth"): run it`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	r.Stream = arrowio.NewBatches("rows", arrow.NewSchema(nil, nil))
	if err, want := r.Require("run it", "label"), `rows: there is no column "label" (there are none): run it`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// What cannot be read of the schema, or written of a step, is an error too.
func TestErrorsOfSchemas(t *testing.T) {
	damaged := arrow.MetadataFrom(map[string]string{arrowio.ClassesKey: "{"})
	text := arrow.Field{Name: "label", Type: arrow.BinaryTypes.String}
	twice := array.NewRecord(arrow.NewSchema([]arrow.Field{text, text}, nil), []arrow.Array{words("a"), words("b")}, 1)
	step := arrowio.Step{Stage: "mars-train", Selection: &arrowio.Selection{Chosen: map[string]any{"rate": math.NaN()}}}
	for _, test := range []struct {
		in   arrowio.Stream
		ask  func(*Rows) error
		want string
	}{
		{arrowio.NewBatches("rows", arrow.NewSchema(nil, &damaged)), classesOf, "rows: schema metadata mars.classes: unexpected end of JSON input: drop or repair the key"},
		{arrowio.NewBatches("rows", twice.Schema(), twice), classesOf, `rows: column "label": is there 2 times: rename all but one`},
		{batchesOf(named, nil, few), provenanceOf, "json: unsupported value: NaN"},
	} {
		r := over(test.in)
		r.Step = step
		if err := test.ask(r); err == nil || err.Error() != test.want {
			t.Errorf("%v\nwant %s", err, test.want)
		}
	}
}

// gap is a row without any value.
var gap = []float32{float32(math.NaN()), float32(math.NaN())}

// Classes without names are named by their numbers, or are the texts in their order.
func TestClasses(t *testing.T) {
	for _, test := range []struct {
		rows []columns
		want []string
	}{
		{[]columns{few.with(columns{"label": ints(0, 0, null, null)}), few.with(columns{"label": ints(2, 0, null, null)})}, []string{"0", "1", "2"}},
		{[]columns{few.with(columns{"label": words("c", "a", "c", "a")}), few.with(columns{"label": words("b", "a", "c", "a")})}, []string{"a", "b", "c"}},
		{[]columns{few.with(columns{"label": ints(null, null, null, null)})}, []string{}},
	} {
		r := rowsOf(arrowio.Meta{}, nil, test.rows...)
		got, err := r.Classes(t.Context())
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("classes %q, %v, want %q", got, err, test.want)
		}
		if rec, err := r.Next(); err != nil || rec.NumRows() != 4 {
			t.Errorf("the rows are not there again: %v", err)
		}
	}
}

// faulty is a stream that fails once, at the step of that number.
type faulty struct {
	*arrowio.Batches
	steps, at int
}

var errCut = errors.New("cut")

func (f *faulty) Next() (arrow.Record, error) {
	if f.steps++; f.steps == f.at {
		return nil, errCut
	}
	return f.Batches.Next()
}

func (f *faulty) Rewind() error {
	if f.steps++; f.steps == f.at {
		return errCut
	}
	return f.Batches.Rewind()
}

// taught is a state that fails where it is told to, and adds a column.
type taught struct {
	*Rows
	save, of error
	short    bool // the column lacks rows
}

func (s *taught) Save(string) (string, error) { return "sum", s.save }

func (s *taught) Emit(ctx context.Context, r *Rows, out arrowio.Sink) error {
	return r.Emit(ctx, out, named, Added{[]arrow.Field{{Name: "added", Type: arrow.PrimitiveTypes.Int32}}, func(rec arrow.Record) ([]arrow.Array, error) {
		n := int(rec.NumRows())
		if s.short {
			n--
		}
		return []arrow.Array{arrowio.NewIntArray(make([]int32, n), nil)}, s.of
	}})
}

// sink keeps the batches, and fails at the step of that number.
type sink struct {
	arrowio.Sink
	schema  *arrow.Schema
	records []arrow.Record
	at      int
}

func (s *sink) step() error {
	if s.at--; s.at == 0 {
		return errCut
	}
	return nil
}

func (s *sink) Begin(schema *arrow.Schema) error { s.schema = schema; return s.step() }

func (s *sink) Write(rec arrow.Record) error {
	rec.Retain()
	s.records = append(s.records, rec)
	return s.step()
}

// fitted learns from all of a stream, and passes it on.
func fitted(ctx context.Context, in arrowio.Stream, out arrowio.Sink, state *taught, path string, learn func(ctx context.Context, r *Rows) error) error {
	return Fit(ctx, over(in).Env, in, out, path, func(ctx context.Context, r *Rows) (*taught, error) {
		return state, learn(ctx, r)
	})
}

// learnt reads rows in all ways: their classes, their vectors, by domain, and the truth.
func learnt(ctx context.Context, r *Rows) error {
	classes, err := r.Classes(ctx)
	if err != nil {
		return err
	}
	r.HoldOut(2)
	if _, err := r.Gather(ctx, classes, Want{Vector: "features", Source: true, Target: true, Labels: true}); err != nil {
		return err
	}
	for _, err := range r.TargetBlocks(ctx, "features") {
		if err != nil {
			return err
		}
	}
	if err := r.Rewind(); err != nil {
		return err
	}
	_, err = r.TruthShares(ctx, classes)
	return err
}

// A stage fails where its rows fail, its state or its sink, and where its context ends.
func TestFitFails(t *testing.T) {
	whole := few.with(columns{"domain": domains("ssssttt"), "label": ints(0, 1, 0, 1, null, null, null), "truth": ints(null, null, null, null, 0, 1, 0),
		"features": lists([]float32{1, 2}, []float32{3, 4}, []float32{5, 6}, []float32{7, 8}, []float32{5, 6}, []float32{7, 8}, []float32{7, 8})})
	in := func(at int) *faulty { return &faulty{Batches: batchesOf(arrowio.Meta{}, nil, whole, whole), at: at} }
	read, out := in(0), &sink{}
	if err := fitted(t.Context(), read, out, &taught{}, "", learnt); err != nil {
		t.Fatal(err)
	}
	for at := range read.steps {
		if err := fitted(t.Context(), in(at+1), &sink{}, &taught{}, "", learnt); !errors.Is(err, errCut) {
			t.Errorf("step %d of %d of the rows fails, and the error is %v", at+1, read.steps, err)
		}
	}
	for at := range 3 { // Begin and two batches
		if err := fitted(t.Context(), in(0), &sink{at: at + 1}, &taught{}, "", learnt); !errors.Is(err, errCut) {
			t.Errorf("step %d of the sink fails, and the error is %v", at+1, err)
		}
	}
	nothing := func(context.Context, *Rows) error { return nil }
	if err := fitted(t.Context(), in(0), &sink{}, &taught{save: errCut}, "path", nothing); !errors.Is(err, errCut) {
		t.Errorf("the state is not written, and the error is %v", err)
	}
	for _, learn := range []func(context.Context, *Rows) error{nothing, learnt} {
		if err := fitted(t.Context(), in(0), &sink{}, &taught{of: errCut}, "", learn); !errors.Is(err, errCut) {
			t.Errorf("a column cannot be computed, and the error is %v", err)
		}
	}
	want := `arrowio: column "added" has 6 rows, the batch has 7`
	if err := fitted(t.Context(), in(0), &sink{}, &taught{short: true}, "", nothing); err == nil || err.Error() != want {
		t.Errorf("a column lacks a row: %v", err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := fitted(ctx, in(0), &sink{}, &taught{}, "", nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("the context ends, and the error is %v", err)
	}
}

// The rows that are held out are marked by the stage that did so, and what cannot be marked is an error.
func TestMarks(t *testing.T) {
	r := rowsOf(named, nil, few, few.with(columns{"label": ints(1, 0, null, null)}))
	r.HoldOut(2)
	if err := gathered(r); err != nil {
		t.Fatal(err)
	}
	if err := r.Rewind(); err != nil {
		t.Fatal(err)
	}
	out := &sink{}
	if err := (&taught{}).Emit(t.Context(), r, out); err != nil {
		t.Fatal(err)
	}
	var marks []bool
	for _, rec := range out.records {
		column := rec.Column(rec.Schema().FieldIndices("unseen")[0]).(*array.Boolean)
		for i := range column.Len() {
			marks = append(marks, column.Value(i))
		}
	}
	if want := []bool{false, false, false, false, true, true, false, false}; !slices.Equal(marks, want) { // the second of each class
		t.Errorf("marks %v, want %v", marks, want)
	}
	for want, spoilt := range map[string]columns{`rows: column "domain": row 1: is null: must be "source" or "target"`: {"domain": domains("-stt")},
		`rows: column "label": row 2 of its batch is a source row without a label: label every source row, or drop those that have none`: {"label": ints(0, null, 0, 0)}} {
		r := rowsOf(named, nil, few.with(spoilt))
		r.HoldOut(2)
		if err := (&taught{}).Emit(t.Context(), r, &sink{}); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A sample has rows whole, and start what the stages before said of them.
func TestGather(t *testing.T) {
	c := few.with(columns{"weight": arrowio.NewFloatArray([]float32{1, 2, 3, 4}), "matched": ints(null, null, 0, null), "batch": words("x", "y", "", "")})
	r := rowsOf(named, nil, c, c.with(columns{"matched": arrowio.NewIntArray([]int32{5, 5, 1, 1}, nil), "batch": words("y", "z", "", "")}))
	s, err := r.Gather(t.Context(), []string{"a", "b"}, Want{Vector: "features", Source: true, Target: true, Labels: true, Start: true, Batches: true})
	if err != nil {
		t.Fatal(err)
	}
	want := &Samples{Classes: []string{"a", "b"}, Labels: []int32{0, 1, 0, 1}, SourceWeight: []float32{1, 2, 1, 2}, Batches: []int32{0, 1, 1, 2}, BatchNames: []string{"x", "y", "z"},
		Source:        blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4, 1, 2, 3, 4}},
		Target:        blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{5, 6, 7, 8, 5, 6, 7, 8}},
		TargetMatched: arrowio.Ints{Values: []int32{0, 0, 1, 1}, Valid: []bool{true, false, true, true}}, TargetRows: 4}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("gathered %+v\nwant %+v", s, want)
	}
	several := make([][]float32, 40)
	for i := range several {
		several[i] = []float32{float32(i), float32(i), float32(i)}
	}
	r = rowsOf(named, nil, columns{"features": lists(several...)})
	if s, err = r.Gather(t.Context(), nil, Want{Vector: "features", Target: true, MaxTarget: 4}); err != nil {
		t.Fatal(err)
	}
	seen := map[float32]bool{}
	for i := range 4 {
		row := s.Target.Data[3*i : 3*i+3]
		if seen[row[0]] || row[0] != row[1] || row[1] != row[2] {
			t.Errorf("the rows of the sample are %v", s.Target.Data)
		}
		seen[row[0]] = true
	}
	if s.Target.Rows != 4 || len(s.Target.Data) != 12 || s.TargetRows != 40 {
		t.Errorf("%d rows of %d, %v", s.Target.Rows, s.TargetRows, s.Target.Data)
	}
}
