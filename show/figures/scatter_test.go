package figures

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline/compare"
)

// batches is a stream of n rows in batches of size, whose features are 10·row and 1, with
// classes by thirds; the second half is the target.
type batches struct {
	name          string
	n, size, next int
	schema        *arrow.Schema
}

func stream(n, size int) *batches {
	fields := []arrow.Field{
		{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "prediction", Type: arrow.PrimitiveTypes.Int32}, {Name: "features", Type: arrowio.VectorType(2)},
	}
	schema := arrowio.Meta{Classes: []string{"a", "b", "c"}}.Apply(arrow.NewSchema(fields, nil))
	return &batches{"rows", n, size, 0, schema}
}

func (b *batches) Name() string          { return b.name }
func (b *batches) Schema() *arrow.Schema { return b.schema }

func (b *batches) Next() (arrow.Record, error) {
	if b.next == b.n {
		return nil, io.EOF
	}
	var domains []arrowio.Domain
	var labels []int32
	var valid []bool
	var x []float32
	for ; b.next < b.n && len(labels) < b.size; b.next++ {
		domain := arrowio.SourceDomain
		if b.next >= b.n/2 {
			domain = arrowio.TargetDomain
		}
		domains, labels = append(domains, domain), append(labels, int32(b.next%3))
		valid = append(valid, domain == arrowio.SourceDomain)
		x = append(x, float32(10*b.next), 1)
	}
	columns := []arrow.Array{arrowio.NewDomainArray(domains), arrowio.NewIntArray(labels, valid), arrowio.NewIntArray(labels, nil),
		arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: len(labels), Width: 2})}
	return array.NewRecord(b.schema, columns, int64(len(labels))), nil
}

func options() RowOptions {
	return RowOptions{Columns: arrowio.DefaultColumns(), Vectors: []string{"features", "embedding"}, Domain: "both", Colours: "auto", Limit: 100, Seed: 1}
}

