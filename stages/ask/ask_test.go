package ask

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/write"
)

var env = stages.Env{Columns: arrowio.DefaultColumns()}

// pets are rows of the target, all of them cats but for the last.
func pets(n int) *arrowio.Table {
	names := slices.Repeat([]string{"cat"}, n)
	p := slices.Repeat([]float32{.75, .25}, n)
	names[n-1], p[2*n-2], p[2*n-1] = "dog", .375, .625
	t := &arrowio.Table{}
	t.Add("predicted_class", arrowio.NewStringArray(names))
	t.Add("probability", arrowio.NewVectorArray(arrowio.Vectors{Data: p, Rows: n, Width: 2}))
	return t
}

func streamOf(t *arrowio.Table, keys ...string) arrowio.Stream {
	rec := t.Record(arrowio.Meta{Classes: []string{"cat", "dog"}})
	meta := rec.Schema().Metadata()
	if keys != nil {
		meta = arrow.NewMetadata(keys[:1], keys[1:])
	}
	return arrowio.NewBatches("test", arrow.NewSchema(rec.Schema().Fields(), &meta), rec)
}

// unsigned are identities of which the last is no int64.
func unsigned() arrow.Array {
	b := array.NewUint64Builder(memory.DefaultAllocator)
	b.AppendValues([]uint64{7, math.MaxUint64}, nil)
	return b.NewArray()
}

