package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/race"
	"mars.dev/mars/pipeline/compare"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/check"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/proportions"
)

// hostile names are those of classes that try to be something else.
var hostile = []string{`<script>alert("x")</script>`, `</svg><img src=http://example.org/x onerror=alert(1)>`, "a&b \"c\" 'd'", "two\nlines \x1b[31m", "]]>-->", strings.Repeat("long ", 60), "日本語"}

func proportionsOf(classes []string) *proportions.Report {
	r := &proportions.Report{Classes: classes, TargetRows: 20000, Verdict: "These proportions <b>can</b> be believed.", Warnings: []string{"a <i>warning</i>"}, Estimators: map[string][]float64{"em <x>": nil, "mte": nil}}
	r.Interval.Level = 0.9
	for k := range classes {
		p := float64(k+1) / float64(len(classes)*(len(classes)+1)/2)
		r.Proportions.Source = append(r.Proportions.Source, 1/float64(len(classes)))
		r.Proportions.Estimated = append(r.Proportions.Estimated, p)
		r.Proportions.True = append(r.Proportions.True, p)
		r.Interval.Lower, r.Interval.Upper = append(r.Interval.Lower, p/2), append(r.Interval.Upper, math.Min(2*p, 1))
		for name := range r.Estimators {
			r.Estimators[name] = append(r.Estimators[name], p)
		}
	}
	return r
}

func checkOf(classes []string) *check.Report {
	v, low, high := .8, .7, .9
	f := check.Figure{Name: "accuracy", Value: &v, Lower: &low, Upper: &high}
	w := &check.Window{Window: 1, Start: "1", End: "9", Figures: []check.Figure{f, {Name: "f1_" + classes[0], Value: &v}}, Verdict: "doubt", Warnings: []string{classes[0]}}
	gone := &check.Window{Window: 2, Start: "10", End: "19", Figures: []check.Figure{{Name: "accuracy"}}, Verdict: "believe"}
	return &check.Report{Classes: classes, Level: .9, Reference: []check.Figure{f}, Unseen: check.Unseen, Windows: []*check.Window{w, gone}}
}

func evaluationOf(classes []string) *eval.Metrics {
	m := &eval.Metrics{Classes: classes, N: 20000, Accuracy: 0.8, BalancedAccuracy: 0.75, Survey: &eval.Survey{}}
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range classes {
		recall := rng.Float64()
		m.Recall = append(m.Recall, &recall)
		row := make([]int, len(classes))
		for j := range row {
			row[j] = rng.IntN(50)
		}
		m.Confusion = append(m.Confusion, row)
		for range 100 {
			sure := rng.Float64()
			truth := classes[k]
			if rng.Float64() > sure {
				truth = classes[rng.IntN(len(classes))]
			}
			m.Survey.Add(sure, classes[k], truth, func() eval.SurveyRow { return eval.SurveyRow{ID: classes[k]} })
		}
	}
	m.Recall[0] = nil
	m.Survey.Finish()
	return m
}

func labelsOf(t *testing.T, classes []string, rows int) *label.Tally {
	t.Helper()
	tally := label.NewCount(nil)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range rows {
		if err := tally.Count(func() label.Row { return label.Row{ID: fmt.Sprint("row ", i)} }, classes[rng.IntN(len(classes))], rng.Float64(), ""); err != nil {
			t.Fatal(err)
		}
	}
	return tally
}

func comparisonOf(methods []string) *compare.Comparison {
	c := &compare.Comparison{Number: "balanced_accuracy", Level: 0.01, Methods: methods, Columns: []string{"task"}, Friedman: &compare.Rank{CriticalDifference: 2.1}}
	for k := range methods {
		c.Ranks, c.Wins = append(c.Ranks, 1+0.9*float64(k)), append(c.Wins, k)
	}
	for i := range 4 {
		s := compare.Setting{Values: []string{fmt.Sprint("task <", i)}}
		for range methods {
			s.Results = append(s.Results, compare.Result{Mean: 0.5, Runs: 3})
		}
		c.Settings = append(c.Settings, s)
	}
	return c
}

func trainingOf(classes []string) *figures.Epochs {
	e := &figures.Epochs{Classes: classes}
	for k := range 12 {
		e.Epoch = append(e.Epoch, float64(k))
		e.Loss, e.Accuracy = append(e.Loss, 1/float64(k+1)), append(e.Accuracy, 0.5)
		critic, p := math.NaN(), []float64(nil)
		if k > 3 {
			critic = 0.1 * float64(k)
			p = slices.Repeat([]float64{1 / float64(len(classes))}, len(classes))
		}
		e.Critic, e.Proportions = append(e.Critic, critic), append(e.Proportions, p)
	}
	return e
}

