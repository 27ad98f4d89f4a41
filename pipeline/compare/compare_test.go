package compare

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// results writes a file of results.
func results(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The mean ranks of the paper's Table 1 are those that stand below it, as far as its
// rounded means tell: it says that they are of 34 of its 37 lines.
func TestRanksOfThePaper(t *testing.T) {
	c, err := Files([]string{"testdata/paper.csv"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	published := []float64{4.16, 4.73, 5.32, 6.97, 8.38, 6.59, 7.57, 4.95, 3.38, 2.95}
	for m, r := range c.Ranks {
		if math.Abs(r-published[m]) > 0.15 {
			t.Errorf("%s has rank %.2f, published is %.2f", c.Methods[m], r, published[m])
		}
	}
	if len(c.Settings) != 37 || len(c.Pairs) != 45 || strings.Join(c.Columns, " ") != "task setting" {
		t.Errorf("%d settings of %v, %d pairs", len(c.Settings), c.Columns, len(c.Pairs))
	}
}

// manyRuns are ten runs of three methods in two settings: b is always .1 better than a, and c
// is b, but for a little noise around 0.
func manyRuns() string {
	var b strings.Builder
	b.WriteString("task,method,seed,accuracy,train.seconds\n")
	for _, task := range []string{"x", "y"} {
		for seed := range 10 {
			base := 0.5 + float64(seed)/100
			for method, v := range map[string]float64{"a": base, "b": base + 0.1, "c": base + 0.1 + 0.001*float64(seed%2*2-1)*float64(seed+1)} {
				fmt.Fprintf(&b, "%s,%s,%d,%g,%g\n", task, method, seed, v, 2.0)
			}
		}
	}
	return b.String()
}

// A column that is the same everywhere, or a number of each method, makes no settings.
func TestSettings(t *testing.T) {
	text := "task,data,method,published,accuracy\nx,d,a,.5,.1\nx,d,b,.6,.2\ny,d,a,.5,.3\ny,d,b,.6,.4\n"
	c, err := Files([]string{results(t, "runs.csv", text)}, Options{})
	if err != nil || strings.Join(c.Columns, " ") != "task" || len(c.Settings) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWinsAndTies(t *testing.T) {
	file := results(t, "runs.csv", manyRuns())
	c, err := Files([]string{file}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for m, method := range c.Methods {
		want := 2
		if method == "a" {
			want = 0
		}
		if c.Wins[m] != want {
			t.Errorf("%s wins %d times, want %d", method, c.Wins[m], want)
		}
		for _, s := range c.Settings {
			// The exact p-value of ten differences of one sign is 2/2^10.
			if p := *s.Results[m].P; method == "a" && math.Abs(p-2/1024.) > 1e-12 || method != "a" && p < 0.01 {
				t.Errorf("%s: p %v", method, p)
			}
		}
	}
	lower, err := Files([]string{file}, Options{Direction: "lower"})
	if err != nil {
		t.Fatal(err)
	}
	for m, method := range lower.Methods {
		if won := lower.Wins[m] > 0; won != (method == "a") {
			t.Errorf("where lower is better, %s wins %d times", method, lower.Wins[m])
		}
	}
	if len(c.Others) != 1 || c.Others[0].Name != "train.seconds" || *c.Others[0].Means[0] != 2 {
		t.Errorf("others: %+v", c.Others)
	}
}

func TestControlTakesItsPairsOnly(t *testing.T) {
	c, err := Files([]string{results(t, "runs.csv", manyRuns())}, Options{Control: "a", Over: []string{"seed", "task"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Pairs) != 2 || c.PairedBy != "runs" {
		t.Fatalf("%d pairs by %s", len(c.Pairs), c.PairedBy)
	}
	for _, p := range c.Pairs {
		if p.First != "a" || p.Worse != 20 || !p.Significant || p.Corrected < p.P {
			t.Errorf("%+v", p)
		}
	}
}

// What cannot be compared is refused, and says where and why.
func TestBadResults(t *testing.T) {
	for want, text := range map[string]string{
		"there are no results":                   "method,accuracy\n",
		`accuracy is "x": want a finite number`:  "method,accuracy\na,x\nb,1\n",
		`accuracy is "NaN"`:                      "method,accuracy\na,NaN\nb,1\n",
		"only one method, a":                     "method,data,accuracy\na,x,1\na,y,1\n",
		"accuracy is missing for b":              "method,accuracy\na,1\nb,\n",
		"task y, b, seed 0":                      "task,method,seed,accuracy\nx,a,0,1\nx,b,0,1\ny,a,0,1\n",
		"line 4: a, seed 0: the result is there": "method,seed,accuracy\na,0,1\nb,0,1\na,0,2\n",
		"line 3: seed is empty":                  "method,seed,accuracy\na,0,1\nb,,1\n",
		"line 3: method is empty":                "method,seed,accuracy\na,0,1\n,0,1\n",
		`there is no column "method"`:            "name,accuracy\na,1\n",
		"which number is to be compared":         "method,score\na,1\nb,2\n",
		`two columns are called "accuracy"`:      "method,accuracy,accuracy\na,1,2\n",
		"wrong number of fields":                 "method,accuracy\na,1,2\n",
	} {
		_, err := Files([]string{results(t, "runs.csv", text)}, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "runs.csv") && !strings.Contains(want, "missing") && !strings.Contains(want, "task y") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Of errors the least is the best and has rank 1. Equal means of few runs win together.
func TestErrorsAndEqualMeans(t *testing.T) {
	text := "task,method,proportions_l1\nx,a,.5\nx,b,.1\nx,c,.1\ny,a,.4\ny,b,.2\ny,c,.3\n"
	c, err := Files([]string{results(t, "runs.csv", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Lower || !slices.Equal(c.Wins, []int{0, 2, 1}) || !slices.Equal(c.Ranks, []float64{3, 1.25, 1.75}) {
		t.Errorf("lower is better: %v; wins %v, ranks %v", c.Lower, c.Wins, c.Ranks)
	}
}

// P-values of many pairs are corrected as Holm (1979) does: the least by the number of tests.
func TestPairsAreCorrected(t *testing.T) {
	c, err := Files([]string{results(t, "runs.csv", manyRuns())}, Options{Over: []string{"seed", "task"}})
	if err != nil || len(c.Pairs) != 3 {
		t.Fatalf("%+v, %v", c.Pairs, err)
	}
	least := slices.MinFunc(c.Pairs, func(a, b Pair) int { return cmp.Compare(a.P, b.P) })
	if math.Abs(least.Corrected-3*least.P) > 1e-15 {
		t.Errorf("the least p of three is %g, and %g corrected", least.P, least.Corrected)
	}
}

// What a method lacks is no 0.
func TestOthersThatAreMissing(t *testing.T) {
	c, err := Files([]string{results(t, "runs.csv", "method,accuracy,proportions_l1\na,.5,\nb,.6,.1\n")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Write(&b, "json"); err != nil || c.Others[0].Means[0] != nil || *c.Others[0].Means[1] != 0.1 || !strings.Contains(b.String(), "null") {
		t.Errorf("%+v, %v: %s", c.Others, err, b.String())
	}
}

// Results of another version of the program, or of another study, are not the same runs.
func TestJSONLines(t *testing.T) {
	head := `{"study":"%s","program":"%s","commit":"c","date":"d"}` + "\n"
	rows := `{"method":"a","seed":0,"accuracy":0.5,"recall":[1,2]}` + "\n" + `{"method":"b","seed":0,"accuracy":0.75}` + "\n"
	one := results(t, "one.jsonl", fmt.Sprintf(head, "one", "p")+rows)
	two := results(t, "two.jsonl", fmt.Sprintf(head, "two", "p")+rows)
	other := results(t, "other.jsonl", fmt.Sprintf(head, "two", "q")+rows)
	c, err := Files([]string{one, two}, Options{})
	if err != nil || len(c.Settings) != 2 || c.Settings[1].Values[0] != "two" {
		t.Errorf("two studies: %+v, %v", c, err)
	}
	if _, err := Files([]string{one, other}, Options{}); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("two versions: %v", err)
	}
	if _, err := Files([]string{one, other}, Options{Mixed: true}); err != nil {
		t.Error(err)
	}
	if _, err := Files([]string{results(t, "bad.jsonl", "[1]\n")}, Options{}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("no object: %v", err)
	}
}

// Incomplete takes the seeds that all methods have, and says what is left out.
func TestIncomplete(t *testing.T) {
	text := "task,method,seed,accuracy\nx,a,0,.1\nx,b,0,.2\nx,a,1,.9\ny,a,0,.3\n"
	c, err := Files([]string{results(t, "runs.csv", text)}, Options{Incomplete: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Settings[0].Results[0]; r.Mean != 0.1 || r.Runs != 1 {
		t.Errorf("a has %+v, want its run of seed 0", r)
	}
	if c.Ranks[0] != 2 || c.Settings[1].Results[1].Runs != 0 {
		t.Errorf("ranks %v", c.Ranks)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "task x, b, seed 1") || !strings.Contains(notes, "lack a method") {
		t.Errorf("notes: %s", notes)
	}
}

// A table that is in memory is compared like a file, and named in errors.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("testdata/paper.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Table("here", rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Files([]string{"testdata/paper.csv"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Wins, want.Wins) || !slices.Equal(got.Ranks, want.Ranks) {
		t.Errorf("wins %v, ranks %v; of the file %v and %v", got.Wins, got.Ranks, want.Wins, want.Ranks)
	}
	if _, err := Table("here", [][]string{{"method", "seed", "accuracy"}}, Options{}); err == nil || !strings.Contains(err.Error(), "here: there are no results") {
		t.Errorf("no results: %v", err)
	}
}

// A file may have parts that several versions made, and says which.
func TestPartsOfOneFile(t *testing.T) {
	path := results(t, "parts.jsonl", `{"study":"s","program":"a","commit":"one","date":"d"}
{"method":"x","seed":0,"accuracy":0.5}
{"study":"s","program":"b","commit":"two","date":"e"}
{"method":"y","seed":0,"accuracy":0.6}
`)
	if _, err := Files([]string{path}, Options{}); err == nil || !strings.Contains(err.Error(), "several versions of the program, such as one d and two e") {
		t.Error(err)
	}
	if c, err := Files([]string{path}, Options{Mixed: true}); err != nil || len(c.Methods) != 2 || len(c.Settings) != 1 {
		t.Errorf("%+v %v", c, err)
	}
}
