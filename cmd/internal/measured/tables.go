package main

import (
	"math"
	"slices"
	"strings"

	"mars.dev/mars/pipeline/compare"
)

const (
	resultsPage     = "docs/measured/results.md"
	estimatorsPage  = "docs/measured/estimators.md"
	diagnosticsPage = "docs/measured/diagnostics.md"
	imagesPage      = "docs/measured/images.md"
	defaultPage     = "docs/measured/default.md"
	paperPage       = "docs/measured/paper.md"
)

var (
	diagnosticStudies = []string{"diagnostics-toy", "diagnostics-blobs", "diagnostics-hipc"}
	estimatorStudies  = []string{"estimators-hipc", "estimators-digits", "estimators-toy", "simulated-3", "simulated-10"}
)

// tables are the parts of pages that are written from runs.
var tables = []table{
	{name: "readme-label", page: "README.md", of: []string{"readme"}, figure: true, text: figure("readme", "label.balanced_accuracy", 2)},
	{name: "readme-pipe", page: "README.md", of: []string{"readme"}, figure: true, text: figure("readme", "pipe.balanced_accuracy", 2)},

	{name: "best", page: resultsPage, of: []string{"paper-toy", "paper-digits", "hipc"}, text: bestTable},
	{name: "toy", page: resultsPage, of: []string{"toy"}, text: toyTable},
	{name: "schedules-toy", page: resultsPage, of: []string{"schedules-toy"}, text: schedulesTable("schedules-toy")},
	{name: "schedules-digits", page: resultsPage, of: []string{"schedules-digits"}, text: schedulesTable("schedules-digits")},
	{name: "class-loss", page: resultsPage, of: []string{"paper-digits", "digits-weighted"}, text: classLossTable},
	{name: "hipc", page: resultsPage, of: []string{"hipc"}, text: hipcTable},

	{name: "paper-toy", page: paperPage, of: []string{"paper-toy"}, text: paperToyTable(accuracyOfClasses)},
	{name: "paper-toy-wins", page: paperPage, of: []string{"paper-toy"}, text: paperToyWins},
	{name: "paper-toy-shares", page: paperPage, of: []string{"paper-toy"}, text: paperToyTable("proportions_l1")},
	{name: "paper-digits", page: paperPage, of: []string{"paper-digits"}, text: paperTasksTable("paper-digits", accuracyOfClasses, true)},
	{name: "paper-digits-wins", page: paperPage, of: []string{"paper-digits"}, text: paperTasksWins("paper-digits")},
	{name: "paper-digits-shares", page: paperPage, of: []string{"paper-digits"}, text: paperTasksTable("paper-digits", "proportions_l1", false)},
	{name: "paper-office10", page: paperPage, of: []string{"paper-office10"}, text: paperTasksTable("paper-office10", accuracyOfClasses, false)},
	{name: "paper-office10-wins", page: paperPage, of: []string{"paper-office10"}, text: paperTasksWins("paper-office10")},
	{name: "paper-office10-shares", page: paperPage, of: []string{"paper-office10"}, text: paperTasksTable("paper-office10", "proportions_l1", false)},
	{name: "paper-visda", page: paperPage, published: true, text: paperOnly("visda")},
	{name: "paper-office31", page: paperPage, published: true, text: paperOnly("A-", "D-", "W-")},
	{name: "paper-officehome", page: paperPage, published: true, text: paperOnly("Art", "Clip", "Product", "Real")},

	{name: "mixed", page: defaultPage, of: []string{"mixed"}, text: mixedTable},

	{name: "estimators-short", page: estimatorsPage, of: estimatorStudies, text: shortErrorsTable},
	{name: "estimators", page: estimatorsPage, of: estimatorStudies, text: errorsTable},
	{name: "many-classes", page: estimatorsPage, of: []string{"simulated-many"}, text: func(b book) string { return errorsOf(families(b["simulated-many"].runs)) }},
	{name: "many-intervals", page: estimatorsPage, of: []string{"simulated-many"}, text: func(b book) string { return intervalsOf(families(b["simulated-many"].runs)) }},
	{name: "intervals", page: estimatorsPage, of: estimatorStudies, text: intervalsTable},
	{name: "doubt", page: estimatorsPage, of: estimatorStudies, text: doubtTable},
	{name: "expected", page: estimatorsPage, of: estimatorStudies, text: expectedTable},
	{name: "labels", page: estimatorsPage, of: []string{"estimators-hipc", "estimators-digits", "estimators-toy"}, text: labelsTable},
	{name: "labels-all", page: estimatorsPage, of: []string{"labels-hipc", "labels-toy"}, text: labelsAllTable},

	{name: "coverage-all", page: estimatorsPage, of: estimatorStudies, figure: true, text: ofGroup("all", coverage)},
	{name: "coverage-real", page: estimatorsPage, of: estimatorStudies, figure: true, text: ofGroup("real", coverage)},
	{name: "joint", page: estimatorsPage, of: []string{"simulated-3"}, figure: true, text: jointText},
	{name: "tasks-all", page: estimatorsPage, of: estimatorStudies, figure: true, text: ofGroup("all", howMany(every))},
	{name: "tasks-real", page: estimatorsPage, of: estimatorStudies, figure: true, text: ofGroup("real", howMany(every))},

	{name: "signs", page: diagnosticsPage, of: []string{"signs"}, text: signsTable},
	{name: "signs-families", page: diagnosticsPage, of: []string{"signs"}, text: signsFamiliesTable},
	{name: "diagnostics", page: diagnosticsPage, of: diagnosticStudies, text: diagnosticsTable},

	{name: "diagnostics-short", page: diagnosticsPage, of: diagnosticStudies, figure: true, text: diagnosticsShort},
	{name: "diagnostics-none", page: diagnosticsPage, of: diagnosticStudies, figure: true, text: diagnosticsNone},
	{name: "diagnostics-near", page: diagnosticsPage, of: diagnosticStudies, figure: true, text: diagnosticsNear},

	{name: "self-training", page: imagesPage, of: []string{"self-training"}, text: selfTrainingTable},
	{name: "doubts", page: imagesPage, of: []string{"doubts"}, text: doubtsTable},
}

