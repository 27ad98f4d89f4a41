package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/gate"
)

// The gate of the program is what the kept signs give.
func TestGateIsOfItsSigns(t *testing.T) {
	if testing.Short() {
		t.Skip("fits eleven gates")
	}
	signs, err := filepath.Glob("../../../testdata/gate/*.jsonl.gz")
	if err != nil || len(signs) == 0 {
		t.Fatalf("testdata/gate has no signs (*.jsonl.gz), so nobody can tell what the gate was fitted to (%v)", err)
	}
	if err := check(append([]string{"../../../stages/algorithms/gate/gate.json"}, signs...)); err != nil {
		t.Error(err)
	}
}

// pointed are signs of tasks in which the view whose target is told least from what it expects is right.
func pointed(seed uint64, n, families int) (tasks []gate.Task) {
	rng := rand.New(rand.NewPCG(seed, 0))
	shares := func() []float64 {
		p := rng.Float64()
		return []float64{p, 1 - p}
	}
	for i := range n {
		t := gate.Task{Name: fmt.Sprint("task", i), Kind: "moved", Family: fmt.Sprint("family", i%families), Truth: shares(), Sampling: []float64{1e-4, 1e-4}}
		t.Prior = []float64{0.5, 0.5}
		t.Problem = gate.Problem{Separation: rng.Float64(), Misfit: 10 * rng.Float64(), Source: 100 + i, Target: 200 + i, Columns: 3 + i%4, Classes: 2}
		right := rng.IntN(len(gate.Views))
		for v, name := range gate.Views {
			view := gate.View{Name: name, Apart: 0.6 + 0.3*rng.Float64(), Doubt: rng.Float64() / 2, Members: rng.Float64() / 9, Proportions: shares()}
			wrong := 0.3
			if v == right {
				view.Apart, view.Proportions, wrong = 0.5+0.05*rng.Float64(), slices.Clone(t.Truth), 0.1
			}
			t.Views, t.Wrong, t.Disagree = append(t.Views, view), append(t.Wrong, wrong), append(t.Disagree, []float64{.1, .1, .1, .1, .1})
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func writeSigns(t *testing.T, path string, tasks []gate.Task) {
	t.Helper()
	var text bytes.Buffer
	for _, task := range tasks {
		if err := json.NewEncoder(&text).Encode(task); err != nil {
			t.Fatal(err)
		}
	}
	data := text.Bytes()
	if strings.HasSuffix(path, ".gz") {
		var small bytes.Buffer
		w := gzip.NewWriter(&small)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = small.Bytes()
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A gate that was written is what its signs give, on whatever day, and one of other signs is not.
func TestCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("fits gates")
	}
	folder := t.TempDir()
	path, signs, other := filepath.Join(folder, "gate.json"), filepath.Join(folder, "a.jsonl.gz"), filepath.Join(folder, "b.jsonl")
	writeSigns(t, signs, pointed(1, 40, 12))
	writeSigns(t, other, pointed(2, 3, 3))
	if err := fit([]string{path, signs}); err != nil {
		t.Fatal(err)
	}
	if err := check([]string{path, signs}); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.Parse(text)
	if err != nil || g.Made.Tasks != 40 || g.Made.Families != 12 {
		t.Fatalf("%+v (%v)", g, err)
	}
	g.Made.Date = "1999-12-31"
	if err := write(g, path); err != nil {
		t.Fatal(err)
	}
	if err := check([]string{path, signs}); err != nil {
		t.Errorf("another day: %v", err)
	}
	if err := check([]string{path, signs, other}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "fitgate fit") {
		t.Errorf("other signs: %v", err)
	}
	g.Shared[0] *= 1.01
	if err := write(g, path); err != nil {
		t.Fatal(err)
	}
	if err := check([]string{path, signs}); err == nil {
		t.Error("a coefficient that was changed by hand is not noticed")
	}
}

// A line that is no task is named by its file and number.
func TestReadSigns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	writeSigns(t, path, pointed(1, 2, 2))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	if tasks, err := readAll([]string{path}); err == nil || !strings.Contains(err.Error(), path+": task 2: ") {
		t.Errorf("%d tasks, %v", len(tasks), err)
	}
}

// Each task is judged once, by a gate in which its family had no part: a family whose right view
// only a sign tells that no other family has is not known.
func TestLeaveOut(t *testing.T) {
	tasks := pointed(3, 60, 12)
	for i := range tasks {
		if tasks[i].Family == "family4" {
			tasks[i].Problem.Novelty = 1
			for v := range tasks[i].Views {
				tasks[i].Views[v].Apart = 0.7
			}
			tasks[i].Views[2].Proportions = tasks[i].Truth
		}
	}
	all, err := leaveOut(tasks)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, j := range all {
		seen[j.Name] = true
	}
	if len(all) != len(tasks) || len(seen) != len(tasks) {
		t.Errorf("%d of %d tasks are judged, %d times", len(seen), len(tasks), len(all))
	}
	g, err := gate.Fit(tasks, gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	off := func(all []judged) (l1 float64) {
		for _, j := range all {
			if j.Family == "family4" {
				l1 += j.l1 / 5
			}
		}
		return l1
	}
	if out, in := off(all), off(judge(g, tasks)); out < 2*in {
		t.Errorf("the L1 error of a family that is unlike others is %.3f where it is left out, and %.3f where not", out, in)
	}
}

// The width is the least with which nine of ten intervals hold.
func TestWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	var all []judged
	for _, task := range pointed(4, 200, 20) {
		j := judged{Task: task, weights: []float64{.2, .2, .2, .2, .2}, saidL1: 0.2}
		for v := range j.Views {
			j.Views[v].Proportions = []float64{0.5, 0.5}
		}
		off := 0.3 * rng.NormFloat64()
		j.mean, j.Truth = []float64{0.5, 0.5}, []float64{0.5 + off, 0.5 - off}
		all = append(all, j)
	}
	w := width(all)
	if at, below := held(all, w), held(all, 0.98*w); at < level || below >= at || below > level {
		t.Errorf("with the width %.3f %.3f of the intervals hold, and %.3f with a little less", w, at, below)
	}
}

// The area under the ROC curve is the share of pairs in the right order.
func TestArea(t *testing.T) {
	said, bad := []float64{1, 2, 2, 3}, []bool{false, true, false, true}
	all := make([]judged, 4)
	for i := range all {
		all[i].saidL1, all[i].l1 = said[i], 0
		if bad[i] {
			all[i].l1 = 1
		}
	}
	if got := area(all, func(j judged) (float64, bool) { return j.saidL1, j.l1 > 0.5 }); got != 3.5/4 {
		t.Errorf("area %v, want %v", got, 3.5/4)
	}
}
