//go:build linux

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

const columns = 20

// words are the values of columns of text.
var words = []string{`"Never married"`, `"Doctorate, or more"`, `"of ""Bath"""`, "other"}

// makeTables writes the same numbers as text, Parquet and Arrow, and a text with words too.
func makeTables(folder string, rows int) (files []string, err error) {
	numbers := make([]float32, rows*columns)
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range numbers {
		numbers[i] = float32(3 * rng.NormFloat64())
	}
	for _, t := range []struct {
		name  string
		write func(path string, numbers []float32) error
	}{
		{"numbers.csv", func(path string, numbers []float32) error { return writeText(path, numbers, columns) }},
		{"words.csv", func(path string, numbers []float32) error { return writeText(path, numbers, 4) }},
		{"numbers.parquet", writeParquet},
		{"numbers.arrow", writeArrow},
	} {
		path := filepath.Join(folder, t.name)
		if err := t.write(path, numbers); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, nil
}

// writeText writes CSV. Every column whose number is a multiple of every, but the first, has
// words.
func writeText(path string, numbers []float32, every int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for j := range columns {
		fmt.Fprintf(w, "m%d%c", j, end(j))
	}
	var text []byte
	for i, v := range numbers {
		j := i % columns
		if text = text[:0]; j > 0 && j%every == 0 {
			text = append(text, words[(i/columns+j/every)%len(words)]...)
		} else {
			text = strconv.AppendFloat(text, float64(v), 'g', -1, 32)
		}
		w.Write(append(text, end(j))) // an error comes with Flush
	}
	return w.Flush()
}

// end is what follows a field of column j.
func end(j int) byte {
	if j == columns-1 {
		return '\n'
	}
	return ','
}

// record is the numbers as columns.
func record(numbers []float32) arrow.Record {
	var fields []arrow.Field
	for j := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("m", j), Type: arrow.PrimitiveTypes.Float32})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, v := range numbers {
		b.Field(i % columns).(*array.Float32Builder).Append(v)
	}
	return b.NewRecord()
}

func writeParquet(path string, numbers []float32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	rec := record(numbers)
	defer rec.Release()
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	if err := w.Write(rec); err != nil {
		return err
	}
	return w.Close() // and f
}

func writeArrow(path string, numbers []float32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rec := record(numbers)
	out := arrowio.NewFileWriter(f, path, arrowio.WriteOptions{})
	if err := out.Begin(rec.Schema()); err != nil {
		return err
	}
	if err := out.Write(rec); err != nil {
		return err
	}
	return out.Close()
}
