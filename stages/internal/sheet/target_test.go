package sheet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/stream"
)

// some are rows of both domains with a feature each; the third has no value.
type some struct {
	domains  []string
	ids      []string // nil: none
	features []float32
}

var usual = some{domains: []string{"source", "target", "target", "source", "target", "target"}, features: []float32{0, 1, float32(math.NaN()), 3, 4, 5}}

func (s some) table() *arrowio.Table {
	t := &arrowio.Table{}
	t.Add("domain", arrowio.NewStringArray(s.domains))
	t.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: s.features, Rows: len(s.features), Width: 1}))
	if s.ids != nil {
		t.Add("id", arrowio.NewStringArray(s.ids))
	}
	return t
}

func rowsOf(rec arrow.Record, keys ...string) *stream.Rows {
	schema := rec.Schema()
	if keys != nil {
		meta := arrow.NewMetadata(keys[:1], keys[1:])
		schema = arrow.NewSchema(schema.Fields(), &meta)
	}
	return &stream.Rows{Env: stages.Env{Columns: arrowio.DefaultColumns()}, Stream: arrowio.NewBatches("test", schema, rec, rec)}
}

func (s some) rows() *stream.Rows { return rowsOf(s.table().Record(arrowio.Meta{})) }

// drawn are rows of the target of s, as mars ask would have drawn them.
func drawn(t *testing.T, s some, numbers ...int) *Filled {
	t.Helper()
	target, err := NewTarget(s.rows())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[int]string{}
	if err := s.rows().Each(t.Context(), func(rec arrow.Record) error {
		places, err := target.Add(rec)
		for _, p := range places {
			ids[p.Number] = p.ID
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f := &Filled{Path: "sheet.csv", Column: "label", Plan: Plan{Uniform: len(numbers), Seed: 1, Target: target.Letters()}}
	for i, n := range numbers {
		row := Row{Draw: ppi.Draw{Row: n, Probability: .5}, Order: i + 1, ID: ids[n]}
		row.code = f.Plan.Code(row)
		f.Rows = append(f.Rows, row)
	}
	return f
}

// Rows of a sheet are found by their numbers among the target's rows, of which some have no value.
func TestLocate(t *testing.T) {
	for _, ids := range [][]string{nil, {"p", "q", "r", "s", "t", "u"}} {
		s := usual
		s.ids = ids
		found, err := drawn(t, s, 0, 3, 6).Locate(t.Context(), s.rows(), "features")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(found.Vectors, found.Known, found.Missing, found.Rows), "map[0:[1] 3:[5] 6:[4]] map[0:0 3:2 6:4] 2 8"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// What is wrong with the target, or is not that of the sheet, is said.
func TestErrorsOfLocate(t *testing.T) {
	f := drawn(t, usual, 0, 3)
	rec := usual.table().Record(arrowio.Meta{})
	bad := func(change func(s *some)) *stream.Rows {
		s := some{slices.Clone(usual.domains), nil, slices.Clone(usual.features)}
		change(&s)
		return s.rows()
	}
	embedded := usual.table()
	embedded.Add("embedding", arrowio.NewStringArray(make([]string, 6)))
	for _, test := range []struct {
		name    string
		in      *stream.Rows
		vectors string
		want    string
	}{
		{"metadata", rowsOf(rec, arrowio.ProvenanceKey, "7"), "features", "test: schema metadata mars.provenance: "},
		{"a sketch", rowsOf(rec, arrowio.TotalsKey, "{}"), "features", "test: the target is a sketch, of which only a sample of the rows is there: "},
		{"a domain", bad(func(s *some) { s.domains[5] = "x" }), "features", `test: column "domain": row 6: is "x": must be "source" or "target"`},
		{"features", bad(func(s *some) { s.features[5] = float32(math.Inf(1)) }), "features", `test: column "features": row 6: element 1 is +Inf: fill or drop the row`},
		{"vectors", rowsOf(embedded.Record(arrowio.Meta{})), "embedding", `test: column "embedding": has type utf8: must be lists of numbers, all of one length`},
		{"the end of a pass", &stream.Rows{Env: usual.rows().Env, Stream: failing{usual.rows().Stream}}, "features", "the disk is gone"},
		{"other rows", bad(func(s *some) { s.features[4] = 4.5 }), "features", "sheet.csv: has rows of another target than test (code " + f.Target + ", and this target has "},
		{"other identities", bad(func(s *some) { s.ids = slices.Repeat([]string{"x"}, 6) }), "features", "sheet.csv: has rows of another target than test (code " + f.Target + ", and this target has "},
	} {
		_, err := f.Locate(t.Context(), test.in, test.vectors)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v\nwant %s", test.name, err, test.want)
		}
		if advised := err != nil && strings.HasSuffix(err.Error(), ": give the target that mars ask drew from, or draw anew; rows from a pipe without identities are known by their features: choose the same columns, or give files or an identity column"); advised != (test.name == "other rows") {
			t.Errorf("%s: it is said of rows without identities: %v", test.name, err)
		}
	}
}

type failing struct{ arrowio.Stream }

func (f failing) Next() (arrow.Record, error) {
	rec, err := f.Stream.Next()
	if errors.Is(err, io.EOF) {
		err = errors.New("the disk is gone")
	}
	return rec, err
}

// Identities are those that were drawn, whatever a spreadsheet has made of numbers.
func TestCheckedIdentities(t *testing.T) {
	s := usual
	s.ids = []string{"5", "7", "8", "9", "10", "x"}
	for id, want := range map[string]bool{"7": true, " 7 ": true, "007": true, "7.0": true, "": true, "8": false, "x": false} {
		f := drawn(t, s, 0, 3)
		f.Rows[0].ID = id
		if _, err := f.Locate(t.Context(), s.rows(), "features"); (err == nil) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
	f := drawn(t, s, 0, 3)
	f.Rows[1].ID = "y"
	if _, err := f.Locate(t.Context(), s.rows(), "features"); err == nil || !strings.HasPrefix(err.Error(), `sheet.csv: the row with order 2 has the id "y", and mars ask wrote "x": `) {
		t.Errorf("got %v", err)
	}
	f.Rows[0].Row = 1 // one without a value, which nobody draws
	if _, err := f.Locate(t.Context(), s.rows(), "features"); err == nil || !strings.Contains(err.Error(), "the row with order 1 (id 7) was not drawn, or its code has been changed") {
		t.Errorf("got %v", err)
	}
}

func table(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sheet.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong with a sheet is said, of a row with its number.
func TestErrorsOfRead(t *testing.T) {
	f := drawn(t, usual, 0, 3)
	first, second := f.Rows[0].code, f.Rows[1].code
	other := Plan{Uniform: 9, Target: f.Target}.Code(f.Rows[1])
	cut := filepath.Join(t.TempDir(), "cut.arrow")
	rec := usual.table().Record(arrowio.Meta{})
	if err := arrowio.Save(cut, rec); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing.csv")
	for _, test := range []struct{ name, path, want string }{
		{"a sheet", table(t, "order,label,drawn\n1,cat,"+first+"\n,,\n2,,"+second+"\n"), ""},
		{"none", missing, "missing.csv"},
		{"none of a pattern", filepath.Join(t.TempDir(), "*.csv"), "*.csv: "},
		{"a folder", t.TempDir(), "is no table in a file: give the table of mars ask, filled in, as CSV, TSV, Parquet or Arrow"},
		{"a file that is cut", cut, "cut.arrow: "},
		{"a line of another length", table(t, "label,drawn\ncat,"+first+"\ncat,"+second+",x\n"), "line 3"},
		{"no column of codes", table(t, "order,label\n1,cat\n"), `has no column "drawn" (its columns are order, label): mars ask wrote it, and without it nobody knows how rows were drawn: give the table with all its columns`},
		{"no column of labels", table(t, "drawn\n"+first+"\n"), `has no column "label" (its columns are drawn): the labels are in it: give the name of the label column with --label`},
		{"no row", table(t, "label,drawn\n,\n"), `has no row of mars ask: give its table with the column "label" filled in`},
		{"a label without a code", table(t, "label,drawn\ncat,"+first+"\ndog,\n"), `row 2: has the label "dog", and no code in the column "drawn": label only rows that mars ask drew`},
		{"a code of nobody", table(t, "label,drawn\ncat,"+first+"\n,\ncat,abc\n"), `row 3: the column "drawn" holds "abc", which is no code that mars ask has written: give its rows as they were`},
		{"a seed that is no number", table(t, "label,drawn\ncat,1u0c99999999999999999999s-bcd-1u2-bb-cc\n"), `which is no code that mars ask has written`},
		{"two draws", table(t, "label,drawn\ncat,"+first+"\ncat,"+other+"\n"), "row 2: was drawn with others than the rows before it: "},
		{"a changed order", table(t, "order,label,drawn\n7,cat,"+first+"\n"), `row 1: the column "order" holds "7", and mars ask wrote 1 (code ` + first + `): `},
		{"a row twice", table(t, "label,drawn\ncat,"+first+"\ncat,"+first+"\n"), "the row with order 1 is there twice: leave one"},
	} {
		got, err := Read(t.Context(), test.path, "label")
		if test.want == "" && (err != nil || len(got.Rows) != 2 || got.Rows[0].Label != "cat" || got.Rows[1].Label != "") {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v\nwant %s", test.name, err, test.want)
		}
	}
	// The same files say which of their rows were chosen, or why not.
	for _, path := range []string{cut, table(t, "label,drawn\ncat,"+first+"\ncat,"+second+",x\n")} {
		if _, err := Chosen(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	}
}
