package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	bad   = 0.2 // L1 error of proportions, and
	worse = 0.1 // error of labels beyond the weighted one of the source, that a sign is to find
)

// inside counts the shares of a run that its intervals of 90 % hold.
func inside(r run) (held, all float64) {
	for name := range r {
		class, ok := strings.CutPrefix(name, "interval.lower.")
		if !ok {
			if strings.HasPrefix(name, "inside.") {
				held, all = held+r[name].(float64), all+1
			}
			continue
		}
		lower, _ := r.number(name)
		upper, _ := r.number("interval.upper." + class)
		true_, _ := r.number("proportions.proportions.true." + class)
		all++
		if lower <= true_ && true_ <= upper {
			held++
		}
	}
	return held, all
}

// coverage is the share of all true shares that are inside their intervals.
func coverage(runs []run) string {
	held, all := 0.0, 0.0
	for _, r := range runs {
		h, a := inside(r)
		held, all = held+h, all+a
	}
	return digits(held/all, 3)
}

// width is the mean width of the intervals.
func width(runs []run) string {
	var of []float64
	for _, r := range runs {
		if w, ok := r.number("width"); ok {
			of = append(of, w)
			continue
		}
		var widths []float64
		for name := range r {
			if class, ok := strings.CutPrefix(name, "interval.lower."); ok {
				lower, _ := r.number(name)
				upper, _ := r.number("interval.upper." + class)
				widths = append(widths, upper-lower)
			}
		}
		of = append(of, average(widths))
	}
	return digits(average(of), 3)
}

// A sign is a number of a run of which a greater one is worse.
type sign func(run) float64

func named(name string) sign {
	return func(r run) float64 {
		v, ok := r.number(name)
		if !ok {
			return math.NaN()
		}
		return v
	}
}

// ratio is one number of a run by another.
func ratio(name, floor string) sign {
	return func(r run) float64 { return named(name)(r) / named(floor)(r) }
}

// auroc is the probability that a bad run has the greater sign.
func auroc(runs []run, isBad func(run) bool, of sign) float64 {
	right, pairs := 0.0, 0.0
	for _, a := range runs {
		for _, b := range runs {
			if !isBad(a) || isBad(b) {
				continue
			}
			pairs++
			switch x, y := of(a), of(b); {
			case x > y:
				right++
			case x == y:
				right += 0.5
			}
		}
	}
	return right / pairs
}

// beyond counts the bad runs with a sign above a limit, and of the others.
func beyond(runs []run, isBad func(run) bool, of sign, limit float64) (above, below string) {
	split := func(above bool) string {
		some := slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return of(r) > limit != above })
		return count(some, isBad)
	}
	return split(true), split(false)
}

// count says how many are bad.
func count(runs []run, isBad func(run) bool) string {
	n := 0
	for _, r := range runs {
		if isBad(r) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(runs))
}

func wrongBy(name string) func(run) bool { return func(r run) bool { return named(name)(r) > bad } }

// wrongLabels says that labels are worse than the source's error promises.
func wrongLabels(method string) func(run) bool {
	return func(r run) bool {
		return 1-named(method+".accuracy")(r) > named(method+".diagnostics.bound.weighted_source_error")(r)+worse
	}
}

