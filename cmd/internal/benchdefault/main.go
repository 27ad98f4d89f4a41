//go:build linux

// Benchdefault measures the two questions, mars label and mars proportions, as the
// default answers them, on simulated tables of several sizes: seconds of wall clock and of
// all processors, and the largest resident size. Its argument is the folder of the
// programs.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

const classes = 5

// tables are those measured: rows of the source, of the target, and columns.
var tables = []struct{ source, target, columns int }{
	{4_000, 4_000, 50},
	{2_000, 2_000, 5_000},
	{20_000, 1_000_000, 50},
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
	fmt.Println("| source rows | target rows | columns | command | seconds | processor seconds | MB |\n|---|---|---|---|---|---|---|")
	for _, t := range tables {
		file := filepath.Join(folder, "rows.arrow")
		if err := makeTable(file, t.source, t.target, t.columns); err != nil {
			return err
		}
		for _, command := range [][]string{{"label", file, "-q", "-o", filepath.Join(folder, "out.arrow")}, {"proportions", file, "-q", "--json"}} {
			c := exec.Command(filepath.Join(bin, "mars"), command...)
			c.Stderr = os.Stderr
			began := time.Now()
			if err := c.Run(); err != nil {
				return err
			}
			took, use := time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage)
			fmt.Printf("| %d | %d | %d | %s | %.1f | %.1f | %d |\n", t.source, t.target, t.columns, command[0], took.Seconds(),
				(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), use.Maxrss>>10)
		}
	}
	return nil
}

// makeTable writes a stream of Gaussian classes, which have other proportions and other
// means in the target.
func makeTable(path string, source, target, columns int) error {
	m := &maker{columns: columns, rng: rand.New(rand.NewPCG(1, 0))}
	for i := range classes * columns {
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
	for domain, rows := range []int{source, target} {
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
	columns int
	rng     *rand.Rand
	means   [2][]float32 // classes×columns, by domain
}

func (m *maker) schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "domain", Type: arrow.BinaryTypes.String}, {Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: arrowio.VectorType(m.columns)}}, nil)
}

func (m *maker) record(domain arrowio.Domain, rows int) arrow.Record {
	labels, known, x := make([]int32, rows), make([]bool, rows), make([]float32, 0, rows*m.columns)
	for i := range rows {
		y := m.rng.IntN(classes)
		if domain == arrowio.TargetDomain {
			y = min(y, m.rng.IntN(classes)) // fewer of the last classes
		}
		labels[i], known[i] = int32(y), domain == arrowio.SourceDomain
		for _, mean := range m.means[domain][y*m.columns:][:m.columns] {
			x = append(x, mean+2*float32(m.rng.NormFloat64()))
		}
	}
	return array.NewRecord(m.schema(), []arrow.Array{arrowio.NewDomainArray(slices.Repeat([]arrowio.Domain{domain}, rows)),
		arrowio.NewIntArray(labels, known), arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: rows, Width: m.columns})}, int64(rows))
}
