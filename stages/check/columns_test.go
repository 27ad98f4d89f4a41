package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/drift"
)

// judging is a Judge that finds each row to be of classes with the same posteriors, and counts the calls.
func judging(calls *int, classes []string, posteriors ...float32) Judge {
	return func(ctx context.Context, _, target arrowio.Stream, _ string) (*Judgement, error) {
		*calls++
		j := &Judgement{Classes: classes, Posteriors: blas32.General{Cols: len(classes), Stride: len(classes)}}
		err := arrowio.Each(ctx, target, func(rec arrow.Record) error {
			for range rec.NumRows() {
				j.Posteriors.Rows++
				j.Posteriors.Data = append(j.Posteriors.Data, posteriors...)
			}
			return nil
		})
		return j, err
	}
}

// rowsOf is a table of predictions with a column x, of so many rows.
func rowsOf(n int) string {
	text := strings.Builder{}
	text.WriteString("x,probability_a,probability_b\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%g,%g\n", i, .5+float64(i%5)/10, .5-float64(i%5)/10)
	}
	return text.String()
}

func byColumns(judge Judge) Options {
	return options(func(o *Options) { o.Features, o.Judge = []string{"x"}, judge })
}

// A window is judged by its columns from ten rows on, and told to have too few below that.
func TestFewRowsOfColumns(t *testing.T) {
	for rows, judged := range map[int]bool{9: false, 10: true} {
		inFolder(t, map[string]string{"ref.csv": withColumn(reference, "x", "1"), "p.csv": rowsOf(rows)})
		calls := 0
		report, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", byColumns(judging(&calls, []string{"a", "b"}, .2, .8)))
		if err != nil {
			t.Fatal(err)
		}
		w := report.Windows[0]
		told := slices.Contains(w.Warnings, "there are fewer than 10 rows, too few to judge by their columns: the figures are by the predictions alone")
		if (calls == 1) != judged || told == judged {
			t.Errorf("%d rows: %d calls, warnings %q", rows, calls, w.Warnings)
		}
	}
}

// Columns without any value say nothing: the figures are as without them.
func TestColumnsThatSayNothing(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": withColumn(reference, "x", "1"), "p.csv": rowsOf(20)})
	calls, nan := 0, float32(math.NaN())
	got, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", byColumns(judging(&calls, []string{"a", "b"}, nan, nan)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", options(nil))
	if err != nil {
		t.Fatal(err)
	}
	got.Windows[0].estimate, want.Windows[0].estimate = nil, nil
	if calls != 1 || !reflect.DeepEqual(got.Windows[0], want.Windows[0]) {
		t.Errorf("%d calls: %+v\nwant %+v", calls, got.Windows[0], want.Windows[0])
	}
}

// What goes wrong with the columns is said, wherever it does.
func TestColumnsThatFail(t *testing.T) {
	broken, calls := errors.New("broken"), 0
	good := judging(&calls, []string{"b", "a"}, .2, .8)
	for _, c := range []struct {
		name  string
		judge Judge
		p     string
		after func() // the predictions have been read once
		each  error  // of who is given the window
		is    error
		want  string // if is is nil
	}{
		{name: "the judge", judge: func(context.Context, arrowio.Stream, arrowio.Stream, string) (*Judgement, error) { return nil, broken },
			want: "p.csv: the columns of the window from 1 to 20: broken: name other columns with --columns, or leave it out"},
		{name: "a row that is missing", judge: func(ctx context.Context, source, target arrowio.Stream, label string) (*Judgement, error) {
			j, err := good(ctx, source, target, label)
			j.Posteriors.Rows--
			return j, err
		}, want: "p.csv: the columns of the window from 1 to 20: 19 of 20 rows were judged: name other columns with --columns, or leave it out"},
		{name: "another class", judge: judging(&calls, []string{"a", "z"}, .5, .5), want: `the class "z" is none of the reference`},
		{name: "no column in common", judge: good, p: predictions, want: `p.csv: has no column "x", which --columns names (besides predictions, labels, identities and times its columns are )`},
		{name: "another column", judge: good, p: strings.Replace(rowsOf(20), "x,", "colour,", 1), want: `p.csv: has no column "x", which --columns names (besides predictions, labels, identities and times its columns are colour)`},
		{name: "predictions that are gone", judge: good, after: func() { os.Remove("p.csv") }, is: fs.ErrNotExist},
		{name: "predictions that are damaged", judge: good, after: func() { os.WriteFile("p.csv", []byte(rowsOf(20)+"1\n"), 0o666) },
			want: "p.csv: line 22: has another number of fields than the 3 of the header: mend the line, or check the separator"},
		{name: "the reader of windows", judge: good, each: broken, is: broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"ref.csv": withColumn(reference, "x", "1"), "p.csv": rowsOf(20)}
			if c.p != "" {
				files["p.csv"] = c.p
			}
			inFolder(t, files)
			o := byColumns(c.judge)
			o.Each = func(*Report, *Window) error { return c.each }
			env := stages.Env{Progress: func(what string, _, _ int64) {
				if what == "predictions" && c.after != nil {
					c.after()
				}
			}}
			_, err := Run(t.Context(), env, "p.csv", "ref.csv", o)
			if c.is != nil && !errors.Is(err, c.is) || c.is == nil && (err == nil || err.Error() != c.want) {
				t.Errorf("%v\nwant %s%v", err, c.want, c.is)
			}
		})
	}
}

