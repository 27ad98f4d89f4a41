//go:build unix

package limits

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// A shape is an input of a format in which something is long.
type shape struct {
	format, long string
	what         string
	write        func(w io.Writer, bytes int64) error
}

func (s shape) name() string { return s.format + "/" + s.long }

// right is the format of the rows that are beside the shape.
func (s shape) right() string {
	if s.format == "svm" {
		return "svm"
	}
	return "csv"
}

var rightRows = map[string]string{
	"csv": "x,label\n1,a\n2,b\n1.5,a\n2.5,b\n",
	"svm": "1 1:1\n2 1:2\n1 1:1.5\n2 1:2.5\n",
}

func named(name string) shape {
	for _, s := range shapes {
		if s.name() == name {
			return s
		}
	}
	panic("no shape " + name)
}

var shapes = []shape{
	{"csv", "record", "CSV, one record", filled("id,x,label\n1,", "1", "")},
	{"csv", "quoted", "CSV, one record in quotes", filled("id,x,label\n1,\"", "a", "\",a\n")},
	{"csv", "open", "CSV, a field without an end", filled("id,x,label\n\"", "a\n", "")},
	{"csv", "name", "CSV, one name of a column", filled("a,", "a", "\n")},
	{"csv", "names", "CSV, empty names of columns", filled("x", ",", "\n")},
	{"csv", "columns", "CSV, columns of three rows", writeWide},
	{"csv", "rows", "CSV, rows", filled("x,label\n", "1,a\n", "")},
	{"csv", "classes", "CSV, a class a row", counted("x,label\n", "1,a%d\n", "")},
	{"csv", "ids", "CSV, an identity a row", counted("x,label,id\n", "1,a,r%d\n", "")},
	{"jsonl", "string", "JSON lines, one string", filled(`{"x":1,"label":"a","t":"`, "a", "\"}\n")},
	{"jsonl", "escapes", "JSON lines, one string of escapes", filled(`{"x":1,"label":"a","t":"`, `\u0061`, "\"}\n")},
	{"jsonl", "list", "JSON lines, one list", filled(`{"label":"a","x":[`, "1,", "1]}\n")},
	{"jsonl", "keys", "JSON lines, keys of one row", counted(`{"x":1,"label":"a"`, `,"k%d":1`, "}\n")},
	{"jsonl", "new", "JSON lines, a new key a row", counted("", "{\"k%d\":1,\"label\":\"a\"}\n", "")},
	{"jsonl", "open", "JSON lines, lists in lists", filled(`{"x":`, "[", "")},
	{"jsonl", "rows", "JSON lines, rows", filled("", "{\"x\":1,\"label\":\"a\"}\n", "")},
	{"json", "string", "JSON array, one string", filled(`[{"x":1,"label":"a","t":"`, "a", "\"}]")},
	{"json", "open", "JSON array, an object without an end", filled(`[{"x":1,"label":"a","t":`, "[1,\n", "")},
	{"json", "rows", "JSON array, rows", filled("[{\"x\":1,\"label\":\"a\"}", ",{\"x\":1,\"label\":\"a\"}", "]")},
	{"svm", "line", "svmlight, one line", filled("1", " 1:1", "\n")},
	{"svm", "indices", "svmlight, different indices", counted("1", " %d:1", "\n")},
	{"svm", "value", "svmlight, one value", filled("1 1:", "1", "\n")},
	{"svm", "rows", "svmlight, rows", filled("", "1 1:1\n", "")},
	{"arff", "token", "ARFF, one string", filled("@relation a\n@attribute t string\n@attribute x real\n@attribute label {a,b}\n@data\n'", "a", "',1,a\n")},
	{"arff", "attributes", "ARFF, attributes", counted("@relation a\n", "@attribute a%d real\n", "@data\n")},
	{"arff", "values", "ARFF, values of an attribute", counted("@relation a\n@attribute label {", "v%d,", "z}\n@attribute x real\n@data\nz,1\n")},
	{"arff", "rows", "ARFF, rows", filled("@relation a\n@attribute x real\n@attribute label {a,b}\n@data\n", "1,a\n", "")},
	{"fcs", "text", "FCS, what is none", filled("FCS3.0    ", " ", "")},
	{"fcs", "events", "FCS, events", writeFCS},
	{"npy", "rows", "npy, rows", func(w io.Writer, n int64) error { return writeNPY(w, n) }},
	{"npz", "rows", "npz, rows", writeNPZ},
	{"idx", "images", "IDX, images", writeIDX},
	{"mat", "rows", "MATLAB, rows", writeMAT},
	{"parquet", "string", "Parquet, one string", parquetOf(false, longString)},
	{"parquet", "word", "Parquet, one string in a dictionary", parquetOf(true, longString)},
	{"parquet", "rows", "Parquet, rows", parquetOf(false, manyRows)},
	{"parquet", "columns", "Parquet, columns", parquetOf(true, manyColumns)},
	{"parquet", "list", "Parquet, one list", parquetOf(false, longList)},
	{"arrow", "string", "Arrow, one string", arrowOf(longString)},
	{"arrow", "rows", "Arrow, rows of one batch", arrowOf(manyRows)},
	{"arrow", "columns", "Arrow, columns", arrowOf(manyColumns)},
	{"arrow", "list", "Arrow, one list", arrowOf(longList)},
}

// filled writes unit again and again between head and tail.
func filled(head, unit, tail string) func(io.Writer, int64) error {
	return func(w io.Writer, n int64) error {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		piece := bytes.Repeat([]byte(unit), mega/len(unit))
		for ; n > 0; n -= int64(len(piece)) {
			if _, err := w.Write(piece[:min(n/int64(len(unit))*int64(len(unit)), int64(len(piece)))]); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, tail)
		return err
	}
}