// The sample is of so many rows, in their order, the same for any batches; each row has the
// same chance; and the rows keep their domains and classes.
func TestRead(t *testing.T) {
	times := make([]int, 400)
	for seed := range uint64(300) {
		o := options()
		o.Seed = seed
		r, err := Read(context.Background(), stream(400, 64), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Total != 400 || r.Vectors[0].Rows != 100 || r.Colours != "prediction" || !slices.Equal(r.Columns, []string{"features"}) {
			t.Fatalf("%+v", r)
		}
		other, err := Read(context.Background(), stream(400, 37), o)
		if err != nil || !slices.Equal(other.Vectors[0].Data, r.Vectors[0].Data) {
			t.Fatalf("other batches have other rows: %v", err)
		}
		last := -1
		for i := range 100 {
			at := int(r.Vectors[0].Data[2*i]) / 10
			if at <= last || r.Classes[i] != int32(at%3) || (r.Domains[i] == arrowio.TargetDomain) != (at >= 200) {
				t.Fatalf("row %d: class %d, domain %v", at, r.Classes[i], r.Domains[i])
			}
			times[at]++
			last = at
		}
	}
	// 300 draws of a quarter: a mean of 75, a deviation of 7.5.
	for at, n := range times {
		if n < 75-38 || n > 75+38 {
			t.Errorf("row %d was drawn %d times of 300, not about 75", at, n)
		}
	}
}

func TestReadOptions(t *testing.T) {
	o := options()
	o.Domain, o.Colours = "target", "none"
	r, err := Read(context.Background(), stream(60, 60), o)
	if err != nil || r.Total != 30 || slices.Max(r.Classes) != -1 {
		t.Errorf("of the target without colours: %+v, %v", r, err)
	}
	for says, change := range map[string]func(*RowOptions){
		`no column "truth"`:          func(o *RowOptions) { o.Colours = "truth" },
		`no column "z"`:              func(o *RowOptions) { o.Vectors = []string{"z"} },
		"domain":                     func(o *RowOptions) { o.Columns.Domain = "side" },
		"embedding\": name a column": func(o *RowOptions) { o.Vectors = []string{"embedding"} },
	} {
		o := options()
		change(&o)
		if _, err := Read(context.Background(), stream(60, 60), o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %s", err, says)
		}
	}
	if _, err := Read(context.Background(), stream(0, 60), options()); err == nil {
		t.Error("no rows are drawn")
	}
}

// rowsOf are n random rows of d columns and k classes.
func rowsOf(n, d, k int) *Rows {
	rng := rand.New(rand.NewPCG(1, 1))
	r := &Rows{Name: "<a&b>.arrow", Columns: []string{"features", "embedding"}, Total: n, Colours: "truth"}
	for range 2 {
		x := blas32.General{Rows: n, Cols: d, Stride: d}
		for i := range n * d {
			x.Data = append(x.Data, float32(rng.NormFloat64()+float64(3*(i/d%k))))
		}
		r.Vectors = append(r.Vectors, x)
	}
	for i := range n {
		r.Classes = append(r.Classes, int32(i%k))
		r.Domains = append(r.Domains, arrowio.Domain(i/k%2))
	}
	for c := range k {
		r.Names = append(r.Names, fmt.Sprintf("class <%d>", c))
	}
	return r
}

// write draws a figure and checks that it is whole.
func write(t *testing.T, f *Figure) (svg string) {
	t.Helper()
	for _, format := range Formats {
		var b bytes.Buffer
		if err := f.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		switch format {
		case ".svg":
			svg = b.String()
			d := xml.NewDecoder(&b)
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		case ".png":
			if _, err := png.Decode(&b); err != nil {
				t.Error(err)
			}
		case ".pdf":
			if !bytes.HasPrefix(b.Bytes(), []byte("%PDF-")) || !bytes.Contains(b.Bytes(), []byte("%%EOF")) {
				t.Error("the PDF is not whole")
			}
		}
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("a number is not finite")
	}
	return svg
}

func TestScatter(t *testing.T) {
	for _, o := range []ScatterOptions{{}, {TSNE: true}} {
		r := rowsOf(60, 4, 3)
		r.Total = 1000
		f, err := Scatter(context.Background(), []*Rows{r}, o)
		if err != nil {
			t.Fatal(err)
		}
		svg := write(t, f)
		for _, words := range []string{"60 of the 1000 rows are drawn, a fair sample by seed 0.", "true class", ">class &lt;2&gt;</text>", ">source</text>", ">target</text>",
			">features</text>", ">embedding</text>", "<title>", "<desc>"} {
			if !strings.Contains(svg, words) {
				t.Errorf("the figure does not have %q", words)
			}
		}
		if says := strings.Contains(svg, "of the variance"); says == o.TSNE {
			t.Errorf("t-SNE %t: the axes say of the variance: %t", o.TSNE, says)
		}
		// One path for each class, domain and panel, of ten rows each.
		if n := strings.Count(svg, "Z\" style"); n < 12 || n > 40 {
			t.Errorf("there are %d closed paths", n)
		}
	}
}

// Thousands of rows make a file below 2 MB, and 65 classes are not all in the legend.
func TestScatterIsSmall(t *testing.T) {
	r := rowsOf(10_000, 2, 65)
	f, err := Scatter(context.Background(), []*Rows{r}, ScatterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	svg := write(t, f)
	if len(svg) > 2e6 {
		t.Errorf("20,000 points take %d bytes", len(svg))
	}
	if !strings.Contains(svg, "and 41 classes more") || !strings.Contains(svg, "All 10000 rows.") || !strings.Contains(svg, "colours are alike") {
		t.Error("the figure does not say what it leaves out")
	}
}

func TestScatterRefuses(t *testing.T) {
	if _, err := Scatter(context.Background(), []*Rows{rowsOf(3, 2, 3)}, ScatterOptions{TSNE: true}); err == nil || !strings.Contains(err.Error(), "at least 4") {
		t.Error(err)
	}
	if _, err := Scatter(context.Background(), nil, ScatterOptions{}); err == nil {
		t.Error("no rows make a figure")
	}
}

// results writes a table of results of the toy.
func results(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.csv")
	text := "setting,x,method,seed,balanced_accuracy,proportions_l1\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func comparison(t *testing.T, path string) *compare.Comparison {
	t.Helper()
	c, err := compare.Files([]string{path}, compare.Options{Incomplete: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStudy(t *testing.T) {
	path := results(t, "0,2,source,0,.9,", "0,2,source,1,.8,", "0,2,marsc,0,.95,.1", "0,2,marsc,1,.97,.2", "0,11,marsc,0,.6,.3",
		"0,11,source,0,.5,", "0,11,source,1,.7,", "4,34,source,0,.2,", "4,34,marsc,0,.99,.1")
	f, err := Study([]string{path}, StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	svg := write(t, f)
	for _, words := range []string{">setting 0</text>", ">setting 4</text>", ">x</text>", ">marsc</text>", ">source</text>", "Means of 1 to 2 runs"} {
		if !strings.Contains(svg, words) {
			t.Errorf("the figure does not have %q", words)
		}
	}
	sheet, _, err := studySheet(comparison(t, path), StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := sheet.panels[0], sheet.panels[1]
	if a.Y.Min != b.Y.Min || a.Y.Max != b.Y.Max || a.Y.Min > .2 || a.Y.Max < .99 {
		t.Errorf("the panels have %v to %v and %v to %v", a.Y.Min, a.Y.Max, b.Y.Min, b.Y.Max)
	}
	if a.X.Min > 2 || a.X.Max < 11 || a.X.Max > 12 {
		t.Errorf("the axis is %v to %v", a.X.Min, a.X.Max)
	}
	f, err = Study([]string{path}, StudyOptions{Number: "proportions_l1", X: "setting"})
	if err != nil {
		t.Fatal(err)
	}
	if svg := write(t, f); !strings.Contains(svg, "Without proportions_l1: source.") || !strings.Contains(svg, ">x 34</text>") {
		t.Error("the figure does not say who lacks the number, or its panels")
	}
}

// A line goes through the means, and the band is a deviation wide.
func TestCurve(t *testing.T) {
	path := results(t, "0,2,m,0,.5,", "0,2,m,1,.7,", "0,10,m,0,.9,", "0,10,m,1,.9,", "0,2,n,0,.8,", "0,2,n,1,.8,", "0,10,n,0,.8,", "0,10,n,1,.8,")
	f, _, err := studySheet(comparison(t, path), StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wide := math.Sqrt(2) / 10
	if low, high := f.panels[0].Y.Min, f.panels[0].Y.Max; math.Abs(low-(.6-wide)) > .02 || math.Abs(high-.9) > .02 {
		t.Errorf("the range is %v to %v", low, high)
	}
}

func TestStudyRefuses(t *testing.T) {
	path := results(t, "0,2,source,0,.9,", "0,5,source,0,.9,", "0,2,marsc,0,.95,.1", "0,5,marsc,0,.95,.1")
	for says, o := range map[string]StudyOptions{
		`no column "foo" to draw against`: {X: "foo"},
		`of a method "foo"`:               {Methods: []string{"foo"}},
		`"source" has no proportions_l1`:  {Methods: []string{"source"}, Number: "proportions_l1"},
		`no column "foo"`:                 {Number: "foo"},
	} {
		if _, err := Study([]string{path}, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %s", err, says)
		}
	}
	if _, err := Study([]string{filepath.Join(t.TempDir(), "none.csv")}, StudyOptions{}); err == nil {
		t.Error("a file that is not there makes a figure")
	}
}

// Colours differ, none is white, and marks and dashes help to tell methods apart.
func TestColours(t *testing.T) {
	seen := map[string]bool{}
	for k := range 24 {
		c := colourOf(k)
		seen[fmt.Sprint(c)] = true
		if int(c.R)+int(c.G)+int(c.B) > 600 || c.A != 255 {
			t.Errorf("colour %d is %v", k, c)
		}
	}
	if len(seen) != 24 {
		t.Errorf("24 classes have %d colours", len(seen))
	}
}

// Results of one setting stand side by side.
func TestStudyOfOneSetting(t *testing.T) {
	f, err := Study([]string{results(t, "0,2,source,0,.9,", "0,2,source,1,.8,", "0,2,marsc,0,.95,.1", "0,2,marsc,1,.9,.1")}, StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if svg := write(t, f); !strings.Contains(svg, "Means of 2 runs") || len(f.Table.Rows) != 1 || f.Table.Rows[0][0] != "0.850 ± 0.071" {
		t.Errorf("%+v", f.Table)
	}
}

// A method has the same colour in all figures of a study, also where another lacks the number.
func TestSameColours(t *testing.T) {
	path := results(t, "0,2,source,0,.9,", "0,5,source,0,.8,", "0,2,marsc,0,.95,.1", "0,5,marsc,0,.9,.1")
	accuracy, _, err := studySheet(comparison(t, path), StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Files([]string{path}, compare.Options{Number: "proportions_l1", Incomplete: true})
	if err != nil {
		t.Fatal(err)
	}
	errors, _, err := studySheet(c, StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(errors.legend) != 1 || errors.legend[0] != accuracy.legend[1] {
		t.Errorf("marsc has %v, and elsewhere %v", errors.legend, accuracy.legend)
	}
}

// A page says beside a figure what the figure says in a file.
func TestBareInPages(t *testing.T) {
	f, err := Study([]string{results(t, "0,2,a,0,.9,", "0,5,a,0,.8,", "0,2,b,0,.95,.1", "0,5,b,0,.9,.1")}, StudyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inline, err := f.Inline("x")
	if err != nil {
		t.Fatal(err)
	}
	if drawn := ">One run each"; !strings.Contains(write(t, f), drawn) || strings.Contains(strings.Replace(inline, "<desc id=\"x-text\""+drawn, "", 1), drawn) {
		t.Error("the note is drawn in the page, or not in the file")
	}
	whole, _ := f.layout(f.width)
	if bare, _ := f.bare(f.width); bare >= whole {
		t.Errorf("without its note it is %v high, and with it %v", bare, whole)
	}
}

func candidates() *Candidates {
	nan := math.NaN()
	return &Candidates{Settings: []string{"epochs", "learning-rate"}, Values: [][]string{{"1", "default"}, {"30", "default"}, {"30", "50"}},
		Scores: []string{"reverse", "dev"}, Of: [][]float64{{.8, -.1}, {.9, -.4}, {nan, nan}}, Seconds: []float64{1, 2, 3}, Failed: []string{"", "", "diverged"}, Chosen: 1}
}

func TestScores(t *testing.T) {
	f, err := Scores(candidates())
	if err != nil {
		t.Fatal(err)
	}
	svg := write(t, f)
	for _, words := range []string{">learning-rate</text>", ">reverse</text>", ">failed</text>", ">-0.4</text>", "reverse chose epochs=30 learning-rate=default."} {
		if !strings.Contains(svg, words) {
			t.Errorf("the figure does not have %q", words)
		}
	}
	if want := []string{"30", "default", "0.9000", "-0.4000", "2", "chosen", ""}; len(f.Table.Rows) != 3 || !slices.Equal(f.Table.Rows[1], want) {
		t.Errorf("table: %q", f.Table.Rows)
	}
	many := candidates()
	for i := range 100 {
		many.Values, many.Of = append(many.Values, []string{fmt.Sprint(i), "x"}), append(many.Of, []float64{float64(i) / 1000, 0})
		many.Seconds, many.Failed = append(many.Seconds, 1), append(many.Failed, "")
	}
	if f, err = Scores(many); err != nil || len(f.Notes) != 1 || len(f.Table.Rows) != 103 || !slices.Contains(many.drawn(), many.Chosen) || len(many.drawn()) != maxCandidates {
		t.Errorf("of 103 candidates %d are drawn: %v", len(many.drawn()), err)
	}
	for _, bad := range []*Candidates{{}, {Settings: []string{"a"}, Values: [][]string{{"1"}}, Scores: []string{"dev"}, Of: [][]float64{{1}}, Chosen: -1}} {
		if _, err := Scores(bad); err == nil {
			t.Errorf("%+v makes a figure", bad)
		}
	}
}