func planOf(classes []string) [][]float64 {
	plan := make([][]float64, len(classes))
	for i := range plan {
		plan[i] = make([]float64, len(classes)+1)
		plan[i][i] = 1 / float64(len(classes))
	}
	return plan
}

// studyOf is a table of runs of methods with these names, of which one lacks a run.
func studyOf(methods []string) [][]string {
	lines := [][]string{{"setting", "x", "method", "seed", "balanced_accuracy", "proportions_l1", "train.seconds"}}
	for k, m := range methods {
		for i := range 8 {
			if k > 0 || i > 0 {
				lines = append(lines, []string{"<" + fmt.Sprint(i/4), fmt.Sprint(i / 2 % 2), m, fmt.Sprint(i % 2), fmt.Sprint(0.9 - 0.001*float64(k*i)), fmt.Sprint(0.01 * float64(k)), "1"})
			}
		}
	}
	return lines
}

// rowsOf is a stream with a row of each class in each domain, and more, of features and embedding.
func rowsOf(classes []string, times int) arrowio.Stream {
	var domains []arrowio.Domain
	var labels []int32
	var valid []bool
	var x, z []float32
	for i := range 2 * times * len(classes) {
		domain := []arrowio.Domain{arrowio.SourceDomain, arrowio.TargetDomain}[i%2]
		domains, labels, valid = append(domains, domain), append(labels, int32(i/2%len(classes))), append(valid, i%2 == 0)
		x, z = append(x, float32(i%7), float32(i%5), float32(i%3)), append(z, float32(i%3), float32(i))
	}
	fields := []arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: arrowio.VectorType(3)}, {Name: "embedding", Type: arrowio.VectorType(2)}}
	schema := arrowio.Meta{Classes: classes}.Apply(arrow.NewSchema(fields, nil))
	n := len(labels)
	rec := array.NewRecord(schema, []arrow.Array{arrowio.NewDomainArray(domains), arrowio.NewIntArray(labels, valid),
		arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: n, Width: 3}), arrowio.NewVectorArray(arrowio.Vectors{Data: z, Rows: n, Width: 2})}, int64(n))
	return arrowio.NewBatches("rows", schema, rec)
}

// allParts are parts of every kind.
func allParts(t *testing.T, classes []string) (parts []*Part) {
	t.Helper()
	add := func(p *Part, err error) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	add(Proportions(proportionsOf(classes)))
	add(Evaluation(evaluationOf(classes)))
	add(Checked(checkOf(classes)))
	add(Labels(labelsOf(t, classes, 20_000)))
	add(Labels(seen(t, classes)))
	add(Training(trainingOf(classes)))
	add(Plan(classes, planOf(classes)))
	add(Comparison(comparisonOf(classes)))
	add(Selection(&figures.Candidates{Settings: classes[:2], Values: [][]string{{classes[0], "1"}, {classes[1], "2"}}, Scores: []string{"reverse", "dev"},
		Of: [][]float64{{.5, math.NaN()}, {.6, -1}}, Seconds: []float64{1, 2}, Failed: []string{"", classes[0]}, Chosen: 1}))
	add(methods(func(o compare.Options) (*compare.Comparison, error) {
		return compare.Table("runs", studyOf(classes), o)
	}))
	add(Rows(t.Context(), rowsOf(classes, 4), Options{TSNE: true}))
	return parts
}

// Every kind of figure is drawn in every format, whatever its classes are called, and SVG is
// well-formed, with its words as text.
func TestFigures(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	drawn := map[string]bool{}
	many := make([]string, 100)
	for k := range many {
		many[k] = fmt.Sprint("class ", k)
	}
	for _, classes := range [][]string{hostile, {"a", "b", "c"}, many[:55]} {
		for _, p := range allParts(t, classes) {
			for _, f := range p.Figures {
				drawn[f.Kind] = true
				var svg, image, pdf bytes.Buffer
				if err := errors.Join(f.Write(&svg, ".svg"), f.Write(&image, ".png"), f.Write(&pdf, ".pdf")); err != nil {
					t.Fatalf("%s: %v", f.Kind, err)
				}
				words := wellFormed(t, f.Kind, svg.Bytes())
				if !strings.Contains(words, f.Title) || !strings.Contains(words, f.Text) {
					t.Errorf("%s: its title or text is not in the SVG", f.Kind)
				}
				if picture, err := png.Decode(&image); err != nil || picture.Bounds().Dx() < 200 {
					t.Errorf("%s: PNG: %v", f.Kind, err)
				}
				if !bytes.HasPrefix(pdf.Bytes(), []byte("%PDF-")) || !bytes.Contains(pdf.Bytes()[pdf.Len()-10:], []byte("%%EOF")) {
					t.Errorf("%s: no whole PDF", f.Kind)
				}
				if len(f.Table.Rows) == 0 {
					t.Errorf("%s: no table", f.Kind)
				}
				for _, row := range f.Table.Rows {
					if len(row) != len(f.Table.Head) {
						t.Errorf("%s: a row of %d cells under %d names", f.Kind, len(row), len(f.Table.Head))
						break
					}
				}
			}
		}
	}
	for _, kind := range figures.Kinds {
		if !drawn[kind] {
			t.Errorf("no figure %q was drawn", kind)
		}
	}
	if len(drawn) != len(figures.Kinds) {
		t.Errorf("drawn are %d kinds of %d", len(drawn), len(figures.Kinds))
	}
	if p, err := Proportions(proportionsOf(many)); err != nil || p.Figures[0].Notes == nil {
		t.Errorf("100 classes: %v, and no note that some are not drawn", err)
	}
}

