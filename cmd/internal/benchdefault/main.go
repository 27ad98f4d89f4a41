//go:build linux

// Benchdefault measures the two questions, mars label and mars proportions, as the
// default answers them, on simulated tables of several sizes: seconds of wall clock and of
// all processors, and the largest resident size. Its argument is the folder of the
// programs.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A table is one of those measured.
type table struct {
	source, target, columns, classes int  // rows of both, columns and classes
	csv                              bool // two files of CSV, otherwise a stream
}

var tables = []table{
	{4_000, 4_000, 50, 5, false},
	{2_000, 2_000, 5_000, 5, false},
	{20_000, 1_000_000, 50, 5, false},
	{20_000, 2_000_000, 20, 5, true},
	{3_000, 3_000, 20, 10, false},
	{3_000, 3_000, 20, 100, false},
	{3_000, 3_000, 20, 300, false},
	{5_000, 5_000, 20, 1_000, false},
	{12_288, 12_288, 20, 4_096, false},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: benchdefault FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "benchdefault:", err)
		os.Exit(1)
	}
}

func run(bin string) error {
	folder, err := os.MkdirTemp("", "benchdefault")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	fmt.Println("| source rows | target rows | columns | classes | read | command | seconds | processor seconds | MB |\n|---|---|---|---|---|---|---|---|---|")
	for _, t := range tables {
		if err := measure(bin, folder, t); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a line for each of the two commands.
func measure(bin, folder string, t table) error {
	rows := filepath.Join(folder, "rows.arrow")
	read, inputs, output, err := "stream", []string{rows}, "out.arrow", makeTable(rows, t)
	if t.csv && err == nil {
		source, target := filepath.Join(folder, "source.csv"), filepath.Join(folder, "target.csv")
		read, inputs, output = "CSV", []string{"--source", source, "--target", target, "--label", "label"}, "out.csv"
		err = makeCSV(rows, source, target)
	}
	if err != nil {
		return err
	}
	for _, command := range [][]string{{"label", "-q", "-o", filepath.Join(folder, output)}, {"proportions", "-q", "--json"}} {
		c := exec.Command(filepath.Join(bin, "mars"), append(command, inputs...)...)
		c.Stderr = os.Stderr
		began := time.Now()
		if err := c.Run(); err != nil {
			return err
		}
		took, use := time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage)
		fmt.Printf("| %d | %d | %d | %d | %s | %s | %.1f | %.1f | %d |\n", t.source, t.target, t.columns, t.classes, read, command[0], took.Seconds(),
			(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), use.Maxrss>>10)
	}
	return nil
}

// makeCSV writes the rows of a stream to two files, with five decimals; those of the source
// have labels.
func makeCSV(rows string, files ...string) error {
	in, err := arrowio.Open(rows, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	var out [2]*bufio.Writer
	for domain, name := range files {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		out[domain] = bufio.NewWriter(f)
	}
	began := false
	for {
		rec, err := in.Next()
		if err == io.EOF {
			return errors.Join(out[0].Flush(), out[1].Flush())
		}
		if err != nil {
			return err
		}
		x, err := arrowio.VectorColumn(rec, "features")
		if err != nil {
			return err
		}
		labels := rec.Column(1).(*array.Int32)
		if !began {
			var names []string
			for j := range x.Width {
				names = append(names, fmt.Sprintf("m%d", j))
			}
			head := strings.Join(names, ",")
			fmt.Fprintln(out[arrowio.SourceDomain], head+",label")
			fmt.Fprintln(out[arrowio.TargetDomain], head)
			began = true
		}
		for i := range x.Rows {
			var line []byte
			for j, v := range x.Row(i) {
				if j > 0 {
					line = append(line, ',')
				}
				line = strconv.AppendFloat(line, float64(v), 'f', 5, 64)
			}
			domain := arrowio.TargetDomain
			if labels.IsValid(i) {
				domain = arrowio.SourceDomain
				line = strconv.AppendInt(append(line, ','), int64(labels.Value(i)), 10)
			}
			out[domain].Write(append(line, '\n')) //nolint:errcheck // Flush says
		}
	}
}

// makeTable writes a stream of Gaussian classes, which have other proportions and other
// means in the target.
func makeTable(path string, t table) error {
	m := &maker{table: t, rng: rand.New(rand.NewPCG(1, 0))}
	for i := range t.classes * t.columns {
		m.means[0] = append(m.means[0], float32(m.rng.NormFloat64()))
		m.means[1] = append(m.means[1], m.means[0][i]+float32(m.rng.NormFloat64())/4)
	}
	out, err := arrowio.Create(path, arrowio.WriteOptions{})
	if err != nil {
		return err
	}
	if err := out.Begin(m.schema()); err != nil {
		return err
	}
	for domain, rows := range []int{t.source, t.target} {
		for n := 0; n < rows; n += batch {
			if err := out.Write(m.record(arrowio.Domain(domain), min(batch, rows-n))); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

const batch = 4_096

type maker struct {
	table
	rng   *rand.Rand
	means [2][]float32 // classes×columns, by domain
}

func (m *maker) schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: arrowio.VectorType(m.columns)}}, nil)
}

func (m *maker) record(domain arrowio.Domain, rows int) arrow.Record {
	labels, known, x := make([]int32, rows), make([]bool, rows), make([]float32, 0, rows*m.columns)
	for i := range rows {
		y := m.rng.IntN(m.classes)
		if domain == arrowio.TargetDomain {
			y = min(y, m.rng.IntN(m.classes)) // fewer of the last classes
		}
		labels[i], known[i] = int32(y), domain == arrowio.SourceDomain
		for _, mean := range m.means[domain][y*m.columns:][:m.columns] {
			x = append(x, mean+2*float32(m.rng.NormFloat64()))
		}
	}
	return array.NewRecord(m.schema(), []arrow.Array{arrowio.NewDomainArray(slices.Repeat([]arrowio.Domain{domain}, rows)),
		arrowio.NewIntArray(labels, known), arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: rows, Width: m.columns})}, int64(rows))
}