// diagnosticsTable tells for each sign how well it tells bad results.
func diagnosticsTable(b book) string {
	runs := slices.Concat(b["diagnostics-toy"].runs, b["diagnostics-blobs"].runs, b["diagnostics-hipc"].runs)
	moved := func(of string) sign {
		return ratio(of+".diagnostics.translation.after", of+".diagnostics.translation.floor")
	}
	far := func(of string) sign {
		return ratio(of+".diagnostics.bound.wasserstein", of+".diagnostics.bound.wasserstein_floor")
	}
	mte := wrongBy("estimators_l1.mte")
	var lines [][]string
	add := func(what string, isBad func(run) bool, of sign, limit float64) {
		above, below := beyond(runs, isBad, of, limit)
		lines = append(lines, []string{what, count(runs, isBad), digits(auroc(runs, isBad, of), 2), above, below})
	}
	add("proportions of mte: `after`/`floor`, 1.2", mte, moved("proportions"), 1.2)
	add("the same: `expected_error`, 0.2", mte, named("expected_error"), 0.2)
	add("the same: `expected_error`, 0.1", mte, named("expected_error"), 0.1)
	add("the same: `disagreement`, 0.2", mte, named("disagreement"), 0.2)
	add("the same: `max` weight, 10", mte, named("proportions.diagnostics.weights.max"), 10)
	add("labels of translate: `after`/`floor`, 1.2", wrongLabels("translate"), moved("translate"), 1.2)
	for _, method := range []string{"translate", "marsc", "wd"} {
		add("labels of "+method+": `wasserstein`/floor, 2", wrongLabels(method), far(method), 2)
	}
	for _, method := range []string{"marsc", "wd"} {
		isBad, of := wrongLabels(method), named(method+".diagnostics.bound.critic_distance")
		lines = append(lines, []string{"labels of " + method + ": `critic_distance`", count(runs, isBad), digits(auroc(runs, isBad, of), 2), "", ""})
	}
	return markdown([]string{"", "bad", "AUROC", "bad beyond the threshold", "bad within"}, lines)
}

// signsTable tells how well the signs of clustering and matching tell bad proportions of
// the paper's estimator.
func signsTable(b book) string {
	all := b["signs"].runs
	ward, gmm := where(all, "cluster", "ward"), where(all, "cluster", "gmm")
	isBad := wrongBy("l1")
	least := func(name string) sign { return func(r run) float64 { return -named("signs." + name)(r) } }
	lines := [][]string{{"bad", count(ward, isBad), count(gmm, isBad)}}
	for _, s := range [][]string{{"`separation`", "separation", "separation"}, {"(`second` − `best`)/`best`", "margin/cost", "margin/cost"},
		{"`nearest`/C", "nearest", "nearest"}, {"`height_gap`, `ambiguity`", "height gap", "unambiguous"}, {"the smallest component's rows", "rows", "rows"}} {
		lines = append(lines, []string{"AUROC of " + s[0], digits(auroc(ward, isBad, least(s[1])), 2), digits(auroc(gmm, isBad, least(s[2])), 2)})
	}
	for _, s := range []struct {
		below, above, ward, gmm string
		limit                   [2]float64
	}{
		{"`separation` below 0.5", "above", "separation", "separation", [2]float64{0.5, 0.5}},
		{"not `monotone` under `distances`", "monotone", "monotone", "monotone", [2]float64{0.5, 0.5}},
		{"`height_gap` below 0.1, `ambiguity` above 0.03", "otherwise", "height gap", "unambiguous", [2]float64{0.1, -0.03}},
		{"a component of fewer than 10 rows", "none", "rows", "rows", [2]float64{10, 10}},
	} {
		low, high := beyond(ward, isBad, least(s.ward), -s.limit[0])
		lowGMM, highGMM := beyond(gmm, isBad, least(s.gmm), -s.limit[1])
		lines = append(lines, []string{s.below, low + " bad", lowGMM + " bad"}, []string{s.above, high, highGMM})
	}
	return markdown([]string{"", "ward", "gmm"}, lines)
}

// signsFamiliesTable is signsTable within each kind of task, and the errors with either cost.
func signsFamiliesTable(b book) string {
	all := b["signs"].runs
	heads, isBad := []string{"tasks"}, wrongBy("l1")
	for _, cluster := range []string{"ward", "gmm"} {
		for _, what := range []string{"bad", "AUROC of `separation`", "of (`second` − `best`)/`best`", "mean L1, means", "mean L1, bures"} {
			heads = append(heads, cluster+": "+what)
		}
	}
	var lines [][]string
	for _, family := range append([]string{""}, values(all, "family")...) {
		line := []string{cmp.Or(family, "all")}
		for _, cluster := range []string{"ward", "gmm"} {
			of := where(all, "cluster", cluster)
			if family != "" {
				of = where(of, "family", family)
			}
			line = append(line, count(of, isBad))
			for _, name := range []string{"separation", "margin/cost"} {
				line = append(line, digits(auroc(of, isBad, func(r run) float64 { return -named("signs." + name)(r) }), 2))
			}
			line = append(line, mean("l1")(of), mean("bures")(of))
		}
		lines = append(lines, line)
	}
	return markdown(heads, lines)
}
