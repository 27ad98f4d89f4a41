package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"mars.dev/mars/stages/algorithms/gate"
)

// each calls f for 0 to n−1 side by side.
func each(n int, f func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// report prints how good the answers are, by group and kind of the tasks, families counting alike.
func report(w io.Writer, all []judged, width float64) {
	groups := make(map[string][]judged)
	for _, j := range all {
		for _, group := range []string{groupOf(j), groupOf(j) + " " + j.Kind} {
			groups[group] = append(groups[group], j)
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "tasks\tn\tof known\tL1\tsaid\tAUROC\tright\tsaid\tAUROC\theld\tbest view\t")
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		l1, said := average(g, func(j judged) float64 { return j.l1 }), average(g, func(j judged) float64 { return j.saidL1 })
		right, saidRight := average(g, func(j judged) float64 { return 1 - j.wrong }), average(g, func(j judged) float64 { return 1 - j.saidBad })
		best := average(g, func(j judged) float64 { return slices.Min(offs(j)) })
		fmt.Fprintf(tw, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.2f\t%.3f\t%.3f\t%.2f\t%.2f\t%.3f\t\n", name, len(g), average(g, ofKnown), l1, said,
			area(g, func(j judged) (float64, bool) { return j.saidL1, j.l1 > 0.2 }), right, saidRight,
			area(g, func(j judged) (float64, bool) { return j.saidBad, j.wrong > 0.25 }), held(g, width), best)
	}
	tw.Flush()
}

// groupOf tells simulated tasks from those of real tables, and those of SKADA-Bench from both.
func groupOf(j judged) string {
	switch {
	case strings.HasPrefix(j.Family, gate.Simulated):
		return "simulated"
	case strings.HasPrefix(j.Family, "skada-"):
		return "SKADA-Bench"
	}
	return "real"
}

// ofKnown is the L1 error beside the rows of classes that the source has.
func ofKnown(j judged) (sum float64) {
	for k, p := range j.mean {
		sum += math.Abs(p - j.Truth[k]/(1-j.New()))
	}
	return sum
}

func offs(j judged) (all []float64) {
	for _, v := range j.Views {
		all = append(all, j.Off(v.Proportions))
	}
	return all
}

// average lets families count alike.
func average(all []judged, of func(judged) float64) float64 {
	sums, counts := make(map[string]float64), make(map[string]float64)
	for _, j := range all {
		sums[j.Family] += of(j)
		counts[j.Family]++
	}
	return meanOf(sums, counts)
}

// area is that under the ROC curve of what is said for what is true: the chance that it is larger
// where it is true.
func area(all []judged, of func(judged) (float64, bool)) float64 {
	pairs, above := 0.0, 0.0
	for _, a := range all {
		x, yes := of(a)
		if !yes {
			continue
		}
		for _, b := range all {
			y, other := of(b)
			switch {
			case other:
				continue
			case x > y:
				above++
			case x == y:
				above += 0.5
			}
			pairs++
		}
	}
	return above / pairs
}
