//go:build unix

// Bench prints tables of what the program costs, each by a command of its own:
//
//	go run ./cmd/internal/bench all FOLDER        short forms of most of these, as one table, which is kept
//	go run ./cmd/internal/bench columns FOLDER    mars label and mars proportions of 3 rows, by the number of columns
//	go run ./cmd/internal/bench default FOLDER    mars label and mars proportions, on tables of several sizes
//	go run ./cmd/internal/bench io                a stream through pipes, beside arrow/go's own reader and writer
//	go run ./cmd/internal/bench limits FOLDER     inputs far larger than --memory-limit
//	go run ./cmd/internal/bench read              reading tables, beside polars, DuckDB and pyarrow
//	go run ./cmd/internal/bench scale FOLDER      sketch, respond, predict and label, to 10⁷ rows
//	go run ./cmd/internal/bench train             iterations of training, beside PyTorch and JAX
//	go run ./cmd/internal/bench watch FOLDER      mars watch, by the length of windows
//	go run ./cmd/internal/bench check FOLDER      mars check, by the length of windows
//
// FOLDER holds the programs that make build makes, in which targets of make call these.
// Processor seconds are of user and system together, over all threads: on a machine with other
// work they say more than time on the clock. The products of matrices are measured by a program of
// their own, stages/algorithms/internal/kernel/bench, which links a C library.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mars.dev/mars/cmd/internal/bench/limits"
	"mars.dev/mars/cmd/internal/bench/train"
)

// benches are the commands. Each adds its flags, and returns what is to run when they are known.
var benches = map[string]func(*flag.FlagSet) func() error{
	"columns": benchColumns,
	"default": benchDefault,
	"io":      benchIO,
	"limits":  benchLimits,
	"read":    benchRead,
	"scale":   benchScale,
	"train":   benchTrain,
	"watch":   benchWatch,
	"check":   benchCheck,
}

func init() { benches["all"] = benchAll } // which runs the others

func main() {
	names := strings.Join(slices.Sorted(maps.Keys(benches)), ", ")
	if len(os.Args) < 2 || benches[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: bench COMMAND [flags] [FOLDER], of the commands %s\n", names)
		os.Exit(2)
	}
	flags := flag.NewFlagSet("bench "+os.Args[1], flag.ExitOnError)
	run := benches[os.Args[1]](flags)
	flags.Parse(os.Args[2:]) //nolint:errcheck // it exits
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", flags.Name(), err)
		os.Exit(1)
	}
}

func benchTrain(flags *flag.FlagSet) func() error {
	rounds := flags.Int("rounds", 5, "measurements of every iteration, of which the best counts")
	python := flags.String("python", "python3", "Python with PyTorch and JAX")
	return func() error { return train.Compare(*rounds, *python) }
}

func benchLimits(flags *flag.FlagSet) func() error {
	run := limits.Flags(flags)
	return func() error { return run(func() (string, error) { return programs(flags) }) }
}

// measuring runs a benchmark with the program mars, in a folder that is taken away. The folder is made in
// that of temporary files if parent is "".
func measuring(flags *flag.FlagSet, parent string, run func(mars, dir string) error) error {
	mars, err := programs(flags)
	if err != nil {
		return err
	}
	return inFolder(parent, func(dir string) error { return run(mars, dir) })
}

// heading begins a table.
func heading(columns ...string) {
	fmt.Println("| " + strings.Join(columns, " | ") + " |\n" + strings.Repeat("|---", len(columns)) + "|")
}

// programs is the path of mars in the folder that the arguments name.
func programs(flags *flag.FlagSet) (mars string, err error) {
	if flags.NArg() != 1 {
		return "", fmt.Errorf("want one argument, the folder of mars: make build makes bin")
	}
	mars, err = filepath.Abs(filepath.Join(flags.Arg(0), "mars"))
	if err == nil {
		_, err = os.Stat(mars)
	}
	return mars, err
}

// inFolder runs what needs a folder of its own, and takes the folder away. It is made in that of
// temporary files if parent is "".
func inFolder(parent string, run func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, "mars-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return run(dir)
}
