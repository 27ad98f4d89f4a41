//go:build unix

package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"

	"mars.dev/mars/cmd/internal/bench/cost"
)

// A task is a simulated table that the default is measured on.
type task struct {
	source, target, columns, classes int  // rows of both, columns and classes
	csv                              bool // two files of CSV, otherwise a stream
}

var tasks = []task{
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

// benchDefault measures the two questions, mars label and mars proportions, as the default
// answers them.
func benchDefault(flags *flag.FlagSet) func() error {
	rows := flags.Int("rows", math.MaxInt, "the most source and target rows, of the tables that are measured")
	return func() error {
		return measuring(flags, "", func(mars, dir string) error { return measureDefault(mars, dir, *rows) })
	}
}

func measureDefault(mars, dir string, rows int) error {
	heading("source rows", "target rows", "columns", "classes", "read", "command", "seconds", "processor seconds", "MB")
	for _, t := range tasks {
		if t.source+t.target > rows {
			continue
		}
		if err := t.measure(mars, dir); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a line for each of the two commands.
func (t task) measure(mars, dir string) error {
	read, inputs, output, err := t.write(dir)
	if err != nil {
		return err
	}
	for _, command := range [][]string{{"label", "-q", "-o", filepath.Join(dir, output)}, {"proportions", "-q", "--json"}} {
		c, err := cost.Of(exec.Command(mars, append(command, inputs...)...))
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %d | %d | %s | %s | %.1f | %.1f | %.0f |\n", t.source, t.target, t.columns, t.classes, read, command[0], c.Wall, c.Processors, c.Peak)
	}
	return nil
}

// write writes the rows, and says how they are read, with which arguments, and into what the
// labels go.
func (t task) write(dir string) (read string, inputs []string, output string, err error) {
	source, target := t.tables()
	if !t.csv {
		rows := filepath.Join(dir, "rows.arrow")
		return "stream", []string{rows}, "out.arrow", writeStream(rows, source, target)
	}
	labelled, today := filepath.Join(dir, "source.csv"), filepath.Join(dir, "target.csv")
	if err = source.writeCSV(labelled, 5, nil); err == nil {
		err = target.writeCSV(today, 5, nil)
	}
	return "CSV", []string{"--source", labelled, "--target", today, "--label", "label"}, "out.csv", err
}

// tables are Gaussian classes, which have other proportions and other means in the target.
func (t task) tables() (source, target table) {
	rng := rand.New(rand.NewPCG(1, 0))
	row := 0 // of the source, whose classes come in turn: all have rows
	before := clouds{rng, normal(rng, t.classes, t.columns, 1), 2, func() int { row++; return row % t.classes }}
	after := clouds{rng, normal(rng, t.classes, t.columns, 0.25), 2, func() int { return min(rng.IntN(t.classes), rng.IntN(t.classes)) }} // fewer of the last classes
	for k, mean := range before.means {
		for j, v := range mean {
			after.means[k][j] += v
		}
	}
	return table{t.source, t.columns, true, before.draw}, table{t.target, t.columns, false, after.draw}
}
