package check

import (
	"cmp"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/sheet"
)

// Tables that can be checked: those with ids, and of a score.
const (
	reference   = "id,probability_a,probability_b,label\n1,.9,.1,a\n2,.8,.2,a\n3,.3,.7,a\n4,.4,.6,b\n5,.2,.8,b\n6,.6,.4,b\n"
	predictions = "id,probability_a,probability_b\n7,.7,.3\n8,.1,.9\n"
	scoring     = "p,label\n.1,no\n.2,no\n.7,no\n.6,yes\n.8,yes\n.4,yes\n"
)

// inFolder makes the working directory a new one with the files, by name.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func options(change func(*Options)) Options {
	o := Options{Columns: Columns{Probability: "probability", Label: "label", ID: "id"}}
	if change != nil {
		change(&o)
	}
	return o
}

// withColumn is a table with one more column, the same value in all rows.
func withColumn(table, name, value string) string {
	return strings.Replace(strings.ReplaceAll(table, "\n", ","+value+"\n"), ","+value+"\n", ","+name+"\n", 1)
}

// What cannot be checked is refused, with the file, the row and what to do.
func TestRefused(t *testing.T) {
	type change = func(*Options)
	score := func(o *Options) { o.Columns.Score = "p" }
	said := func(o *Options) { o.Columns.Prediction = "said" }
	truth := func(o *Options) { o.Truth = "truth.csv" }
	daily := func(o *Options) { o.Columns.Time, o.Window.Time = "at", 1e9 }
	for _, c := range []struct {
		name   string
		ref, p string // "" for the usual ones
		truth  string
		path   string // of the predictions; "": p.csv
		change change
		want   string
	}{
		{name: "a number", p: "probability_a,probability_b\n.5,.5\nhigh,.5\n", want: `p.csv: row 2, column "probability_a": "high" is not a number: mend or drop the row`},
		{name: "a number of the reference", ref: reference + "7,.5,high,b\n", want: `ref.csv: row 7, column "probability_b": "high" is not a number: mend or drop the row`},
		{name: "a number in the second of two files", p: "probability_a,probability_b\n.5,.5\n.5,x\n", path: "first.csv,p.csv", want: `p.csv: row 2, column "probability_b": "x" is not a number: mend or drop the row`},
		{name: "a sum", p: "probability_a,probability_b\n.5,.5\n.5,.4\n", want: `p.csv: row 2: the posteriors do not add up to 1 but to 0.9: give those of all classes`},
		{name: "no probability", p: "probability_a,probability_b\n-0.1,1\n", want: `p.csv: row 1: -0.1 is no probability: give numbers from 0 to 1`},
		{name: "no row", p: "probability_a,probability_b\n", want: `p.csv: has a header but no rows: give data with at least one`},
		{name: "no predictions", ref: "x,label\n1,a\n2,b\n", want: `ref.csv: has no predictions (its columns are x, label): give a column probability_CLASS for each class, or name the one with the scores of two classes with --score, or the one with predicted classes with --prediction`},
		{name: "no column that is read", p: "x\n1\n", want: `p.csv: has no predictions (its columns are x): give a column probability_CLASS for each class, or name the one with the scores of two classes with --score, or the one with predicted classes with --prediction`},
		{name: "another kind", p: "predicted_class\na\n", want: `p.csv: has predictions of another kind than the reference: give the same columns in both, such as a posterior for each class`},
		{name: "no column of a class", p: "id,probability_b\n1,1\n", want: `p.csv: has no column "probability_a" (its columns are id, probability_b): did you mean "probability_b"? Otherwise the reference has it: give the predictions of the same model`},
		{name: "a column of no class", p: "probability_a,probability_b,probability_c\n.5,.5,0\n", want: `p.csv: has a column "probability_c", and the reference has none: give the predictions of the same model, or leave the column out`},
		{name: "a column of a class that only labels have", ref: reference + "7,.5,.5,c\n", p: "probability_a,probability_b,probability_c\n.5,.5,0\n", want: `p.csv: has a column "probability_c", and the reference has none: give the predictions of the same model, or leave the column out`},
		{name: "classes by a rule", p: "probability_a,probability_b,predicted_class\n.5,.5,a\n", want: `p.csv: has a column "predicted_class", and the reference has none, by which other classes may be predicted than the most probable ones: give both the column, or neither`},
		{name: "no classes by a rule", ref: withColumn(reference, "predicted_class", "a"), want: `p.csv: has no column "predicted_class", and the reference has one, by which other classes may be predicted than the most probable ones: give both the column, or neither`},
		{name: "the column of classes", ref: "said,label\na,a\nb,b\n", p: "sayd\na\n", change: said, want: `p.csv: has no column "said" (its columns are sayd): did you mean "sayd"? Otherwise name the column of predicted classes with --prediction`},
		{name: "the column of classes beside posteriors", change: said, ref: withColumn(reference, "said", "a"), want: `p.csv: has no column "said" (its columns are id, probability_a, probability_b): did you mean "id"? Otherwise name the column of predicted classes with --prediction`},
		{name: "the column of scores", ref: scoring, change: score, want: `p.csv: has no column "p" (its columns are id, probability_a, probability_b): name the column of scores with --score`},
		{name: "a score", ref: scoring, p: "p\n0.5\n.4\nx\n", change: score, want: `p.csv: row 3, column "p": "x" is not a number: mend or drop the row`},
		{name: "a score of three classes", ref: scoring + ".5,maybe\n", change: score, want: `ref.csv: column "label" has 3 classes, and --score is for two: give a column probability_CLASS for each class`},
		{name: "a score of no class", ref: scoring, p: "p\n.5\n", change: func(o *Options) { o.Columns.Score, o.Columns.Positive = "p", "si" }, want: `ref.csv: has no class "si" (its classes are no, yes): name the class that the score is of with --positive`},
		{name: "no label", ref: "id,probability_a,probability_b,label\n1,.5,.5,\n", want: `ref.csv: column "label" has no label: give labelled rows as the reference`},
		{name: "no column of labels", ref: predictions, want: `ref.csv: has no column "label" (its columns are id, probability_a, probability_b): name the column of labels with --label, or the file that has it with --reference-labels`},
		{name: "no prediction of a row with a label", ref: "probability_a,probability_b,label\n,.5,a\n.5,,b\n", want: `ref.csv: no row has a label and a prediction: give labelled rows with predictions as the reference`},
		{name: "one class of a column", ref: "probability_a,label\n1,a\n", p: "probability_a\n1\n", want: `ref.csv: has one class alone, "a": give labelled rows of all classes as the reference`},
		{name: "one class of labels", ref: "probability_a,probability_b,label\n.5,.5,a\n", want: `ref.csv: has rows of one class alone, which do not say how the classes are confused: give labelled rows of all classes`},
		{name: "other classes", ref: "probability_a,probability_b,label\n.5,.5,k01\n.5,.5,k02\n.5,.5,k03\n.5,.5,k04\n.5,.5,k05\n.5,.5,k06\n.5,.5,k07\n", want: `ref.csv: no label is a class that is predicted: the labels in column "label" are k01, k02, k03, k04, k05 and 2 more, and the predictions of a, b: name the column of labels with --label, and call the classes alike in both`},
		{name: "a pipe as the reference", ref: "-", want: `-: the reference is read twice: give it as a file`},

		{name: "labels apart: no column of identities", truth: "nr,label\n1,a\n", change: truth, want: `truth.csv: has no column "id" (its columns are nr, label): name the column of identities with --id`},
		{name: "labels apart: no column of labels", truth: "id,kind\n1,a\n", change: truth, want: `truth.csv: has no column "label" (its columns are id, kind): name the column of labels with --label`},
		{name: "labels apart: none", truth: "id,label\n1,\n,a\n", change: truth, want: `truth.csv: no row has an identity and a label: give the labels of the reference's rows`},
		{name: "labels apart: two", truth: "id,label\n1,a\n2,b\n1,b\n", change: truth, want: `truth.csv: row 3, column "label": the label of "1" is "b", and was "a" before: leave one of the rows out`},
		{name: "labels apart: of other rows", truth: "id,label\nx,a\ny,b\n", change: truth, want: `ref.csv: no row has a label in truth.csv: its identities are such as 1, 2, 3, and those of the labels such as x, y: name the column that both have with --id`},
		{name: "labels apart: a reference without identities", ref: "probability_a,probability_b\n.5,.5\n", truth: "id,label\n1,a\n", change: truth, want: `ref.csv: has no column "id" (its columns are probability_a, probability_b): name the column of identities with --id`},

		{name: "no column of times", change: daily, want: `p.csv: has no column "at" (its columns are id, probability_a, probability_b): name the column of times with --time`},
		{name: "a time", p: "at,probability_a,probability_b\n2026-03-01,.5,.5\nnoon,.5,.5\n", change: daily, want: `p.csv: row 2, column "at": "noon" is no time from 1970 to 2200: write 2026-03-01T12:00:00Z, or seconds since 1970`},
		{name: "no column of identities", change: func(o *Options) { o.Columns.ID = "nr" }, want: `p.csv: has no column "nr" (its columns are id, probability_a, probability_b): name the column of identities with --id`},
		{name: "a label that is a class", change: func(o *Options) {
			o.Labels = labelled.Options{Sheet: &sheet.Filled{Path: "ask.csv"}, New: []string{"b"}}
		}, want: `ask.csv: the source has the class "b", which --new-class names as one that it lacks: leave it out there`},
		{name: "no such feature", change: func(o *Options) { o.Features = []string{"x"} }, want: `ref.csv: has no column "x", which --columns names (besides predictions, labels, identities and times its columns are )`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, ref := map[string]string{"ref.csv": reference, "p.csv": predictions, "first.csv": predictions}, "ref.csv"
			for name, text := range map[string]string{"ref.csv": c.ref, "p.csv": c.p, "truth.csv": c.truth} {
				if text != "" {
					files[name] = text
				}
			}
			if c.ref == "-" {
				ref = c.ref
			}
			inFolder(t, files)
			report, err := Run(t.Context(), stages.Env{}, cmp.Or(c.path, "p.csv"), ref, options(c.change))
			if err == nil || err.Error() != c.want || report != nil {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			if _, err := NewStream(t.Context(), stages.Env{}, ref, 0, nil, options(c.change)); strings.HasPrefix(c.want, ref) && (err == nil || err.Error() != c.want) {
				t.Errorf("a stream: %v\nwant %s", err, c.want)
			}
		})
	}
}

