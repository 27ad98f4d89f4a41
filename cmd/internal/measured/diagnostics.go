package main

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	bad   = 0.2 // L1 error of proportions, and
	worse = 0.1 // error of labels beyond the weighted one of the source, that a sign is to find
)

func wrongBy(name string) func(run) bool { return func(r run) bool { return named(name)(r) > bad } }

// wrongLabels says that labels are worse than the source's error promises.
func wrongLabels(method string) func(run) bool {
	return func(r run) bool {
		return 1-named(method+".accuracy")(r) > named(method+".diagnostics.bound.weighted_source_error")(r)+worse
	}
}

// diagnosed are the runs of the studies of diagnostics.
func diagnosed(b book) (runs []run) {
	for _, name := range diagnosticStudies {
		runs = append(runs, b[name].runs...)
	}
	return runs
}

// The two signs of a wrong estimate by mte that warn.
var (
	mteIsBad = wrongBy("estimators_l1.mte")
	isLeft   = func(r run) bool {
		return ratio("proportions.diagnostics.translation.after", "proportions.diagnostics.translation.floor")(r) > 1.2
	}
	isExpected = func(r run) bool { return named("expected_error")(r) > bad }
)

// only are the runs of which all is true.
func only(runs []run, of ...func(run) bool) int {
	return len(slices.DeleteFunc(slices.Clone(runs), func(r run) bool {
		return slices.ContainsFunc(of, func(is func(run) bool) bool { return !is(r) })
	}))
}

func not(is func(run) bool) func(run) bool { return func(r run) bool { return !is(r) } }

// diagnosticsShort says in a sentence how well two signs tell wrong estimates.
func diagnosticsShort(b book) string {
	runs := diagnosed(b)
	wrong := only(runs, mteIsBad)
	return fmt.Sprintf("On %d tasks a distance left after translation of more than 1.2 times its floor found %d of %d wrong\n"+
		"estimates (false alarms: %d), an expected error above 0.2 found %d (%d), and both together %d.",
		len(runs), only(runs, mteIsBad, isLeft), wrong, only(runs, not(mteIsBad), isLeft),
		only(runs, mteIsBad, isExpected), only(runs, not(mteIsBad), isExpected), wrong-only(runs, mteIsBad, not(isLeft), not(isExpected)))
}

// diagnosticsNone says how many wrong estimates no sign tells, and of what they are.
func diagnosticsNone(b book) string {
	runs := diagnosed(b)
	family := func(name string) func(run) bool { return func(r run) bool { return r.at("family") == name } }
	return fmt.Sprintf("Of the %d wrong estimates %d are of Gaussian classes, %d of the toy and %d of real data, and %d show no sign beyond a threshold.",
		only(runs, mteIsBad), only(runs, mteIsBad, family("blobs")), only(runs, mteIsBad, family("toy")), only(runs, mteIsBad, family("cytometry")),
		only(runs, mteIsBad, not(isLeft), not(isExpected)))
}

// diagnosticsNear says how good labels are where the latent distance is near its floor.
func diagnosticsNear(b book) string {
	near := func(method string) string {
		of := ratio(method+".diagnostics.bound.wasserstein", method+".diagnostics.bound.wasserstein_floor")
		_, below := beyond(diagnosed(b), wrongLabels(method), of, 1.2)
		return below
	}
	return fmt.Sprintf("below 1.2 times the floor %s were bad for marsc, and %s for wd", near("marsc"), near("wd"))
}

// diagnosticsTable tells for each sign how well it tells bad results.
func diagnosticsTable(b book) string {
	runs := diagnosed(b)
	moved := func(of string) sign {
		return ratio(of+".diagnostics.translation.after", of+".diagnostics.translation.floor")
	}
	far := func(of string) sign {
		return ratio(of+".diagnostics.bound.wasserstein", of+".diagnostics.bound.wasserstein_floor")
	}
	mte := mteIsBad
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