// wellFormed reads XML, and returns its text.
func wellFormed(t *testing.T, name string, text []byte) (words string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, ok := token.(xml.CharData); ok {
			words += string(data)
		}
		if e, ok := token.(xml.StartElement); ok {
			if slices.Contains([]string{"script", "img", "foreignObject", "image"}, e.Name.Local) {
				t.Errorf("%s: has an element %s", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s: %s has %s=%q", name, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// A page needs nothing else, says what names say as text, and stays small.
func TestPage(t *testing.T) {
	page := &Page{Title: "A <page>", Parts: allParts(t, hostile), Made: "Made by mars.", Command: `mars report '<x>' -o "y"`}
	var out bytes.Buffer
	if err := page.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if len(text) > 2<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
	for _, bad := range []string{"<script", "<img", "onerror=alert(1)>", "<b>can", "<i>warning", "\x1b"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if urls := regexp.MustCompile(`<[^>&]*(src|href)\s*=\s*["']?(https?:)?//|url\(`).FindString(text); urls != "" {
		t.Errorf("the page asks for %s", urls)
	}
	for _, want := range []string{"&lt;script&gt;alert(", "A &lt;page&gt;", "日本語", "prefers-color-scheme: dark", `<th scope="row">`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		for _, id := range strings.Fields(m[1]) {
			if !ids[id] {
				t.Errorf("there is no element %q, by which another is named", id)
			}
		}
	}
}

// What is read from files is what was written, and other files are errors that say what to give.
func TestOpen(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, content any) string {
		path := filepath.Join(folder, name)
		text, isText := content.(string)
		if !isText {
			b, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		content any
		kinds   string
	}{
		"p.json":      {proportionsOf(hostile), "shares"},
		"e.json":      {evaluationOf(hostile), "confusion recall calibration confidence"},
		"c.json":      {comparisonOf(hostile), "ranks"},
		"l.csv":       {"id,predicted_class,confidence,truth\n1,a,0.9,a\n2,b,0.4,a\n", "labels calibration confidence"},
		"l.tsv":       {"id\tpredicted_class\tconfidence\n1\ta\t0.9\n", "labels confidence"},
		"study.csv":   {"task,method,seed,accuracy,proportions_l1\na,x,0,.9,.1\na,y,0,.8,\na,z,0,.7,\nb,x,0,.9,.2\nb,y,0,.8,\nb,z,0,.7,\n", "study errors ranks"},
		"one.csv":     {"method,seed,accuracy\nx,0,.9\ny,0,.8\n", "study"},
		"study.jsonl": {`{"study":"s","program":"p"}` + "\n" + `{"method":"x","seed":0,"accuracy":0.5}` + "\n" + `{"method":"y","seed":0,"accuracy":0.6}` + "\n", "study"},
		"space.csv":   {"\"my id\",predicted_class,confidence\n\"x,y\",\"a\nb\",1\n", "labels confidence"},
	} {
		p, err := Open(t.Context(), write(name, c.content), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var kinds []string
		for _, f := range p.Figures {
			kinds = append(kinds, f.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.kinds {
			t.Errorf("%s: figures %q, want %q", name, got, c.kinds)
		}
	}
	short, other := proportionsOf(hostile), evaluationOf([]string{"a", "b"})
	short.Proportions.Source = short.Proportions.Source[1:]
	other.Confusion[0] = other.Confusion[0][:1]
	for name, c := range map[string]struct {
		content any
		want    string
	}{
		"short.json":   {short, "shares are not those of its classes"},
		"square.json":  {other, "not square"},
		"empty.json":   {"", "is empty"},
		"cut.json":     {`{"expected_error": 1, "interval"`, "no valid JSON"},
		"array.json":   {`[1]`, "nothing that can be drawn"},
		"unknown.json": {`{"a": 1}`, "JSON of another kind: give the JSON of mars proportions"},
		"types.json":   {`{"expected_error": "x", "interval": {}, "classes": []}`, "is damaged"},
		"alone.csv":    {"method,seed,accuracy\nx,0,.9\n", "there is only one method, x"},
		"rows.csv":     {"a,b\n1,2\n", "nothing that can be drawn"},
		"words.csv":    {"id,predicted_class,confidence\n1,a,much\n", `row 1: column confidence: "much" is no number`},
		"range.csv":    {"id,predicted_class,confidence\n1,a,0.5\n2,a,1.5\n", "row 2: a confidence of 1.5"},
		"nan.csv":      {"id,predicted_class,confidence\n1,a,NaN\n", "a confidence of NaN"},
		"ragged.csv":   {"id,predicted_class,confidence\n1,a\n", "line 2: has another number of fields"},
		"none.csv":     {"id,predicted_class,confidence\n", "holds no labels"},
		"lonely.csv":   {"id,predicted_class\n1,a\n", "no columns predicted_class and confidence"},
	} {
		path := write(name, c.content)
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(folder, "absent"), Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	p, err := Open(t.Context(), filepath.Join(folder, "p.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Figure("recall"); err == nil || !strings.Contains(err.Error(), `has no figure "recall": it has shares`) {
		t.Errorf("a figure that is not there: %v", err)
	}
}

// Rows of labels are named by their column id, wherever it stands, and by the first column where
// none is called so.
func TestRowsOfLabelsAreNamed(t *testing.T) {
	for _, text := range []string{"predicted_class,confidence,id\na,0.3,row-7\n", "key,predicted_class,confidence\nrow-7,a,0.3\n"} {
		path := filepath.Join(t.TempDir(), "labels.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprint(p.Tables); !strings.Contains(all, "row-7") {
			t.Errorf("%q: the row in doubt is not row-7: %s", text, all)
		}
	}
}

// What a study lacks is a warning, and results of two programs too.
func TestStudyWarns(t *testing.T) {
	p, err := methods(func(o compare.Options) (*compare.Comparison, error) {
		return compare.Table("runs", studyOf([]string{"a", "b", "c"}), o)
	})
	if err != nil || len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "Missing and left out: setting <0, x 0, a, seed 0") {
		t.Errorf("%+v %v", p, err)
	}
	path := filepath.Join(t.TempDir(), "two.jsonl")
	two := `{"program":"p"}` + "\n" + `{"method":"x","seed":0,"accuracy":0.5}` + "\n" + `{"program":"q"}` + "\n" + `{"method":"y","seed":0,"accuracy":0.6}` + "\n"
	if err := os.WriteFile(path, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = Open(t.Context(), path, Options{}); err != nil || len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "The results are of several versions of the program") {
		t.Errorf("%+v %v", p, err)
	}
}

// A choice is read as it was written, and a file that only looks like one is an error.
func TestOpenSelection(t *testing.T) {
	folder := t.TempDir()
	text, float, truth := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean
	write := func(name string, json string, types ...arrow.DataType) string {
		fields := []arrow.Field{}
		for i, column := range []string{"epochs", "reverse", "seconds", "chosen", "failed"} {
			fields = append(fields, arrow.Field{Name: column, Type: types[i], Nullable: true})
		}
		rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(json))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		out, err := arrowio.Create(path, arrowio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := arrowio.Copy(t.Context(), out, arrowio.NewBatches("rows", rec.Schema(), rec)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := `[{"epochs":"1","reverse":0.5,"seconds":1,"chosen":false},{"epochs":"9","reverse":0.75,"seconds":1,"chosen":true},{"epochs":"x","seconds":0,"chosen":false,"failed":"diverged"}]`
	p, err := Open(t.Context(), write("good.arrow", good, text, float, float, truth, text), Options{})
	if err != nil || p.Lead != "epochs=9 is chosen of 3 candidates, by reverse (0.7500), without labels of the target." || len(p.Warnings) != 1 || len(p.Figures) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	numbers := strings.NewReplacer("false", `"no"`, "true", `"yes"`).Replace(good)
	for path, want := range map[string]string{
		write("text.arrow", numbers, text, float, float, text, text):                                    "columns or scores that mars train --select does not write",
		write("none.arrow", strings.ReplaceAll(good, "true", "false"), text, float, float, truth, text): "says of no candidate that it was chosen",
		write("empty.arrow", "[]", text, float, float, truth, text):                                     "holds no candidates",
	} {
		if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