// writeArrow writes a stream of batches of one schema.
func writeArrow(t *testing.T, path string, batches ...arrow.Record) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := arrowio.NewWriter(out, path, arrowio.WriteOptions{})
	if err := arrowio.Copy(t.Context(), w, arrowio.NewBatches(path, batches[0].Schema(), batches...)); err != nil {
		t.Fatal(err)
	}
}

// lists is a batch with a column of lists of posteriors, and labels unless those are nil.
func lists(meta arrowio.Meta, width int, labels []string, values ...float32) arrow.Record {
	var table arrowio.Table
	table.Add("probability", arrowio.NewVectorArray(arrowio.Vectors{Rows: len(values) / width, Width: width, Data: values}))
	if labels != nil {
		table.Add("label", arrowio.NewStringArray(labels))
	}
	return table.Record(meta)
}

// Lists of posteriors are those of the classes that the metadata name, in their order.
func TestLists(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name    string
		classes []string
		batches [][]float32
		width   int
		want    string // the error
	}{
		{"in another order", []string{"b", "a"}, [][]float32{{.3, .7, .9, .1}}, 2, ""},
		{"no classes", nil, [][]float32{{.7, .3}}, 2, `p.arrows: the column "probability" has lists of posteriors, and nothing says of which classes: give a column probability_CLASS for each`},
		{"one more", []string{"a", "b", "c"}, [][]float32{{.5, .5, 0}}, 3, `p.arrows: the column "probability" has lists of 3 numbers of 3 classes, and the reference posteriors of 2: give the predictions of one model`},
		{"classes that are not those of the lists", []string{"a", "b", "c"}, [][]float32{{.5, .5}}, 2, `p.arrows: the column "probability" has lists of 2 numbers of 3 classes, and the reference posteriors of 2: give the predictions of one model`},
		{"other classes", []string{"a", "c"}, [][]float32{{.5, .5}}, 2, `p.arrows: the column "probability" has posteriors of a class "c", and the reference has none: give the predictions of one model`},
		{"half a row", []string{"a", "b"}, [][]float32{{.5, .5}, {.5, .5, nan, .5}}, 2, `p.arrows: row 3, column "probability": element 1 is NaN: fill or drop the row`},
		{"a sum", []string{"a", "b"}, [][]float32{{.5, .5}, {.5, .5, .5, .25}}, 2, `p.arrows: row 3: the posteriors do not add up to 1 but to 0.75: give those of all classes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFolder(t, map[string]string{"p.csv": predictions})
			writeArrow(t, "ref.arrows", lists(arrowio.Meta{Classes: []string{"a", "b"}}, 2, []string{"a", "a", "b", "b"}, .9, .1, .4, .6, .2, .8, .7, .3))
			var batches []arrow.Record
			for _, values := range c.batches {
				batches = append(batches, lists(arrowio.Meta{Classes: c.classes}, c.width, nil, values...))
			}
			writeArrow(t, "p.arrows", batches...)
			got, err := Run(t.Context(), stages.Env{}, "p.arrows", "ref.arrows", options(nil))
			if c.want != "" {
				if err == nil || err.Error() != c.want {
					t.Errorf("%v\nwant %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.arrows", options(nil))
			if err != nil {
				t.Fatal(err)
			}
			if g, w := *got.Windows[0].Accuracy().Value, *want.Windows[0].Accuracy().Value; g != w {
				t.Errorf("an accuracy of %g by lists, want %g as by columns", g, w)
			}
		})
	}
}

// The classes of lists in a reference come from its metadata, which may lack them, or be damaged.
func TestListsOfReference(t *testing.T) {
	for value, want := range map[string]string{
		"null": `ref.arrows: the column "probability" has lists of posteriors, and nothing says of which classes: give a column probability_CLASS for each`,
		"{":    `ref.arrows: schema metadata mars.classes: unexpected end of JSON input: drop or repair the key`,
	} {
		inFolder(t, map[string]string{"p.csv": predictions})
		rec := lists(arrowio.Meta{}, 2, []string{"a", "b"}, .5, .5, .5, .5)
		meta := arrow.NewMetadata([]string{arrowio.ClassesKey}, []string{value})
		writeArrow(t, "ref.arrows", array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), rec.NumRows()))
		if _, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.arrows", options(nil)); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", value, err, want)
		}
	}
}

// A file without rows says nothing, whatever its columns are. One with rows has to have predictions, in each format.
func TestFilesWithoutPredictions(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference, "p.csv": predictions, "x.jsonl": "{\"x\": 1}\n"})
	for name, values := range map[string][]float64{"none.arrows": nil, "x.arrows": {1}} {
		var table arrowio.Table
		table.Add("x", arrowio.NewDoubleArray(values))
		writeArrow(t, name, table.Record(arrowio.Meta{}))
	}
	for path, want := range map[string]string{
		"none.arrows,p.csv": "", "none.arrows": "none.arrows: has a header but no rows: give data with at least one",
		"p.csv,x.arrows": "x.arrows: has no predictions (its columns are ", "p.csv,x.jsonl": "x.jsonl: has no predictions (its columns are ",
	} {
		_, err := Run(t.Context(), stages.Env{}, path, "ref.csv", options(nil))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
}
