package train

import (
	"fmt"
	"math"
	"strings"

	"mars.dev/mars/internal/spelling"
)

// results are the best of all rounds, by threads − 1.
type results struct {
	dir         string              // of our benchmark
	peak        [maxThreads]float64 // FMA peak in operations per second, 0 if it cannot be measured
	best        [maxThreads]map[key]float64
	allocations map[string]float64 // of ours by task, the minimum of all rounds and threads
}

type key struct{ task, contender string }

func newResults(dir string) *results {
	r := &results{dir: dir, allocations: map[string]float64{}}
	for i := range r.best {
		r.best[i] = map[key]float64{}
	}
	return r
}

// measure is one round.
func (r *results) measure(all []*contender) error {
	for i := range r.peak {
		speed, err := peak(r.dir, i+1)
		if err != nil {
			return err
		}
		r.peak[i] = max(r.peak[i], speed)
	}
	for _, k := range tasks {
		for _, c := range all {
			m, err := c.measure(k)
			if err != nil {
				return err
			}
			keepMin(r.best[c.threads-1], key{k.name, c.name}, m.seconds)
			if c.name == "ours" {
				keepMin(r.allocations, k.name, m.allocations)
			} else {
				keepMin(r.best[c.threads-1], key{k.name, "plain " + c.name}, m.usual)
			}
		}
	}
	return nil
}

func keepMin[K comparable](best map[K]float64, k K, v float64) {
	if had, ok := best[k]; !ok || v < had {
		best[k] = v
	}
}

// columns are those of the table after ours. In JAX the usual way, two passes of the
// critic, is also the fastest.
var columns = []string{"plain PyTorch", "PyTorch", "JAX"}

// print writes the table, in Markdown.
func (r *results) print() {
	fmt.Printf("\nFMA peak, float32: %.1f GFLOP/s with 1 thread, %.1f with 2\n\n", r.peak[0]/1e9, r.peak[1]/1e9)
	fmt.Print("| iteration | GFLOP | threads | ours, ms | of peak |")
	for _, peer := range columns {
		fmt.Printf(" %s, ms | ratio |", peer)
	}
	fmt.Println(" allocations a step of ours |")
	fmt.Println("|---|---|---|---|---|" + strings.Repeat("---|---|", len(columns)) + "---|")
	for _, k := range tasks {
		for i := range maxThreads {
			own := r.seconds(k, i, "ours")
			fmt.Printf("| %s | %.3f | %d | %s | %s |", k.title, k.flops/1e9, i+1, number("%.2f", 1e3*own), number("%.0f %%", 100*r.share(k, i)))
			for _, peer := range columns {
				fmt.Printf(" %s | %s |", number("%.2f", 1e3*r.seconds(k, i, peer)), number("%.2f", r.seconds(k, i, peer)/own))
			}
			fmt.Printf(" %.0f |\n", r.allocations[k.name])
		}
	}
	fmt.Println()
}

// seconds is the best time, or NaN if there is none.
func (r *results) seconds(k task, i int, contender string) float64 {
	if s, ok := r.best[i][key{k.name, contender}]; ok {
		return s
	}
	return math.NaN()
}

// share is our share of the peak.
func (r *results) share(k task, i int) float64 {
	if r.peak[i] == 0 {
		return math.NaN()
	}
	return k.flops / r.seconds(k, i, "ours") / r.peak[i]
}

// number formats a measurement.
func number(format string, v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// judge compares the results with the goals.
func (r *results) judge() {
	for _, k := range tasks {
		for i, g := range k.goals {
			own := r.seconds(k, i, "ours")
			for _, line := range []struct {
				what      string
				got, want float64
			}{
				{"of the FMA peak", r.share(k, i), g.share},
				{"times plain PyTorch's speed", r.seconds(k, i, "plain PyTorch") / own, g.pytorch},
				{"times PyTorch's speed", r.seconds(k, i, "PyTorch") / own, g.pytorch},
				{"times JAX's speed", r.seconds(k, i, "JAX") / own, g.jax},
			} {
				if line.want == 0 || math.IsNaN(line.got) {
					continue
				}
				verdict := "reached"
				if line.got < line.want {
					verdict = "missed"
				}
				fmt.Printf("%s, %s: %.2f %s, goal %.2f: %s\n", k.title, spelling.Count(i+1, "thread", "threads"), line.got, line.what, line.want, verdict)
			}
		}
	}
}
