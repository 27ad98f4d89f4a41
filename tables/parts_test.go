package tables

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// recordOf makes a batch of JSON rows.
func recordOf(t *testing.T, fields []arrow.Field, rows string) arrow.Record {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// inKinds are the bytes of an Arrow stream and a Parquet file of a batch, by name.
func inKinds(t *testing.T, rec arrow.Record) map[string][]byte {
	t.Helper()
	var stream, columns bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(rec.Schema()))
	for i := int64(0); i < rec.NumRows(); i += 3 { // batches
		if err := w.Write(rec.NewSlice(i, min(i+3, rec.NumRows()))); err != nil {
			t.Fatal(err)
		}
	}
	p, err := pqarrow.NewFileWriter(rec.Schema(), &columns, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"t.arrows": stream.Bytes(), "t.parquet": columns.Bytes()}
}

// twoDomains reads the parts of a table whose column "batch" has the values.
func twoDomains(t *testing.T, name string, data []byte, source, target string) ([]*Table, error) {
	o := Options{Domain: "batch", Label: "kind", Parts: []Part{{Name: "source", Values: []string{source}}, {Name: "target", Values: []string{target}, NoLabels: true}}}
	return readParts(t.Context(), bytes.NewReader(data), name, o)
}

// A column of any type says which domain a row is of, in every kind of table: rows go
// where they belong with their labels and places, the target's labels are not read, and
// what is missing in rows of other domains does not matter.
func TestParts(t *testing.T) {
	batches := []struct {
		typ                           arrow.DataType
		source, target, other, domain string // as they are written, and as the flag names the source
	}{
		{arrow.BinaryTypes.String, `"old"`, `"new"`, `"ctrl"`, "old"},
		{arrow.PrimitiveTypes.Int64, "1", "2", "3", "1"},
		{arrow.PrimitiveTypes.Float64, "1", "2", "null", "1"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `"1"`, `"2"`, "null", "1.0"},
		{arrow.FixedWidthTypes.Boolean, "false", "true", "null", "False"},
	}
	const rows = `[{"batch":S,"a":1,"kind":"x"},{"batch":T,"a":2,"kind":"lie"},{"batch":O,"a":null,"kind":null},
		{"batch":O,"a":4,"kind":"x"},{"batch":S,"a":5,"kind":"y"},{"batch":T,"a":6,"kind":null},{"batch":T,"a":7,"kind":null}]`
	for _, b := range batches {
		fields := []arrow.Field{{Name: "batch", Type: b.typ, Nullable: true}, {Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "kind", Type: arrow.BinaryTypes.String, Nullable: true}}
		text := strings.NewReplacer("S", b.source, "T", b.target, "O", b.other).Replace(rows)
		kinds := inKinds(t, recordOf(t, fields, text))
		plain := strings.NewReplacer("S", b.source, "T", b.target, "O", b.other, `"`, "", "null", "").Replace
		kinds["t.csv"] = []byte(plain("batch,a,kind\nS,1,x\nT,2,lie\nO,,\nO,4,x\nS,5,y\nT,6,\nT,7,\n"))
		for name, data := range kinds {
			got, err := twoDomains(t, name, data, b.domain, strings.Trim(b.target, `"`))
			if err != nil {
				t.Errorf("%s, %s: %v", name, b.typ, err)
				continue
			}
			source, target := got[0], got[1]
			if !slices.Equal(source.Features.Data, []float32{1, 5}) || !slices.Equal(target.Features.Data, []float32{2, 6, 7}) || !slices.Equal(source.Columns, []string{"a"}) {
				t.Errorf("%s, %s: %v %v of %v", name, b.typ, source.Features.Data, target.Features.Data, source.Columns)
			}
			if !slices.Equal(source.Labels, []string{"x", "y"}) || target.Labels != nil {
				t.Errorf("%s, %s: labels %v %v", name, b.typ, source.Labels, target.Labels)
			}
			if source.In(1) != 4 || target.In(2) != 6 || !strings.HasPrefix(source.Others(), "2 rows of other domains are left out: ") {
				t.Errorf("%s, %s: rows %d, %d; %s", name, b.typ, source.In(1), target.In(2), source.Others())
			}
		}
	}
}

