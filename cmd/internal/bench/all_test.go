//go:build unix

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// What the commands print becomes figures: the rows that count, beside the peers that there were.
func TestFiguresOfTables(t *testing.T) {
	of := func(command string) measure {
		for _, m := range measures {
			if m.command == command {
				return m
			}
		}
		t.Fatalf("no figures are kept of %s", command)
		return measure{}
	}
	for command, c := range map[string]struct {
		printed string
		want    []benchFigure
	}{
		"kernels": {"| product | peak | avx2 | of peak | × OpenBLAS | avx2 × haswell |\n|---|---|---|---|---|---|\n| 1024³ | 98.1 | 70.0 | 71 % | 0.910 | none |\n| geometric mean, float32 | | | 75 % | 1.100 | |\n| geometric mean, float64 | | | 74 % | none | |\n", []benchFigure{
			{"products: geometric mean, float32", "% of the peak", 75, map[string]float64{"OpenBLAS": 1.1}},
			{"products: geometric mean, float64", "% of the peak", 74, map[string]float64{}}}},
		"train": {"JAX is left out\n| toy | 2.142 | 1 | 20.20 | 90 % | 61.99 | 3.07 | 45.25 | 2.24 | – | – | 0 |\n| toy | 2.142 | 2 | 10.54 | 86 % | 39.78 | 3.77 | 28.92 | 2.74 | – | – | 0 |\n", []benchFigure{
			{"training: toy", "ms an iteration", 20.2, map[string]float64{"PyTorch": 2.24}}}},
		"read": {"| a.csv | 1 | mars | 230 | 1.00 × | 228 | 1.00 × |\n| a.csv | 1 | polars | 120 | 1.9 × | 125 | 1.83 × |\n| a.csv | 2 | mars | 400 | 1.00 × | 220 | 1.00 × |\n", []benchFigure{
			{"reading: a.csv", "MB a processor second", 228, map[string]float64{"polars": 1.83}}}},
		"default": {"| 4000 | 4000 | 50 | 5 | stream | label | 3.1 | 5.2 | 100 |\n", []benchFigure{
			{"mars label: 4000 rows × 50, 5 classes", "processor seconds", 5.2, map[string]float64{}}}},
		"watch": {"| hedge | 10000 | 60 | 21.10 | 90 |\n| hedge | 100000 | 60 | 20.10 | 90 |\n", []benchFigure{
			{"mars watch: hedge", "processor seconds for 10⁶ rows", 21.1, map[string]float64{}}}},
		"scale": {"| sketch | 1000000 | 1 | 683673 | 627977 | 86 |\n", []benchFigure{
			{"mars sketch: 1000000 rows in parts", "rows a processor second", 627977, map[string]float64{}}}},
	} {
		if got := of(command).figures(c.printed); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", command, got, c.want)
		}
	}
}

// Runs are added to those before, and each figure is drawn over those of one kind of machine.
func TestRunsAreDrawn(t *testing.T) {
	kept, page := filepath.Join(t.TempDir(), "bench.jsonl"), filepath.Join(t.TempDir(), "bench.md")
	if err := os.WriteFile(page, []byte("# Title\n<!-- not measured: speeds, which no test repeats; make bench-all -->\nold\n<!-- end -->\nmore\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, r := range []benchRun{
		{Commit: "one", Processor: "A", Kernels: "avx2", Figures: []benchFigure{{"x", "s", 1, nil}}},
		{Commit: "two", Processor: "B", Kernels: "avx2", Figures: []benchFigure{{"x", "s", 5, nil}}},
		{Commit: "three", Processor: "A", Kernels: "avx2", Figures: []benchFigure{{"x", "s", 2, map[string]float64{"polars": 3}}, {"y", "s", 12345, nil}}},
	} {
		runs, err := addRun(kept, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeBenchPage(page, runs); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n", "| x | s | ▄█ | 1 | 2 | polars 3.00 |\n", "| y | s | █ | 12,000 | 12,000 |  |\n", "| x | s | █ | 5 | 5 |  |\n", "1. Commit one", "2. Commit three", "\nmore\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if at := strings.Index(string(text), "### A"); at < 0 || at > strings.Index(string(text), "### B") {
		t.Errorf("the machine of the newest run is not the first:\n%s", text)
	}
	if err := os.WriteFile(kept, []byte("{\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := addRun(kept, benchRun{}); err == nil || !strings.Contains(err.Error(), "bench.jsonl, line 1") {
		t.Errorf("a damaged file: %v", err)
	}
}
