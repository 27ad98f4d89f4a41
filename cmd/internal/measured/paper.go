package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/pipeline/compare"
)

// The paper's figures: means, and the deviations and marks of its tables.
const (
	paperMeans = "docs/experiments/paper.csv"
	paperMarks = "docs/experiments/paper-marks.csv"
)

const (
	missing           = "missing"
	accuracyOfClasses = "balanced_accuracy" // what the paper reports
)

// toySettings say what the settings of the paper's toy are: x is the shift of the classes in
// some, and the share of the first class in per cent in others.
var toySettings = []struct{ name, what string }{
	{"0", "low noise, target 33/33/34, x the shift"},
	{"1", "low noise, target 60/20/20, x the shift"},
	{"2", "low noise, target 80/10/10, x the shift"},
	{"5", "medium noise, target 80/10/10, x the shift"},
	{"3", "low noise, shift 8, x the first class in %"},
	{"4", "medium noise, shift 8, x the first class in %"},
	{"6", "high noise, shift 8, x the first class in %"},
}

// toyGroups are settings that are ranked together, and whether those methods alone are that train.
var toyGroups = []struct {
	name     string
	settings []string
	trained  bool
}{
	{"low noise, shift (0, 1, 2)", []string{"0", "1", "2"}, false},
	{"medium noise, shift (5)", []string{"5"}, false},
	{"balance (3, 4, 6)", []string{"3", "4", "6"}, false},
	{"all, methods that train", []string{"0", "1", "2", "3", "4", "5", "6"}, true},
	{"all", []string{"0", "1", "2", "3", "4", "5", "6"}, false},
}

const trainsNothing = "gmm-ot"

// thatTrain are the runs of methods that train: GMM+OT is nearly always the best of a toy of Gaussians, which says
// nothing of who is the best of the others.
func thatTrain(runs []run) []run {
	return slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.at("method") == trainsNothing })
}

// compared is mars compare of runs: a setting is what the columns say.
func compared(runs []run, number, control string, columns ...string) (*compare.Comparison, error) {
	heads := append(slices.Clone(columns), "method")
	if len(values(runs, seedAxis)) > 0 {
		heads = append(heads, seedAxis)
	}
	rows := [][]string{append(slices.Clone(heads), number)}
	for _, r := range runs {
		if v, ok := r.number(number); ok {
			rows = append(rows, append(cellAt(r, heads), strconv.FormatFloat(v, 'g', -1, 64)))
		}
	}
	return compare.Table("runs", rows, compare.Options{Settings: columns, Number: number, Control: control, Incomplete: true})
}

// methodsOf are the methods of the study in the order of its file, of which some run has the
// number.
func methodsOf(study string, runs []run, number string) (names []string) {
	axes, all := studyNamed(study).cells()
	at := slices.Index(axes, "method")
	for _, c := range all {
		if !slices.Contains(names, c[at]) {
			names = append(names, c[at])
		}
	}
	return slices.DeleteFunc(names, func(m string) bool {
		return number != "" && len(numbers(where(runs, "method", m), number)) == 0
	})
}

func studyNamed(name string) study {
	return studies[slices.IndexFunc(studies, func(s study) bool { return s.name == name })]
}

// cellText is a mean with its deviation, in bold if mars compare marks it. It says of how many
// runs it is, if that is not what the row says.
func cellText(r compare.Result, runs int) string {
	if r.Runs == 0 {
		return missing
	}
	text := digits(r.Mean, 3)
	if r.Runs > 1 {
		text += " ± " + digits(r.Deviation, 3)
	}
	if r.Best {
		text = "**" + text + "**"
	}
	if r.Runs != runs {
		text += fmt.Sprintf(" (%d)", r.Runs)
	}
	return text
}

// most is the number of runs that the methods of a setting have.
func most(s compare.Setting) (n int) {
	for _, r := range s.Results {
		n = max(n, r.Runs)
	}
	return n
}

// cellsOf are the cells of a setting for these methods.
func cellsOf(c *compare.Comparison, s compare.Setting, methods []string) (cells []string) {
	for _, m := range methods {
		i := slices.Index(c.Methods, m)
		if i < 0 {
			cells = append(cells, missing)
			continue
		}
		cells = append(cells, cellText(s.Results[i], most(s)))
	}
	return cells
}

