package featurize

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
)

// suspect is a table of columns that are functions of the row's number.
func suspect(rows int, labels bool, columns map[string]func(i int) float32) *tables.Table {
	t := &tables.Table{Name: "s.csv", Columns: slices.Sorted(maps.Keys(columns))}
	for i := range rows {
		row := make([]float32, len(t.Columns))
		for j, name := range t.Columns {
			row[j] = columns[name](i)
		}
		stream.AppendRow(&t.Features, row)
		if labels {
			t.Labels = append(t.Labels, string(rune('a'+i%3)))
		}
	}
	return t
}

func logged(to *bytes.Buffer) stages.Env {
	return stages.Env{Log: slog.New(slog.NewTextHandler(to, nil))}
}

// Row numbers and keys are left out with a word. What is measured is not, be it whole
// numbers that are (nearly) all different.
func TestIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	permuted := rng.Perm(300)
	sparse := rng.Perm(3000)[:300]
	bits18 := rng.Perm(1 << 18)[:300]
	for name, tc := range map[string]struct {
		value func(i int) float32
		left  bool
	}{
		"from0":      {func(i int) float32 { return float32(i) }, true},
		"from1":      {func(i int) float32 { return float32(i + 1) }, true},
		"falling":    {func(i int) float32 { return float32(300 - i) }, true},
		"gaps":       {func(i int) float32 { return float32(i*17 + i%5) }, true},
		"ties":       {func(i int) float32 { return float32(i - i%30/29) }, true},
		"other part": {func(i int) float32 { return float32(permuted[i] + 1000000) }, true},
		"shuffled":   {func(i int) float32 { return float32(permuted[i]) }, true},
		"sparse":     {func(i int) float32 { return float32(sparse[i]) }, true},
		"unix time":  {func(i int) float32 { return float32(1.7e9 + 300*float64(i)) }, true},
		"hash":       {func(int) float32 { return float32(rng.Uint64()) }, true},
		"cell_id":    {func(i int) float32 { return float32(bits18[i]) }, true},
		"CellID":     {func(i int) float32 { return float32(bits18[i]) }, true},
		"lipid":      {func(i int) float32 { return float32(bits18[i]) }, false},
		"FITC-A":     {func(i int) float32 { return float32(bits18[i]) }, false},
		"counts":     {func(int) float32 { return float32(rng.IntN(1 << 18)) }, false},
		"intensity":  {func(int) float32 { return float32(math.Trunc(math.Exp(15 + 3*rng.NormFloat64()))) }, false},
		"pixel":      {func(int) float32 { return float32(rng.IntN(256)) }, false},
		"age":        {func(int) float32 { return float32(20 + rng.IntN(60)) }, false},
		"seconds":    {func(i int) float32 { return float32(i / 3) }, false}, // a cytometer's clock
		"level_id":   {func(i int) float32 { return float32(i % 7) }, false},
		"value":      {func(int) float32 { return rng.Float32() }, false},
		"rising":     {func(i int) float32 { return float32(i) / 7 }, false},
	} {
		var log bytes.Buffer
		table := suspect(300, true, map[string]func(int) float32{name: tc.value, "zero": func(int) float32 { return 0 }})
		gone := leaveIdentities(logged(&log), table, scanned(t, table))
		if left := len(gone) == 1; left != tc.left || left != strings.Contains(log.String(), "identities do: "+name+":") {
			t.Errorf("%s: left out is %v, said %s", name, left, log.String())
		}
		few := suspect(10, true, map[string]func(int) float32{name: tc.value, "zero": func(int) float32 { return 0 }})
		if gone := leaveIdentities(logged(&log), few, scanned(t, few)); gone != nil {
			t.Errorf("%s: of few rows it is left out", name)
		}
	}
	only := suspect(300, true, map[string]func(int) float32{"id": func(i int) float32 { return float32(i) }})
	if gone := leaveIdentities(logged(&bytes.Buffer{}), only, scanned(t, only)); gone != nil {
		t.Error("no column is left")
	}
}

