//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/cmd/internal/machine"
)

// A measure is figures of a benchmark that are kept: cells of the rows of its tables.
type measure struct {
	command string   // of this program, or "kernels", which is one of its own
	args    []string // a short form
	what    string   // a row is of; {0} is its first cell
	where   []string // cells of the rows that count, or what is before a comma there; "" is any
	value   int      // the cell of our figure
	unit    string
	ratios  map[string]int // cells of how many times as fast as a peer we are
	reader  int            // the cell that says whose figures a row has, ours where it is "mars"; 0: ours
}

// The cells are those of the tables that the commands print. Processor seconds are used where
// they say as much, since they hold on a busy machine.
var measures = []measure{
	{command: "kernels", args: []string{"-rounds", "3"}, what: "products: {0}", where: []string{"geometric mean"}, value: -3, unit: "% of the peak", ratios: map[string]int{"OpenBLAS": -2}},
	{command: "train", args: []string{"-rounds", "6"}, what: "training: {0}", where: []string{"", "", "1"}, value: 3, unit: "ms an iteration", ratios: map[string]int{"PyTorch": 8, "JAX": 10}},
	{command: "read", args: []string{"-rows", "300000"}, what: "reading: {0}", where: []string{"", "1"}, value: 5, unit: "MB a processor second", ratios: map[string]int{"": 6}, reader: 2},
	{command: "default", args: []string{"-rows", "10000"}, what: "mars {5}: {0} rows × {2}, {3} classes", value: 7, unit: "processor seconds"},
	{command: "watch", what: "mars watch: {0}", where: []string{"", "10000"}, value: 3, unit: "processor seconds for 10⁶ rows"},
	{command: "scale", args: []string{"-rows", "1000000"}, what: "mars {0}: {1} rows in parts", value: 4, unit: "rows a processor second"},
}

// A figure is what one measure gave.
type benchFigure struct {
	What  string             `json:"what"`
	Unit  string             `json:"unit"`
	Value float64            `json:"value"`
	Peers map[string]float64 `json:"peers,omitempty"` // how many times as fast as each we are
}

// A benchRun is a line of bench.jsonl.
type benchRun struct {
	Commit    string            `json:"commit"`
	Date      string            `json:"date"`
	Processor string            `json:"processor"`
	Cores     int               `json:"cores"`
	Kernels   string            `json:"kernels"`
	Go        string            `json:"go"`
	Load      string            `json:"load"` // the average of the last minute, before
	Peers     map[string]string `json:"peers"`
	Figures   []benchFigure     `json:"figures"`
}

// benchAll runs short forms of the benchmarks, prints their figures as one table, adds them to a
// file of those before, and writes the page that draws them.
func benchAll(flags *flag.FlagSet) func() error {
	python := flags.String("python", "python3", "a Python with the peers: NumPy, PyTorch, JAX, polars, DuckDB and pyarrow, or those of them that there are")
	kept := flags.String("kept", "docs/measured/bench.jsonl", "file of the runs so far, to which this one is added")
	page := flags.String("page", "docs/measured/bench.md", "page that draws them")
	return func() error {
		mars, err := programs(flags)
		if err != nil {
			return err
		}
		run, err := describe(mars, *python)
		if err != nil {
			return err
		}
		for _, m := range measures {
			out, err := m.output(*python, flags.Arg(0))
			if err != nil {
				return err
			}
			figures := m.figures(out)
			if len(figures) == 0 {
				return fmt.Errorf("bench %s: its tables have none of the rows that are kept", m.command)
			}
			run.Figures = append(run.Figures, figures...)
		}
		fmt.Printf("\n%s\n\n%s", run.title(), run.table())
		runs, err := addRun(*kept, run)
		if err != nil {
			return err
		}
		return writeBenchPage(*page, runs)
	}
}

// describe says what is measured on what.
func describe(mars, python string) (benchRun, error) {
	version, err := exec.Command(mars, "--version").Output()
	if err != nil {
		return benchRun{}, err
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return benchRun{}, fmt.Errorf("git describe: %w", err)
	}
	run := benchRun{Commit: strings.TrimSpace(string(commit)), Date: time.Now().Format(time.DateOnly), Processor: machine.Processor(), Cores: runtime.NumCPU(),
		Kernels: machine.Kernels(string(version)), Go: runtime.Version(), Load: machine.Load(), Peers: map[string]string{}}
	for _, peer := range []string{"numpy", "torch", "jax", "polars", "duckdb", "pyarrow"} {
		out, err := exec.Command(python, "-c", "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))", peer).Output()
		if err == nil {
			run.Peers[peer] = strings.TrimSpace(string(out))
		}
	}
	return run, nil
}

// output runs the benchmark, and shows what it prints.
func (m measure) output(python, folder string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, append([]string{m.command}, m.args...)...)
	switch m.command {
	case "kernels":
		cmd = exec.Command("go", append([]string{"-C", "stages/algorithms/internal/kernel/bench", "run", ".", "-python", python}, m.args...)...)
	case "train", "read":
		cmd.Args = append(cmd.Args, "-python", python)
	default:
		cmd.Args = append(cmd.Args, folder)
	}
	fmt.Printf("\n== %s\n", m.command)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &out), os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("bench %s: %w", m.command, err)
	}
	return out.String(), nil
}

// figures are those of the rows that count.
func (m measure) figures(out string) (all []benchFigure) {
	for line := range strings.Lines(out) {
		cells := cellsOf(line)
		value, ok := numberIn(cells, m.value)
		if !ok || !m.counts(cells) {
			continue
		}
		name := m.what
		for i, cell := range cells {
			name = strings.ReplaceAll(name, fmt.Sprintf("{%d}", i), cell)
		}
		peers := map[string]float64{}
		for peer, i := range m.ratios {
			ratio, ok := numberIn(cells, i)
			if m.reader > 0 {
				peer = cells[m.reader]
			}
			if ok && peer != "mars" && peer != "a copy" {
				peers[peer] = ratio
			}
		}
		at := slices.IndexFunc(all, func(f benchFigure) bool { return f.What == name })
		if at < 0 {
			all = append(all, benchFigure{What: name, Unit: m.unit, Value: value, Peers: peers})
			continue
		}
		maps.Copy(all[at].Peers, peers)
	}
	return all
}

// counts reports whether a row is one of those that are kept.
func (m measure) counts(cells []string) bool {
	for i, start := range m.where {
		if cell := cells[i]; start != "" && cell != start && !strings.HasPrefix(cell, start+",") {
			return false
		}
	}
	return true
}

// cellsOf are the cells of a row of a table in Markdown, or nil.
func cellsOf(line string) (cells []string) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// numberIn is the number that a cell begins with. Cells below 0 are counted from the end.
func numberIn(cells []string, i int) (float64, bool) {
	if i < 0 {
		i += len(cells)
	}
	if i < 0 || i >= len(cells) {
		return 0, false
	}
	text, _, _ := strings.Cut(cells[i], " ")
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// addRun adds a run to the file of those before.
func addRun(path string, run benchRun) (runs []benchRun, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var old benchRun
		if err := json.Unmarshal(line, &old); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(runs)+1, err)
		}
		runs = append(runs, old)
	}
	line, err := json.Marshal(run)
	if err != nil {
		return nil, err
	}
	return append(runs, run), os.WriteFile(path, append(text, append(line, '\n')...), 0o666)
}