// A reference in Arrow may have two columns of one name, which nobody can tell apart.
func TestColumnTwice(t *testing.T) {
	inFolder(t, map[string]string{"p.csv": rowsOf(20)})
	var table arrowio.Table
	table.Add("probability_a", arrowio.NewDoubleArray([]float64{.9, .2}))
	table.Add("probability_b", arrowio.NewDoubleArray([]float64{.1, .8}))
	table.Add("label", arrowio.NewStringArray([]string{"a", "b"}))
	table.Add("x", arrowio.NewDoubleArray([]float64{1, 2}))
	table.Add("x", arrowio.NewDoubleArray([]float64{1, 2}))
	writeArrow(t, "ref.arrows", table.Record(arrowio.Meta{}))
	_, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.arrows", byColumns(nil))
	if want := `ref.arrows: has several columns "x": give each a name of its own`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// Of more rows than are looked at, those with the least keys are.
func TestWantedRows(t *testing.T) {
	sample := &drift.Sample{Keys: []uint64{50, 10, 40, 20, 30}}
	for most, want := range map[int][]uint64{1: {10}, 3: {10, 20, 30}, 4: {10, 20, 30, 40}, 5: {10, 20, 30, 40, 50}, 6: {10, 20, 30, 40, 50}} {
		wanted, r := map[uint64]*place{}, &rows{}
		r.want(wanted, sample, most)
		if got := sortedKeys(wanted); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", most, got, want)
		}
		for key, p := range wanted {
			if p.rows != r || sample.Keys[p.at] != key {
				t.Errorf("%d: the row of key %d is at %d", most, key, p.at)
			}
		}
	}
}

// Columns are unused where both files have one of a name and none is asked for. Of files that cannot be read
// nothing is said.
func TestUnused(t *testing.T) {
	with := withColumn(reference, "x", "1")
	inFolder(t, map[string]string{"with.csv": with, "also.csv": rowsOf(1), "without.csv": reference, "other.csv": withColumn(predictions, "y", "1")})
	for _, c := range []struct {
		p, ref   string
		features []string
		want     bool
	}{
		{"also.csv", "with.csv", nil, true},
		{"also.csv", "with.csv", []string{"x"}, false},
		{"also.csv", "without.csv", nil, false},
		{"other.csv", "with.csv", nil, false},
		{"gone.csv", "with.csv", nil, false},
		{"also.csv", "gone.csv", nil, false},
	} {
		if got := options(func(o *Options) { o.Features = c.features }).Unused(t.Context(), c.p, c.ref); got != c.want {
			t.Errorf("%s, %s, %v: %v", c.p, c.ref, c.features, got)
		}
	}
}

// A judgement is the target rows of what mars label writes, and what is wrong with that is an error.
func TestReadJudgement(t *testing.T) {
	domains := arrowio.NewDomainArray([]arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain, arrowio.TargetDomain})
	vectors := func(values ...float32) arrow.Array {
		return arrowio.NewVectorArray(arrowio.Vectors{Rows: len(values) / 2, Width: 2, Data: values})
	}
	nan := float32(math.NaN())
	good := vectors(1, 0, .25, .75, nan, nan)
	for _, c := range []struct {
		name                string
		domain, probability arrow.Array
		key, value          string
		want                string
	}{
		{"good", domains, good, arrowio.DiagnosticsKey, `{"expected_error":0.5}`, ""},
		{"metadata", domains, good, arrowio.ClassesKey, "{", "judged: schema metadata mars.classes: unexpected end of JSON input: drop or repair the key"},
		{"domains", arrowio.NewStringArray([]string{"source", "target", "both"}), good, "", "", `judged: column "domain": row 3: is "both": must be "source" or "target"`},
		{"posteriors", domains, vectors(1, 0, .25, .75, nan, 0), "", "", `judged: column "probability": row 3: element 1 is NaN: fill or drop the row`},
	} {
		var table arrowio.Table
		table.Add("domain", c.domain)
		table.Add("probability", c.probability)
		rec := table.Record(arrowio.Meta{Classes: []string{"a", "b"}})
		meta := arrow.NewMetadata([]string{c.key}, []string{c.value})
		if c.key != arrowio.ClassesKey {
			meta = arrow.NewMetadata([]string{arrowio.ClassesKey, c.key}, []string{`["a","b"]`, c.value})
		}
		schema := arrow.NewSchema(rec.Schema().Fields(), &meta)
		rec = array.NewRecord(schema, rec.Columns(), rec.NumRows())
		j, err := ReadJudgement(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, arrowio.NewBatches("judged", schema, rec))
		if c.name != "good" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p := j.Posteriors
		if p.Rows != 2 || !slices.Equal(p.Data[:2], []float32{.25, .75}) || p.Data[2] == p.Data[2] || j.Error != .25 || !slices.Equal(j.Classes, []string{"a", "b"}) {
			t.Errorf("%+v", j)
		}
	}
}
