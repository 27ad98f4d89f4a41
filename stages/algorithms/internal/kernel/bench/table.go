package main

import (
	"fmt"
	"math"
	"strings"
)

// table holds the best seconds of every contender for every question.
type table struct {
	contenders []*contender
	questions  []question
	best       [][]float64 // question, contender
}

// measure asks every question of every contender, round after round.
func measure(contenders []*contender, questions []question, rounds int) table {
	t := table{contenders, questions, make([][]float64, len(questions))}
	for i := range t.best {
		t.best[i] = make([]float64, len(contenders))
	}
	for range rounds {
		for i, q := range questions {
			for j, c := range contenders {
				if s := c.seconds(q); s > 0 && (t.best[i][j] == 0 || s < t.best[i][j]) {
					t.best[i][j] = s
				}
			}
		}
	}
	return t
}

// gflops is the speed of a contender at question i, or 0 if it did not run.
func (t table) gflops(i int, name string) float64 {
	for j, c := range t.contenders {
		if c.name == name && t.best[i][j] > 0 {
			return t.questions[i].flops() / t.best[i][j] / 1e9
		}
	}
	return 0
}

// levels are the project's kernels, the best first.
var levels = []string{"avx512", "avx2", "neon"}

// ours is the speed of the fastest level at question i.
func (t table) ours(i int) (best float64) {
	for _, level := range levels {
		best = max(best, t.gflops(i, level))
	}
	return best
}

// print writes the table, in Markdown, with the geometric means of the shares of the peak and of the ratios
// of the best level to the faster OpenBLAS.
func (t table) print(bits int) {
	fmt.Printf("\nfloat%d, one thread, GFLOP/s\n\n| product |", bits)
	for _, c := range t.contenders {
		fmt.Printf(" %s |", c.name)
	}
	fmt.Printf(" of peak | × OpenBLAS | avx2 × haswell |\n|---|%s---|---|---|\n", strings.Repeat("---|", len(t.contenders)))
	var shares, logs float64
	for i, q := range t.questions {
		fmt.Printf("| %s |", q.name)
		for _, c := range t.contenders {
			fmt.Printf(" %.1f |", t.gflops(i, c.name))
		}
		share, r := t.ours(i)/t.gflops(i, "peak"), ratio(t.ours(i), max(t.gflops(i, "openblas"), t.gflops(i, "netlib")))
		fmt.Printf(" %.0f %% | %s | %s |\n", 100*share, shown(r), shown(ratio(t.gflops(i, "avx2"), t.gflops(i, "haswell"))))
		shares, logs = shares+math.Log(share), logs+math.Log(r)
	}
	n := float64(len(t.questions))
	fmt.Printf("| geometric mean, float%d |%s %.0f %% | %s | |\n", bits, strings.Repeat(" |", len(t.contenders)), 100*math.Exp(shares/n), shown(math.Exp(logs/n)))
}

// ratio is NaN where one of the two did not run.
func ratio(a, b float64) float64 {
	if a == 0 || b == 0 {
		return math.NaN()
	}
	return a / b
}

func shown(ratio float64) string {
	if math.IsNaN(ratio) {
		return "none"
	}
	return fmt.Sprintf("%.3f", ratio)
}

// printThreads compares one and two threads of the best level.
func printThreads(contenders []*contender, rounds int) {
	one := question{name: "1000×2048 · 2048×100", bits: 32, m: 1000, n: 100, k: 2048, threads: 1, operands: 1}
	two := one
	two.threads = 2
	t := measure(contenders, []question{one, two}, rounds)
	for _, level := range levels {
		if g := t.gflops(0, level); g > 0 {
			fmt.Printf("%s, %s: %.1f GFLOP/s with one thread, %.1f with two: %.2f×\n", one.name, level, g, t.gflops(1, level), t.gflops(1, level)/g)
		}
	}
}
