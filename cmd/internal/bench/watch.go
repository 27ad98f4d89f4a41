//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"

	"mars.dev/mars/cmd/internal/bench/cost"
)

const (
	watchColumns = 20
	watchRows    = 1_000_000
	watchModel   = 3_000 // rows of either side that a model is of
)

// benchWatch measures mars watch: rows of 20 numbers a second and processor seconds, by the length
// of windows, and peak memory. A window that never ends shows what reading and predicting take; the
// rest of the others is for shares and tests.
func benchWatch(flags *flag.FlagSet) func() error {
	return func() error { return measuring(flags, "", watch) }
}

func watch(mars, dir string) error {
	run := func(args ...string) (cost.Cost, error) {
		cmd := exec.Command(mars, append(args, "-q")...)
		cmd.Dir = dir
		return cost.Of(cmd)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := clouds{rng, normal(rng, 3, watchColumns, 0.5), 1, func() int { return rng.IntN(3) }}
	for name, t := range map[string]table{"labelled.csv": {watchModel, watchColumns, true, rows.draw}, "today.csv": {watchModel, watchColumns, false, rows.draw},
		"stream.csv": {watchRows, watchColumns, false, rows.draw}} {
		if err := t.writeCSV(filepath.Join(dir, name), 4, nil); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"featurize", "--source", "labelled.csv", "--target", "today.csv", "--label", "label", "-o", "rows.arrow"},
		{"train", "--method", "marsg", "--epochs", "5", "--save", "network.safetensors", "-o", "out.arrow", "rows.arrow"},
		{"label", "--source", "labelled.csv", "--target", "today.csv", "--label", "label", "--save", "hedge.safetensors", "-o", "out.csv"},
	} {
		if _, err := run(args...); err != nil {
			return err
		}
	}
	heading("model", "rows of a window", "thousand rows a second", "processor seconds for 10⁶ rows", "peak MB")
	for _, model := range []string{"network", "hedge"} {
		for _, window := range []string{"1000", "10000", "100000", "1000000000"} {
			c, err := run("watch", "--model", model+".safetensors", "--window", window, "-o", "windows.csv", "stream.csv")
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %.0f | %.2f | %.0f |\n", model, window, watchRows/c.Wall/1000, c.Processors*1e6/watchRows, c.Peak)
		}
	}
	return nil
}
