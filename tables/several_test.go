package tables

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"b.csv", "a.csv", "x,y.csv", "z.npz", "w.npz", "[1].csv"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		path  string
		want  []string
		fault string
	}{
		{"b.csv", []string{"b.csv"}, ""},
		{"no.csv", []string{"no.csv"}, ""}, // opening it says what is wrong
		{"-", []string{"-"}, ""},
		{"?.csv", []string{"a.csv", "b.csv"}, ""},
		{"[1].csv", []string{"[1].csv"}, ""},
		{"x,y.csv", []string{"x,y.csv"}, ""},
		{"b.csv,a.csv", []string{"b.csv", "a.csv"}, ""},
		{"z.npz:X,y", []string{"z.npz:X,y"}, ""},
		{"z.npz:X,y,b.csv,w.npz:A,b", []string{"z.npz:X,y", "b.csv", "w.npz:A,b"}, ""},
		{"?.npz:X,y", []string{"w.npz:X,y", "z.npz:X,y"}, ""},
		{"z.npz:X,b.csv", []string{"z.npz:X", "b.csv"}, ""},
		{"a.csv,?.csv", nil, "a.csv,?.csv: names a.csv twice"},
		{"n*.csv", nil, "no file has a name of this pattern"},
		{"[.csv", nil, "is no pattern"},
		{"a.csv,-", nil, "standard input cannot be one of several files"},
	} {
		got, err := Expand(tc.path)
		if tc.fault != "" {
			wantError(t, err, tc.fault)
		} else if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, %v, want %q", tc.path, got, err, tc.want)
		}
	}
}

