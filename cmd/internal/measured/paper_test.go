package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// toyBook has runs of two points with these seeds.
func toyBook(seeds int, leave func(run) bool) book {
	var runs []run
	for seed := range seeds {
		for i, base := range []float64{.5, .9, .91} {
			for _, x := range []float64{2, 5} {
				r := toyRun(5, x, float64(i), float64(seed), base+.001*float64((seed*7+i*3)%10)-.01*x)
				if i > 0 {
					r["proportions_l1"] = .01 * float64(i)
				}
				if !leave(r) {
					runs = append(runs, r)
				}
			}
		}
	}
	s := studyNamed("paper-toy")
	r := recordOf(part{origin{Commit: "one", Date: "d"}, runs[:len(runs)/2]}, part{origin{Commit: "two", Date: "d"}, runs[len(runs)/2:]})
	r.runs = s.ordered(r.runs)
	return book{s.name: r}
}

func all(run) bool { return false }

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// With enough seeds the rule of the paper marks what is as good as the best; with few the best
// alone. A method without runs is missing, and so are points.
func TestPaperToyTable(t *testing.T) {
	table := paperToyTable("balanced_accuracy")
	few, many := table(toyBook(5, all)), table(toyBook(20, all))
	contains(t, few, "Setting 5: medium noise", "| 2 | 5 | .", "missing | **.8", "All settings have fewer than 8 runs", "Not run yet: 79 of 81 points: setting 0, setting 1, setting 2 at x 0, 1,")
	if strings.Contains(many, "fewer than 8") {
		t.Error("20 seeds are too few")
	}
	if n := strings.Count(many, "**."); n < 2 || n > 4 {
		t.Errorf("%d marks in two rows:\n%s", n, many)
	}
	behind := toyBook(5, func(r run) bool {
		if r.at("method") == "marsc" {
			r["balanced_accuracy"] = .6
		}
		return false
	})
	contains(t, table(behind), "*.600 ± .000* | **.8")
	lacking := table(toyBook(5, func(r run) bool { return r.at("method") == "marsc" && r.at("x") == "2" && r.at("seed") == "4" }))
	contains(t, lacking, "| 2 | 4 |", "| 5 | 5 |", "Missing and left out: setting 5, x 2, marsc, seed 4.")
	shares := paperToyTable("proportions_l1")(toyBook(5, all))
	contains(t, shares, "| x | seeds | marsc | gmm-ot |", "**.010 ± .000** |")
	caption := toyBook(5, all).caption(tableNamed("paper-toy"))
	contains(t, caption, "`make measured MEASURED=paper-toy MEASUREDSET='matrix.setting=5 matrix.x=2,5 matrix.method=source,marsc,gmm-ot matrix.seed=0,1,2,3,4'`: ", "commit one (15 runs); two (15 runs); seeds 0 to 4 (30 of 17,820 runs)")
}

func TestPaperToyWins(t *testing.T) {
	contains(t, paperToyWins(toyBook(5, all)), "| method | medium noise, shift (5): wins of 2 | mean rank | all, methods that train: wins of 2 | mean rank | all: wins of 2 | mean rank | MARSc is better, worse, equal | p (Holm) |",
		"| source | 0 | 3.00 | 0 | 2.00 | 0 | 3.00 | ", "| gmm-ot | 0 | 2.00 |  |  | 0 | 2.00 | ", "| dann | missing | missing |", "no difference of two methods can be significant at 0.01: that takes")
	if got := paperToyWins(toyBook(5, func(r run) bool { return r.at("method") != "source" })); got != "Nothing is compared: runs: there is only one method, source: nothing can be compared.\n" {
		t.Errorf("one method: %s", got)
	}
}

func TestPaperDigits(t *testing.T) {
	atRoot(t)
	runs := []run{}
	for i, m := range []string{"source", "marsc"} {
		for _, task := range []string{"mu-mid", "um-high"} {
			runs = append(runs, run{"task": task, "method": m, "seed": 0.0, "balanced_accuracy": .8 + .1*float64(i), "proportions_l1": .2})
		}
	}
	b := book{"paper-digits": recordOf(part{origin{}, runs})}
	contains(t, paperTasksTable("paper-digits", accuracyOfClasses, true)(b), "| MNIST → USPS mid | 1 | .800 | missing |", "| the paper | 20 | .804 ± .031 | .787 ± .030 |", "**.956 ± .005** |", "Not run yet: 7 of 9 points: task mu-balanced, mu-high, um-balanced, um-mid, mm-1, mm-2, mm-3.")
	contains(t, paperTasksWins("paper-digits")(b), "| method | wins of 2 | the paper's | mean rank | the paper's |", "| source | 0 | 1 | 2.00 |", "| marsc | 2 | 1 | 1.00 |", "| gmm-ot | missing |  | missing |  |")
	contains(t, paperTasksTable("paper-digits", "proportions_l1", false)(b), "| MNIST → USPS mid | 1 |")
}

// What the paper's table marks is what its last line counts, and its ranks are near the paper's.
func TestPublished(t *testing.T) {
	atRoot(t)
	methods := []string{"source", "dann", "wd0", "wd1", "wd2", "wd3", "wd4", "iw-wd", "marsg", "marsc"}
	wins, ranks, err := publishedWins(published(), methods)
	if err != nil || !slices.Equal(wins, []string{"7", "9", "5", "0", "1", "0", "2", "9", "12", "21"}) {
		t.Errorf("wins: %v %v", wins, err)
	}
	if ranks[0] != "4.19" || ranks[9] != "3.07" { // by scipy.stats.rankdata; the paper has 4.16 and 2.95, of 34 settings
		t.Errorf("ranks: %v", ranks)
	}
	contains(t, paperOnly("visda")(nil), "| visda3-1 | .793 ± .043 |", "| .812 ± .047 |", "| visda12-3 |", "| wins | 0 | 0 | 0 | 0 | 1 | 0 | 1 | 4 | 2 | 8 |  |")
}

func TestBest(t *testing.T) {
	b := book{}
	for name, at := range map[string]run{"paper-toy": {"setting": "4", "x": "34"}, "paper-digits": {"task": "um-mid"}} {
		var runs []run
		for i, m := range methodsOf(name, nil, "") {
			r := run{"method": m, "seed": 0.0, "balanced_accuracy": .1 + .05*float64(i)}
			maps.Copy(r, at)
			runs = append(runs, r)
		}
		b[name] = recordOf(part{origin{}, runs})
	}
	b["hipc"] = recordOf(part{origin{}, []run{{"method": "source", "balanced_accuracy": .8}}})
	contains(t, bestTable(b), "| toy, medium noise, shift 8, 34 % in the first class | .100 | .450 (iw-wd) | .500 | .550 | .600 |",
		"| USPS → MNIST mid | .100 | .450 (iw-wd) | .500 | .550 | .600 |", "| flow cytometry, FTV_1 → FTV_7 | .800 |  |  |  |  |")
}

func tableNamed(name string) table {
	return tables[slices.IndexFunc(tables, func(t table) bool { return t.name == name })]
}
