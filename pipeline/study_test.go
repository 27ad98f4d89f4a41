package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

const study = "[matrix]\nmethod = [\"a\", \"=b\"]\nseed = [0, 1]\n[[stage]]\nrun = \"make\"\nseed = \"{seed}\"\n" +
	"[[stage]]\nrun = \"map\"\nmethod = \"{method}\"\n[[stage]]\nrun = \"tell\"\n"

// The table of a study has a row for each run, with what failed and why.
func TestStudy(t *testing.T) {
	l := newLab(t)
	l.first["make"] = func(_ context.Context, c call) error {
		if c.flags["seed"] == "1" {
			return errors.New("is unlucky")
		}
		return nil
	}
	l.first["map"] = func(_ context.Context, c call) error {
		if c.flags["method"] == "=b" {
			return errors.New("is no method\nat all")
		}
		return nil
	}
	for _, runs := range []string{"make make map map tell", "make map"} { // the second finds the rest in the cache
		r := l.runner(study + "[table]\nnumbers = [\"rows\", \"make.seconds\", \"map.seconds\", \"map.megabytes\"]\nshow = [\"rows\", \"of.seed\"]\n")
		r.KeepGoing, r.Table, r.Plain = true, "table.csv", true
		var got *Results
		r.Results = func(t *Results) error { got = t; return nil }
		if err := r.Run(t.Context()); err == nil || err.Error() != "map method==b seed=0: is no method\nat all" && err.Error() != "make seed=1: is unlucky" {
			t.Errorf("the error is %v", err)
		}
		if l.calls() != runs || got == nil || strings.Join(got.Columns, " ") != "rows make.seconds map.seconds map.megabytes of.seed" || len(got.Rows) != 4 {
			t.Fatalf("the results are %+v; there ran %s, want %s", got, l.calls(), runs)
		}
		for i, want := range []struct{ numbers, failure string }{
			{"make.seconds map.seconds of.seed rows", ""}, {"", "make seed=1: is unlucky"}, {"make.seconds", "map method==b seed=0: is no method"}, {"", "make seed=1: is unlucky"},
		} {
			row := got.Rows[i]
			if numbers := strings.Join(slices.Sorted(maps.Keys(row.Numbers)), " "); numbers != want.numbers || row.Error != want.failure {
				t.Errorf("run %d has %s and the error %q, want %+v", i, numbers, row.Error, want)
			}
		}
		for _, line := range []string{"method,seed,rows,make.seconds,map.seconds,map.megabytes,of.seed,error\na,0,3,", "\n'=b,1,,,,,,make seed=1: is unlucky\n"} {
			if !strings.Contains(l.file("table.csv"), line) {
				t.Errorf("the table is\n%s, want %s", l.file("table.csv"), line)
			}
		}
		if want := "method  runs  failed  rows  of.seed\na       1     1       3     1\n=b      0     2\n"; l.text.String() != want {
			t.Errorf("the summary is\n%s", &l.text)
		}
	}
}

// A run that reads what another run failed to make has failed as well.
func TestFailureOfAnotherRun(t *testing.T) {
	l := newLab(t)
	l.first["map"] = func(_ context.Context, c call) error {
		if _, fits := c.flags["save"]; fits && c.flags["seed"] == "0" {
			return errors.New("is unlucky")
		}
		return nil
	}
	r := l.runner("[matrix]\nseed = [0, 1]\n[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nname = \"fit\"\nseed = \"{seed}\"\nsave = \"model-{seed}\"\n" +
		"[[stage]]\nrun = \"map\"\nload = \"model-0\"\nafter = \"make\"\nseed = \"{seed}\"\n[[stage]]\nrun = \"tell\"\n[table]\n")
	r.KeepGoing = true
	var got *Results
	r.Results = func(t *Results) error { got = t; return nil }
	if err := r.Run(t.Context()); err == nil || got == nil {
		t.Fatalf("%v, %+v", err, got)
	}
	for i, row := range got.Rows {
		if row.Error != "fit seed=0: is unlucky" || len(row.Numbers) > 0 {
			t.Errorf("run %d: %+v", i, row)
		}
	}
}

// What a stage has taken is known without a cache, too. Its memory is known if it is not 0.
func TestCosts(t *testing.T) {
	l := newLab(t)
	l.cache = nil
	r := l.runner(makeMapTell + "[table]\nnumbers = [\"make.seconds\"]\n")
	var got *Results
	r.Results = func(t *Results) error { got = t; return nil }
	if err := r.Run(t.Context()); err != nil || len(got.Rows[0].Numbers) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		cost  Cost
		of    string
		want  float64
		known bool
	}{
		{Cost{Seconds: 2, Peak: 3e6}, "seconds", 2, true}, {Cost{Seconds: 2, Peak: 3e6}, "megabytes", 3, true}, {Cost{Peak: 1}, "megabytes", 1e-6, true}, {Cost{}, "megabytes", 0, false},
	} {
		r.costs[r.Graph.Nodes[0]] = c.cost
		if got, known := r.costOf(r.Graph.Nodes[0], c.of); got != c.want || known != c.known {
			t.Errorf("%s of %+v is %v, %t", c.of, c.cost, got, known)
		}
	}
}

