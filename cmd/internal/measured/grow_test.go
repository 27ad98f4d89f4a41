package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPart(t *testing.T) {
	s := studyNamed("paper-toy")
	for set, want := range map[string]int{
		"": 17820,
		"matrix.x=2,5,8,34,66,85 matrix.seed=0,1,2,3,4":               (4*3 + 3*3) * 11 * 5,
		"matrix.setting=5 matrix.x=2 matrix.method=wd1 matrix.seed=7": 1,
	} {
		part, err := s.part(strings.Fields(set))
		if err != nil || len(part) != want {
			t.Errorf("%q: %d runs (%v), want %d", set, len(part), err, want)
		}
	}
	for set, want := range map[string]string{
		"train.schedule=paper":           "chooses no part: write matrix.AXIS=VALUE,…, with one of the axes setting, x, method, seed",
		"matrix.colour=red":              "chooses no part",
		"matrix.seed":                    "chooses no part",
		"matrix.x=7.5":                   `no run that is left has x "7.5"`,
		"matrix.setting=4 matrix.x=2,34": `no run that is left has x "2"`,
	} {
		if _, err := s.part(strings.Fields(set)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", set, err)
		}
	}
	if err := studyNamed("toy").checkPart([]string{"matrix.seed=0"}); err == nil || !strings.Contains(err.Error(), "measured as a whole") {
		t.Errorf("a part of a study that does not grow: %v", err)
	}
}

func toyRun(setting, x, method, seed, accuracy float64) run {
	return run{"setting": setting, "x": x, "seed": seed, "method": []string{"source", "gmm-ot", "marsc"}[int(method)], "balanced_accuracy": accuracy}
}

// A part is added to what is kept: the same cell replaces the older run, each run stays with
// what made it, and a file gives back what was written.
func TestGrow(t *testing.T) {
	s, path := studyNamed("paper-toy"), filepath.Join(t.TempDir(), "paper-toy.jsonl")
	old, later := origin{Study: s.name, Program: "a", Commit: "one", Content: s.content()}, origin{Study: s.name, Program: "b", Commit: "two", Content: s.content()}
	kept, err := s.add(record{}, old, []run{toyRun(5, 2, 0, 1, .5), toyRun(5, 2, 0, 0, .4), toyRun(5, 2, 1, 0, .9)})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err = s.add(kept, later, []run{toyRun(5, 2, 0, 1, .6), toyRun(0, 11, 1, 3, .7)}); err != nil {
		t.Fatal(err)
	}
	if err := kept.write(path); err != nil {
		t.Fatal(err)
	}
	if kept, err = readRecord(path); err != nil {
		t.Fatal(err)
	}
	if len(kept.parts) != 2 || kept.parts[0].origin != old || kept.parts[1].origin != later || kept.origin != later {
		t.Fatalf("parts: %+v", kept.parts)
	}
	var accuracies []float64
	for _, r := range s.ordered(kept.runs) {
		accuracies = append(accuracies, r["balanced_accuracy"].(float64))
	}
	if want := []float64{.7, .4, .6, .9}; !slices.Equal(accuracies, want) {
		t.Errorf("runs in the study's order: %v, want %v", accuracies, want)
	}
	axes, _ := s.cells()
	part, err := s.part([]string{"matrix.setting=5", "matrix.x=2", "matrix.method=source,gmm-ot", "matrix.seed=0,1"})
	if err != nil {
		t.Fatal(err)
	}
	if left := s.lacking(kept, "b", axes, part); len(left) != 3 {
		t.Errorf("of 4 runs 1 is of the program, and %v are to be run", left)
	}
	if kept, err = s.add(kept, later, []run{toyRun(5, 2, 0, 0, .4), toyRun(5, 2, 1, 0, .9)}); err != nil || len(kept.parts) != 1 || len(kept.runs) != 4 {
		t.Errorf("a part without runs is left: %+v %v", kept.parts, err)
	}
	if _, err := s.add(kept, later, []run{toyRun(5, 2.5, 0, 0, .4)}); err == nil {
		t.Error("a run at x = 2.5, which the study does not have")
	}
}

// Ordinary records keep their form.
func TestRecordOfOnePart(t *testing.T) {
	atRoot(t)
	path := filepath.Join(runsFolder, "toy.jsonl")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "toy.jsonl")
	if err := r.write(again); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(again); err != nil || string(got) != string(want) {
		t.Errorf("written again it differs (%v)", err)
	}
}

// Of a study that grows, what did not fail is kept where other runs did; of another, nothing.
func TestWhatIsThere(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs")
	text := "setting,x,method,seed,balanced_accuracy,error\n5,2,source,0,0.9,\n5,2,wd1,0,,diverged\n5,5,source,0,,\n"
	if err := os.WriteFile(out+".csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs := studyNamed("paper-toy").whatIsThere(out); len(runs) != 1 || runs[0].at("x") != "2" || runs[0].at("method") != "source" {
		t.Errorf("%v", runs)
	}
	if runs := studyNamed("toy").whatIsThere(out); runs != nil {
		t.Errorf("of a study that is measured as a whole: %v", runs)
	}
	if runs := studyNamed("paper-toy").whatIsThere(out + "-absent"); runs != nil {
		t.Errorf("of no table: %v", runs)
	}
}

// The sample of a study can be compared once its runs are kept.
func TestLacksSample(t *testing.T) {
	s := studyNamed("paper-toy")
	runs := []run{}
	for _, m := range []string{"source", "gmm-ot", "wd1"} {
		if reason := s.lacksSample(recordOf(part{origin{}, runs})); !strings.Contains(reason, "make measured MEASURED=paper-toy MEASUREDSET='matrix.setting=5 matrix.x=5") {
			t.Errorf("with %d runs: %q", len(runs), reason)
		}
		runs = append(runs, run{"setting": 5.0, "x": 5.0, "method": m, "seed": 0.0})
	}
	if reason := s.lacksSample(recordOf(part{origin{}, runs})); reason != "" {
		t.Error(reason)
	}
}

// mars run refuses a cache that has files of others in it.
func TestCommandsLeaveTheCacheAlone(t *testing.T) {
	p := program{folder: t.TempDir(), hash: "h"}
	command := study{name: "command", command: []string{"sh", "-c", `echo '{"l1": 0.5}' > {out}.jsonl`}}
	for range 2 { // the second time it is there already
		r, err := p.measure(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.parts) != 1 || len(r.parts[0].runs) != 1 {
			t.Fatalf("%+v has not one run", r)
		}
	}
	cache := p.keeps(study{name: "run", file: "run.toml"})
	if files, err := os.ReadDir(cache); err == nil && len(files) > 0 {
		t.Errorf("the cache of mars run has %v of a command in it", files)
	}
}
