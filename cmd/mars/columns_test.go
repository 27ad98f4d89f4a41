//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Many columns are read, whose names look like patterns, as R writes them. How their time grows
// make bench-columns prints.
func TestManyColumns(t *testing.T) {
	for _, ext := range []string{"csv", "jsonl", "arff"} {
		t.Run(ext, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "wide."+ext)
			if err := os.WriteFile(path, []byte(wideTable(ext, 60_000)), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("mars", "label", "--source", path, "--target", path, "-o", filepath.Join(dir, "out.csv")).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "of 60000 ") || !strings.Contains(string(out), "labelled 3 rows") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// Learning takes memory for each column too: a table that would take more than the limit is refused.
func TestManyColumnsKeepTheLimit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "wide.csv")
	if err := os.WriteFile(path, []byte(wideTable("csv", 140_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"label", "proportions"} {
		out, err := exec.Command("atmost", "83", "mars", command, "--memory-limit", "64M", "--source", path, "--target", path, "-o", filepath.Join(dir, "out.csv")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "wide.csv: line 1: needs 1") || !strings.Contains(string(out), "--memory-limit") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// wideTable has three rows of numbers and their labels.
func wideTable(ext string, columns int) string {
	name := func(j int) string { return fmt.Sprintf("m[%d]", j) }
	value := func(i, j int) string { return fmt.Sprintf("%d.5", (j*7919+i*104729*(j%31+1))%99991) }
	var b strings.Builder
	row := func(separator string, cell func(j int) string, last string) {
		for j := range columns {
			b.WriteString(cell(j) + separator)
		}
		b.WriteString(last + "\n")
	}
	switch ext {
	case "csv":
		row(",", name, "label")
	case "arff":
		b.WriteString("@relation wide\n")
		row("", func(j int) string { return "@attribute " + name(j) + " numeric\n" }, "@attribute label {a,b,c}\n@data")
	}
	for i, label := range []string{"a", "b", "c"} {
		if ext == "jsonl" {
			b.WriteString("{")
			row(",", func(j int) string { return fmt.Sprintf("%q:%s", name(j), value(i, j)) }, fmt.Sprintf(`"label":%q}`, label))
			continue
		}
		row(",", func(j int) string { return value(i, j) }, label)
	}
	return b.String()
}

// Rows that each have another key are a table of as many columns as rows: what cannot be held
// is refused before it is made, and read for the columns that are named.
func TestKeysOfEachRow(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "{\"k%d\":%d,\"label\":\"%c\"}\n", i, i, 'a'+i%3)
	}
	path, out := filepath.Join(dir, "keys.jsonl"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	label := func(flags ...string) (string, error) {
		text, err := exec.Command("mars", append([]string{"label", "--source", path, "--target", path, "-o", out}, flags...)...).CombinedOutput()
		return string(text), err
	}
	if text, err := label(); err == nil || !strings.Contains(text, "100000 rows have 100001 keys") || !strings.Contains(text, "--memory-limit") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is an output")
	}
	if text, err := label("--columns", "k1,k2,k3"); err != nil || !strings.Contains(text, "labelled 3 rows") {
		t.Errorf("%v\n%s", err, text)
	}
}