// figure is one number, which is a mean over the runs of a study.
func figure(study, number string, places int) func(book) string {
	return func(b book) string { return digits(average(numbers(b[study].runs, number)), places) }
}

var (
	methodAxis = axis{"method", "method", map[string]string{"source": "source alone", "marsc": "MARSc", "marsg": "MARSg"}}
	taskAxis   = axis{"task", "task", taskNames}
	taskNames  = map[string]string{
		"um-balanced": "USPS → MNIST balanced", "um-mid": "USPS → MNIST mid", "um-high": "USPS → MNIST high",
		"mu-balanced": "MNIST → USPS balanced", "mu-mid": "MNIST → USPS mid", "mu-high": "MNIST → USPS high",
		"mm-1": "MNIST → MNIST-M 1", "mm-2": "MNIST → MNIST-M 2", "mm-3": "MNIST → MNIST-M 3",
	}
	adversarial = []string{"dann", "wd0", "wd1", "wd2", "wd3", "wd4", "iw-wd"}
)

func toyTable(b book) string {
	runs := b["toy"].runs
	cells := across(runs, "seed", mean("balanced_accuracy"))
	cells = append(cells, cell{"mean", spread("balanced_accuracy")}, cell{"L1 of p_T", spread("proportions_l1")})
	return grid(runs, []axis{methodAxis}, cells...)
}

// bestTable has the paper's methods on all tasks, and the best of the others, which is
// chosen with the target's labels.
func bestTable(b book) string {
	var lines [][]string
	add := func(name string, of func(method string) float64) {
		best, most := "", 0.0
		for _, m := range adversarial {
			switch v := of(m); {
			case v != v:
				best, most = missing, math.Inf(1)
			case v > most:
				best, most = digits(v, 3)+" ("+m+")", v
			}
		}
		line := []string{name, digits(of("source"), 3), best}
		for _, m := range []string{"marsg", "marsc", "gmm-ot"} {
			line = append(line, digits(of(m), 3))
		}
		lines = append(lines, line)
	}
	toy, err := compared(b["paper-toy"].runs, "balanced_accuracy", "", "setting", "x")
	if err != nil {
		return sentenceOf(err)
	}
	noise := map[string]string{"4": "medium", "6": "high"}
	for _, s := range toy.Settings {
		if noise[s.Values[0]] != "" && slices.Contains([]string{"34", "66", "85"}, s.Values[1]) {
			add("toy, "+noise[s.Values[0]]+" noise, shift 8, "+s.Values[1]+" % in the first class", meansOf(toy, s))
		}
	}
	images, err := compared(b["paper-digits"].runs, "balanced_accuracy", "", "task")
	if err != nil {
		return sentenceOf(err)
	}
	for _, s := range images.Settings {
		add(taskNames[s.Values[0]], meansOf(images, s))
	}
	cells := b["hipc"].runs
	lines = append(lines, []string{"flow cytometry, FTV_1 → FTV_7", mean("balanced_accuracy")(where(cells, "method", "source")), "",
		mean("balanced_accuracy")(where(cells, "method", "marsg")), mean("balanced_accuracy")(where(cells, "method", "marsc")), ""})
	return markdown([]string{"task", "source alone", "best other", "MARSg", "MARSc", "GMM+OT"}, lines)
}