// counted writes units with a number in each.
func counted(head, unit, tail string) func(io.Writer, int64) error {
	return func(w io.Writer, n int64) error {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		for i := 1; n > 0; i++ {
			k, err := fmt.Fprintf(w, unit, i)
			if err != nil {
				return err
			}
			n -= int64(k)
		}
		_, err := io.WriteString(w, tail)
		return err
	}
}

// wideColumn is about how many bytes a column of writeWide has.
const wideColumn = 14

func writeWide(w io.Writer, n int64) error {
	columns := n / wideColumn
	for i := range columns {
		if _, err := fmt.Fprintf(w, "m%d,", i); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w, "label\n"); err != nil {
		return err
	}
	for _, value := range []string{"1,", "3,", "2,"} {
		if err := filled("", value, "a\n")(w, columns*int64(len(value))); err != nil {
			return err
		}
	}
	return nil
}

func writeFCS(w io.Writer, n int64) error {
	events := n / 4
	text := fmt.Sprintf("/$PAR/1/$DATATYPE/F/$MODE/L/$BYTEORD/1,2,3,4/$TOT/%d/$P1B/32/$P1R/1024/$P1N/x/$P1E/0,0/$BEGINDATA/1000/$ENDDATA/%d/", events, 999+4*events)
	head := fmt.Sprintf("FCS3.0    %8d%8d%8d%8d%8d%8d", 58, 57+len(text), 0, 0, 0, 0) + text
	return filled(head+strings.Repeat(" ", 1000-len(head)), "\x00\x00\x80\x3f", "")(w, 4*events)
}

const wide = 1024 // values of a row of an array

func writeNPY(w io.Writer, n int64) error {
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", n/4/wide, wide)
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	return filled("\x93NUMPY\x01\x00"+string([]byte{byte(len(text)), 0})+text, "\x00\x00\x80\x3f", "")(w, n/4/wide*4*wide)
}

func writeNPZ(w io.Writer, n int64) error {
	z := zip.NewWriter(w)
	member, err := z.Create("X.npy")
	if err == nil {
		err = writeNPY(member, n)
	}
	if err != nil {
		return err
	}
	return z.Close()
}

func writeIDX(w io.Writer, n int64) error {
	head := binary.BigEndian.AppendUint32([]byte("\x00\x00\x08\x03"), uint32(n/wide))
	return filled(string(head)+"\x00\x00\x00\x20\x00\x00\x00\x20", "\x01", "")(w, n/wide*wide)
}

func writeMAT(w io.Writer, n int64) error {
	rows := n / 8 / wide
	u := func(values ...uint32) (out string) {
		for _, v := range values {
			out += string(binary.LittleEndian.AppendUint32(nil, v))
		}
		return out
	}
	body := u(6, 8, 6, 0, 5, 8, uint32(rows), wide, 1<<16|1) + "X\x00\x00\x00" + u(9, uint32(rows*8*wide))
	head := fmt.Sprintf("%-124s\x00\x01IM", "MATLAB 5.0") + u(14, uint32(len(body))+uint32(rows*8*wide)) + body
	return filled(head, "\x00\x00\x00\x00\x00\x00\xf0\x3f", "")(w, rows*8*wide)
}

// A content is columns of about so many bytes, with x and label among them.
type content func(bytes int64) arrow.Record

func longString(n int64) arrow.Record {
	return record(map[string]arrow.Array{"t": strings3(strings.Repeat("a", int(n)), "b", "c")}, 3)
}

func manyRows(n int64) arrow.Record {
	rows := int(n / 16)
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(float64(i))
	}
	return record(map[string]arrow.Array{"y": b.NewArray()}, rows)
}

func manyColumns(n int64) arrow.Record {
	const rows = 1000
	columns := map[string]arrow.Array{}
	for i := range n / 8 / rows {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for k := range rows {
			b.Append(float64(i) + float64(k)/rows)
		}
		columns[fmt.Sprintf("g%d", i)] = b.NewArray()
	}
	return record(columns, rows)
}

func longList(n int64) arrow.Record {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float64)
	values := b.ValueBuilder().(*array.Float64Builder)
	for range 3 {
		b.Append(true)
		for k := range n / 8 / 3 {
			values.Append(float64(k))
		}
	}
	return record(map[string]arrow.Array{"v": b.NewArray()}, 3)
}

func strings3(values ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

// record adds x and label to columns.
func record(columns map[string]arrow.Array, rows int) arrow.Record {
	x, label := array.NewFloat64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	for i := range rows {
		x.Append(float64(i))
		label.Append([]string{"a", "b"}[i%2])
	}
	columns["x"], columns["label"] = x.NewArray(), label.NewArray()
	var fields []arrow.Field
	var arrays []arrow.Array
	for name, column := range columns {
		fields, arrays = append(fields, arrow.Field{Name: name, Type: column.DataType()}), append(arrays, column)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

func parquetOf(words bool, of content) func(io.Writer, int64) error {
	return func(w io.Writer, n int64) error {
		rec := of(n)
		properties := parquet.NewWriterProperties(parquet.WithDictionaryDefault(words), parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithDictionaryPageSizeLimit(1<<30), parquet.WithStats(false))
		file, err := pqarrow.NewFileWriter(rec.Schema(), w, properties, pqarrow.DefaultWriterProps())
		if err != nil {
			return err
		}
		if err := file.Write(rec); err != nil {
			return err
		}
		return file.Close()
	}
}

func arrowOf(of content) func(io.Writer, int64) error {
	return func(w io.Writer, n int64) error {
		rec := of(n)
		out := ipc.NewWriter(w, ipc.WithSchema(rec.Schema()))
		if err := out.Write(rec); err != nil {
			return err
		}
		return out.Close()
	}
}
