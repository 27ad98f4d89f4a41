package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/pipeline/internal/grid"
)

// testResults are those of two methods on two tasks with two seeds, of which one run
// failed.
func testResults() *Results {
	t := &Results{Axes: []string{"task", "method", "seed"}, Columns: []string{"accuracy", "n", "l1.0", "l1.1"}}
	for i, values := range [][]string{{"x", "a", "0"}, {"x", "a", "1"}, {"x", "b", "0"}, {"x", "b", "1"}, {"y", "a", "0"}, {"y", "b", "0"}} {
		t.Rows = append(t.Rows, ResultRow{Values: values, Numbers: map[string]float64{"accuracy": 0.5 + float64(i)/10, "n": 1_862_000, "l1.0": 1e-7, "l1.1": 12.5 * float64(i)}})
	}
	t.Rows[3].Numbers, t.Rows[3].Error = map[string]float64{}, "train: no, \"it\" diverged"
	return t
}

func grids(spec Table) []grid.Grid { return testResults().grids(&spec) }

func text(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The means of all that differs in its seed alone, with as many decimals as people
// give.
func TestFlatTable(t *testing.T) {
	want := `task  method  runs  failed  accuracy       n        l1.0         l1.1
x     a       2     0       0.550 ± 0.071  1862000  0.000000100  6.25 ± 8.84
x     b       1     1       0.700          1862000  0.000000100  25.00
y     a       1     0       0.900          1862000  0.000000100  50.00
y     b       1     0       1.000          1862000  0.000000100  62.50
`
	if got := text(t, func(b *strings.Builder) error { return grid.WriteText(b, grids(Table{})) }); got != want {
		t.Errorf("the table is\n%s", got)
	}
	want = `| method | runs | failed | l1.0 | l1.1 |
|---|---|---|---|---|
| a | 3 | 0 | 0.000000100 | 20.83 ± 26.02 |
| b | 2 | 1 | 0.000000100 | 43.75 ± 26.52 |
`
	if got := text(t, func(b *strings.Builder) error {
		return grid.WriteMarkdown(b, grids(Table{Over: []string{"seed", "task"}, Show: []string{"l1"}}))
	}); got != want {
		t.Errorf("the table is\n%s", got)
	}
}

// A table by two axes for each number.
func TestWideTable(t *testing.T) {
	want := `accuracy, mean ± standard deviation of 1 to 2 runs

| task | a | b |
|---|---|---|
| x | 0.550 ± 0.071 | 0.700 |
| y | 0.900 | 1.000 |

n

| task | a | b |
|---|---|---|
| x | 1862000 | 1862000 |
| y | 1862000 | 1862000 |
`
	if got := text(t, func(b *strings.Builder) error {
		return grid.WriteMarkdown(b, grids(Table{Columns: "method", Show: []string{"accuracy", "n"}}))
	}); got != want {
		t.Errorf("the tables are\n%s", got)
	}
}

func TestCSV(t *testing.T) {
	want := `task,method,seed,accuracy,n,l1.0,l1.1,error
x,a,0,0.5,1862000,1e-07,0,
x,a,1,0.6,1862000,1e-07,12.5,
x,b,0,0.7,1862000,1e-07,25,
x,b,1,,,,,"train: no, ""it"" diverged"
`
	got := text(t, func(b *strings.Builder) error { return testResults().WriteCSV(b, false) })
	if !strings.HasPrefix(got, want) {
		t.Errorf("the rows are\n%s", got)
	}
	whole := testResults()
	whole.Rows[3].Error = ""
	if got := text(t, func(b *strings.Builder) error { return whole.WriteCSV(b, false) }); strings.Contains(got, "error") {
		t.Errorf("without failures the rows are\n%s", got)
	}
}

func TestReadNumbers(t *testing.T) {
	found, err := readNumbers([]byte(`{"n": 2, "name": "x", "none": null, "ok": true, "recall": [0.5, 1], "of": {"a": {"b": false}, "c": 1e3}}`))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range found {
		all = append(all, n.path+"="+exact(n.value))
	}
	if got := strings.Join(all, " "); got != "n=2 ok=1 recall.0=0.5 recall.1=1 of.a.b=0 of.c=1000" {
		t.Errorf("the numbers are %s", got)
	}
	if top := found.top(); len(top) != 1 || top[0].path != "n" {
		t.Errorf("at the top are %v", top)
	}
	if below := found.below("of"); len(below) != 2 || below[0].path != "of.a.b" {
		t.Errorf("below of are %v", below)
	}
	for _, text := range []string{"", "[1]", "3", `{"a": `, `{"a": [1`, `{"a": {"b": 1`} {
		if _, err := readNumbers([]byte(text)); err == nil {
			t.Errorf("%q is taken for an object", text)
		}
	}
}

// A number that two stages of a run put out has the stage's name before it.
func TestTake(t *testing.T) {
	read := func(stage, text string) printout {
		found, err := readNumbers([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return printout{stage, found}
	}
	outputs := [][]printout{
		{read("eval", `{"accuracy": 1, "l1": 2}`), read("ask", `{"l1": 3, "ask": {"true": [4, 5]}}`)},
		{read("eval", `{"accuracy": 6}`)},
	}
	empty := func() *Results {
		return &Results{Rows: []ResultRow{{Numbers: map[string]float64{}}, {Numbers: map[string]float64{}}}}
	}
	all := empty()
	all.takeAll(outputs)
	if got := strings.Join(all.Columns, " "); got != "accuracy eval.l1 ask.l1" || all.Rows[0].Numbers["ask.l1"] != 3 {
		t.Errorf("all are %v", all)
	}
	for name, want := range map[string]string{
		"accuracy": "accuracy", "eval.accuracy": "eval.accuracy", "ask.l1": "ask.l1",
		"ask.true": "ask.true.0 ask.true.1", "ask.ask.true.1": "ask.ask.true.1", "true": "no stage puts out true: there are accuracy, l1, ask",
		"l1": "both eval and ask put out l1: write eval.l1 or ask.l1", "acuracy": "no stage puts out acuracy: did you mean accuracy?",
	} {
		some := empty()
		got := ""
		if err := some.take(name, outputs); err != nil {
			got = err.Error()
		} else {
			got = strings.Join(some.Columns, " ")
		}
		if got != want {
			t.Errorf("%s takes %q, want %q", name, got, want)
		}
	}
}

// besideFile is a file of a table whose runs have the axes task and method.
func besideFile(t *testing.T, text string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "paper.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return &File{Axes: []Axis{{Name: "task"}, {Name: "method"}, {Name: "seed"}}, Table: &Table{Beside: path}, lines: findLines("")}
}

func TestBeside(t *testing.T) {
	b, err := besideFile(t, "method,paper,task,other\na, 0.25 ,x,\nb,0.5,x,7\na,1,z,\n").readBeside()
	if err != nil {
		t.Fatal(err)
	}
	r := testResults()
	if err := b.join(r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"0.25", "0.25", "0.5", "0.5", "", ""} {
		v, there := r.Rows[i].Numbers["paper"]
		if there != (want != "") || there && exact(v) != want {
			t.Errorf("row %d has %v, %t", i, v, there)
		}
	}
}

func TestBesideMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "EOF",
		"tusk,paper\nx,1\n":             "no column is an axis of the matrix: name one task or method or seed",
		"task,paper\nx,much\n":          `line 2: paper: "much" is no number, and no axis of the matrix has that name`,
		"task,paper\nx,1\ny,2\nx,3\n":   "line 4: there is a line for x before",
		"task,paper\nx,1,2\n":           "paper.csv: record on line 2: wrong number of fields",
		"task,accuracy\nx,1\n":          "the runs have a number accuracy as well: give the column another name",
		"task,paper\nx,1\ny,2\n\"\nx,3": "paper.csv: record on line 4",
	} {
		b, err := besideFile(t, text).readBeside()
		if err == nil {
			err = b.join(testResults())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What --print-config prints of a table says the same when it is read again, and
// --set changes it.
func TestTableKeys(t *testing.T) {
	const text = "[matrix]\nseed = [0, 1]\ntask = 1\n[table]\nfile = \"a.md\"\nover = [\"seed\"]\nnumbers = [\"a\", \"b.c\"]\nshow = \"a\"\nbeside = \"p.csv\"\n" +
		"[[stage]]\nrun = \"make\"\nseed = \"{seed}\"\n"
	f, err := Parse("f.toml", text, testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set("table.columns", "task", "flag"); err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.toml", printed(t, f), testCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	if again.Settings["table"].Text != "a.md" || again.Table.Columns != "task" || strings.Join(again.Table.Numbers, " ") != "a b.c" || again.Table.Beside != "p.csv" {
		t.Errorf("the table is %+v", again.Table)
	}
	for target, want := range map[string]string{
		"table.columns": `table.columns: the matrix has no axis "tusk": did you mean task?`, "table.colums": "a table has no such key: did you mean columns?",
	} {
		if err := f.Set(target, "tusk", "flag"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
}