func scanned(t *testing.T, table *tables.Table) []string {
	t.Helper()
	ids, err := identities(context.Background(), table, func(j int) string { return table.Columns[j] }, ofWhole(table, nil))
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func warnOfBoth(t *testing.T, env stages.Env, source, target *tables.Table) {
	if err := warnOfCopies(t.Context(), env, source, nil); err != nil {
		t.Fatal(err)
	}
	doubts, err := doubtsOfSides(source, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range doubts {
		env.Logger().Warn(text)
	}
}

// A column that is stuck at one value in the target is named, with what to do. A gene that no
// cell of the target has is not: few of the source's have it.
func TestWarnOfStuck(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	some := func(int) float32 { return rng.Float32() - 0.5 }
	gene := func(i int) float32 { return float32(max(0, i%30-12)) * rng.Float32() * float32(i%2) }
	zero := func(int) float32 { return 0 }
	source := suspect(90, true, map[string]func(int) float32{"alive": some, "dead": some, "gene": gene, "late": some, "sex": func(i int) float32 { return float32(i / 3 % 2) }})
	target := map[string]func(int) float32{"alive": some, "dead": zero, "gene": zero, "late": zero, "sex": zero}
	for rows, want := range map[int]string{minIdentityRows: "--exclude dead,late", minIdentityRows - 1: ""} {
		var log bytes.Buffer
		warnOfBoth(t, logged(&log), source, suspect(rows, false, target))
		if !strings.Contains(log.String(), want) || (log.Len() == 0) != (want == "") || strings.Contains(log.String(), "gene") || strings.Contains(log.String(), "sex") {
			t.Errorf("of %d rows it said %s", rows, log.String())
		}
	}
}

// A copy of the label, and a column that says which file a row is from, are named.
func TestWarnOfCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	var log bytes.Buffer
	columns := map[string]func(int) float32{
		"copy":  func(i int) float32 { return float32(i % 3) },
		"value": func(int) float32 { return rng.Float32() },
	}
	source := suspect(60, true, columns)
	warnOfBoth(t, logged(&log), source, suspect(60, false, columns))
	if !strings.Contains(log.String(), `column \"copy\" tells all classes`) || strings.Contains(log.String(), "value") {
		t.Errorf("said %s", log.String())
	}
	log.Reset()
	codes := map[string]func(int) float32{
		"code": func(i int) float32 { return []float32{4, 2, 9, 1, 8, 7}[i%6] }, // classes are not side by side
		"part": func(i int) float32 { return float32(1 + i%2*2) },
		"near": func(i int) float32 { return float32(i%3 + i/30) },
	}
	other := suspect(60, false, map[string]func(int) float32{"code": codes["code"], "part": func(int) float32 { return 2 }, "near": codes["near"]})
	warnOfBoth(t, logged(&log), suspect(60, true, codes), other)
	if !strings.Contains(log.String(), `column \"code\" tells all classes`) || !strings.Contains(log.String(), `column \"part\" has no value`) || strings.Contains(log.String(), "near") {
		t.Errorf("of codes it said %s", log.String())
	}
	log.Reset()
	columns["value"] = func(int) float32 { return 2 + rng.Float32() }
	warnOfBoth(t, logged(&log), source, suspect(60, false, columns))
	if !strings.Contains(log.String(), `column \"value\" has no value of the target`) {
		t.Errorf("said %s", log.String())
	}
}

// Columns of few whole numbers may be the label; measurements and constants are not proposed.
func TestLikelyLabelsAreCodes(t *testing.T) {
	table := suspect(60, false, map[string]func(int) float32{
		"constant": func(int) float32 { return 3 },
		"halves":   func(i int) float32 { return float32(i%3) / 2 },
		"kind":     func(i int) float32 { return float32(i % 3) },
		"number":   func(i int) float32 { return float32(i) },
	})
	for _, name := range table.Columns {
		table.Fields = append(table.Fields, tables.Field{Name: name, Kind: tables.Number})
	}
	if got := likelyLabels(table, nil); !strings.Contains(got, "kind") || strings.Contains(got, "halves") || strings.Contains(got, "constant") || strings.Contains(got, "number") {
		t.Errorf("proposed%s", got)
	}
}

// What is counted of columns is of the budget, and no more than a few kilobytes a column.
func TestSpreadsAreOfTheBudget(t *testing.T) {
	const columns, rows = 50, 2000
	table := &tables.Table{Name: "x.csv", Features: blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float32, rows*columns)}}
	for i := range table.Features.Data {
		table.Features.Data[i] = float32(i)
	}
	mem := arrowio.NewBudget(0)
	spreads, err := spreadsOf(table, mem)
	if err != nil {
		t.Fatal(err)
	}
	if got := mem.Used() / columns; got < 2<<10 || got > 6<<10 {
		t.Errorf("%d bytes a column", got)
	}
	if s := spreads[1]; len(s.values) != glanceRows+1 || s.rowsOf(1+columns) != 1 || s.rowsOf(2) != 0 || s.rows != rows || s.low != 1 || s.high != 1+(rows-1)*columns {
		t.Errorf("the spread of a column is %d rows from %v to %v, of %d values", s.rows, s.low, s.high, len(s.values))
	}
	if _, err := spreadsOf(table, arrowio.NewBudget(1000)); err == nil || !strings.Contains(err.Error(), "50 columns: needs") {
		t.Errorf("error %v", err)
	}
}

