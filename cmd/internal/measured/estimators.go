package main

import (
	"fmt"
	"slices"
	"strings"
)

// A group is a row of the tables of estimators: runs of one kind, or of several.
type group struct {
	name string
	runs []run
}

// groups are the families of the studies of estimators, and what they add up to. The toy
// is simulated, whoever reads "real" must be able to rely on it.
func groups(b book) []group {
	real := slices.Concat(b["estimators-hipc"].runs, b["estimators-digits"].runs)
	simulated := slices.Concat(b["estimators-toy"].runs, b["simulated-3"].runs, b["simulated-10"].runs)
	every := slices.Concat(real, simulated)
	return append(families(every), group{"real", real}, group{"simulated", simulated}, group{"all", every})
}

// families are the groups of runs of one kind.
func families(runs []run) (all []group) {
	for _, family := range values(runs, "family") {
		all = append(all, group{family, where(runs, "family", family)})
	}
	return all
}

// ofGroup is a figure of one of the groups.
func ofGroup(name string, of func([]run) string) func(book) string {
	return func(b book) string {
		all := groups(b)
		return of(all[slices.IndexFunc(all, func(g group) bool { return g.name == name })].runs)
	}
}

// l1 is the mean error of an estimator, which the simulations call by another name, in the
// runs that have all estimators.
func l1(name string) func([]run) string {
	return func(runs []run) string {
		var of []float64
		for _, r := range full(runs) {
			of = append(of, numbers([]run{r}, "estimators_l1."+name)...)
			of = append(of, numbers([]run{r}, "l1."+name)...)
		}
		return digits(average(of), 3)
	}
}

// full are the runs that have all estimators: the simulations have them in some draws.
func full(runs []run) []run {
	return slices.DeleteFunc(slices.Clone(runs), func(r run) bool {
		_, a := r.number("estimators_l1.marsc")
		_, b := r.number("l1.marsc")
		return !a && !b
	})
}

func mteError(r run) float64 {
	if v, ok := r.number("estimators_l1.mte"); ok {
		return v
	}
	return named("l1.mte")(r)
}

func isWrong(r run) bool { return mteError(r) > bad }

// groupTable has a row for each group that is shown.
func groupTable(of []group, head string, cells ...cell) string {
	heads := []string{head}
	for _, c := range cells {
		heads = append(heads, c.head)
	}
	var lines [][]string
	for _, g := range of {
		line := []string{g.name}
		for _, c := range cells {
			line = append(line, c.of(g.runs))
		}
		lines = append(lines, line)
	}
	return markdown(heads, lines)
}

func l1Cells(names ...string) (cells []cell) {
	for _, name := range names {
		cells = append(cells, cell{strings.Replace(name, "source", "source's own", 1), l1(name)})
	}
	return cells
}

func howMany(of func([]run) []run) func([]run) string {
	return func(runs []run) string { return fmt.Sprint(len(of(runs))) }
}

func every(runs []run) []run { return runs }

// errorsTable has the mean error of every estimator.
func errorsTable(b book) string {
	all := groups(b)
	return errorsOf(all[:len(all)-3])
}

func errorsOf(of []group) string {
	cells := append([]cell{{"tasks", howMany(full)}}, l1Cells("mte", "refit", "adapt", "aligned", "cc", "bbse", "bbse-soft", "rlls", "em", "marsc", "marsg", "source")...)
	return groupTable(of, "mean L1", cells...)
}

// shortErrorsTable has some families and estimators, by the names that a newcomer knows.
func shortErrorsTable(b book) string {
	var of []group
	for _, g := range groups(b) {
		name, ok := map[string]string{
			"hipc": "flow cytometry, 12 pairs", "mnist-usps": "digits, MNIST → USPS", "usps-mnist": "digits, USPS → MNIST",
			"toy-mid": "toy, medium noise", "toy-high": "toy, high noise",
			"10 classes, label shift": "simulated, 10 classes, label shift", "10 classes, moved": "simulated, 10 classes, moved",
			"3 classes, label shift": "simulated, 3 classes, label shift", "3 classes, moved": "simulated, 3 classes, moved",
		}[g.name]
		if ok {
			of = append(of, group{name, g.runs})
		}
	}
	return groupTable(of, "tasks", l1Cells("mte", "refit", "cc", "bbse-soft", "em", "marsc", "marsg", "source")...)
}

// intervalsTable tells how often intervals hold, each and jointly.
func intervalsTable(b book) string { return intervalsOf(groups(b)) }

func intervalsOf(of []group) string {
	expected := func(runs []run) string { return mean("expected_error")(runs) }
	mte := func(runs []run) string {
		var of []float64
		for _, r := range runs {
			of = append(of, mteError(r))
		}
		return digits(average(of), 3)
	}
	joint := func(runs []run) string { return mean("inside_region")(runs) }
	return groupTable(of, "family", cell{"tasks", howMany(every)}, cell{"shares in their 90 % interval", coverage},
		cell{"targets in the joint region of 90 %", joint}, cell{"mean width", width}, cell{"L1 of mte", mte}, cell{"expected", expected})
}

// doubtTable tells how well signs tell wrong estimates of the groups that have some.
func doubtTable(b book) string {
	of := slices.DeleteFunc(groups(b), func(g group) bool {
		wrong := len(slices.DeleteFunc(slices.Clone(g.runs), func(r run) bool { return !isWrong(r) }))
		return wrong < 3 || wrong == len(g.runs)
	})
	ranks := func(s string) func([]run) string {
		return func(runs []run) string { return digits(auroc(runs, isWrong, named(s)), 3) }
	}
	return groupTable(of, "AUROC", cell{"bad", func(runs []run) string { return count(runs, isWrong) }},
		cell{"expected", ranks("expected_error")}, cell{"disagreement", ranks("disagreement")}, cell{"alignment", ranks("alignment")})
}

// expectedTable tells how often an expected error was right.
func expectedTable(b book) string {
	all := groups(b)
	runs := all[len(all)-1].runs
	var lines [][]string
	for _, bin := range []struct {
		name     string
		from, to float64
	}{{"up to 0.1", -1, 0.1}, {"0.1 to 0.2", 0.1, 0.2}, {"above 0.2", 0.2, 3}} {
		of := slices.DeleteFunc(slices.Clone(runs), func(r run) bool {
			e := named("expected_error")(r)
			return e <= bin.from || e > bin.to
		})
		wrong, _, _ := strings.Cut(count(of, isWrong), " ")
		lines = append(lines, []string{bin.name, fmt.Sprint(len(of)), wrong})
	}
	return markdown([]string{"expected error", "tasks", "off by more than 0.2"}, lines)
}

// jointText says how often the joint region holds, in the simulations that have the draws for it.
func jointText(b book) string {
	var parts []string
	for _, g := range families(b["simulated-3"].runs) {
		parts = append(parts, fmt.Sprintf("%s of %d (%s)", mean("inside_region")(g.runs), len(g.runs), g.name))
	}
	return strings.Join(parts, ", ")
}
