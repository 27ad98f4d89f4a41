package pipeline_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/train"
	"mars.dev/mars/tables"
)

// The labels of a target, from two CSV files, as mars label gives them.
func ExampleJoin() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	source, target := filepath.Join(dir, "source.csv"), filepath.Join(dir, "target.csv")
	writeCells(source, 60, 60, 0)
	writeCells(target, 90, 30, 0.5) // other proportions, and all cells have moved

	env := stages.Env{Columns: arrowio.DefaultColumns()}
	read := func(ctx context.Context, _ arrowio.Stream, out arrowio.Sink) error {
		return featurize.Files(ctx, env, featurize.Options{
			Source: featurize.SideOptions{Path: source, Format: tables.Options{Label: "celltype"}},
			Target: featurize.SideOptions{Path: target},
		}, out)
	}
	learn := func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error {
		return train.Fit(train.Options{Method: train.Auto})(ctx, env, in, out)
	}
	counts := map[string]int{}
	count := func(ctx context.Context, in arrowio.Stream) error {
		labels, err := label.New(env, in, label.Options{})
		if err != nil {
			return err
		}
		return arrowio.Each(ctx, labels, func(rec arrow.Record) error {
			classes, err := arrowio.StringColumn(rec, env.Columns.PredictedClass)
			if err != nil {
				return err
			}
			for i := range int(rec.NumRows()) {
				counts[classes.Values[i]]++
			}
			return nil
		})
	}
	err = pipeline.Join(context.Background(), target, nil, []pipeline.Filter{read, learn}, count)
	fmt.Println(counts, err)
	// Output:
	// map[memory:30 naive:90] <nil>
}

// writeCells writes a table of cells of two types.
func writeCells(path string, naive, memory int, moved float64) {
	rng := rand.New(rand.NewPCG(1, uint64(naive)))
	text := &strings.Builder{}
	fmt.Fprintln(text, "CD4,CD8,celltype")
	write := func(n int, celltype string, x, y float64) {
		for range n {
			fmt.Fprintf(text, "%.3f,%.3f,%s\n", x+moved+0.3*rng.NormFloat64(), y+moved+0.3*rng.NormFloat64(), celltype)
		}
	}
	write(naive, "naive", 0, 0)
	write(memory, "memory", 3, 0)
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		log.Fatal(err)
	}
}