// meansOf are the means of a setting by method; NaN where there is no run.
func meansOf(c *compare.Comparison, s compare.Setting) func(method string) float64 {
	return func(method string) float64 {
		if i := slices.Index(c.Methods, method); i >= 0 && s.Results[i].Runs > 0 {
			return s.Results[i].Mean
		}
		return math.NaN()
	}
}

func schedulesTable(study string) func(book) string {
	return func(b book) string {
		return grid(b[study].runs, []axis{{"changed", "changed", nil}}, cell{"balanced accuracy", spread("balanced_accuracy")},
			cell{"L1 of p_T", spread("proportions_l1")})
	}
}

func classLossTable(b book) string {
	marsc := where(b["paper-digits"].runs, "method", "marsc")
	both := slices.DeleteFunc(slices.Clone(b["digits-weighted"].runs), func(r run) bool {
		return len(where(where(marsc, "task", r.at("task")), "seed", r.at("seed"))) == 0
	})
	even := func(runs []run) string {
		return mean("balanced_accuracy")(where(where(marsc, "task", runs[0].at("task")), "seed", values(runs, "seed")...))
	}
	return grid(both, []axis{taskAxis}, cell{"seeds", howMany(every)}, cell{"even weights", even}, cell{"weighted by p_T/p_S", mean("balanced_accuracy")})
}

func hipcTable(b book) string {
	return grid(b["hipc"].runs, []axis{methodAxis}, cell{"balanced accuracy", mean("balanced_accuracy")}, cell{"accuracy", mean("accuracy")},
		cell{"L1 of p_T", mean("proportions_l1")})
}

// mixedTable has what the default comes to on tables of categories, beside the source's network.
func mixedTable(b book) string {
	tasks := axis{"task", "task", map[string]string{"mushrooms-et": "Mushrooms, e → t", "mushrooms-te": "Mushrooms, t → e",
		"phishing-1": "Phishing, 1 → −1", "phishing-2": "Phishing, −1 → 1"}}
	methods := axis{"method", "method", map[string]string{"source": "source alone", "hedge": "`mars label`"}}
	return grid(b["mixed"].runs, []axis{tasks, methods}, cell{"accuracy", mean("accuracy")}, cell{"balanced accuracy", mean("balanced_accuracy")},
		cell{"L1 of p_T", mean("proportions_l1")})
}

// labelsTable has what match, translate, retrain comes to on the tasks of the estimators.
func labelsTable(b book) string {
	runs := slices.Concat(b["estimators-hipc"].runs, b["estimators-digits"].runs, b["estimators-toy"].runs)
	return grid(runs, []axis{{"family", "labels", nil}}, cell{"tasks", howMany(every)}, cell{"accuracy", mean("accurate.accuracy")},
		cell{"balanced accuracy", mean("balanced.balanced_accuracy")})
}

func labelsAllTable(b book) string {
	toy := func(number string) func([]run) string {
		return func(runs []run) string {
			return mean(number)(where(b["labels-toy"].runs, "labels", runs[0].at("labels")))
		}
	}
	return grid(b["labels-hipc"].runs, []axis{{"labels", "labels", nil}}, cell{"HIPC accuracy", mean("accuracy")}, cell{"HIPC balanced", mean("balanced_accuracy")},
		cell{"toy accuracy", toy("accuracy")}, cell{"toy balanced", toy("balanced_accuracy")})
}

func selfTrainingTable(b book) string {
	worst := func(name string, of func(...float64) float64) func([]run) string {
		return func(runs []run) string { return digits(of(numbers(runs, name)...), 3) }
	}
	least := func(v ...float64) float64 { return slices.Min(v) }
	most := func(v ...float64) float64 { return slices.Max(v) }
	return grid(b["self-training"].runs, []axis{taskAxis}, cell{"seeds", howMany(every)}, cell{"balanced accuracy", mean("balanced_accuracy")},
		cell{"worst seed", worst("balanced_accuracy", least)}, cell{"the paper's best", paperBest}, cell{"L1 of p_T", mean("proportions_l1")},
		cell{"worst", worst("proportions_l1", most)})
}

// paperBest is the best figure of a task in the paper, by any method.
func paperBest(runs []run) string {
	paper, err := readRuns(paperMeans)
	if err != nil {
		return ""
	}
	of := numbers(where(paper, "task", runs[0].at("task")), "paper")
	if len(of) == 0 {
		return ""
	}
	return digits(slices.Max(of), 3)
}

func doubtsTable(b book) string {
	cells := []cell{}
	for _, name := range []string{"accuracy", "proportions_l1", "first_kept", "kept", "agreement", "moved"} {
		cells = append(cells, cell{strings.Replace(name, "proportions_l1", "L1 of p_T", 1), mean(name)})
	}
	warned := func(runs []run) string { return map[string]string{"True": "yes"}[runs[0].at("warned")] }
	return grid(b["doubts"].runs, []axis{{"task", "task", nil}}, append(cells, cell{"warned", warned})...)
}
