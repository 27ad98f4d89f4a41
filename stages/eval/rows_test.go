package eval

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
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
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/tables/write"
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

func rows(meta arrowio.Meta, batches ...columns) *arrowio.Batches {
	var records []arrow.Record
	for _, b := range batches {
		var t arrowio.Table
		for _, name := range slices.Sorted(maps.Keys(b)) {
			t.AddNullable(name, b[name])
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

// null is a value that is missing.
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

var env = stages.Env{Columns: arrowio.DefaultColumns(), MaxClasses: 5}

// judged is a source row and two of the target, one of which is predicted right; scores
// are what scores of rows look at.
var (
	judged = columns{"domain": domains("stt"), "truth": ints(null, 0, 1), "prediction": ints(0, 0, 0)}
	scores = columns{"domain": domains("sstt"), "label": ints(0, 1, null, null), "unseen": ints(0, 1, null, null),
		"features": lists([]float32{1, 2}, []float32{3, 5}, []float32{2, 2}, []float32{4, 4}), "probability": lists(sure, sure, sure, sure)}
	sure = []float32{.75, .25}
)

// What is wrong with rows is said with their number.
func TestErrorsOfRows(t *testing.T) {
	named := arrowio.Meta{Classes: []string{"a", "b"}}
	for _, test := range []struct {
		name  string
		score bool // and not compared with the truth
		meta  arrowio.Meta
		rows  []columns
		want  string
	}{
		{"no truth", false, named, []columns{{"prediction": ints(0)}},
			`there is no column "truth" (there are "prediction"): ask for it with mars-featurize --truth`},
		{"no prediction", false, named, []columns{{"truth": ints(0)}},
			`there is no column "prediction" (there are "truth"): run mars label, mars-train or mars-predict before, or name a column of classes with --prediction`},
		{"classes of one name", false, arrowio.Meta{Classes: []string{"a", "a"}}, []columns{judged},
			`schema metadata mars.classes: two classes are named "a": rename one`},
		{"no domain", false, named, []columns{judged, judged.with(columns{"domain": domains("st-")})},
			`column "domain": row 6: is null: must be "source" or "target"`},
		{"another truth", false, named, []columns{judged, judged.with(columns{"truth": words("a", "b", "c")})},
			`column "truth": row 6: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"another prediction", false, named, []columns{judged, judged.with(columns{"prediction": words("a", "c", "b")})},
			`column "prediction": row 5: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"no prediction of a row", false, named, []columns{judged, judged.with(columns{"prediction": ints(0, 0, null)})},
			`column "prediction": row 3 of its batch has a truth and no prediction`},
		{"no posteriors", false, named, []columns{judged, judged.with(columns{"probability": ints(0, 0, 0)})},
			`column "probability": has type int32: must be lists of numbers, all of one length`},
		{"no share", false, named, []columns{judged, judged.with(columns{"probability": lists(sure, []float32{1, 0}, []float32{-1, 2})})},
			`column "probability": row 3 of its batch has a confidence of -1: want 0 to 1`},
		{"a truth below 0", false, arrowio.Meta{}, []columns{judged, judged.with(columns{"truth": ints(0, 0, -1)})},
			`column "truth": row 3 of its batch has a negative class`},
		{"a prediction below 0", false, named, []columns{judged, judged.with(columns{"prediction": ints(-1, -1, 0)})},
			`column "prediction": row 2 of its batch has a negative class`},
		{"a class more than are named", false, named, []columns{judged, judged.with(columns{"truth": ints(0, 2, 0), "probability": lists(sure, sure, sure)})},
			`column "truth": there is a class 2, and the stream names 2 classes`},
		{"a class more than there may be", false, arrowio.Meta{}, []columns{judged.with(columns{"truth": ints(0, 5, 0)})},
			`column "truth": there are 6 classes or more, the limit is 5: choose another label column, or raise --max-classes`},
		{"no true class", false, named, []columns{judged.with(columns{"truth": ints(0, null, null)})},
			`column "truth": no target row has a true class`},
		{"another label", false, named, []columns{judged, judged.with(columns{"label": words("c", "a", "a")})},
			`column "label": row 4: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"no weight", false, named, []columns{judged, judged.with(columns{"label": ints(0, 0, 0), "weight": ints(1, null, 1)})},
			`column "weight": row 5: is null: fill or drop the row`},

		{"no posteriors to score", true, named, []columns{{"domain": domains("t")}},
			`there is no column "probability" (there are "domain"): run mars-train or mars-predict before, and write .arrow, which keeps posteriors`},
		{"classes of one name to score", true, arrowio.Meta{Classes: []string{"a", "a"}}, []columns{scores},
			`schema metadata mars.classes: two classes are named "a": rename one`},
		{"no domain to score", true, named, []columns{scores, scores.with(columns{"domain": domains("sst-")})},
			`column "domain": row 8: is null: must be "source" or "target"`},
		{"a posterior that is none", true, named, []columns{scores, scores.with(columns{"probability": ints(0, 0, 0, 0)})},
			`column "probability": has type int32: must be lists of numbers, all of one length`},
		{"other posteriors", true, named, []columns{scores, scores.with(columns{"probability": lists([]float32{1}, []float32{1}, []float32{1}, []float32{1})})},
			`column "probability": rows of 1 posteriors follow others`},
		{"other posteriors of the target", true, named, []columns{scores.with(columns{"unseen": nil}), scores.with(columns{"unseen": nil, "probability": lists([]float32{1}, []float32{1}, []float32{1}, []float32{1})})},
			`column "probability": rows of 1 posteriors follow others`},
		{"other posteriors of one row", true, named, []columns{scores, {"domain": domains("t"), "label": ints(0), "unseen": ints(0), "features": lists([]float32{1, 2}), "probability": lists([]float32{1})}},
			`column "probability": rows of 1 posteriors follow others`},
		{"a posterior below 0", true, named, []columns{scores, scores.with(columns{"probability": lists(sure, sure, []float32{-.5, 1.5}, sure)})},
			`column "probability": row 3 of its batch has the posterior -0.5: write shares from 0 to 1 that sum to 1`},
		{"posteriors that are too small", true, named, []columns{scores, scores.with(columns{"probability": lists(sure, []float32{.5, .25}, sure, sure)})},
			`column "probability": row 2 of its batch has posteriors that sum to 0.75: write shares from 0 to 1 that sum to 1`},
		{"no features", true, named, []columns{scores, scores.with(columns{"features": ints(0, 0, 0, 0)})},
			`column "features": has type int32: must be lists of numbers, all of one length`},
		{"other features", true, named, []columns{scores, scores.with(columns{"features": lists([]float32{1}, []float32{1}, []float32{1}, []float32{1})})},
			`column "features": rows of 1 numbers follow rows of 2`},
		{"other features of one row", true, named, []columns{scores.with(columns{"features": lists([]float32{1}, []float32{2}, []float32{3}, []float32{4})}), {"domain": domains("t"), "label": ints(0), "unseen": ints(0), "features": lists([]float32{1, 2}), "probability": lists(sure)}},
			`column "features": rows of 2 numbers follow rows of 1`},
		{"a mark that is none", true, named, []columns{scores, scores.with(columns{"unseen": words("", "", "", "")})},
			`column "unseen": has type utf8: must be an integer, or floats that are whole numbers`},
		{"another label to score", true, named, []columns{scores, scores.with(columns{"label": words("a", "c", "a", "a")})},
			`column "label": row 6: class "c" is not among the 2 known (metadata mars.classes): name the classes there in order, or use indices`},
		{"no label of a row that is held out", true, named, []columns{scores, scores.with(columns{"label": ints(0, null, 0, 0)})},
			`column "label": row 2 of its batch is a source row without a label that its 2 posteriors know`},
		{"a label below 0 of such a row", true, named, []columns{scores, scores.with(columns{"label": ints(0, -1, 0, 0)})},
			`column "label": row 2 of its batch is a source row without a label that its 2 posteriors know`},
		{"a label above all of such a row", true, named, []columns{scores, scores.with(columns{"label": ints(0, 2, 0, 0)})},
			`column "label": row 2 of its batch is a source row without a label that its 2 posteriors know`},
		{"all held out", true, named, []columns{scores.with(columns{"unseen": ints(1, 1, 0, 0)})},
			`column "unseen": all source rows are marked: mark those that were not trained on`},
		{"no target", true, named, []columns{scores.with(columns{"domain": domains("ssss")})},
			`there are no target rows: give rows whose domain is "target"`},
	} {
		err := asked(t.Context(), rows(test.meta, test.rows...), test.score)
		if err == nil || strings.TrimPrefix(err.Error(), "rows: ") != test.want {
			t.Errorf("%s: %v\nwant %s", test.name, err, test.want)
		}
	}
}

// A label of the source that is below 0 is no class.
func TestLabelBelowZero(t *testing.T) {
	labels := judged.with(columns{"domain": domains("sst"), "label": ints(1, -1, 0)})
	_, err := Evaluate(t.Context(), env, rows(arrowio.Meta{}, judged.with(columns{"label": ints(0, 0, -1)}), labels))
	want := `rows: column "label": row 2 of its batch has a negative class`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// asked compares rows with the truth, or scores them.
func asked(ctx context.Context, in arrowio.Stream, score bool) error {
	if score {
		_, err := Score(ctx, env, in)
		return err
	}
	_, err := Evaluate(ctx, env, in)
	return err
}

// failing is a stream whose second batch cannot be read.
type failing struct {
	arrowio.Stream
	err   error
	first bool
}

func (f *failing) Next() (arrow.Record, error) {
	if f.first = !f.first; f.first {
		return f.Stream.Next()
	}
	return nil, f.err
}

// Rows that end too early, and a wish to end, are no answer.
func TestRowsEndTooEarly(t *testing.T) {
	cut := errors.New("cut")
	ended, end := context.WithCancel(t.Context())
	end()
	both := columns{"truth": ints(0, 0, 0, 0), "prediction": ints(0, 0, 0, 0)}
	for _, score := range []bool{false, true} {
		in := rows(arrowio.Meta{}, scores.with(both))
		if err := asked(t.Context(), &failing{Stream: in, err: cut}, score); !errors.Is(err, cut) {
			t.Errorf("score %v: a stream that is cut gives %v", score, err)
		}
		if err := asked(ended, in, score); !errors.Is(err, context.Canceled) {
			t.Errorf("score %v: the end of the context gives %v", score, err)
		}
	}
}

// Without metadata the numbers of the classes name them, the labels say what the shares of the source
// are and their weights those of the target. Posteriors that lack a class give it 0.
func TestEvaluateWithoutMetadata(t *testing.T) {
	first := columns{"domain": domains("ssst"), "label": ints(0, 0, null, 4), "truth": ints(null, null, null, 0), "prediction": ints(0, 0, 0, 0),
		"weight": arrowio.NewFloatArray([]float32{.5, .5, 9, 9}), "probability": lists(sure, sure, sure, sure)}
	second := columns{"domain": domains("sstt"), "label": ints(0, 4, 0, 0), "truth": ints(0, 0, null, 2), "prediction": ints(0, 0, 0, 2),
		"weight": arrowio.NewFloatArray([]float32{.5, 2.5, 9, 9}), "probability": lists(sure, sure, sure, sure)}
	m, err := Evaluate(t.Context(), env, rows(arrowio.Meta{}, first, second))
	if err != nil {
		t.Fatal(err)
	}
	if want := names(5); !slices.Equal(m.Classes, want) {
		t.Errorf("classes %q, want %q", m.Classes, want)
	}
	want := &Proportions{Source: []float64{.75, 0, 0, 0, .25}, Estimated: []float64{.375, 0, 0, 0, .625}, True: []float64{.5, 0, .5, 0, 0}}
	if !reflect.DeepEqual(m.Proportions, want) {
		t.Errorf("proportions %v, want %v", m.Proportions, want)
	}
	if d := m.Survey.Doubtful; len(d) != 2 || d[0].ID != "8" || d[0].Confidence != 0 || d[1].ID != "4" || d[1].Confidence != .75 {
		t.Errorf("rows in doubt: %+v, want row 8 with 0 and row 4 with 0.75", d)
	}
}

// Proportions in the metadata that are of other classes say nothing.
func TestProportionsOfOtherClasses(t *testing.T) {
	meta := arrowio.Meta{SourceProportions: []float64{1}, TargetProportions: []float64{.5, .5}}
	m, err := Evaluate(t.Context(), env, rows(meta, judged))
	if err != nil {
		t.Fatal(err)
	}
	want := &Proportions{Estimated: []float64{.5, .5}, True: []float64{.5, .5}}
	if !reflect.DeepEqual(m.Proportions, want) {
		t.Errorf("proportions %v, want %v", m.Proportions, want)
	}
	if err := m.WriteTable(io.Discard); err != nil {
		t.Error(err)
	}
	meta.TargetProportions = []float64{.2, .3, .5}
	if m, err := Evaluate(t.Context(), env, rows(meta, judged)); err != nil || m.Proportions != nil {
		t.Errorf("proportions %v, %v", m.Proportions, err)
	}
}

// Source rows are trained on unless they are marked, rows without values are left out, and batches
// may be empty.
func TestRowsThatAreScored(t *testing.T) {
	gap := []float32{float32(math.NaN()), float32(math.NaN())}
	g := scored{Rows: &stream.Rows{Env: env}, held: true}
	none := columns{"domain": domains(""), "label": ints(), "unseen": ints(), "features": lists(), "probability": lists()}
	last := columns{"domain": domains("ssstst"), "label": ints(1, 1, 0, 0, 1, 0), "unseen": ints(0, null, 1, 0, 1, 0),
		"features": lists([]float32{5, 6}, []float32{7, 8}, []float32{9, 1}, []float32{2, 3}, gap, gap), "probability": lists(sure, sure, sure, []float32{.5, .5}, sure, sure)}
	if err := arrowio.Each(t.Context(), rows(arrowio.Meta{}, scores, none, last), g.add); err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		name string
		got  blas32.General
		want []float32
	}{
		{"source", g.subject.Source, []float32{1, 2, 5, 6, 7, 8}},
		{"held out", g.subject.Held, []float32{3, 5, 9, 1}},
		{"target", g.subject.Target, []float32{2, 2, 4, 4, 2, 3}},
		{"posteriors that are held out", g.subject.HeldPosteriors, []float32{.75, .25, .75, .25}},
		{"posteriors of the target", g.subject.TargetPosteriors, []float32{.75, .25, .75, .25, .5, .5}},
	} {
		if !slices.Equal(part.got.Data, part.want) || part.got.Rows != len(part.want)/2 {
			t.Errorf("%s: %d rows %v, want %v", part.name, part.got.Rows, part.got.Data, part.want)
		}
	}
	if want := []int32{1, 0}; !slices.Equal(g.subject.HeldLabels, want) {
		t.Errorf("labels that are held out: %v, want %v", g.subject.HeldLabels, want)
	}
}

// A table for programs has a row a class, or a score.
func TestSave(t *testing.T) {
	m := newMetrics(names(3), confusion(3, []int{0, 0, 1, 1}, []int{0, 1, 1, 1}))
	m.setProportions(nil, []float64{.5, .25, .25})
	value := -.5
	s := &Scores{Scores: map[string]*float64{"entropy": &value}}
	for _, test := range []struct {
		of interface { // either of them
			Save(context.Context, string, write.Format) error
		}
		want string
	}{
		{m, "class,rows,recall,estimated,true\n0,2,0.5,0.5,0.5\n1,2,1,0.25,0.5\n2,0,,0.25,0\n"},
		{s, "score,value\nentropy,-0.5\ndensity,\nimportance,\ndev,\n"},
	} {
		path := filepath.Join(t.TempDir(), "table.csv")
		if err := test.of.Save(t.Context(), path, write.Format{Name: "csv"}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); string(text) != test.want {
			t.Errorf("%q, %v, want %q", text, err, test.want)
		}
	}
}
