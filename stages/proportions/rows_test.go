package proportions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/stream"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// quick are options of the method hedge that take little time.
var quick = Options{Method: "hedge", Assume: []string{"same"}, Classifiers: []string{"logistic"}, Level: .9, Bootstrap: 2}

// apart is a batch of 12 rows of the source, six of each class, and 12 of the target, which has as
// many. The classes are far from one another.
func apart() columns {
	var domains []arrowio.Domain
	var classes []int32
	var values []float32
	for i := range 24 {
		k := i % 2
		domains, classes = append(domains, arrowio.Domain(i/12)), append(classes, int32(k))
		values = append(values, float32(8*k)+float32(i%5)/4, float32(i%3)-float32(k))
	}
	return columns{"domain": arrowio.NewDomainArray(domains), "label": arrowio.NewIntArray(classes, nil), "truth": arrowio.NewIntArray(classes, nil),
		"features": arrowio.NewVectorArray(arrowio.Vectors{Data: values, Rows: 24, Width: 2})}
}

// columns are a batch, in the order of their names.
type columns map[string]arrow.Array

// with is c with another column; nil takes it away.
func (c columns) with(name string, of arrow.Array) columns {
	all := maps.Clone(c)
	if all[name] = of; of == nil {
		delete(all, name)
	}
	return all
}

// rows are a stream of one batch. Its schema has more metadata, and so has its column of features: names
// and texts in turn.
func rows(c columns, meta arrowio.Meta, more ...string) *arrowio.Batches {
	var t arrowio.Table
	for _, name := range slices.Sorted(maps.Keys(c)) {
		t.AddNullable(name, c[name])
	}
	rec := t.Record(meta)
	fields := slices.Clone(rec.Schema().Fields())
	keys, values := rec.Schema().Metadata().Keys(), rec.Schema().Metadata().Values()
	for i := 0; i < len(more); i += 2 {
		keys, values = append(keys, more[i]), append(values, more[i+1])
	}
	md := arrow.NewMetadata(keys, values)
	for i := range fields {
		if fields[i].Name == "features" {
			fields[i].Metadata = md
		}
	}
	schema := arrow.NewSchema(fields, &md)
	return arrowio.NewBatches("rows", schema, array.NewRecord(schema, rec.Columns(), rec.NumRows()))
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

// batch is the only one of a stream.
func batch(t *testing.T, in *arrowio.Batches) arrow.Record {
	t.Helper()
	rec, err := in.Next()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// labelsOf are the labels of the first rows of a target, all of which were drawn with equal probability.
func labelsOf(t *testing.T, in *arrowio.Batches, labels ...string) Labels {
	t.Helper()
	target, err := sheet.NewTarget(&stream.Rows{Env: env, Stream: in})
	if err != nil {
		t.Fatal(err)
	}
	if err := arrowio.Each(t.Context(), in, func(rec arrow.Record) error { _, err := target.Add(rec); return err }); err != nil {
		t.Fatal(err)
	}
	if err := in.Rewind(); err != nil {
		t.Fatal(err)
	}
	plan, text := sheet.Plan{Uniform: len(labels), Target: target.Letters()}, "drawn,kind\n"
	for i, label := range labels {
		row := sheet.Row{Order: i + 1, ID: fmt.Sprint(i)}
		row.Row, row.Probability = i, 1/float64(target.Rows)
		text += plan.Code(row) + "," + label + "\n"
	}
	path := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	filled, err := sheet.Read(t.Context(), path, "kind")
	if err != nil {
		t.Fatal(err)
	}
	return Labels{Sheet: filled}
}

// A stream that fails is no answer, wherever it fails.
func TestStreamFails(t *testing.T) {
	in := rows(apart(), arrowio.Meta{})
	hedged, unmixed := quick, Options{Method: "unmix", Bootstrap: 2, Truth: true}
	hedged.Truth, hedged.Labels = true, labelsOf(t, in, "0", "1")
	for _, o := range []Options{hedged, unmixed} {
		failsAnywhere(t, o.Method, func(in arrowio.Stream) error {
			_, err := Estimate(t.Context(), env, in, o)
			return err
		})
	}
}

// failsAnywhere tests that ask returns the error of its rows, at whichever step these fail.
func failsAnywhere(t *testing.T, name string, ask func(arrowio.Stream) error) {
	t.Helper()
	whole := &faulty{Batches: rows(apart(), arrowio.Meta{})}
	if err := ask(whole); err != nil {
		t.Fatal(err)
	}
	for at := range whole.steps {
		if err := ask(&faulty{Batches: rows(apart(), arrowio.Meta{}), at: at + 1}); !errors.Is(err, errCut) {
			t.Errorf("%s: step %d of %d fails, and the error is %v", name, at+1, whole.steps, err)
		}
	}
}

// The end of the context is no answer, whenever it comes.
func TestContextEnds(t *testing.T) {
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := Estimate(ctx, env, rows(apart(), arrowio.Meta{}), Options{Method: "unmix", Bootstrap: 2, Truth: true})
		return err
	})
}