// markTrained puts cells of a setting in italics that are marked among methods that train, and not among all.
func markTrained(cells []string, trained *compare.Comparison, values, methods []string) {
	if trained == nil {
		return
	}
	same := slices.IndexFunc(trained.Settings, func(s compare.Setting) bool { return slices.Equal(s.Values, values) })
	if same < 0 {
		return
	}
	for i, m := range methods {
		at := slices.Index(trained.Methods, m)
		if at >= 0 && trained.Settings[same].Results[at].Best && !strings.HasPrefix(cells[i], "*") {
			cells[i] = "*" + cells[i] + "*"
		}
	}
}

// paperToyTable has a row for each setting and x of which there are runs.
func paperToyTable(number string) func(book) string {
	return func(b book) string {
		runs := b["paper-toy"].runs
		methods := methodsOf("paper-toy", runs, numberOrAll(number))
		c, err := compared(runs, number, "", "setting", "x")
		if err != nil {
			return sentenceOf(err)
		}
		trained, _ := compared(thatTrain(runs), number, "", "setting", "x") // an error says that there is one at most
		var text strings.Builder
		for _, setting := range toySettings {
			var lines [][]string
			for _, s := range c.Settings {
				if s.Values[0] == setting.name {
					cells := cellsOf(c, s, methods)
					markTrained(cells, trained, s.Values, methods)
					lines = append(lines, append([]string{s.Values[1], strconv.Itoa(most(s))}, cells...))
				}
			}
			if lines == nil {
				continue
			}
			fmt.Fprintf(&text, "Setting %s: %s.\n\n%s\n", setting.name, setting.what, markdown(append([]string{"x", "seeds"}, methods...), lines))
		}
		if number == accuracyOfClasses {
			text.WriteString(unrun("paper-toy", runs) + "\n")
		}
		return text.String() + notes(c)
	}
}

// numberOrAll is the number by which methods are left out of a table: all are to have an
// accuracy, but not all estimate proportions.
func numberOrAll(number string) string {
	if number == accuracyOfClasses {
		return ""
	}
	return number
}

func sentenceOf(err error) string { return "Nothing is compared: " + err.Error() + ".\n" }

// notes are what mars compare says of the runs, but for what is said of tests over settings.
func notes(c *compare.Comparison) string {
	var text strings.Builder
	for _, n := range c.Notes {
		if !strings.Contains(n, "no difference of two methods") {
			text.WriteString(n + "\n")
		}
	}
	return text.String()
}

// unrun says of which points of a study there are no runs at all. A point is a run's place but
// for method and seed.
func unrun(study string, runs []run) string {
	axes, all := studyNamed(study).cells()
	var rest []int
	for i, a := range axes {
		if a != "method" && a != "seed" {
			rest = append(rest, i)
		}
	}
	there := map[string]bool{}
	for _, r := range runs {
		there[pointAt(cellAt(r, axes), rest)] = true
	}
	points, lacks := map[string]bool{}, []string{}
	xs := map[string][]string{} // by the values before the last
	for _, c := range all {
		point := pointAt(c, rest)
		if points[point] {
			continue
		}
		points[point] = true
		if there[point] {
			continue
		}
		before := ""
		for _, i := range rest[:len(rest)-1] {
			before = strings.TrimSpace(before + " " + axes[i] + " " + c[i])
		}
		if xs[before] == nil {
			lacks = append(lacks, before)
		}
		xs[before] = append(xs[before], c[rest[len(rest)-1]])
	}
	if len(lacks) == 0 {
		return ""
	}
	var lists []string // of points
	alike := map[string][]string{}
	n, last := 0, axes[rest[len(rest)-1]]
	for _, before := range lacks {
		n += len(xs[before])
		list := last + " " + strings.Join(xs[before], ", ")
		if alike[list] == nil {
			lists = append(lists, list)
		}
		alike[list] = append(alike[list], before)
	}
	for i, list := range lists {
		if of := strings.Join(alike[list], ", "); of != "" {
			lists[i] = of + " at " + list
		}
	}
	return fmt.Sprintf("\nNot run yet: %d of %d points: %s.\n", n, len(points), strings.Join(lists, "; "))
}

func pointAt(c cellOf, of []int) string {
	var parts []string
	for _, i := range of {
		parts = append(parts, c[i])
	}
	return strings.Join(parts, "\x00")
}

