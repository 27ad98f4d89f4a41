package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// atRoot goes to the root of the clone, where make runs the program. It is each test that goes, not TestMain:
// what is done before the tests start is not noted by go test, which would then repeat an old result from its
// cache after a page has changed.
func atRoot(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", "..", ".."))
}

// A page says what the kept runs say: no figure of a table is changed by hand, and no
// study measured again without its pages.
func TestPages(t *testing.T) {
	atRoot(t)
	b, err := readBook(runsFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages() {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.fill(page, string(text))
		if err != nil {
			t.Error(err)
		} else if want != string(text) {
			t.Errorf("%s is not what its runs make: go run ./cmd/internal/measured -write", page)
		}
	}
}

// Every kept run is of a study that there is, made by the command that it names today.
func TestRecords(t *testing.T) {
	atRoot(t)
	files, err := filepath.Glob(filepath.Join(runsFolder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no runs are kept", err)
	}
	known := map[string]study{}
	for _, s := range studies {
		known[s.name+".jsonl"] = s
		if s.sample == nil && s.seconds > 60 {
			t.Errorf("%s takes %d s, and has no sample that measured-check could repeat", s.name, s.seconds)
		}
	}
	for _, file := range files {
		r, err := readRecord(file)
		s, ok := known[filepath.Base(file)]
		if err != nil || !ok || r.Command != s.shown() || len(r.runs) == 0 {
			t.Errorf("%s: %d runs of %q, which is not the study's command %q: %v", file, len(r.runs), r.Command, s.shown(), err)
			continue
		}
		if s.init != "" {
			checkCells(t, file, s, r)
		}
		if places := s.byPlace(r.runs); len(places) != len(r.runs) || s.command == nil && strings.Contains(strings.Join(keys(places), ""), ", number ") {
			t.Errorf("%s: the axes %v do not tell its runs apart", file, s.axes)
		}
	}
}

// checkCells sees that the runs of a study that grows are of its file as it is.
func checkCells(t *testing.T, file string, s study, r record) {
	axes, all := s.cells()
	for _, p := range r.parts {
		if p.Content != s.content() {
			t.Errorf("%s: runs of commit %s are of another version of what mars run --init %s prints (%s, not %s): remove them, or, where they would be the same, change the line above them", file, p.Commit, s.init, p.Content, s.content())
		}
	}
	for _, r := range r.runs {
		if c := cellAt(r, axes); !slices.ContainsFunc(all, func(d cellOf) bool { return d.key() == c.key() }) {
			t.Errorf("%s: a run of %v, which is not of the study", file, c)
		}
	}
}

func keys(of map[string]run) (names []string) {
	for name := range of {
		names = append(names, name)
	}
	return names
}

// Every table with numbers of these pages is measured, or says why not and what makes it.
func TestTablesAreMeasured(t *testing.T) {
	atRoot(t)
	found, err := filepath.Glob("docs/measured/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(found, "README.md", "docs/default.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range unmeasured(string(text)) {
			t.Errorf("%s: %s", page, problem)
		}
	}
}

func TestUnmeasured(t *testing.T) {
	const table = "| a | b |\n|---|---|\n| x | 0.5 |\n"
	for text, problems := range map[string]int{
		table: 1,
		"<!-- measured: x -->\n" + table + "<!-- end -->\n":                        0,
		"<!-- measured: x -->\n" + table + "<!-- end -->\n\n" + table:              1,
		"<!-- not measured: times; make bench-io -->\n" + table + "<!-- end -->\n": 0,
		"<!-- not measured: times -->\n" + table + "<!-- end -->\n":                1,
		"| a | 1 |\n|---|---|\n| x | y |\n":                                        0,
		"```text\n" + table + "```\n":                                              0,
	} {
		if got := unmeasured(text); len(got) != problems {
			t.Errorf("%q has the problems %q, not %d", text, got, problems)
		}
	}
}

var (
	noNumber = regexp.MustCompile(`^[^0-9]*$`)
	note     = regexp.MustCompile(`<!-- not measured: (.*?) -->`)
	makesIt  = regexp.MustCompile(`; (make|go test|go run|python3|mars) `)
)

// unmeasured lists the tables of a page with numbers in their bodies that no comment is
// about, and the comments that do not say how a table is made.
func unmeasured(text string) (problems []string) {
	var marked, fenced bool
	row := 0 // of the table that the line is in
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if n := note.FindStringSubmatch(line); n != nil {
			if marked = true; !makesIt.MatchString(n[1]) {
				problems = append(problems, "no command in: "+n[1])
			}
		}
		if strings.HasPrefix(line, "<!-- measured: ") {
			marked = true
		}
		if line == "<!-- end -->" {
			marked = false
		}
		if row++; !strings.HasPrefix(line, "|") || fenced {
			row = 0
		}
		if row > 2 && !marked && !noNumber.MatchString(line) {
			problems = append(problems, "neither measured nor said why not: "+line)
		}
	}
	return problems
}

// A figure that moved by more than its spread is told with where it stands, and one that
// moved less is not.
func TestCompare(t *testing.T) {
	s := study{name: "toy", axes: []string{"method", "seed"}, spread: map[string]float64{"accuracy": 0.05, "l1": 0.1}}
	kept := []run{{"method": "marsc", "seed": 0.0, "accuracy": 0.9, "l1.mte": 0.1, "train.seconds": 5.0}, {"method": "marsc", "seed": 1.0, "accuracy": 0.8, "l1.mte": 0.1}}
	c := s.compare(kept, []run{{"method": "marsc", "seed": 1.0, "accuracy": 0.84, "l1.mte": 0.19, "train.seconds": 50.0}})
	if len(c.failed) != 0 || c.figures != 2 || c.moved != 2 {
		t.Errorf("moved within the spread: %+v", c)
	}
	c = s.compare(kept, []run{{"method": "marsc", "seed": 0.0, "accuracy": 0.84, "l1.mte": 0.1}})
	if len(c.failed) != 1 || !strings.Contains(c.failed[0].Error(), "toy, method marsc, seed 0: accuracy is 0.84, and the pages rest on 0.9") {
		t.Errorf("moved beyond the spread: %v", c.failed)
	}
	if c = s.compare(kept, []run{{"method": "dann", "seed": 0.0, "accuracy": 0.84}}); len(c.failed) != 1 {
		t.Errorf("a run that is not kept: %v", c.failed)
	}
}