// Of the reasons why columns are left out as many are named as of columns.
func TestPruneNamesFewReasons(t *testing.T) {
	var log bytes.Buffer
	table := &tables.Table{Name: "t.csv"}
	st := &recipe{Encoder: &encode.Encoder{}}
	for j := range 1001 {
		c := encode.Column{Field: tables.Field{Name: fmt.Sprint("m", j)}}
		if j > 0 {
			c.Dropped = fmt.Sprint("a copy of k", j)
		}
		table.Columns, table.Fields = append(table.Columns, c.Name), append(table.Fields, c.Field)
		st.Encoder.Columns = append(st.Encoder.Columns, c)
	}
	table.Features = blas32.General{Rows: 1, Cols: 1001, Stride: 1001, Data: make([]float32, 1001)}
	st.prune(logged(&log), table.Name, table)
	if said := log.String(); !strings.Contains(said, "m20 (a copy of k20); … (1000 reasons in all)") || strings.Contains(said, "m21 ") {
		t.Errorf("%s", said)
	}
	if !slices.Equal(table.Columns, []string{"m0"}) || len(st.dropped) != 1000 {
		t.Errorf("columns %v are left, %d are not", table.Columns, len(st.dropped))
	}
}

// A code is a column of few values, each of one class, of which there are several.
func TestCodesOfClasses(t *testing.T) {
	for name, test := range map[string]struct {
		value func(i int) float32
		class func(i int) string
		codes bool
	}{
		"a code a class":        {func(i int) float32 { return float32(i % 3) }, func(i int) string { return string(rune('a' + i%3)) }, true},
		"several of a class":    {func(i int) float32 { return float32(i % 6) }, func(i int) string { return string(rune('a' + i%3)) }, true},
		"one of two classes":    {func(i int) float32 { return float32(i % 3) }, func(i int) string { return string(rune('a' + i%6)) }, false},
		"one class":             {func(i int) float32 { return float32(i % 3) }, func(int) string { return "a" }, false},
		"repeated often enough": {func(i int) float32 { return float32(i % 12) }, func(i int) string { return string(rune('a' + i%3)) }, true},
		"seldom repeated":       {func(i int) float32 { return float32(i % 13) }, func(i int) string { return string(rune('a' + i%13%3)) }, false},
	} {
		table := suspect(60, false, map[string]func(int) float32{"x": test.value})
		for i := range 60 {
			table.Labels = append(table.Labels, test.class(i))
		}
		mem := arrowio.NewBudget(1 << 20)
		got, err := codesClasses(table, 0, mem)
		if err != nil || got != test.codes || mem.Used() != 0 {
			t.Errorf("%s: %v, want %v (%v, %d bytes are held)", name, got, test.codes, err, mem.Used())
		}
		if _, err := codesClasses(table, 0, arrowio.NewBudget(codeCost-1)); err == nil {
			t.Errorf("%s: takes no memory", name)
		}
	}
}