// paperToyWins counts wins and ranks by groups of settings, and tests the methods against MARSc.
func paperToyWins(b book) string {
	runs := b["paper-toy"].runs
	methods := methodsOf("paper-toy", runs, "")
	heads, columns := []string{"method"}, [][]string{}
	var last *compare.Comparison
	var problem error
	for _, g := range toyGroups {
		some := where(runs, "setting", g.settings...)
		if g.trained {
			some = thatTrain(some)
		}
		if len(some) == 0 {
			continue
		}
		c, err := compared(some, accuracyOfClasses, control(runs), "setting", "x")
		if err != nil {
			problem = err
			continue
		}
		heads = append(heads, fmt.Sprintf("%s: wins of %d", g.name, len(c.Settings)), "mean rank")
		wins, ranks := winsAndRanks(c, methods)
		if i := slices.Index(methods, trainsNothing); g.trained && i >= 0 {
			wins[i], ranks[i] = "", ""
		}
		columns = append(columns, wins, ranks)
		last = c
	}
	if last == nil {
		return sentenceOf(problem)
	}
	heads = append(heads, "MARSc is better, worse, equal", "p (Holm)")
	columns = append(columns, againstColumns(last, methods)...)
	return markdown(heads, columnsToLines(methods, columns)) + "\n" + ranksText(last) + notes(last)
}

const paperControl = "marsc"

// control is the method that the others are tested against, if it has runs.
func control(runs []run) string {
	if slices.Contains(values(runs, "method"), paperControl) {
		return paperControl
	}
	return ""
}

func columnsToLines(methods []string, columns [][]string) (lines [][]string) {
	for i, m := range methods {
		line := []string{m}
		for _, c := range columns {
			line = append(line, c[i])
		}
		lines = append(lines, line)
	}
	return lines
}

// winsAndRanks are two columns: how often each method is marked, and its mean rank.
func winsAndRanks(c *compare.Comparison, methods []string) (wins, ranks []string) {
	for _, m := range methods {
		won, rank := missing, missing
		if i := slices.Index(c.Methods, m); i >= 0 {
			won = strconv.Itoa(c.Wins[i])
			if len(c.Ranks) > 0 {
				rank = digits(c.Ranks[i], 2)
			}
		}
		wins, ranks = append(wins, won), append(ranks, rank)
	}
	return wins, ranks
}

// againstColumns are the tests of the control against the others.
func againstColumns(c *compare.Comparison, methods []string) [][]string {
	counts, ps := make([]string, len(methods)), make([]string, len(methods))
	for i, m := range methods {
		for _, p := range c.Pairs {
			if p.First == paperControl && p.Second == m {
				counts[i], ps[i] = fmt.Sprintf("%d, %d, %d", p.Better, p.Worse, p.Equal), strconv.FormatFloat(p.Corrected, 'g', 2, 64)
				if p.Significant {
					ps[i] = "**" + ps[i] + "**"
				}
			}
		}
	}
	return [][]string{counts, ps}
}

// ranksText says what the tests over all settings find.
func ranksText(c *compare.Comparison) string {
	var parts []string
	if c.Friedman != nil {
		differ := "does not say that any method differs"
		if c.Friedman.PF < c.Level {
			differ = "says that some methods differ"
		}
		parts = append(parts, fmt.Sprintf("Friedman's test over all points %s (Iman and Davenport: p = %s). By Nemenyi, mean ranks over all points differ if they are %s apart (%g).",
			differ, strconv.FormatFloat(c.Friedman.PF, 'g', 2, 64), digits(c.Friedman.CriticalDifference, 2), c.Level))
	}
	for _, n := range c.Notes {
		if strings.Contains(n, "no difference of two methods") {
			parts = append(parts, n)
		}
	}
	return strings.Join(append(parts, ""), "\n")
}

// published are the paper's means, deviations and marks as runs. It panics if the files of this repository
// that have them do not fit.
func published() []run {
	means, err := readRuns(paperMeans)
	if err != nil {
		panic("measured: " + err.Error())
	}
	marks, err := readRuns(paperMarks)
	if err != nil {
		panic("measured: " + err.Error())
	}
	for i, r := range means {
		if len(means) != len(marks) || r.at("task") != marks[i].at("task") || r.at("method") != marks[i].at("method") {
			panic(fmt.Sprintf("measured: %s and %s: line %d is not of the same method", paperMeans, paperMarks, i+2))
		}
		r["deviation"], r["best"] = marks[i]["deviation"], marks[i]["best"]
	}
	return means
}