// What is wrong with rows or options is said.
func TestErrors(t *testing.T) {
	with := func(name string, column arrow.Array) arrowio.Stream {
		table := pets(2)
		table.Add(name, column)
		return streamOf(table)
	}
	numbers, improbable := &arrowio.Table{}, &arrowio.Table{}
	for table, p := range map[*arrowio.Table]float32{numbers: 1, improbable: float32(math.NaN())} {
		table.Add("predicted_class", arrowio.NewDoubleArray([]float64{1}))
		table.Add("probability", arrowio.NewVectorArray(arrowio.Vectors{Data: []float32{p, 1 - p}, Rows: 1, Width: 2}))
	}
	for _, test := range []struct {
		name string
		in   arrowio.Stream
		o    Options
		want string
	}{
		{"no labels", arrowio.NewBatches("test", arrow.NewSchema(nil, nil)), Options{}, `test: there is no column "predicted_class" (there are none): run mars-train or mars-predict before`},
		{"metadata", streamOf(pets(1), arrowio.ClassesKey, "cat"), Options{}, `test: schema metadata mars.classes: invalid character 'c' looking for beginning of value: drop or repair the key`},
		{"a sketch", streamOf(pets(1), arrowio.TotalsKey, "{}"), Options{}, `test: the target is a sketch, of which only a sample of the rows is there: give all rows of the target to draw some of them, and to read their labels`},
		{"a class", streamOf(pets(1)), Options{For: "cats"}, `--for cats: the source has no such class (its classes are cat, dog): did you mean "cat"?`},
		{"another class", streamOf(pets(1)), Options{For: "whale"}, `--for whale: the source has no such class (its classes are cat, dog)`},
		{"a domain", with("domain", arrowio.NewStringArray([]string{"target", "here"})), Options{}, `test: column "domain": row 2: is "here": must be "source" or "target"`},
		{"no target", with("domain", arrowio.NewStringArray([]string{"source", "source"})), Options{}, `test: there are no target rows: `},
		{"no text", streamOf(numbers), Options{}, `test: column "predicted_class": has type float64: must be strings`},
		{"no probability", streamOf(improbable), Options{}, `test: column "probability": row 1: element 1 is NaN: fill or drop the row`},
		{"an identity", with("id", unsigned()), Options{Budget: 2}, `the identity "18446744073709551615" is no whole number: give identities as text`},
	} {
		s, err := Draw(t.Context(), env, test.in, test.o)
		if err == nil {
			_, err = s.Stream(nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || !strings.HasSuffix(test.want, ": ") && err.Error() != test.want {
			t.Errorf("%s:\n%v\nwant\n%s", test.name, err, test.want)
		}
	}
	if _, err := ReadLabels(t.Context(), filepath.Join(t.TempDir(), "missing.csv"), "label", nil); err == nil || !strings.Contains(err.Error(), "missing.csv") {
		t.Errorf("of labels that are not there: %v", err)
	}
}

// A budget of all rows draws them all, and only more than these is worth a warning.
func TestBudget(t *testing.T) {
	for budget, warned := range map[int]string{2: "", 3: "", 4: "test: there are only 3 target rows, fewer than the 4 to draw: all of them are to be labelled"} {
		var log bytes.Buffer
		told := env
		told.Log = slog.New(slog.NewTextHandler(&log, nil))
		s, err := Draw(t.Context(), told, streamOf(pets(3)), Options{Budget: budget, Label: "label"})
		if err != nil {
			t.Fatal(err)
		}
		if want := min(budget, 3); len(s.Rows) != want || (s.Chosen == 0) != (budget >= 3) {
			t.Errorf("of a budget of %d, %d rows are drawn, %d of them by doubt", budget, len(s.Rows), s.Chosen)
		}
		if (log.Len() > 0) != (warned != "") || !strings.Contains(log.String(), warned) {
			t.Errorf("of a budget of %d the log says %q", budget, log.String())
		}
	}
}

// A sheet has a row a draw, and the columns that are for people as text. What was written is read again.
func TestSheet(t *testing.T) {
	for _, test := range []struct {
		ids   arrow.Array // nil: rows are known by their numbers
		first string      // the identity of the first row
		whole bool
	}{{nil, "0", true}, {arrowio.NewInt64Array([]int64{5, 6, 7}), "5", true}, {arrowio.NewStringArray([]string{"a", "b", "c"}), "a", false}} {
		table := pets(3)
		if test.ids != nil {
			table.Add("id", test.ids)
		}
		s, err := Draw(t.Context(), env, streamOf(table), Options{Budget: 3, Uniform: true, Label: "species"})
		if err != nil {
			t.Fatal(err)
		}
		if want := `drew 3 rows, uniformly: fill in the column "species" from the first row on, and stop when you like`; s.Line() != want {
			t.Errorf("got %s", s.Line())
		}
		out, err := s.Stream(nil)
		if err != nil {
			t.Fatal(err)
		}
		if whole := arrow.IsInteger(out.Schema().Field(1).Type.ID()); whole != test.whole {
			t.Errorf("identities are %s", out.Schema().Field(1).Type)
		}
		head, rows := out.Text()
		if want := []string{"order", "id", "species", "predicted_class", "confidence", "probability", "part"}; !slices.Equal(head, want) {
			t.Errorf("the columns are %q", head)
		}
		slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
		if want := []string{test.first, "", "cat", "0.75", "1", "uniform"}; len(rows) != 3 || !slices.Equal(rows[0][1:], want) || rows[2][3] != "dog" || rows[2][4] != "0.625" {
			t.Errorf("the rows are %q", rows)
		}
		path := filepath.Join(t.TempDir(), "sheet.csv")
		if err := write.Save(t.Context(), path, write.Format{Name: "csv"}, out); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLabels(t.Context(), path, "species", []string{"cow"})
		if err != nil || len(again.Sheet.Rows) != 3 || again.Sheet.Plan != s.Plan || !slices.Equal(again.New, []string{"cow"}) {
			t.Errorf("got %+v, %v", again, err)
		}
	}
}

func csv(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Columns that a sheet has itself are not kept. By itself a table of twelve others keeps them.
func TestKeep(t *testing.T) {
	columns := func(n int) string {
		head, row := "id,label", "0,0"
		for j := range n {
			head, row = head+fmt.Sprint(",x", j), row+",1"
		}
		return head + "\n" + row + "\n"
	}
	for _, test := range []struct {
		names   []string
		columns int
		want    int    // columns that are kept
		err     string // after the path
	}{
		{[]string{KeepAuto}, MostKept, MostKept, ""}, {[]string{KeepAuto}, MostKept + 1, 0, ""}, {[]string{KeepAll}, MostKept + 1, MostKept + 1, ""},
		{[]string{"x1", "x0"}, 2, 2, ""},
		{[]string{"x7"}, 2, 0, `: has no column "x7" that can be kept: name columns that it has, and no lists`},
		{[]string{"label"}, 2, 0, `: column "label" is the label, which the person is to say: keep others`},
		{[]string{"id"}, 2, 0, `: column "id" has the name of one that is written: rename it, or keep others by name`},
		{[]string{""}, 2, 0, `: column "" has the name of one that is written: rename it, or keep others by name`},
	} {
		path, label := csv(t, columns(test.columns)), "label"
		if test.names[0] == "" {
			label = ""
		}
		k, err := NewKeep(t.Context(), path, tables.Options{ID: "id"}, test.names, label)
		if err == nil && (test.err != "" || len(k.fields) != test.want) || err != nil && err.Error() != path+test.err {
			t.Errorf("%q of %d columns: %+v, %v", test.names, test.columns, k, err)
		}
	}
}

// A row has the columns of its row in the file, and a file that has changed since is refused.
func TestKeepOf(t *testing.T) {
	s, err := Draw(t.Context(), env, streamOf(pets(3)), Options{Budget: 2, Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	path := csv(t, "x,y\na,1\nb,2\nc,3\n")
	k, err := NewKeep(t.Context(), path, tables.Options{}, []string{"x"}, "label")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := k.Of(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range s.Rows {
		if got := kept.Column(0).ValueStr(i); got != string(rune('a'+row.Row)) {
			t.Errorf("row %d has %s", row.Row, got)
		}
	}
	for text, want := range map[string]string{"x,y\na,1\n": path + ": has other rows than were read before: run again when nothing writes to it", "x,y\na,1\nb,2,3\nc,3\n": path + ": line 3"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Of(t.Context(), s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	path = filepath.Join(t.TempDir(), "cut.arrow")
	if err := arrowio.Save(path, kept); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKeep(t.Context(), path, tables.Options{}, []string{"x"}, ""); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("of a file that is cut: %v", err)
	}
}
