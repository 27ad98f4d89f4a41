package main

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// knobNames are what cmd/internal/choose chooses, in its order.
const knobNames = "epochs rate λ critic steps loss re-estimation"

// choosing are the runs of a study of choices that the rule saw; fresh are those that report
// what came of it.
func choosing(runs []run) []run {
	return slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.at("fresh") == "1" || r.at("task") == "chosen" })
}

// fresh are in the order of their tasks, whichever ended first.
func fresh(runs []run) []run {
	found := where(runs, "fresh", "1")
	slices.SortStableFunc(found, func(a, b run) int { return strings.Compare(a.at("task"), b.at("task")) })
	return found
}

// triedTable has every candidate, and what the rule saw of it.
func triedTable(b book) string {
	var runs []run
	for _, name := range choiceStudies {
		runs = append(runs, choosing(b[name].runs)...)
	}
	return grid(runs, []axis{{"method", "method", nil}, {"knobs", knobNames, nil}}, cell{"source's labels that come back", mean("reverse")},
		cell{"processor seconds", mean("seconds")}, cell{"target's labels (not used)", mean("forward")})
}

// choicesTable has what the present settings and the choice come to on fresh seeds.
func choicesTable(b book) string {
	var lines [][]string
	for _, name := range choiceStudies {
		runs := b[name].runs
		if len(runs) == 0 {
			continue
		}
		line := []string{runs[0].at("method")}
		now, chosen := runs[0].at("knobs"), where(runs, "task", "chosen")[0].at("knobs")
		of := map[string][]float64{}
		for _, knobs := range []string{now, chosen} {
			some := where(fresh(runs), "knobs", knobs)
			of[knobs] = numbers(some, "forward")
			line = append(line, knobs, digits(average(of[knobs]), 3), mean("seconds")(some))
		}
		lines = append(lines, append(line, difference(of[now], of[chosen])))
	}
	return markdown([]string{"method", "now: " + knobNames, "balanced accuracy", "processor seconds", "chosen", "balanced accuracy", "processor seconds", "gain"}, lines)
}

// difference is the mean gain by task, and its standard error.
func difference(from, to []float64) string {
	var gains []float64
	for i, v := range to {
		gains = append(gains, v-from[i])
	}
	return digits(average(gains), 3) + " ± " + digits(stat.StdErr(stat.StdDev(gains, nil), float64(len(gains))), 3)
}