// The numbers of a run are refused where they are not what the table names, or go nowhere.
func TestStudyFails(t *testing.T) {
	for name, c := range map[string]struct {
		table   string
		file    string
		results func(*Results) error
		want    string
	}{
		"a number that is none": {"numbers = [\"rowz\"]", "", nil, "test.toml: line 10: numbers: no stage puts out rowz: did you mean rows?"},
		"shown that is none":    {"show = [\"rowz\"]", "", nil, "test.toml: line 10: show: no stage puts out rowz: did you mean rows?"},
		"no folder":             {"", "none/table.csv", nil, "table: none/table.csv: "},
		"nobody takes them":     {"", "", func(*Results) error { return errors.New("no room") }, "no room"},
		"two stages of a name":  {"numbers = [\"map.seconds\"]\n[[stage]]\nrun = \"map\"\nafter = \"make\"\n", "", nil, "test.toml: line 10: numbers: map.seconds: a run has two stages that are called map: give one another name with name"},
		"beside is the same":    {"beside = \"paper.csv\"", "", nil, "table: beside: paper.csv: the runs have a number rows as well: give the column another name"},
	} {
		l := newLab(t)
		l.write("paper.csv", "seed,rows\n0,3\n")
		r := l.runner("[matrix]\nseed = [0]\n" + makeMapTell + "[table]\n" + c.table + "\n")
		r.Table, r.Results = c.file, c.results
		if err := r.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Numbers from elsewhere belong to no run of a file without a matrix.
func TestBesideWithoutMatrix(t *testing.T) {
	l := newLab(t)
	l.write("paper.csv", "method,accuracy\na,1\n")
	want := "test.toml: line 8: beside: paper.csv: its lines belong to runs by the axes of the matrix, and the file has no table [matrix]"
	if err := l.run(makeMapTell + "[table]\nbeside = \"paper.csv\"\n"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The text of several runs has the run's values above it. What takes it may fail.
func TestTextOfRuns(t *testing.T) {
	l := newLab(t)
	const text = "[matrix]\nseed = [0, 1]\n[[stage]]\nrun = \"make\"\nseed = \"{seed}\"\n[[stage]]\nrun = \"tell\"\n[[stage]]\nrun = \"tell\"\noutput = \"{seed}.json\"\nafter = \"make\"\n"
	if err := l.run(strings.Replace(text, "\"\noutput", "\"\nseed = 7\noutput", 1)); err != nil {
		t.Fatal(err)
	}
	const line = `{"rows": 3, "of": {"seed": 1}}` + "\n"
	if want := "== tell seed=0\n" + line + "== tell seed=1\n" + line; l.text.String() != want {
		t.Errorf("the text is\n%s", &l.text)
	}
	r := l.runner(makeMapTell)
	r.Text = writerFunc(func([]byte) (int, error) { return 0, errors.New("no room") })
	if err := r.Run(t.Context()); err == nil || err.Error() != "no room" {
		t.Errorf("text that nobody takes: %v", err)
	}
	r = l.runner(makeMapTell)
	r.Text = nil
	if err := r.Run(t.Context()); err != nil {
		t.Errorf("text that nobody wants: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// As many chains run at once as jobs and memory allow.
func TestJobsAndMemory(t *testing.T) {
	const text = "[matrix]\nseed = [0, 1, 2]\n[[stage]]\nrun = \"make\"\nseed = \"{seed}\"\n"
	const one = baseMemory // of a stage that reads nothing
	for _, c := range []struct {
		jobs   int
		memory int64
		want   int // at once
	}{
		{0, 0, 1}, {1, 0, 1}, {2, 0, 2}, {9, 0, 3}, {9, 1, 1}, {9, 2*one - 1, 1}, {9, 2 * one, 2}, {9, 3*one - 1, 2}, {9, 3 * one, 3},
	} {
		l := newLab(t)
		r := l.runner(text)
		r.Jobs, r.Memory = c.jobs, c.memory
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			atWork, most := 0, 0
			release := make(chan bool)
			l.first["make"] = func(context.Context, call) error {
				mu.Lock()
				atWork++
				most = max(most, atWork)
				mu.Unlock()
				<-release
				mu.Lock()
				atWork--
				mu.Unlock()
				return nil
			}
			done := make(chan error)
			go func() { done <- r.Run(t.Context()) }()
			for range 3 {
				synctest.Wait() // until as many wait as may
				release <- true
			}
			if err := <-done; err != nil || most != c.want {
				t.Errorf("%d jobs, %d bytes: %d at once, want %d, %v", c.jobs, c.memory, most, c.want, err)
			}
		})
	}
}

// The rows and files that a chain reads count for its memory.
func TestMemoryNeed(t *testing.T) {
	l := newLab(t)
	l.write("in.csv", strings.Repeat("x", 1000))
	l.write("model", strings.Repeat("x", 500))
	r := l.runner("[[stage]]\nrun = \"make\"\nsource = \"in.csv\"\n[[stage]]\nrun = \"map\"\n[[stage]]\nrun = \"map\"\nload = \"model\"\nfrom = \"in.csv\"\n")
	e := put(t, l.cache, r.Graph.Nodes[0])
	need := func(n int) int64 { return r.memoryNeed(&segment{nodes: r.Graph.Nodes[n:]}) - baseMemory }
	for n, want := range []int64{rowCopies * 1000, rowCopies * e.Size(), rowCopies * 1500} {
		if got := need(n); got != want {
			t.Errorf("%s: %d bytes, want %d", r.Graph.Nodes[n].Label(), got, want)
		}
	}
	r.Cache = nil
	if got := need(1); got != 0 {
		t.Errorf("without a cache: %d bytes", got)
	}
}

// A stage that reads a file which another makes is not in one chain with it.
func TestSegments(t *testing.T) {
	l := newLab(t)
	const text = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\nname = \"fit\"\nsave = \"model\"\n[[stage]]\nrun = \"map\"\nload = \"model\"\n[[stage]]\nrun = \"tell\"\n"
	chains := func() string {
		r := l.runner(text)
		p, err := newPlan(t.Context(), r.Graph, newStore(l.cache, func(text string) { t.Error(text) }))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range segments(p) {
			all = append(all, fmt.Sprintf("%s (after %d)", labels(s.nodes), len(s.after)))
		}
		return strings.Join(all, "; ")
	}
	if got, want := chains(), "make, fit (after 0); map, tell (after 1)"; got != want {
		t.Errorf("the chains are %s, want %s", got, want)
	}
	if err := l.run(text); err != nil {
		t.Fatal(err)
	}
	nodes := l.runner(text).Graph.Nodes
	if err := errors.Join(l.cache.Drop(nodes[2].Key), l.cache.Drop(nodes[3].Key)); err != nil {
		t.Fatal(err)
	}
	if got, want := chains(), "map, tell (after 0)"; got != want {
		t.Errorf("with the model there, the chains are %s, want %s", got, want)
	}
}

// What another run has made while this one waited is not made again, nor what only that reads.
func TestMadeByAnotherRun(t *testing.T) {
	const output = "output = \"rows.arrow\"\n" // of make
	for _, c := range []struct {
		output, made, want string
		told               int // times
	}{
		{"", "", "make map tell", 0}, {"", "make", "map tell", 1}, {"", "map", "tell", 1}, {"", "tell", "", 1}, {"", "make map tell", "", 1},
		{output, "map", "make tell", 1}, {output, "tell", "make", 1}, {output, "make tell", "", 2},
	} {
		l := newLab(t)
		text := strings.Replace(makeMapTell, "[[stage]]\nrun = \"map\"", c.output+"[[stage]]\nrun = \"map\"", 1)
		r := l.runner(text)
		for _, n := range r.Graph.Nodes {
			if slices.Contains(strings.Fields(c.made), n.Name) {
				put(t, l.cache, n)
			}
		}
		r.store = newStore(l.cache, func(text string) { t.Error(text) })
		defer r.close()
		if err := r.runSegment(t.Context(), &segment{nodes: r.Graph.Nodes}); err != nil || l.calls() != c.want {
			t.Errorf("with %s there, and the output %q: %v, there ran %s, want %s", c.made, c.output, err, l.calls(), c.want)
		}
		if told := strings.Count(l.log.String(), ": was made by another run"); told != c.told {
			t.Errorf("with %s there, it is told %d times, want %d", c.made, told, c.told)
		}
	}
}

// Stages in one process share their threads.
func TestThreadsOfOneProcess(t *testing.T) {
	l := newLab(t)
	const text = "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\njobs = 1\n[[stage]]\nrun = \"map\"\njobs = 2\n"
	want := "test.toml: line 8: jobs: stages in one process share their threads, and make has 1: give all the same, or leave --in-process out"
	if err := l.run(text); err == nil || err.Error() != want || l.calls() != "" {
		t.Errorf("%v, want %s", err, want)
	}
	if err := l.run(strings.Replace(text, "2", "1", 1)); err != nil {
		t.Error(err)
	}
	f, err := Parse("test.toml", text, l.catalogue())
	if err != nil {
		t.Fatal(err)
	}
	f.Stages[1].Flags, f.Stages[1].Order = map[string]Value{}, nil
	f.Settings["threads"] = Value{"5", "flag"}
	f.SetThreads(5)
	for i, want := range []string{"", "5", "2"} {
		if got := f.Stages[i].Flags["jobs"].Text; got != want || want == "5" && (f.Stages[i].Flags["jobs"].Origin != "flag" || len(f.Stages[i].Order) != 1) {
			t.Errorf("stage %d has the threads %q, want %q: %+v", i, got, want, f.Stages[i])
		}
	}
	if len(f.Stages[0].Flags) > 0 {
		t.Errorf("a stage without threads has the flags %v", f.Stages[0].Flags)
	}
}

// A line of a stage's log is passed on when it is whole.
func TestLogOfStage(t *testing.T) {
	l := newLab(t)
	l.first["make"] = func(_ context.Context, c call) error {
		for _, part := range []string{"mars-make: first\r\nsec", "ond\n\nno end"} {
			if n, err := c.Log.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("%d bytes were written, %v", n, err)
			}
		}
		return nil
	}
	if err := l.run(makeMapTell); err != nil {
		t.Fatal(err)
	}
	if want := "make: first\nmake: second\nmake: \n"; !strings.Contains(l.log.String(), want) || strings.Contains(l.log.String(), "no end") {
		t.Errorf("the log is\n%s", &l.log)
	}
}

// A stage that runs alone reads a file, and gives its rows to whoever asks.
func TestSingle(t *testing.T) {
	l := newLab(t)
	single := func(name string, flags map[string]string, rows string) *Runner {
		t.Helper()
		var order []string
		for flag := range flags {
			order = append(order, flag)
		}
		g, err := Single(l.catalogue().Find(name), flags, order, rows)
		if err != nil {
			t.Fatal(err)
		}
		return l.runnerOf(g)
	}
	var made recorder
	r := single("make", nil, "")
	r.Rows = &made
	if err := r.Run(t.Context()); err != nil || strings.Join(made.calls, " ") != "begin write close" {
		t.Errorf("%v, the rows were %v", err, made.calls)
	}
	e, err := l.cache.Lookup(r.Graph.Nodes[0].Key)
	if err != nil || e == nil {
		t.Fatalf("the entry is %v, %v", e, err)
	}
	if err := copyFile(t.Context(), e.Path(e.Files[0]), "rows.arrow"); err != nil {
		t.Fatal(err)
	}
	f, err := Parse("test.toml", makeMapTell, l.catalogue())
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Expand(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.runnerOf(g).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = single("map", nil, "rows.arrow")
	r.Graph.Recognise(l.cache)
	if n := r.Graph.Nodes[0]; n.Key != g.Nodes[1].Key || n.Dependencies.Rows.Name != "rows.arrow" || n.Dependencies.Key() != n.Key {
		t.Errorf("the rows of the cache are not recognised: %+v", n.Dependencies)
	}
	r.Rows = &recorder{}
	if err := r.Run(t.Context()); err != nil || l.calls() != "" {
		t.Errorf("%v, there ran %s", err, l.calls())
	}
	r = single("map", map[string]string{"lambda": "2"}, "rows.arrow")
	before := r.Graph.Nodes[0].Key
	if r.Graph.Recognise(l.cache); r.Graph.Nodes[0].Key != before {
		t.Error("what has not run on rows of the cache is recognised")
	}
	r.Rows = &recorder{fails: "write"}
	if err := r.Run(t.Context()); err == nil || err.Error() != "no room" || l.calls() != "map" || !strings.HasSuffix(l.ran[0], " rows.arrow") {
		t.Errorf("%v, there ran %v", err, l.ran)
	}
	l.write("other.arrow", "no rows")
	if err := single("map", nil, "other.arrow").Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "map: other.arrow: ") {
		t.Errorf("a file of no rows: %v", err)
	}
	if _, err := Single(l.catalogue().Find("map"), map[string]string{"lambda": "bad"}, []string{"lambda"}, "rows.arrow"); err == nil || err.Error() != "map: lambda: --lambda is bad" {
		t.Errorf("a wrong flag: %v", err)
	}
	r = single("make", map[string]string{"size": "4"}, "")
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e, err = l.cache.Lookup(r.Graph.Nodes[0].Key); err != nil || e == nil {
		t.Fatalf("the entry is %v, %v", e, err)
	}
	spoiled := make([]byte, e.Size())
	if err := os.WriteFile(e.Path(e.Files[0]), spoiled, 0o666); err != nil {
		t.Fatal(err)
	}
	r.Rows = &recorder{}
	if err := r.showRows(t.Context(), r.Graph.Nodes[0]); err == nil || !strings.Contains(err.Error(), filepath.Base(RowsName)) {
		t.Errorf("rows that are damaged: %v", err)
	}
}
