package state

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sampleTable() *Table {
	t := NewTable("test", 2)
	t.SetMeta("key", "value")
	t.AddInts("n", []int32{1, 2})
	t.AddFloats("share", []float64{0.25, 0.75})
	t.AddStrings("class", []string{"a", "bc"})
	t.AddVectors("mean", [][]float64{{1, 2, 3}, {4, 5, 6}})
	return t
}

func saved(tb testing.TB, t *Table) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s.arrow")
	if _, err := t.Save(path); err != nil {
		tb.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func load(tb testing.TB, content []byte) (*Table, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s.arrow")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	t, _, err := LoadTable(path, "test")
	return t, err
}

func isSample(t *Table) bool {
	n, share, class, mean := t.Ints("n"), t.Shares("share"), t.Names("class"), t.Vectors("mean")
	return t.Err() == nil && t.Meta("key") == "value" && n[1] == 2 && share[0] == 0.25 && class[1] == "bc" && mean[1][2] == 6
}

func TestTable(t *testing.T) {
	got, err := load(t, saved(t, sampleTable()))
	if err != nil || !isSample(got) {
		t.Fatal(got, err)
	}
}

// A state of which any byte is changed is refused, or what it holds is unchanged.
func TestChangedTables(t *testing.T) {
	content := saved(t, sampleTable())
	for i := range content {
		changed := bytes.Clone(content)
		changed[i] ^= 1 << (i % 8)
		if got, err := load(t, changed); err == nil && !isSample(got) {
			t.Errorf("byte %d changed: other values are taken for right", i)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	for _, tc := range []struct {
		want string
		add  func(*Table)
	}{
		{"is NaN", func(t *Table) { t.AddFloats("x", []float64{1, math.NaN()}) }},
		{"is +Inf", func(t *Table) { t.AddVectors("x", [][]float64{{1}, {math.Inf(1)}}) }},
		{"want a share", func(t *Table) { t.AddFloats("x", []float64{-1, 2}) }},
		{"want 1", func(t *Table) { t.AddFloats("x", []float64{0.5, 0.4}) }},
	} {
		table := sampleTable()
		tc.add(table)
		got, err := load(t, saved(t, table))
		if err == nil {
			got.Shares("x")
			err = got.Err()
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "save it again") {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
	table := NewTable("test", 2)
	table.AddStrings("class", []string{"a", "a"})
	got, err := load(t, saved(t, table))
	if err != nil {
		t.Fatal(err)
	}
	got.Names("class")
	if err := got.Err(); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
}

// FuzzTable reads any file as a state.
func FuzzTable(f *testing.F) {
	f.Add(saved(f, sampleTable()))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got, err := load(t, content); err == nil && !isSample(got) {
			t.Error("a state that was not saved has a checksum that fits")
		}
	})
}

// A column that is missing or of another type is refused by name.
func TestColumnsAreChecked(t *testing.T) {
	content := saved(t, sampleTable())
	for own, read := range map[string]func(*Table, string){
		"n":     func(table *Table, name string) { table.Ints(name) },
		"share": func(table *Table, name string) { table.Floats(name) },
		"class": func(table *Table, name string) { table.Strings(name) },
		"mean":  func(table *Table, name string) { table.Vectors(name) },
	} {
		for _, name := range []string{"n", "share", "class", "mean", "none"} {
			table, err := load(t, content)
			if err != nil {
				t.Fatal(err)
			}
			read(table, name)
			err = table.Err()
			if (err == nil) != (name == own) || err != nil && !strings.Contains(err.Error(), `"`+name+`"`) {
				t.Errorf("%q read as %q is: %v", name, own, err)
			}
		}
	}
}
