//go:build unix

// Command benchwatch measures mars watch: rows of 20 numbers a second, processor seconds for
// a million of them, by the length of windows, and peak memory.
//
//	go run ./cmd/internal/benchwatch bin
//
// Processor seconds are of user and system together, over all threads: on a machine with
// other work they say more than time on the clock. A window that never ends shows what reading and
// predicting take; the rest of the others is for shares and tests.
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	columns = 20
	rows    = 1_000_000
	small   = 3_000
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: benchwatch FOLDER (with the program mars)")
		os.Exit(2)
	}
	if err := run(filepath.Join(os.Args[1], "mars")); err != nil {
		fmt.Fprintln(os.Stderr, "benchwatch:", err)
		os.Exit(1)
	}
}

func run(mars string) error {
	mars, err := filepath.Abs(mars)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchwatch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rng := rand.New(rand.NewPCG(1, 2))
	var centres [3][columns]float64
	for k := range centres {
		for j := range centres[k] {
			centres[k][j] = 0.5 * rng.NormFloat64()
		}
	}
	for _, f := range []struct {
		name string
		rows int
	}{{"labelled.csv", small}, {"today.csv", small}, {"stream.csv", rows}} {
		if err := write(filepath.Join(dir, f.name), rng, &centres, f.rows, f.name == "labelled.csv"); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"featurize", "--source", "labelled.csv", "--target", "today.csv", "--label", "y", "-q", "-o", "rows.arrow"},
		{"train", "--method", "marsg", "--epochs", "5", "--save", "network.safetensors", "-q", "-o", "out.arrow", "rows.arrow"},
		{"label", "--source", "labelled.csv", "--target", "today.csv", "--label", "y", "--save", "hedge.safetensors", "-q", "-o", "out.csv"},
	} {
		cmd := exec.Command(mars, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	fmt.Println("| model | rows of a window | thousand rows a second | processor seconds for 10⁶ rows | peak MB |\n|---|---|---|---|---|")
	for _, model := range []string{"network", "hedge"} {
		for _, window := range []string{"1000", "10000", "100000", "1000000000"} {
			cmd := exec.Command(mars, "watch", "--model", model+".safetensors", "--window", window, "-q", "-o", "windows.csv", "stream.csv")
			cmd.Dir = dir
			start := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("window %s: %w\n%s", window, err, out)
			}
			speed := rows / time.Since(start).Seconds()
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			seconds := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			fmt.Printf("| %s | %s | %.0f | %.2f | %d |\n", model, window, speed/1000, seconds*1e6/rows, usage.Maxrss/1024)
		}
	}
	return nil
}

func write(path string, rng *rand.Rand, centres *[3][columns]float64, n int, labelled bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	for j := range columns {
		fmt.Fprintf(out, "%sc%d", comma(j), j)
	}
	if labelled {
		fmt.Fprint(out, ",y")
	}
	fmt.Fprintln(out)
	for range n {
		y := rng.IntN(3)
		for j := range columns {
			fmt.Fprintf(out, "%s%.4f", comma(j), centres[y][j]+rng.NormFloat64())
		}
		if labelled {
			fmt.Fprintf(out, ",%c", 'a'+y)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func comma(j int) string {
	if j == 0 {
		return ""
	}
	return ","
}