// publishedCells are the paper's of a task.
func publishedCells(paper []run, task string, methods []string) (cells []string) {
	for _, m := range methods {
		some := where(where(paper, "task", task), "method", m)
		if len(some) == 0 {
			cells = append(cells, "")
			continue
		}
		text := mean("paper")(some)
		if d, ok := some[0].number("deviation"); ok {
			text += " ± " + digits(d, 3)
		}
		if some[0].at("best") == "1" {
			text = "**" + text + "**"
		}
		cells = append(cells, text)
	}
	return cells
}

// paperTasksTable has a row for each task and, where the paper has the same one, its own below.
func paperTasksTable(study, number string, beside bool) func(book) string {
	return func(b book) string {
		runs := b[study].runs
		methods := methodsOf(study, runs, numberOrAll(number))
		c, err := compared(runs, number, "", "task")
		if err != nil {
			return sentenceOf(err)
		}
		var paper []run
		if beside {
			paper = published()
		}
		text := tasksTable(c, methods, paper)
		if number == accuracyOfClasses {
			text += unrun(study, runs)
		}
		return text + "\n" + notes(c)
	}
}

// tasksTable has a row for each task, and the paper's own beneath it, if its runs are given.
func tasksTable(c *compare.Comparison, methods []string, paper []run) string {
	var lines [][]string
	for _, s := range c.Settings {
		task := s.Values[0]
		lines = append(lines, append([]string{cmp.Or(taskNames[task], task), strconv.Itoa(most(s))}, cellsOf(c, s, methods)...))
		if paper != nil {
			lines = append(lines, append([]string{"the paper", "20"}, publishedCells(paper, task, methods)...))
		}
	}
	return markdown(append([]string{"task", "seeds"}, methods...), lines)
}

// paperTasksWins counts wins and ranks, here and in the paper, over the tasks that were run.
func paperTasksWins(study string) func(book) string {
	return func(b book) string {
		runs := b[study].runs
		methods := methodsOf(study, runs, "")
		paper := published()
		c, err := compared(runs, accuracyOfClasses, control(runs), "task")
		if err != nil {
			return sentenceOf(err)
		}
		theirWins, theirRanks, err := publishedWins(where(paper, "task", values(runs, "task")...), methods)
		if err != nil {
			return sentenceOf(err)
		}
		wins, ranks := winsAndRanks(c, methods)
		n := len(c.Settings)
		heads := []string{"method", fmt.Sprintf("wins of %d", n), "the paper's", "mean rank", "the paper's", "MARSc is better, worse, equal", "p (Holm)"}
		columns := append([][]string{wins, theirWins, ranks, theirRanks}, againstColumns(c, methods)...)
		return markdown(heads, columnsToLines(methods, columns)) + "\n" + ranksText(c) + notes(c)
	}
}

// publishedWins are how often the paper marks a method in its tables, and the mean ranks of its
// means.
func publishedWins(paper []run, methods []string) (wins, ranks []string, err error) {
	table := slices.DeleteFunc(slices.Clone(paper), func(r run) bool { return r.at("best") == "" })
	c, err := compared(table, "paper", "", "task")
	if err != nil {
		return nil, nil, err
	}
	for _, m := range methods {
		some := where(table, "method", m)
		if len(some) == 0 {
			wins, ranks = append(wins, ""), append(ranks, "")
			continue
		}
		wins = append(wins, strconv.Itoa(len(where(some, "best", "1"))))
		ranks = append(ranks, digits(c.Ranks[slices.Index(c.Methods, m)], 2))
	}
	return wins, ranks, nil
}

// paperOnly are the paper's figures of tasks whose data are not here.
func paperOnly(begin ...string) func(book) string {
	return func(book) string {
		paper := slices.DeleteFunc(published(), func(r run) bool {
			return !slices.ContainsFunc(begin, func(b string) bool { return strings.HasPrefix(r.at("task"), b) })
		})
		methods := values(paper, "method")
		var lines [][]string
		for _, task := range values(paper, "task") {
			lines = append(lines, append([]string{task}, publishedCells(paper, task, methods)...))
		}
		wins, ranks, err := publishedWins(paper, methods)
		if err != nil {
			return sentenceOf(err)
		}
		lines = append(lines, append([]string{"wins"}, wins...), append([]string{"mean rank"}, ranks...))
		return markdown(append([]string{"task"}, methods...), lines)
	}
}