// Several files are what one file of their rows is: whole, by domain, in blocks, and by
// their rows.
func TestSeveral(t *testing.T) {
	t.Chdir(t.TempDir())
	parts := []string{"1,2,a,3,s,q,2020-01-01\n2,3,b,1,t,p,2020-01-02\n", "4,5,a,x,t,r,2021-05-05\n6,7,b,9,s,p,1999-09-09\n7,7,a,8,o,r,2021-05-06\n", "1,1,b,77,t,p,2020-01-02\n2,1,b,78,s,u,2020-01-02\n"}
	const header = "x,y,label,id,from,word,day\n"
	var names []string
	for k, rows := range parts {
		names = append(names, string(rune('a'+k))+".csv")
		if err := os.WriteFile(names[k], []byte(header+rows), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("all.txt", []byte(header+strings.Join(parts, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	domains := []Part{{Name: "source", Values: []string{"s"}}, {Name: "target", Values: []string{"t"}, NoLabels: true}}
	for _, o := range []Options{{}, {NoLabels: true}, {Columns: []string{"y"}}, {Label: "from", ID: "id"}, {Mixed: true}, {Domain: "from", Parts: domains, Mixed: true}, {Domain: "from", Parts: domains}} {
		o.Memory = arrowio.NewBudget(0)
		got, err := OpenParts(t.Context(), "?.csv", o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := OpenParts(t.Context(), "all.txt", o)
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range want {
			g := got[k]
			if !reflect.DeepEqual(g.Fields, w.Fields) {
				t.Errorf("%+v: part %d has %+v, not %+v", o, k, g.Fields, w.Fields)
			}
			if !slices.Equal(g.Features.Data, w.Features.Data) || g.Features.Rows != w.Features.Rows || !slices.Equal(g.Labels, w.Labels) || !slices.Equal(g.IDNames, w.IDNames) || !slices.Equal(g.IDInts, w.IDInts) || g.Others() != w.Others() {
				t.Errorf("%+v: part %d is\n%+v\nand not\n%+v", o, k, g, w)
			}
			for i := range w.Features.Rows {
				if g.In(i) != w.In(i) {
					t.Errorf("row %d of part %d was row %d, not %d", i, k, g.In(i), w.In(i))
				}
			}
		}
	}
	whole, err := Open(t.Context(), "?.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	picked, err := whole.Gather(t.Context(), []int{6, 2})
	if err != nil || picked.Place(0) != "c.csv, line 3" || picked.Place(1) != "b.csv, line 2" || picked.File(0) != "c.csv" {
		t.Errorf("%v, rows at %s and %s", err, picked.Place(0), picked.Place(1))
	}
	var rows []float32
	blocks, err := Open(t.Context(), "?.csv", Options{Each: func(b *Table) error {
		rows = append(rows, b.Features.Data...)
		if !slices.Contains(names, b.Name) {
			t.Errorf("a block is of %q", b.Name)
		}
		return nil
	}})
	if err != nil || blocks.Features.Rows != 7 || !slices.Equal(rows, whole.Features.Data) {
		t.Errorf("in blocks %v of %d rows, %v", rows, blocks.Features.Rows, err)
	}
	files := 0
	err = EachBatch(t.Context(), "?.csv", Options{FileColumn: "file"}, textFields("file", "x"), func(rec arrow.Record) error {
		files += int(rec.NumRows()) * len(rec.Column(0).ValueStr(0))
		return nil
	})
	if err != nil || files != 7*len("a.csv") {
		t.Errorf("%d, %v", files, err)
	}
}

// Arrays and pictures of several files are one, and have to be alike.
func TestSeveralArrays(t *testing.T) {
	archive := filepath.Join(oracle, "types.npz")
	plain := filepath.Join(oracle, "plain.npz")
	got, err := Open(t.Context(), archive+":X_le_f4,y_le_i8,"+plain, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Features.Rows != 10 || !slices.Equal(got.Row(7), got.Row(2)) || got.Labels[8] != "10" || got.File(9) != plain {
		t.Errorf("%+v", got)
	}
	_, shapes := Open(t.Context(), plain+","+filepath.Join(oracle, "train-images-idx3-ubyte"), Options{})
	wantError(t, shapes, "train-images-idx3-ubyte: a row has shape [1 4 5], and one of "+plain+" [3]")
	_, labels := Open(t.Context(), filepath.Join(oracle, "plain.npy")+","+filepath.Join(oracle, "version2.npy"), Options{Labels: filepath.Join(oracle, "labels.npy")})
	wantError(t, labels, "are 1 files of labels, and ")
	one, err := Open(t.Context(), filepath.Join(oracle, "version2.npy")+","+filepath.Join(oracle, "plain.npy"), Options{Labels: filepath.Join(oracle, "labels.npy") + "," + filepath.Join(oracle, "plain.npz")})
	if err != nil || len(one.Labels) != 10 {
		t.Errorf("%v", err)
	}
	_, none := Open(t.Context(), plain+","+filepath.Join(oracle, "plain.npy"), Options{})
	wantError(t, none, "plain.npy: has no labels, and "+plain+" has")
}

// Files of labels belong to files of rows in their order: one that is called after another is refused.
func TestLabelFilesInOrder(t *testing.T) {
	rows := []string{"a/ann.fcs", "a/ben.fcs", "a/p1.fcs", "a/p10.fcs"}
	for _, tc := range []struct {
		labels []string
		failed string
	}{
		{labels: []string{"b/ann.csv", "b/ben.csv", "b/p1.csv", "b/p10.csv"}},
		{labels: []string{"b/labels-ann.csv", "b/ben_labels.csv.gz", "b/p1 of Anna.csv", "b/gates.p10.csv"}},
		{labels: []string{"b/annann.csv", "b/benann.csv", "b/1p1.csv", "b/x.csv"}},
		{labels: []string{"b/1.csv", "b/2.csv", "b/3.csv", "b/4.csv"}},
		{labels: []string{"b/ann.csv", "b/ben.csv", "b/x.csv", "b/y.csv"}},
		{labels: []string{"b/ann-ben.csv", "b/ann-ben.csv", "b/x.csv", "b/y.csv"}},
		{labels: []string{"b/ben.csv", "b/eve.csv", "b/p1.csv", "b/p10.csv"}, failed: "b/ben.csv: would have the labels of a/ann.fcs, and is called after a/ben.fcs: give a file of labels for each file, in the same order"},
		{labels: []string{"b/ann.csv", "b/ben.csv", "b/p10_labels.csv", "b/p1_labels.csv"}, failed: "b/p10_labels.csv: would have the labels of a/p1.fcs, and is called after a/p10.fcs"},
	} {
		err := inOrder(rows, tc.labels)
		if tc.failed == "" && err != nil {
			t.Errorf("%v: %v", tc.labels, err)
		} else if tc.failed != "" {
			wantError(t, err, tc.failed)
		}
	}
	if err := inOrder([]string{"ann/cells.fcs", "ben/cells.fcs"}, []string{"ann/cells.csv", "ben/cells.csv"}); err != nil {
		t.Error(err)
	}
}

// Memory of several files is counted, and what is read of each is given back.
func TestSeveralMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	text := append([]byte("x,y,label\n"), bytes.Repeat([]byte("1,2,a\n"), 20000)...)
	for _, name := range []string{"a.csv", "b.csv", "c.csv", "d.csv"} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mem := arrowio.NewBudget(0)
	one, err := Open(t.Context(), "a.csv", Options{Memory: mem})
	if err != nil {
		t.Fatal(err)
	}
	used := mem.Used()
	mem = arrowio.NewBudget(0)
	if _, err := Open(t.Context(), "?.csv", Options{Memory: mem}); err != nil {
		t.Fatal(err)
	}
	if mem.Used() > 6*used || mem.Used() < int64(4*len(one.Features.Data)*4) {
		t.Errorf("one file takes %d bytes, four take %d", used, mem.Used())
	}
	_, err = Open(t.Context(), "?.csv", Options{Memory: arrowio.NewBudget(2 * used)})
	wantError(t, err, "--memory-limit")
}
