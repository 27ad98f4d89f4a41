//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// A table is rows of simulated numbers, drawn one after another.
type table struct {
	rows, columns int
	labelled      bool                          // whether a last column has the classes
	draw          func(x []float32) (class int) // the next row, of columns numbers
}

// clouds are Gaussian classes.
type clouds struct {
	rng   *rand.Rand
	means [][]float32 // classes × columns
	noise float32     // how far rows are from the means
	pick  func() int  // a class
}

func (c clouds) draw(x []float32) int {
	k := c.pick()
	for j, mean := range c.means[k] {
		x[j] = mean + c.noise*float32(c.rng.NormFloat64())
	}
	return k
}

// normal are classes × columns numbers.
func normal(rng *rand.Rand, classes, columns int, scale float32) [][]float32 {
	all := make([][]float32, classes)
	for k := range all {
		for range columns {
			all[k] = append(all[k], scale*float32(rng.NormFloat64()))
		}
	}
	return all
}

// writeCSV writes a table with so many decimals, or as many as a number needs if that is -1.
// Where word is not nil and returns one, it stands in a field's place.
func (t table) writeCSV(path string, decimals int, word func(row, column int) string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	line := []byte{}
	for j := range t.columns {
		line = fmt.Appendf(line, "m%d,", j)
	}
	x, class := make([]float32, t.columns), "label"
	for i := 0; ; i++ {
		if t.labelled {
			line = append(line, class...)
		} else {
			line = line[:len(line)-1] // without the last comma
		}
		w.Write(append(line, '\n')) //nolint:errcheck // Flush says
		if i == t.rows {
			return w.Flush()
		}
		line, class = line[:0], strconv.Itoa(t.draw(x))
		for j, v := range x {
			if text := wordOf(word, i, j); text != "" {
				line = append(line, text...)
			} else {
				line = strconv.AppendFloat(line, float64(v), 'f', decimals, 32)
			}
			line = append(line, ',')
		}
	}
}

func wordOf(word func(row, column int) string, row, column int) string {
	if word == nil {
		return ""
	}
	return word(row, column)
}

func (t table) schema() *arrow.Schema {
	var fields []arrow.Field
	for j := range t.columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("m", j), Type: arrow.PrimitiveTypes.Float32})
	}
	if t.labelled {
		fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String})
	}
	return arrow.NewSchema(fields, nil)
}

// record draws n rows as columns.
func (t table) record(n int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.schema())
	defer b.Release()
	x := make([]float32, t.columns)
	for range n {
		class := t.draw(x)
		for j, v := range x {
			b.Field(j).(*array.Float32Builder).Append(v)
		}
		if t.labelled {
			b.Field(t.columns).(*array.StringBuilder).Append(strconv.Itoa(class))
		}
	}
	return b.NewRecord()
}

// writeParquet writes a table, of which it holds a block of rows at a time.
func (t table) writeParquet(path string, block int, properties ...parquet.WriterProperty) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(t.schema(), f, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err != nil {
		f.Close()
		return err
	}
	for left := t.rows; left > 0 && err == nil; left -= block {
		err = w.WriteBuffered(t.record(min(left, block)))
	}
	if closing := w.Close(); err == nil {
		err = closing // which closes the file too
	}
	return err
}

// writeArrow writes a table as an Arrow file with a column for each number.
func (t table) writeArrow(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rec := t.record(t.rows)
	out := arrowio.NewFileWriter(f, path, arrowio.WriteOptions{})
	if err := out.Begin(rec.Schema()); err != nil {
		return err
	}
	if err := out.Write(rec); err != nil {
		return err
	}
	return out.Close()
}

// writeStream writes the rows of both domains as a stage takes them.
func writeStream(path string, source, target table) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: arrowio.VectorType(source.columns)}}, nil)
	out, err := arrowio.Create(path, arrowio.WriteOptions{})
	if err != nil {
		return err
	}
	if err := out.Begin(schema); err != nil {
		return err
	}
	for domain, t := range []table{source, target} {
		for left := t.rows; left > 0; left -= batchRows {
			if err := out.Write(t.batch(schema, arrowio.Domain(domain), min(left, batchRows))); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

const batchRows = 4_096

func (t table) batch(schema *arrow.Schema, domain arrowio.Domain, rows int) arrow.Record {
	labels, x := make([]int32, rows), make([]float32, rows*t.columns)
	for i := range rows {
		labels[i] = int32(t.draw(x[i*t.columns:][:t.columns]))
	}
	return array.NewRecord(schema, []arrow.Array{arrowio.NewDomainArray(slices.Repeat([]arrowio.Domain{domain}, rows)),
		arrowio.NewIntArray(labels, slices.Repeat([]bool{t.labelled}, rows)), arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: rows, Width: t.columns})}, int64(rows))
}
