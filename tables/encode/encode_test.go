package encode_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
)

const oracle = "../../testdata/oracle/encode"

var usual = encode.Options{MaxCategories: 32, Indicator: 0.05}

// open reads a table as it is, or as the fields say.
func open(t *testing.T, path string, o tables.Options) *tables.Table {
	t.Helper()
	o.Mixed = true
	table, err := tables.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func learn(t *testing.T, table *tables.Table, o encode.Options) *encode.Encoder {
	t.Helper()
	e, err := encode.Learn(t.Context(), table, []*tables.Table{table}, o)
	if err != nil {
		t.Fatal(err)
	}
	e.Prune(table)
	return e
}

func apply(t *testing.T, e *encode.Encoder, table *tables.Table) *tables.Table {
	t.Helper()
	out, err := e.Apply(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What scikit-learn's OneHotEncoder and SimpleImputer make of the tables, in CSV and in
// Parquet with a dictionary, and after the encoder was kept and read again.
func TestScikitLearn(t *testing.T) {
	var want map[string][][]float64
	text, err := os.ReadFile(filepath.Join(oracle, "features.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	how := tables.Options{Categorical: []string{"lev*"}}
	names := []string{"size", "color=p", "color=q", "color=r", "color=s", "color=(other)", "level=0", "level=1", "level=2", "level=3",
		"width", "width=(missing)", "shape=deep, and wide", "shape=flat", "shape=round", "shape=(missing)"}
	for _, kind := range []string{".csv", ".parquet"} {
		source := open(t, filepath.Join(oracle, "source"+kind), how)
		e := learn(t, source, usual)
		if !slices.Equal(e.Names(), names) {
			t.Fatalf("%s: features %q, want %q", kind, e.Names(), names)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		kept := &encode.Encoder{}
		if err := json.Unmarshal(text, kept); err != nil {
			t.Fatal(err)
		}
		check(t, "source"+kind, apply(t, e, source), want["source"])
		for _, other := range []string{".csv", ".parquet"} {
			target := open(t, filepath.Join(oracle, "target"+other), tables.Options{Fields: kept.Fields(), NoLabels: true})
			check(t, kind+" target"+other, apply(t, kept, target), want["target"])
		}
	}
}

// check compares features with those of scikit-learn, whose missing shape comes last too.
func check(t *testing.T, name string, got *tables.Table, want [][]float64) {
	t.Helper()
	if got.Features.Rows != len(want) {
		t.Fatalf("%s: %d rows, want %d", name, got.Features.Rows, len(want))
	}
	for i, row := range want {
		for j, v := range row {
			if math.Abs(float64(got.Row(i)[j])-v) > 1e-6 {
				t.Fatalf("%s: row %d, %s: %v, want %v", name, i, got.Columns[j], got.Row(i)[j], v)
			}
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The encoder depends on the rows alone, not on their order.
func TestOrderOfRows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(oracle, "source.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	forward := learn(t, open(t, filepath.Join(oracle, "source.csv"), tables.Options{}), usual)
	slices.Reverse(lines[1:])
	backward := learn(t, open(t, write(t, strings.Join(lines, "\n")+"\n"), tables.Options{}), usual)
	a, _ := json.Marshal(forward)
	b, _ := json.Marshal(backward)
	if string(a) != string(b) {
		t.Errorf("%s\nbackwards\n%s", a, b)
	}
}

// What a column becomes follows from its values.
func TestColumns(t *testing.T) {
	const n = 60
	columns := map[string]func(i int) string{
		"constant": func(int) string { return "7" },
		"names":    func(i int) string { return "name " + string(rune('A'+i)) },
		"empty":    func(int) string { return "" },
		"dates":    func(i int) string { return "2026-0" + string(rune('1'+i%9)) + "-11" },
		"german":   func(i int) string { return "0" + string(rune('1'+i%9)) + ".11.2026" },
		"stamps": func(i int) string {
			return "2024-11-1" + string(rune('0'+i%3)) + "T1" + string(rune('0'+i%4)) + ":30:00Z"
		},
		"times":   func(i int) string { return "1" + string(rune('0'+i%4)) + ":15" },
		"unclear": func(i int) string { return "0" + string(rune('1'+i%9)) + "/03/2026" },
		"truth":   func(i int) string { return "t" },
		"flag":    func(i int) string { return []string{"true", "False"}[i%2] },
		"codes":   func(i int) string { return []string{"01", "1.0", "b"}[i%3] },
		"many":    func(i int) string { return "v" + string(rune('a'+i%12)) },
		"rare":    func(i int) string { return []string{"x", "y", "z"}[min(2, max(i-57, 0))] },
	}
	want := map[string]string{
		"constant": "everywhere the same", "names": "text: 60 different values in 60 rows", "empty": "empty",
		"dates": "dates:days, dates:week-sin, dates:week-cos", "german": "german:days",
		"stamps": "stamps:days stamps:seconds, stamps:day-sin, stamps:day-cos",
		"times":  "times:seconds, times:day-sin, times:day-cos", "flag": "itself",
		"codes": "codes=01, codes=1, codes=b", "many": "8 features, by a hash of its values", "rare": "rare=x, rare=(other)",
	}
	names := []string{}
	for name := range columns {
		names = append(names, name)
	}
	slices.Sort(names)
	lines := []string{strings.Join(names, ",")}
	for i := range n {
		row := make([]string, len(names))
		for k, name := range names {
			row[k] = columns[name](i)
		}
		lines = append(lines, strings.Join(row, ","))
	}
	table := open(t, write(t, strings.Join(lines, "\n")+"\n"), tables.Options{})
	e, err := encode.Learn(t.Context(), table, []*tables.Table{table}, encode.Options{MaxCategories: 8, Indicator: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for j := range e.Columns {
		c := &e.Columns[j]
		said := c.Becomes()
		if c.Dropped != "" {
			said = c.Dropped
		}
		if got[c.Name] != "" {
			said = got[c.Name] + " " + said
		}
		got[c.Name] = said
	}
	for name, said := range want {
		if got[name] != said {
			t.Errorf("%s: %q, want %q", name, got[name], said)
		}
	}
	if i := slices.IndexFunc(table.Skipped, func(s tables.Skipped) bool { return s.Name == "unclear" }); i < 0 || got["unclear"] != "" {
		t.Errorf("dates that can be read in two ways are a feature: %q", got["unclear"])
	}
	for _, v := range apply(t, e, table).Features.Data {
		if v != v {
			t.Fatal("a feature is NaN")
		}
	}
}

// A duplicate of a column before is left out, unless it was named.
func TestCopies(t *testing.T) {
	path := write(t, "a,b,c,d\n1,1,x,x\n2,2,y,y\n,,x,x\n4,4,y,x\n")
	if names := learn(t, open(t, path, tables.Options{}), usual).Inputs(); !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("columns %v are kept", names)
	}
	named := usual
	named.Keep = true
	if names := learn(t, open(t, path, tables.Options{Columns: []string{"a", "b"}}), named).Inputs(); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("columns %v are kept of those that were named", names)
	}
}

// A table of which nothing is left is learnt from again with what is constant. Text that is
// another in each row stays left out, and values that only the other part of a file has are
// none of the source's.
func TestNothingLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a\n1.5%\n2.5%\n3.5%\n4.5%\n")
	table := open(t, path, tables.Options{})
	_, err := encode.Learn(t.Context(), table, []*tables.Table{table}, usual)
	if err == nil || !strings.Contains(err.Error(), `no column says anything: all are empty, or text that is another in each row (a has "1.5%")`) {
		t.Error(err)
	}
	write("d,k,s\nx,u1,new\nx,u2,new\nx,u3,new\ny,u4,old\nz,u5,old\n")
	parts, err := tables.OpenParts(t.Context(), path, tables.Options{Mixed: true, Columns: []string{"d", "k"}, Domain: "s", Parts: []tables.Part{{Name: "source", Values: []string{"new"}}, {Name: "target", Values: []string{"old"}}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Learn(t.Context(), parts[0], parts, usual)
	if err != nil || e.Columns[0].Dropped != "" || e.Columns[1].Dropped == "" || !slices.Equal(e.Columns[0].Values, []string{"x"}) {
		t.Fatalf("%+v, %v", e, err)
	}
	e.Prune(parts...)
	if got := apply(t, e, parts[1]); !slices.Equal(got.Features.Data, []float32{0, 0}) || !slices.Equal(got.Columns, []string{"d=x"}) {
		t.Errorf("%v %q", got.Features.Data, got.Columns)
	}
}
