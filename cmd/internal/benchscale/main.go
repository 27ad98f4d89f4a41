//go:build linux

// Benchscale makes tables of 20 columns in parts and prints how fast mars sketch, respond,
// predict and label go through them, in rows a second and in rows a second of a processor, and
// how much memory each takes. The latter two hold on a busy machine too.
//
//	go run ./cmd/internal/benchscale [-rows 100000,1000000,10000000] FOLDER-OF-MARS
//
// The parts are made in a temporary folder (80 MB for 10⁶ rows) and taken away in the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

const (
	columns    = 20
	partRows   = 1_000_000 // of a part, at most
	rowGroup   = 100_000   // rows of a row group, of which a reader holds one
	sourceRows = 4_000
)

// classes are those of the rows, with their shares of source and target.
var classes = []string{"a", "b", "c", "d", "e"}

var sourceShares, targetShares = []float64{.2, .2, .2, .2, .2}, []float64{.5, .25, .15, .08, .02}

func main() {
	rows := flag.String("rows", "100000,1000000,10000000", "numbers of target rows, with commas between; 100000000 needs 8 GB of disk")
	jobs := flag.Int("jobs", 2, "threads, and parts at a time")
	folder := flag.String("folder", "", "where the parts are made; their folder is taken away in the end (default: that of temporary files)")
	flag.Parse()
	if err := run(flag.Arg(0), *folder, *rows, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "benchscale:", err)
		os.Exit(1)
	}
}

func run(bin, where, sizes string, jobs int) error {
	mars, err := filepath.Abs(filepath.Join(bin, "mars"))
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(where, "benchscale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{mars: mars, folder: folder, jobs: strconv.Itoa(jobs)}
	if err := write(b.path("source.parquet"), sourceRows, 0, sourceShares, true); err != nil {
		return err
	}
	fmt.Println("| command | rows | parts | rows/s | rows/s of a processor | peak MB |\n|---|---|---|---|---|---|")
	made := 0
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-rows %s: want whole numbers", text)
		}
		if made, err = b.makeParts(n, made); err != nil {
			return err
		}
		if err := b.measure(n); err != nil {
			return err
		}
	}
	return nil
}

type bench struct{ mars, folder, jobs string }

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// makeParts makes parts of n rows in all in the place of those that there are.
func (b *bench) makeParts(n, before int) (parts int, err error) {
	for i := range before {
		if err := os.Remove(b.part(i)); err != nil {
			return 0, err
		}
	}
	for left := n; left > 0; left -= partRows {
		if err := write(b.part(parts), min(left, partRows), uint64(parts)+1, targetShares, false); err != nil {
			return parts, err
		}
		parts++
	}
	return parts, nil
}

func (b *bench) part(i int) string { return b.path(fmt.Sprintf("part-%04d.parquet", i)) }

// measure runs all commands over the parts, of n rows.
func (b *bench) measure(n int) error {
	model, parts := b.path("model.safetensors"), b.path("part-*.parquet")
	if _, err := os.Stat(model); err != nil {
		if _, err := b.run("label", "--source", b.path("source.parquet"), "--target", b.part(0), "--save", model, "-o", b.path("out.arrow")); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"sketch", parts, "-o", b.path("sketch.arrow")},
		{"respond", "--model", model, parts, "-o", b.path("sums.arrow")},
		{"predict", "--model", model, "--target", parts, "-o", b.path("out.arrow")},
		{"label", "--source", b.path("source.parquet"), "--target", parts, "-o", b.path("out.arrow")},
	} {
		c, err := b.run(args...)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %d | %.0f | %.0f | %.0f |\n", args[0], n, (n+partRows-1)/partRows, float64(n)/c.wall, float64(n)/c.processors, c.peak)
	}
	return nil
}

// A cost is that of a command: seconds of wall clock and of all processors, and megabytes.
type cost struct{ wall, processors, peak float64 }

func (b *bench) run(args ...string) (cost, error) {
	cmd := exec.CommandContext(context.Background(), b.mars, append(args, "--jobs", b.jobs, "-q")...)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("mars %s: %w", strings.Join(args, " "), err)
	}
	wall, used := time.Since(begin).Seconds(), cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(used.Maxrss) / 1024}, nil
}

// write writes rows of the classes, each a cloud of its own, as Parquet.
func write(path string, rows int, seed uint64, shares []float64, labelled bool) (err error) {
	var fields []arrow.Field
	for j := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float32})
	}
	if labelled {
		fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String})
	}
	schema := arrow.NewSchema(fields, nil)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(rowGroup)), pqarrow.DefaultWriterProps())
	if err != nil {
		f.Close()
		return err
	}
	rng := rand.New(rand.NewPCG(1, seed))
	for left := rows; left > 0 && err == nil; left -= 1 << 16 {
		err = w.WriteBuffered(block(rng, schema, min(left, 1<<16), shares))
	}
	if closing := w.Close(); err == nil {
		err = closing // which closes the file too
	}
	return err
}

func block(rng *rand.Rand, schema *arrow.Schema, n int, shares []float64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		k, u := 0, rng.Float64()
		for u > shares[k] && k < len(shares)-1 {
			u -= shares[k]
			k++
		}
		for j := range columns {
			v := rng.NormFloat64()
			if j == k {
				v += 4
			}
			b.Field(j).(*array.Float32Builder).Append(float32(v))
		}
		if len(schema.Fields()) > columns {
			b.Field(columns).(*array.StringBuilder).Append(classes[k])
		}
	}
	return b.NewRecord()
}