// npzOf is an archive of arrays of version 1.
func npzOf(t *testing.T, members map[string][2]string) []byte {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for name, m := range members {
		f, err := w.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "\x93NUMPY\x01\x00%c%c%s%s", len(m[0])&0xff, len(m[0])>>8, m[0], m[1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestPartsOfArrays(t *testing.T) {
	header := func(descr, shape string) string {
		return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	}
	data := npzOf(t, map[string][2]string{
		"X":     {header("|u1", "(4, 1)"), "\x01\x02\x03\x04"},
		"y":     {header("|S1", "(4,)"), "xyxy"},
		"batch": {header("|u1", "(4,)"), "\x02\x01\x07\x01"},
		"short": {header("|u1", "(3,)"), "\x02\x01\x07"},
	})
	got, err := twoDomains(t, "t.npz", data, "1", "2")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[0].Features.Data, []float32{2, 4}) || !slices.Equal(got[0].Labels, []string{"y", "y"}) || got[1].In(0) != 0 || got[1].Labels != nil {
		t.Errorf("%v %v, target's row %d, labels %v", got[0].Features.Data, got[0].Labels, got[1].In(0), got[1].Labels)
	}
	_, err = readParts(t.Context(), bytes.NewReader(data), "t.npz", Options{Domain: "short", Parts: []Part{{Name: "source"}}})
	wantError(t, err, "t.npz: 4 rows but 3 domains (member short): give one for each row")
}

// Fields of structs are columns, by all that columns can be: features, asked for by name,
// labels; a struct that is null is a missing value in the row that the message names.
func TestStructs(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true})
	fields := []arrow.Field{{Name: "pos", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, arrow.Field{Name: "in", Type: inner, Nullable: true}), Nullable: true},
		{Name: "z", Type: arrow.FixedWidthTypes.Boolean}}
	rec := recordOf(t, fields, `[{"pos":{"x":1.5,"in":{"y":2,"name":"a"}},"z":true},{"pos":{"x":3,"in":{"y":4,"name":"b"}},"z":false},
		{"pos":{"x":5,"in":{"y":6,"name":"b"}},"z":false},{"pos":{"x":7,"in":{"y":8,"name":"a"}},"z":true}]`)
	for name, data := range inKinds(t, rec) {
		got, err := Read(t.Context(), bytes.NewReader(data), name, Options{Label: "pos.in.name"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.Columns, []string{"pos.x", "pos.in.y", "z"}) || !slices.Equal(got.Row(3), []float32{7, 8, 1}) || !slices.Equal(got.Labels, []string{"a", "b", "b", "a"}) {
			t.Errorf("%s: %v %v %v", name, got.Columns, got.Row(3), got.Labels)
		}
		got, err = Read(t.Context(), bytes.NewReader(data), name, Options{Columns: []string{"pos.in.y"}})
		if err != nil || !slices.Equal(got.Features.Data, []float32{2, 4, 6, 8}) {
			t.Errorf("%s: one column: %v, %v", name, got, err)
		}
	}
	for rows, want := range map[string]string{
		`[{"pos":{"x":1,"in":{"y":2,"name":"a"}},"z":true},{"pos":{"x":1,"in":{"y":2,"name":"a"}},"z":true},{"pos":{"x":1,"in":{"y":2,"name":"a"}},"z":true},{"pos":null,"z":true}]`: `column "pos.x": row 4: is null`,
		`[{"pos":{"x":1,"in":null},"z":true}]`:                  `column "pos.in.y": row 1: is null`,
		`[{"pos":{"x":1,"in":{"y":null,"name":"a"}},"z":true}]`: `column "pos.in.y": row 1: is null`,
	} {
		for name, data := range inKinds(t, recordOf(t, fields, rows)) {
			_, err := Read(t.Context(), bytes.NewReader(data), name, Options{})
			wantError(t, err, name+": "+want)
		}
	}
}

// Columns that are not read say why, and those that look like a category which values
// they have.
func TestSkipped(t *testing.T) {
	fields := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64}, {Name: "sex", Type: arrow.BinaryTypes.String}, {Name: "note", Type: arrow.BinaryTypes.String}, {Name: "when", Type: arrow.FixedWidthTypes.Date32}}
	rec := recordOf(t, fields, `[{"a":1,"sex":"m","note":"p","when":"2024-01-01"},{"a":2,"sex":"f","note":"q","when":"2024-01-01"},{"a":3,"sex":"m","note":"r","when":"2024-01-01"},{"a":4,"sex":"m","note":"s","when":"2024-01-01"}]`)
	kinds := inKinds(t, rec)
	kinds["t.csv"] = []byte("a,sex,note,when\n1,m,p,2024-01-01\n2,f,q,2024-01-01 10:00\n3,m,r,2024-01-01\n4,m,s,2024-01-01\n")
	for name, data := range kinds {
		got, err := Read(t.Context(), bytes.NewReader(data), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(got.Skipped); text != "[sex (text) note (text) when (dates or times)]" {
			t.Errorf("%s: %s", name, text)
		}
		if values := got.Skipped[0].Values; !slices.Equal(values, []string{"f", "m"}) || got.Skipped[1].Values != nil {
			t.Errorf("%s: values %v, %v", name, values, got.Skipped[1].Values)
		}
	}
}

func TestSelectColumns(t *testing.T) {
	table, err := read("t.csv", "a,b,c\n1,2,3\n4,5,6\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Select([]string{"c", "a"}); !slices.Equal(got.Features.Data, []float32{3, 1, 6, 4}) || got.Features.Cols != 2 || !slices.Equal(got.Columns, []string{"c", "a"}) {
		t.Errorf("%v", got)
	}
}
