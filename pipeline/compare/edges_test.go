package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake in results is said with its file, its line and what to do.
func TestMistakesInResults(t *testing.T) {
	const head = `{"method":"a","accuracy":1}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"runs.csv", "method,a\"b\na,1\n", "runs.csv: parse error on line 1, column 9: bare \" in non-quoted-field"},
		{"runs.csv", "method,accuracy,train.seconds\na,1,2\nb,1,long\n", `runs.csv: line 3: train.seconds is "long": want a finite number`},
		{"runs.csv", "name,accuracy\na,1\nb,2\n", `runs.csv: there is no column "method": it has name, accuracy`},
		{"runs.csv", "methods,accuracy\na,1\nb,2\n", `runs.csv: there is no column "method": did you mean "methods"? it has methods, accuracy`},
		{"runs.csv", "method,seed,accuracy\na,0,1e308\nb,0,-1e308\na,1,1\nb,1,1\n", "a difference is not finite"},
		{"runs.csv", "method,seed,accuracy\na,0,1\na,1,1\na,2,1\nb,0,1\nc,0,1\nc,1,1\n", "accuracy is missing for b, seed 1; b, seed 2; c, seed 2: finish"},
		{"runs.csv", "method,seed,accuracy\na,0,1\na,1,1\na,2,1\nb,0,1\nc,0,1\n", "accuracy is missing for b, seed 1; c, seed 1; b, seed 2; and 1 more: finish"},
		{"runs.csv", "task,method,accuracy\nx,a,1\nx,b,1\ny,a,\ny,b,\n", "accuracy is missing for task y: finish"},
		{"runs.csv", "method,accuracy\na,\nb,\n", "accuracy is missing for all runs: finish"},
		{"runs.jsonl", head + `{"method" "b"}`, "runs.jsonl: line 2: expected colon after object key"},
		{"runs.jsonl", head + `{"method": b}`, "runs.jsonl: line 2: invalid character 'b' looking for beginning of value"},
		{"runs.jsonl", head + `{"method":"b", 1: 2}`, "runs.jsonl: line 2: invalid character '1'"},
		{"runs.jsonl", head + `{"method":"b","accuracy":0.9`, "runs.jsonl: line 2: the object does not end: EOF"},
		{"runs.jsonl", head + `{"method":"b","accuracy":0.9} {`, "runs.jsonl: line 2: want a JSON object a line"},
		{"runs.jsonl", head + `{"method":"b","accuracy":0.9]`, "runs.jsonl: line 2: the object does not end: invalid character ']'"},
	} {
		_, err := Files([]string{results(t, c.name, c.text)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestResultsThatAreNotThere(t *testing.T) {
	if _, err := Files([]string{filepath.Join(t.TempDir(), "none.csv")}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

// A table in memory is checked as a file is.
func TestMistakesInTable(t *testing.T) {
	for want, rows := range map[string][][]string{
		"here: there is only one method, a: nothing can be compared": {{"method", "accuracy"}, {"a", "1"}},
		`here: two columns are called "seed"`:                        {{"method", "seed", "seed"}, {"a", "1", "1"}},
	} {
		if _, err := Table("here", rows, Options{}); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", rows, err, want)
		}
	}
}

// manyOf are n runs of each of two methods, of which b is always better.
func manyOf(task string, n int) string {
	var b strings.Builder
	for seed := range n {
		fmt.Fprintf(&b, "%s,a,%d,%g\n%[1]s,b,%[2]d,%[4]g\n", task, seed, float64(seed)/16, float64(seed)/16+0.5)
	}
	return b.String()
}

// What is written of few settings, of results that are missing and of several files.
func TestWhatIsWritten(t *testing.T) {
	const head, few = "task,method,seed,accuracy\n", "x,a,0,.5\nx,b,0,.25\n"
	for _, c := range []struct {
		name, text, format string
		want               string
		whole              bool
	}{
		{"one setting of one run", "method,accuracy\na,.5\nb,.25\n", "text", "accuracy; marked: the best, and all that are not significantly worse (signed-rank test at 0.01)\n          a       b\naccuracy  0.500*  0.250\nThere is one run of each method: nothing can be tested.\n", true},
		{"a result is missing", head + "x,a,0,.5\nx,a,1,.5\nx,b,0,.25\nx,b,1,.25\ny,a,0,.5\ny,a,1,.5\n", "text", "accuracy, mean ± standard deviation of 2 runs; marked", false},
		{"few runs in one of three", head + few + "y,a,0,.5\ny,b,0,.5\nz,a,0,.5\nz,b,0,.5\nz,a,1,.5\nz,b,1,.5\n" + manyOf("w", 9), "text", "3 settings have fewer than 8 runs a method", false},
		{"few runs in one of two", head + few + manyOf("w", 9), "text", "One setting has fewer than 8 runs a method", false},
		{"few runs in both", head + few + "y,a,0,.5\ny,b,0,.5\n", "text", "All settings have fewer than 8 runs a method", false},
		{"p-values as CSV", head + manyOf("w", 9), "csv", "method,number,mean,deviation,runs,rank,best,p\na,accuracy,0.25,0.17116329922,9,2,false,0.00390625\nb,accuracy,0.75,0.17116329922,9,1,true,1\n", true},
	} {
		got, err := Files([]string{results(t, "runs.csv", c.text)}, Options{Incomplete: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var b strings.Builder
		if err := got.Write(&b, c.format); err != nil || !strings.Contains(b.String(), c.want) || c.whole && b.String() != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, b.String())
		}
	}
}

// Settings of which several files have results are named.
func TestSettingsOfSeveralFiles(t *testing.T) {
	one, two := results(t, "one.csv", "method,seed,accuracy\na,0,.5\n"), results(t, "two.csv", "method,seed,accuracy\nb,0,.5\n")
	c, err := Files([]string{one, two}, Options{})
	want := "Some settings have results of several files, such as " + one + " and " + two + ": they are taken for the same data."
	if err != nil || len(c.Notes) == 0 || c.Notes[0] != want {
		t.Errorf("%v, %v, want %s", c.Notes, err, want)
	}
}
