//go:build unix

package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mars.dev/mars/cmd/internal/bench/cost"
)

const (
	checkRows      = 1_000_000
	checkReference = 20_000
	checkClasses   = 5
)

// benchCheck measures mars check: processor and wall seconds, and peak memory, of a million rows of five
// posteriors in CSV, by the length of windows.
func benchCheck(flags *flag.FlagSet) func() error {
	return func() error { return measuring(flags, "", check) }
}

func check(mars, dir string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, n := range map[string]int{"reference.csv": checkReference, "predictions.csv": checkRows} {
		if err := writePosteriors(filepath.Join(dir, name), n, rng); err != nil {
			return err
		}
	}
	heading("rows of a window", "processor seconds for 10⁶ rows of 5 posteriors", "seconds", "peak MB")
	for _, window := range []string{"", "100000", "5000"} {
		args := []string{"check", "predictions.csv", "--reference", "reference.csv", "-q", "--jobs", "2", "-o", "windows.csv"}
		if window != "" {
			args = append(args, "--window", window)
		}
		cmd := exec.Command(mars, args...)
		cmd.Dir = dir
		c, err := cost.Of(cmd)
		if err != nil {
			return err
		}
		if window == "" {
			window = "all"
		}
		fmt.Printf("| %s | %.2f | %.2f | %.0f |\n", window, c.Processors, c.Wall, c.Peak)
	}
	return nil
}

// writePosteriors writes rows whose label is drawn from their posteriors.
func writePosteriors(path string, n int, rng *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	var head []string
	for k := range checkClasses {
		head = append(head, fmt.Sprintf("probability_%d", k))
	}
	fmt.Fprintln(out, strings.Join(head, ",")+",label")
	p := make([]float64, checkClasses)
	for range n {
		sum := 0.0
		for k := range p {
			p[k] = math.Exp(2 * rng.NormFloat64())
			sum += p[k]
		}
		label, left := 0, rng.Float64()*sum
		for left -= p[0]; left > 0 && label < checkClasses-1; left -= p[label] {
			label++
		}
		for _, v := range p {
			fmt.Fprintf(out, "%.6f,", v/sum)
		}
		fmt.Fprintln(out, label)
	}
	return out.Flush()
}
