//go:build unix

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"

	"mars.dev/mars/cmd/internal/bench/cost"
)

const (
	scaleColumns = 20
	scaleSource  = 4_000     // labelled rows
	partRows     = 1_000_000 // of a part, at most
	rowGroup     = 100_000   // rows of a row group, of which a reader holds one
)

// The shares of the classes in the source and in the target.
var sourceShares, targetShares = []float64{.2, .2, .2, .2, .2}, []float64{.5, .25, .15, .08, .02}

// benchScale makes tables in parts (80 MB for 10⁶ rows) and prints how fast mars sketch, respond,
// predict and label go through them, in rows a second and in rows a second of a processor, and how
// much memory each takes. The latter two hold on a busy machine too.
func benchScale(flags *flag.FlagSet) func() error {
	rows := flags.String("rows", "100000,1000000,10000000", "numbers of target rows, with commas between; 100000000 needs 8 GB of disk")
	jobs := flags.Int("jobs", 2, "threads, and parts at a time")
	folder := flags.String("folder", "", "where the parts are made; their folder is taken away in the end (default: that of temporary files)")
	return func() error {
		return measuring(flags, *folder, func(mars, dir string) error {
			return scale{mars, dir, strconv.Itoa(*jobs)}.measure(strings.Split(*rows, ","))
		})
	}
}

type scale struct{ mars, dir, jobs string }

func (b scale) path(name string) string { return filepath.Join(b.dir, name) }

func (b scale) part(i int) string { return b.path(fmt.Sprintf("part-%04d.parquet", i)) }

func (b scale) measure(sizes []string) error {
	if err := scaled(scaleSource, 0, sourceShares, true, b.path("source.parquet")); err != nil {
		return err
	}
	heading("command", "rows", "parts", "rows/s", "rows/s of a processor", "peak MB")
	for _, text := range sizes {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-rows %s: want whole numbers", text)
		}
		parts, err := b.makeParts(n)
		if err != nil {
			return err
		}
		if err := b.commands(n, parts); err != nil {
			return err
		}
	}
	return nil
}

// makeParts makes parts of n rows in all in the place of those that there are.
func (b scale) makeParts(n int) (parts int, err error) {
	old, err := filepath.Glob(b.path("part-*"))
	for _, part := range old {
		if err == nil {
			err = os.Remove(part)
		}
	}
	for left := n; left > 0 && err == nil; left -= partRows {
		err = scaled(min(left, partRows), uint64(parts)+1, targetShares, false, b.part(parts))
		parts++
	}
	return parts, err
}

// commands runs all commands over the parts, of n rows.
func (b scale) commands(n, parts int) error {
	source, model, all := b.path("source.parquet"), b.path("model.safetensors"), b.path("part-*.parquet")
	if _, err := os.Stat(model); err != nil {
		if _, err := b.run("label", "--source", source, "--target", b.part(0), "--save", model, "-o", b.path("out.arrow")); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"sketch", all, "-o", b.path("sketch.arrow")},
		{"respond", "--model", model, all, "-o", b.path("sums.arrow")},
		{"predict", "--model", model, "--target", all, "-o", b.path("out.arrow")},
		{"label", "--source", source, "--target", all, "-o", b.path("out.arrow")},
	} {
		c, err := b.run(args...)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %d | %.0f | %.0f | %.0f |\n", args[0], n, parts, float64(n)/c.Wall, float64(n)/c.Processors, c.Peak)
	}
	return nil
}

func (b scale) run(args ...string) (cost.Cost, error) {
	return cost.Of(exec.Command(b.mars, append(args, "--jobs", b.jobs, "-q")...))
}

// scaled writes rows of classes of the given shares, each a cloud of its own.
func scaled(rows int, seed uint64, shares []float64, labelled bool, path string) error {
	rng := rand.New(rand.NewPCG(1, seed))
	means := make([][]float32, len(shares))
	for k := range means {
		means[k] = make([]float32, scaleColumns)
		means[k][k] = 4
	}
	pick := func() int {
		k, u := 0, rng.Float64()
		for u > shares[k] && k < len(shares)-1 {
			u -= shares[k]
			k++
		}
		return k
	}
	return table{rows, scaleColumns, labelled, clouds{rng, means, 1, pick}.draw}.writeParquet(path, 1<<16, parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(rowGroup))
}
