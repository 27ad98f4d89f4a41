package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/label"
)

// seen is a tally of labels of rows with values: of nine columns, called as the classes are, of which
// the first says nothing, each other the class, and the last has moved.
//
// Of the classes strange a tenth of the target's rows are like none, and low in column 4.
func seen(t *testing.T, classes []string, strange ...int) *label.Tally {
	t.Helper()
	const rows, width = 400, 9
	rng := rand.New(rand.NewPCG(5, 6))
	var columns []string
	for j := range width {
		columns = append(columns, fmt.Sprint(j, " ", classes[j%len(classes)]))
	}
	note, err := json.Marshal(map[string]any{"version": 1, "columns": columns, "centres": []float64{8: 1000}, "source": struct{}{}, "target": struct{}{}})
	if err != nil {
		t.Fatal(err)
	}
	features := arrow.Field{Name: "features", Type: arrowio.VectorType(width), Metadata: arrow.MetadataFrom(map[string]string{arrowio.PreparationKey: string(note)})}
	schema := arrowio.Meta{Classes: classes}.Apply(arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32},
		{Name: "predicted_class", Type: arrow.BinaryTypes.String}, {Name: "probability", Type: arrowio.VectorType(len(classes))}, {Name: "typicality", Type: arrow.PrimitiveTypes.Float32}, features}, nil))
	var domains []arrowio.Domain
	var numbers []int32
	var names []string
	var posteriors, values, typicality []float32
	for i := range 2 * rows {
		k, domain := i%len(classes), arrowio.Domain(i/rows)
		domains, numbers, names, typicality = append(domains, domain), append(numbers, int32(k)), append(names, classes[k]), append(typicality, rng.Float32())
		unlike := domain == arrowio.TargetDomain && slices.Contains(strange, k) && i%10 == 0
		if unlike {
			typicality[i] = 0
		}
		p := make([]float32, len(classes))
		p[k] = 0.6 + 0.4*rng.Float32()
		p[(k+1)%len(classes)] = 1 - p[k]
		posteriors = append(posteriors, p...)
		for j := range width {
			x := rng.NormFloat64()
			if j > 0 {
				x += float64(2 * k)
			}
			if j == width-1 {
				x += 20 * float64(domain)
			}
			if unlike && j == 4 {
				x -= 30
			}
			values = append(values, float32(x))
		}
	}
	rec := array.NewRecord(schema, []arrow.Array{arrowio.NewDomainArray(domains), arrowio.NewIntArray(numbers, nil), arrowio.NewStringArray(names),
		arrowio.NewVectorArray(arrowio.Vectors{Data: posteriors, Rows: 2 * rows, Width: len(classes)}), arrowio.NewFloatArray(typicality),
		arrowio.NewVectorArray(arrowio.Vectors{Data: values, Rows: 2 * rows, Width: width})}, 2*rows)
	labels, err := label.New(stages.Env{Columns: arrowio.DefaultColumns()}, arrowio.NewBatches("rows", schema, rec), label.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tally := label.NewTally(labels)
	if err := tally.Look(); err != nil {
		t.Fatal(err)
	}
	if err := arrowio.Each(t.Context(), tally, func(arrow.Record) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return tally
}

// tableOf is the table of a part with this title.
func tableOf(t *testing.T, p *Part, title string) Table {
	t.Helper()
	for _, table := range p.Tables {
		if table.Title == title {
			return table
		}
	}
	t.Fatalf("there is no table %q", title)
	return Table{}
}

// Rows in doubt stand with their values, as the file has them, of the columns that tell the classes apart.
func TestRowsInDoubtHaveValues(t *testing.T) {
	p, err := Labels(seen(t, []string{"a", "b", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	doubts := tableOf(t, p, "Labels most in doubt")
	if got, want := strings.Join(doubts.Head[4:], ","), "1 b,2 c,3 a,4 b,5 c,6 a,7 b,8 c"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if !strings.Contains(doubts.Text, "the 8 of 9 columns") {
		t.Errorf("it says %q", doubts.Text)
	}
	for _, row := range doubts.Rows {
		if value := row[len(row)-1]; !strings.HasPrefix(value, "10") { // a centre of 1000, moved by 20
			t.Errorf("the last column of row %s is %q", row[0], value)
		}
	}
}

// What rows of a label are expected to be is drawn of few classes, and of many the largest pairs stand in
// a table.
func TestExpectedConfusion(t *testing.T) {
	few, err := Labels(seen(t, []string{"a", "b", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	f, err := few.Figure("expected")
	if err != nil {
		t.Fatal(err)
	}
	if row := strings.Join(f.Table.Rows[0], " "); !regexp.MustCompile("^b 1[01][0-9] 0 [23][0-9]$").MatchString(row) { // of 134 rows a fifth
		t.Errorf("row %q under %q", row, f.Table.Head)
	}
	var names []string
	for k := range 20 {
		names = append(names, fmt.Sprint("class ", k))
	}
	many, err := Labels(seen(t, names))
	if err != nil {
		t.Fatal(err)
	}
	pairs := tableOf(t, many, "Confusion that is expected")
	if len(pairs.Rows) != mostPairs || pairs.Rows[0][0] == pairs.Rows[0][1] {
		t.Errorf("pairs %v", pairs.Rows)
	}
}

// Each label has its most typical row, with values: that of no other is surer and more usual.
func TestTypicalRows(t *testing.T) {
	tally := seen(t, []string{"a", "b", "c"})
	p, err := Labels(tally)
	if err != nil {
		t.Fatal(err)
	}
	table := tableOf(t, p, "Typical rows")
	if len(table.Rows) != 3 || strings.Join(table.Head[:5], ",") != "label,id,confidence,typicality,1 b" {
		t.Errorf("%q %q", table.Head, table.Rows)
	}
	for _, r := range tally.Typical() {
		if r.Confidence < 0.9 || r.Typicality < 0.9 || len(r.Values) != 9 {
			t.Errorf("the typical row of %s has the confidence %g and the typicality %g", r.Label, r.Confidence, r.Typicality)
		}
	}
}

// Rows that are like none of the source are told by the class that they are nearest to, and by the columns in which
// they differ from its other rows. Where no more are so than chance explains, nothing is told.
func TestRowsLikeNone(t *testing.T) {
	p, err := Labels(seen(t, []string{"a", "b", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		if table.Title == "Rows like none of the source" {
			t.Errorf("told of chance: %q", table.Rows)
		}
	}
	p, err = Labels(seen(t, []string{"a", "b", "c"}, 1))
	if err != nil {
		t.Fatal(err)
	}
	rows := tableOf(t, p, "Rows like none of the source").Rows
	if len(rows) != 1 || strings.Join(rows[0][:3], ",") != "b,15,1" || !regexp.MustCompile(`^4 b lower by \d+\.\d$`).MatchString(rows[0][3]) {
		t.Errorf("%q", rows)
	}
}

// The column that has moved is drawn first, as the file has it, and one that has not is not.
func TestMovedColumns(t *testing.T) {
	p, err := Labels(seen(t, []string{"a", "b", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Figure("moved")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Table.Rows) != 1 || !regexp.MustCompile("^8 c 1.00 100[0-9][.0-9]* to 100[0-9][.0-9]* 102[0-9][.0-9]* to 102[0-9]").MatchString(strings.Join(f.Table.Rows[0], " ")) {
		t.Errorf("%q", f.Table.Rows)
	}
}
