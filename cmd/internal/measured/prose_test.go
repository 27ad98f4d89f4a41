package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of figures that no mark takes from runs anew")

// unmarkedList has, for each page, the figures of its sentences that no kept run can check.
const unmarkedList = "cmd/internal/measured/testdata/unmarked.txt"

// Every figure in a sentence is taken from runs by a mark, or is on the list of those that are not: who
// changes one sees which it is.
func TestFiguresInSentences(t *testing.T) {
	atRoot(t)
	found, err := filepath.Glob("docs/measured/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, page := range append(found, "README.md", "docs/default.md", "docs/default-rules.md") {
		figures := unmarkedFigures(read(t, page))
		slices.Sort(figures)
		fmt.Fprintln(&list, strings.Join(append([]string{page}, figures...), " "))
	}
	if *update {
		if err := os.WriteFile(unmarkedList, []byte(list.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	known := strings.Split(read(t, unmarkedList), "\n")
	for i, line := range strings.Split(list.String(), "\n") {
		if i >= len(known) || known[i] != line {
			page, _, _ := strings.Cut(line, " ")
			t.Errorf("%s: the figures in its sentences are not those of %s: take a new one from the runs (<!-- mean: STUDY KEY=VALUE NUMBER -->.5<!-- end -->), or if no kept run has it: go test ./cmd/internal/measured -run Sentences -update", page, unmarkedList)
		}
	}
}

func TestMeanMarks(t *testing.T) {
	b := book{"a": recordOf(part{runs: []run{{"x": 1.0, "y": 0.5}, {"x": 1.0, "y": 0.75}, {"x": 2.0, "y": 0.1}}})}
	const mark = "was <!-- mean: a x=1 y -->"
	if got, err := b.fillMeans("p", mark+".99<!-- end -->."); got != mark+".62<!-- end -->." || err != nil {
		t.Error(got, err)
	}
	if _, err := b.fillMeans("p", "<!-- mean: a x=3 y -->.99<!-- end -->"); err == nil {
		t.Error("a mean over no runs")
	}
	if got := unmarkedFigures(mark + ".62<!-- end -->, and .8 (.75 to 1.5)\n\n| .3 | v0.1 |\n\n`.4` in file.5"); !slices.Equal(got, []string{".8", ".75"}) {
		t.Error(got)
	}
}

// What is no prose of a page: what is marked, tables, and code.
var notProse = regexp.MustCompile("(?s)<!-- (?:measured|not measured|mean): .*?<!-- end -->|```.*?\n```|`[^`\n]*`|<!--.*?-->|(?m:^\\s*\\|.*$)")

// A figure is a share or an error as pages write it: .89.
var figurePattern = regexp.MustCompile(`(?:^|[^0-9.\w/])(\.[0-9]+)\b`)

// unmarkedFigures are the figures in a page's sentences that no mark takes from runs.
func unmarkedFigures(text string) (figures []string) {
	for _, m := range figurePattern.FindAllStringSubmatch(notProse.ReplaceAllString(text, "\n"), -1) {
		figures = append(figures, m[1])
	}
	return figures
}
