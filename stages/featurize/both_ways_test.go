package featurize

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

// A fixture is a file of a row of docs/formats.md, or of the programs of its introduction.
type fixture struct {
	File     string
	Options  tables.Options
	Features [][]float64
	Columns  []string
	Labels   []string
}

// fixtures are those of both folders, with the path in File.
func fixtures(t *testing.T) (all []fixture) {
	t.Helper()
	for _, name := range []string{"featurize", "formats"} {
		folder := filepath.Join("..", "..", "testdata", "oracle", name)
		text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var cases []fixture
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.File = filepath.Join(folder, c.File); c.Options.Labels != "" {
				c.Options.Labels = filepath.Join(folder, c.Options.Labels)
			}
			all = append(all, c)
		}
	}
	return all
}

// floats are the features as they are read.
func (f fixture) floats() (rows [][]float32) {
	for _, row := range f.Features {
		var values []float32
		for _, v := range row {
			values = append(values, float32(v))
		}
		rows = append(rows, values)
	}
	return rows
}

// npy are the features as an array.
func (f fixture) npy() []byte {
	var npy bytes.Buffer
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", len(f.Features), len(f.Features[0]))
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	npy.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&npy, binary.LittleEndian, uint16(len(header)))
	npy.WriteString(header)
	binary.Write(&npy, binary.LittleEndian, slices.Concat(f.floats()...))
	return npy.Bytes()
}

// copies writes the table of a fixture in other formats, and returns their files.
func (f fixture) copies(t *testing.T, dir string) (files []string) {
	t.Helper()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	if f.Columns == nil {
		write("copy.npy", f.npy())
		return files
	}
	var text, lines bytes.Buffer
	table := csv.NewWriter(&text)
	table.Write(append(slices.Clone(f.Columns), "label"))
	fields := []arrow.Field{{Name: "label", Type: arrow.BinaryTypes.String}}
	for _, name := range f.Columns {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, row := range f.floats() {
		var cells []string
		object := map[string]any{"label": class(i)}
		b.Field(0).(*array.StringBuilder).Append(class(i))
		for j, v := range row {
			cells = append(cells, strconv.FormatFloat(float64(v), 'g', -1, 32))
			object[f.Columns[j]] = v
			b.Field(1 + j).(*array.Float32Builder).Append(v)
		}
		table.Write(append(cells, class(i)))
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	table.Flush()
	rec := b.NewRecord()
	defer rec.Release()
	var stream, stored bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(rec.Schema()))
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := pqarrow.WriteTable(array.NewTableFromRecords(rec.Schema(), []arrow.Record{rec}), &stored, 3, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	write("copy.csv", text.Bytes())
	write("copy.jsonl", lines.Bytes())
	write("copy.arrows", stream.Bytes())
	write("copy.parquet", stored.Bytes())
	return files
}

// class is that of row i of a copy.
func class(i int) string { return []string{"a", "b"}[i%2] }

// collected are the features of each domain that were written.
type collected struct {
	arrowio.Sink
	rows map[string][][]float32
}

func (c *collected) Begin(*arrow.Schema) error { return nil }
func (c *collected) Write(rec arrow.Record) error {
	domains, err := arrowio.StringColumn(rec, "domain")
	if err != nil {
		return err
	}
	features, err := arrowio.VectorColumn(rec, "features")
	if err != nil {
		return err
	}
	for i, domain := range domains.Values {
		c.rows[strings.Clone(domain)] = append(c.rows[domain], slices.Clone(features.Row(i)))
	}
	return nil
}

// The same table says the same to the bit, be it the source in one format and the target in
// another or the other way round, in every format that there is a fixture of.
func TestBothWays(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.Options.NoLabels {
			continue
		}
		t.Run(filepath.Base(f.File), func(t *testing.T) {
			dir := t.TempDir()
			labels := filepath.Join(dir, "labels.csv")
			text := "label\n"
			for i := range f.Features {
				text += class(i) + "\n"
			}
			if err := os.WriteFile(labels, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			original := SideOptions{Path: f.File, Format: f.Options, Images: ImageOptions{Raw: true}}
			if original.Format.Columns == nil {
				original.Format.Columns = f.Columns // so that none is left out
			}
			if f.Options.Labels == "" && (f.Labels == nil || slices.Contains(f.Labels, "")) {
				original.Format.Labels = labels
			}
			for _, file := range f.copies(t, dir) {
				other := SideOptions{Path: file, Format: tables.Options{Columns: f.Columns}, Images: ImageOptions{Raw: true}}
				if f.Columns == nil {
					other.Format.Labels = labels
				}
				f.same(t, original, other)
				f.same(t, other, original)
			}
		})
	}
}

// same compares both sides with the fixture.
func (f fixture) same(t *testing.T, source, target SideOptions) {
	t.Helper()
	if target.Format.Labels = ""; source.Images.Shape == nil && f.Columns == nil {
		flat := []int{1, 1, len(f.Features[0])} // of images and their copies alike
		source.Images.Shape, target.Images.Shape = flat, flat
	}
	out := &collected{rows: map[string][][]float32{}}
	env := stages.Env{Columns: arrowio.DefaultColumns()}
	if err := Files(t.Context(), env, Options{Source: source, Target: target}, out); err != nil {
		t.Errorf("%s → %s: %v", source.Path, target.Path, err)
		return
	}
	for _, domain := range []string{"source", "target"} {
		got := out.rows[domain]
		if !slices.EqualFunc(got, f.floats(), func(a, b []float32) bool {
			return slices.EqualFunc(a, b, func(v, w float32) bool { return math.Float32bits(v+0) == math.Float32bits(w+0) })
		}) {
			t.Errorf("%s → %s: the %s is\n%v, not\n%v", source.Path, target.Path, domain, got, f.floats())
		}
	}
}
