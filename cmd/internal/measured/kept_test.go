package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keptTables are the tables that a program of docs/experiments makes of runs that are kept: the command, and the text
// with the tables.
var keptTables = regexp.MustCompile(`(?s)<!-- not measured: [^;]*; (python3 docs/experiments/[^>]* docs/measured/runs/[^>]*?) -->(.*?)<!-- end -->`)

// A table whose runs are kept is what its command makes of them, row by row, though no study makes the runs again here.
func TestKeptTables(t *testing.T) {
	if testing.Short() {
		t.Skip("a program runs for each page")
	}
	atRoot(t)
	python := os.Getenv("MARS_PYTHON")
	if exec.Command(python, "-c", "import pandas, scipy, sklearn, skada").Run() != nil {
		t.Skip("no Python with pandas, scikit-learn and skada: pip install -r testdata/requirements.txt, and let MARS_PYTHON name it")
	}
	files, err := filepath.Glob("docs/measured/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{} // of each command, and where they stand
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range keptTables.FindAllStringSubmatch(string(page), -1) {
			if strings.Contains(m[1], "check_fit.py") { // which fits for a minute
				continue
			}
			texts[m[1]] = append(texts[m[1]], file+"\n"+m[2])
		}
	}
	if len(texts) < 7 {
		t.Errorf("only %d commands make tables of kept runs", len(texts))
	}
	for command, text := range texts {
		t.Run(strings.Fields(command)[1], func(t *testing.T) {
			made := rowsMade(t, python, strings.Fields(command)[1:])
			for _, page := range text {
				file, tables, _ := strings.Cut(page, "\n")
				for line := range strings.Lines(tables) {
					if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") && !slices.Contains(made, line) {
						t.Errorf("%s: %s does not make the row\n%s", file, command, line)
					}
				}
			}
		})
	}
}

// rowsMade are the lines that a program prints. What it reads is read here too: go test then knows that its result is of these files.
func rowsMade(t *testing.T, python string, args []string) []string {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(filepath.Dir(args[0]), "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(sources, args) {
		if strings.Contains(name, "/") {
			if _, err := os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	command := exec.Command(python, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}
