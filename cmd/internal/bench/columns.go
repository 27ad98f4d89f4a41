//go:build unix

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"mars.dev/mars/cmd/internal/bench/cost"
)

// columnRows is how many rows the tables have, each of a class of its own.
const columnRows = 3

// wideFormats are the formats of tables, by their extensions. What write is given are numbers,
// row by row.
var wideFormats = []struct {
	extension string
	write     func(path string, t table) error
}{
	{"csv", func(path string, t table) error { return t.writeCSV(path, -1, nil) }},
	{"tsv", writeTSV},
	{"jsonl", func(path string, t table) error {
		return writeWide(path, t, "", "{", `"m%d":%g,`, `"label":"CLASS"}`)
	}},
	{"arff", func(path string, t table) error {
		var head []byte
		for j := range t.columns {
			head = fmt.Appendf(head, "@attribute m%d numeric\n", j)
		}
		return writeWide(path, t, "@relation wide\n"+string(head)+"@attribute label {0,1,2}\n@data\n", "", "%[2]g,", "CLASS")
	}},
	{"parquet", func(path string, t table) error { return t.writeParquet(path, columnRows) }},
	{"arrow", func(path string, t table) error { return t.writeArrow(path) }},
	{"svmlight", func(path string, t table) error { return writeWide(path, t, "", "CLASS ", "%d:%g ", "") }},
}

func benchColumns(flags *flag.FlagSet) func() error {
	most := flags.Int("columns", 1_000_000, "the most columns")
	return func() error {
		return measuring(flags, "", func(mars, dir string) error { return compareColumns(mars, dir, *most) })
	}
}

// compareColumns prints what mars label and mars proportions take of each format, and by which
// power of the columns the last step of ten times as many has grown.
func compareColumns(mars, dir string, most int) error {
	heading("format", "command", "columns", "processor seconds", "exponent")
	for _, f := range wideFormats {
		for _, command := range []string{"label", "proportions"} {
			before := 0.0
			for columns := 1000; columns <= most; columns *= 10 {
				path := filepath.Join(dir, "wide."+f.extension)
				if err := f.write(path, wide(columns)); err != nil {
					return err
				}
				c, err := cost.Of(exec.Command(mars, command, "-q", "--source", path, "--target", path, "-o", filepath.Join(dir, "out.csv")))
				if err != nil {
					return err
				}
				exponent := ""
				if before > 0 {
					exponent = fmt.Sprintf("%.2f", math.Log10(c.Processors/before))
				}
				before = c.Processors
				fmt.Printf("| %s | %s | %d | %.2f | %s |\n", f.extension, command, columns, c.Processors, exponent)
			}
		}
	}
	return nil
}

// wide is a table of so many columns.
func wide(columns int) table {
	rng, next := rand.New(rand.NewPCG(1, 1)), -1
	return table{rows: columnRows, columns: columns, labelled: true, draw: func(x []float32) int {
		for j := range x {
			x[j] = float32(rng.NormFloat64())
		}
		next++
		return next
	}}
}

func writeTSV(path string, t table) error {
	if err := t.writeCSV(path, -1, nil); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.ReplaceAll(text, []byte(","), []byte("\t")), 0o666)
}

// writeWide writes lines of text. cell formats the number of a column and its value; CLASS in
// what lines begin and end with is the class.
func writeWide(path string, t table, head, begin, cell, end string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprint(w, head)
	x := make([]float32, t.columns)
	for range t.rows {
		class := t.draw(x)
		fmt.Fprint(w, strings.ReplaceAll(begin, "CLASS", strconv.Itoa(class)))
		for j, v := range x {
			fmt.Fprintf(w, cell, j, v)
		}
		fmt.Fprintln(w, strings.ReplaceAll(end, "CLASS", strconv.Itoa(class)))
	}
	return w.Flush()
}
