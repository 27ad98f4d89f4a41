package tables

import (
	"bytes"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// labelTable is a table of labels and their shares.
func labelTable(t *testing.T) arrow.Table {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "share", Type: arrow.PrimitiveTypes.Float64}, {Name: "kind", Type: arrow.BinaryTypes.String, Nullable: true}}, nil))
	defer b.Release()
	for i, label := range []string{"cat", "dog", "", "cat"} {
		b.Field(0).(*array.Float64Builder).Append(float64(i))
		if label == "" {
			b.Field(1).AppendNull()
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(label)
	}
	return array.NewTableFromRecords(b.Schema(), []arrow.Record{b.NewRecord()})
}

// Labels in a file of their own may be in any table: its only column, or the one that is
// named.
func TestLabelFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	table := labelTable(t)
	var stored, streamed, zipped bytes.Buffer
	if err := pqarrow.WriteTable(table, &stored, 2, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	w := ipc.NewWriter(&streamed, ipc.WithSchema(table.Schema()))
	for r := array.NewTableReader(table, 3); r.Next(); {
		if err := w.Write(r.Record()); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("{\"name\": \"cat\"}\n{\"name\": \"dog\"}\n{\"name\": null}\n{\"name\": \"cat\"}\n"))
	z.Close()
	for name, text := range map[string]string{
		"x.csv": "a,b\n1,2\n3,4\n5,6\n7,8\n", "labels.parquet": stored.String(), "labels.arrows": streamed.String(), "labels.jsonl.gz": zipped.String(),
		"labels.tsv": "share\tkind\n0\tcat\n1\tdog\n2\t\n3\tcat\n", "labels.arff": "@relation r\n@attribute k {cat,dog}\n@data\ncat\ndog\n?\ncat\n",
		"three.jsonl": "{\"name\": 1}\n{\"name\": 1}\n{\"name\": 1}\n", "half.jsonl": "{\"name\": 1.5}\n", "whole.jsonl": "{\"name\": 3.0}\n{\"name\": 4}\n{\"name\": 3}\n{\"name\": 5}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		file, label, fails string
		whole              bool
	}{
		{file: "labels.parquet", label: "kind"}, {file: "labels.arrows", label: "kind"}, {file: "labels.tsv", label: "kind"},
		{file: "labels.jsonl.gz"}, {file: "labels.arff"}, {file: "whole.jsonl", whole: true},
		{file: "labels.parquet", fails: `labels.parquet: has no column "label" (its columns are share, kind): name the label column`},
		{file: "labels.arff", label: "kind", fails: `labels.arff: has no column "kind" (its columns are k)`},
		{file: "three.jsonl", fails: "x.csv: 4 rows but 3 labels (three.jsonl)"},
		{file: "half.jsonl", fails: "half.jsonl: "},
	} {
		got, err := Open(t.Context(), "x.csv", Options{Labels: tc.file, Label: tc.label, Columns: []string{"a"}})
		if tc.fails != "" {
			wantError(t, err, tc.fails)
			continue
		}
		want := []string{"cat", "dog", "", "cat"}
		if tc.whole {
			want = []string{"3", "4", "3", "5"}
		}
		if err != nil || !slices.Equal(got.Labels, want) {
			t.Errorf("%s: %v, %v", tc.file, got, err)
		}
	}
}

// Two texts that are none are not one class.
func TestLabelsThatAreNoText(t *testing.T) {
	header := func(kind string) string { return "{'descr': '" + kind + "', 'fortran_order': False, 'shape': (2,)}" }
	for what, text := range map[string]string{
		"bytes":      npy(header("|S2"), "a\xffa\xfe"),
		"surrogates": npy(header("<U1"), "\x00\xd8\x00\x00\xff\xdf\x00\x00"),
	} {
		labels, err := readArrayLabels(readNPY(strings.NewReader(text), arrowio.NewBudget(0)))
		if labels != nil {
			t.Error(what, labels)
		}
		wantError(t, err, "row 1: is not valid text: check what wrote it")
	}
}

// Labels with identities are those of the rows with the same ones, in whatever order they come.
func TestLabelsBelongToIdentities(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"x.csv": "id,a\n7,1\n8,2\n9,3\n", "named.csv": "id,a\nu,1\nv,2\nw,3\n", "plain.csv": "a\n1\n2\n3\n", "both.csv": "id,a,side\n7,1,source\n8,2,target\n9,3,source\n",
		"turned.csv": "id,kind\n9,cat\n7,dog\n8,\n", "turned.jsonl": "{\"id\": 9.0, \"kind\": \"cat\"}\n{\"id\": 7, \"kind\": \"dog\"}\n{\"id\": 11, \"kind\": \"owl\"}\n",
		"names.csv": "kind,id\ncat,w\ndog,u\n", "column.csv": "kind\ncat\ndog\nowl\n", "cell.csv": "cell,kind\n9,cat\n7,dog\n8,owl\n",
		"twice.csv": "id,kind\n9,cat\n7,dog\n9,owl\n", "other.csv": "id,kind\n1,cat\n2,dog\n3,owl\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		rows, labels string
		want         []string
		fault        string
	}{
		{"x.csv", "turned.csv", []string{"dog", "", "cat"}, ""},
		{"x.csv", "turned.jsonl", []string{"dog", "", "cat"}, ""},
		{"named.csv", "names.csv", []string{"dog", "", "cat"}, ""},
		{"x.csv", "column.csv", []string{"cat", "dog", "owl"}, ""},
		{"plain.csv", "other.csv", []string{"cat", "dog", "owl"}, ""},
		{"x.csv", "cell.csv", nil, `cell.csv: has no column "id", by which labels belong to the rows of x.csv (its columns are cell, kind): give it one, or a file of the labels alone`},
		{"x.csv", "twice.csv", nil, `twice.csv: row 3: the identity "9" has another label than in row 1: give one`},
		{"x.csv", "other.csv", nil, `x.csv: other.csv: its rows are of other identities, such as "1": give labels of the same rows`},
	} {
		got, err := Open(t.Context(), tc.rows, Options{Label: "kind", Labels: tc.labels})
		if tc.fault != "" {
			wantError(t, err, tc.fault)
			continue
		}
		if err != nil || !slices.Equal(got.Labels, tc.want) {
			t.Errorf("%s of %s: %q, %v; want %q", tc.labels, tc.rows, got.Labels, err, tc.want)
		}
		if doubt := "has no identities, so the labels of other.csv are taken in the order of the rows"; strings.Contains(got.Doubt, doubt) != (tc.rows == "plain.csv") {
			t.Errorf("%s of %s: warns %q", tc.labels, tc.rows, got.Doubt)
		}
	}
	sides, err := OpenParts(t.Context(), "both.csv", Options{Label: "kind", Labels: "turned.csv", Domain: "side", Parts: []Part{{Name: "source"}, {Name: "target"}}})
	if err != nil || !slices.Equal(sides[0].Labels, []string{"dog", "cat"}) || !slices.Equal(sides[1].Labels, []string{""}) {
		t.Errorf("of two domains: %v", err)
	}
}
