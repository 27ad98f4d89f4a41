package adapt

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"mars.dev/mars/stages/algorithms/internal/kernel/peak"
	"mars.dev/mars/stages/algorithms/internal/nn"
)

// benchmarkTrainer makes a trainer of the named networks for the oracle's three classes.
func benchmarkTrainer(tb testing.TB, arch string, shape []int, change func(*Config)) *trainer {
	tb.Helper()
	return formulaTrainer(tb, arch, shape, oracleClasses, change)
}

// formulaTrainer makes a trainer of the named networks on two batches of rows by the
// oracle's formulas.
func formulaTrainer(tb testing.TB, arch string, shape []int, classes int, change func(*Config)) *trainer {
	tb.Helper()
	c, err := Recipe(arch, shape, ScheduleDefault)
	if err != nil {
		tb.Fatal(err)
	}
	c.Method, _ = ParseMethod("marsc", 0)
	c.DecayFrom = c.Epochs
	change(&c)
	parsed, err := nn.ParseArch(c.Arch, shape, classes)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := newTrainer(context.Background(), formulaProblem(shape, 2*c.Batch, classes), c, parsed)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(t.pool.stop)
	t.beginEpoch()
	t.aligned = c.Method.Aligns()
	return t
}

// A task is an iteration that make bench-train compares with those of other programs.
// cmd/internal/bench/train/tasks.py has the same tasks.
type task struct {
	name, arch string
	shape      []int
	classes    int
	change     func(*Config)
}

var tasks = []task{
	{"2048", "mlp:2048-100-100", []int{2048}, 3, func(c *Config) {
		c.Batch, c.PenaltyPoints = 128, PenaltyInterpolates
		c.optimise(Adam, 1e-4, oracleLambda)
		c.Beta1, c.Beta2 = 0.5, 0.999
	}},
	{"toy", "toy", []int{2}, 3, func(c *Config) {
		c.Batch, c.PenaltyPoints = 120, PenaltyAll
		c.optimise(SGD, 0.01, oracleLambda)
	}},
	{"digits", "digits", []int{1, 28, 28}, 10, func(c *Config) {
		c.Method, _ = ParseMethod("source", 0)
		c.Batch, c.StartProportions = 200, nil
		c.optimise(Adam, 1e-4, 0)
		c.Beta1, c.Beta2 = 0.9, 0.999
	}},
	{"digits-gn", "digits-gn", []int{1, 28, 28}, 10, func(c *Config) { // a step of self-training, without its augmentation
		c.Method, _ = ParseMethod("source", 0)
		c.Batch, c.StartProportions = 128, nil
		c.optimise(Adam, 1e-3, 0)
		c.Beta1, c.Beta2 = 0.9, 0.999
	}},
}

func (k task) trainer(tb testing.TB, jobs int) *trainer {
	tb.Helper()
	return formulaTrainer(tb, k.arch, k.shape, k.classes, func(c *Config) {
		c.Input, c.CriticSteps, c.Batches, c.Gamma, c.StartProportions = InputAsIs, 10, BatchesShared, oracleGamma, oracleProportions
		k.change(c)
		c.Jobs = jobs
	})
}

// The iterations of make bench-train, which takes the time of the fastest.
func BenchmarkTraining(b *testing.B) {
	for _, k := range tasks {
		for jobs := 1; jobs <= 2; jobs++ {
			b.Run(fmt.Sprintf("%s/jobs=%d", k.name, jobs), func(b *testing.B) {
				t := k.trainer(b, jobs)
				t.iterate(context.Background())
				fastest := time.Duration(math.MaxInt64)
				b.ReportAllocs()
				for b.Loop() {
					start := time.Now()
					t.iterate(context.Background())
					fastest = min(fastest, time.Since(start))
				}
				b.ReportMetric(float64(fastest), "min-ns")
			})
		}
	}
}

// The speed of multiply-adds of registers, summed over threads that run at once, of which
// make bench-train gives shares.
func BenchmarkPeak(b *testing.B) {
	const iterations = 500_000
	for jobs := 1; jobs <= 2; jobs++ {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			fastest := slices.Repeat([]time.Duration{math.MaxInt64}, jobs)
			for b.Loop() {
				var running sync.WaitGroup
				for i := range fastest {
					running.Go(func() {
						start := time.Now()
						peak.Spin(iterations)
						fastest[i] = min(fastest[i], time.Since(start))
					})
				}
				running.Wait()
			}
			sum := 0.0
			for _, took := range fastest {
				sum += float64(iterations*peak.Flops(32)) / took.Seconds()
			}
			b.ReportMetric(sum, "flop/s")
		})
	}
}

// One iteration of the default schedules.
func BenchmarkIteration(b *testing.B) {
	for _, k := range tasks[1:] {
		for jobs := 1; jobs <= 2; jobs++ {
			b.Run(fmt.Sprintf("%s/jobs=%d", k.name, jobs), func(b *testing.B) {
				t := benchmarkTrainer(b, k.arch, k.shape, func(c *Config) { c.Jobs = jobs })
				t.iterate(context.Background())
				b.ReportAllocs()
				for b.Loop() {
					t.iterate(context.Background())
				}
			})
		}
	}
}

var firstIteration = flag.String("first-iteration", "", "folder to which the result of the first iteration of each task is written, for make bench-train")

// Writes the result of an iteration from the oracle's weights on the oracle's rows, as
// float32 numbers: the class loss, the distance, the penalty of the last critic step, and
// then the parameters of g, h and v in PyTorch's order.
func TestFirstIteration(t *testing.T) {
	if *firstIteration == "" {
		t.Skip("make bench-train compares it with other programs'")
	}
	for _, k := range tasks {
		tr := k.trainer(t, 2)
		oracleWeights(tr.networks)
		tr.drawBatch = firstBatch(tr)
		s := tr.iterate(context.Background())
		result := []float32{float32(s.class), float32(s.distance), float32(s.penalty)}
		for _, net := range tr.all() {
			for _, tensor := range net.Tensors {
				result = append(result, net.Export(tensor, net.Params)...)
			}
		}
		var file bytes.Buffer
		binary.Write(&file, binary.LittleEndian, result) // cannot fail
		if err := os.WriteFile(filepath.Join(*firstIteration, k.name), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// firstBatch draws the first rows of both domains in order, and interpolates by formula.
func firstBatch(tr *trainer) func(bool) {
	step := 0
	return func(bool) {
		b := tr.batch
		for i := range b.source {
			b.source[i], b.labels[i] = int32(i), tr.problem.Labels[i]
		}
		for i := range b.target {
			b.target[i] = int32(i)
		}
		for i, t := range uniform(uint64(77+step), len(b.interpolation)) {
			b.interpolation[i] = float32(t)
		}
		step++
	}
}