// What is wrong with rows, or with what is asked of them, is said.
func TestErrorsOfRows(t *testing.T) {
	truth := quick
	truth.Truth = true
	one := arrowio.NewIntArray(make([]int32, 24), nil)
	for _, test := range []struct {
		name string
		in   *arrowio.Batches
		o    Options
		want string
	}{
		{"no label", rows(apart().with("label", nil), arrowio.Meta{}), quick,
			`rows: there is no column "label" (there are "domain", "features", "truth"): begin with mars-featurize`},
		{"no truth", rows(apart().with("truth", nil), arrowio.Meta{}), truth,
			`rows: there is no column "truth" (there are "domain", "features", "label"): ask for it with mars-featurize --truth`},
		{"no true class", rows(apart().with("truth", arrowio.NewIntArray(make([]int32, 24), make([]bool, 24))), arrowio.Meta{}), truth,
			`rows: no target row has a true class: ask for it with mars-featurize --truth`},
		{"classes of one name", rows(apart(), arrowio.Meta{Classes: []string{"a", "a"}}), quick,
			`rows: schema metadata mars.classes: two classes are named "a": rename one`},
		{"levels of other classes", rows(apart(), arrowio.Meta{Levels: []byte(`[{"name":"kind","of":["a"]},{"name":"type"}]`)}), quick,
			`rows: mars.levels: level "kind" has 1 classes, and there are 2: drop or repair the key`},
		{"damaged totals", rows(apart(), arrowio.Meta{}, arrowio.TotalsKey, "{"), Options{Method: "unmix", Bootstrap: 2},
			`rows: schema metadata mars.totals: unexpected end of JSON input: drop or repair the key`},
		{"one class", rows(apart().with("label", one), arrowio.Meta{}), Options{Method: "mte"},
			`rows: the source rows have 1 class: give labelled rows of at least two classes`},
		{"one class of mixtures", rows(apart().with("label", one), arrowio.Meta{}), Options{Method: "unmix"},
			`rows: the source rows have 1 class: give labelled rows of at least two classes`},
		{"one class under assumptions", rows(apart().with("label", one), arrowio.Meta{}), quick,
			`rows: the source rows have 1 class: give labelled rows of at least two classes`},
		{"an interval of too much", rows(apart(), arrowio.Meta{}), Options{Method: "mte", Level: 2}, `rows: labelshift: the level of intervals is 2: give a number between 0 and 1`},
	} {
		if _, err := Estimate(t.Context(), env, test.in, test.o); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nwant %s", test.name, err, test.want)
		}
	}
	o := quick
	o.Labels = labelsOf(t, rows(apart(), arrowio.Meta{}), "0")
	other := apart().with("id", arrowio.NewStringArray(strings.Fields(strings.Repeat("x ", 24))))
	_, err := Estimate(t.Context(), env, rows(other, arrowio.Meta{}), o)
	fails(t, "labels of another target", err, "has rows of another target than rows (code ")
}
