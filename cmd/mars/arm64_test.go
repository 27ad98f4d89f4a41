package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mars.dev/mars/cmd/internal/cli"
)

// emulated returns a folder with commands that run the programs for linux/arm64, built as they are
// shipped, in an emulator.
func emulated(t *testing.T) string {
	t.Helper()
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("qemu-aarch64-static is not installed")
	}
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH == "arm64" {
		t.Skip("programs for arm64 are emulated on Linux, and not by the short tests")
	}
	bin := t.TempDir()
	program := filepath.Join(bin, "program")
	build := exec.Command("go", "build", "-tags", "noasm", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := fmt.Sprintf("#!/bin/sh\nexec %s -0 \"$0\" %s \"$@\"\n", emulator, program)
	for _, name := range append(cli.Programs(), "mars") {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(command), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// The programs for arm64 pass a few of the scripts, which were chosen to be quick in an emulator.
func TestScriptsOnARM(t *testing.T) {
	bin := emulated(t)
	t.Parallel()
	var files []string
	for _, name := range []string{"version", "fit_apply"} {
		files = append(files, filepath.Join("..", "..", "testdata", "script", name+".txtar"))
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			return setUp(e)
		},
		Condition: condition,
	})
}

// howTos are examples: a page whose first program makes their tables, and what of these is labelled.
var howTos = []struct{ page, source, target, label string }{
	{"proportions", "source.csv", "target.csv", "celltype"},
	{"tables", "last_year.csv", "this_year.csv", "income"},
	{"patients", "labelled.csv", "patients/2026-03-01.csv", "celltype"},
	{"ask", "patients.csv", "new.csv", "celltype"},
}

// Whichever kernels a processor has, the labels of the built-in example and of the pages' are the
// same, and the shares differ by less than 1e-4. An emulator, which is slow, is asked of the built-in example and of
// one page, of which every twelfth row is labelled.
func TestKernelsAgree(t *testing.T) {
	t.Parallel()
	arm, own := filepath.Join(emulated(t), "mars"), filepath.Join(programs(t), "mars")
	t.Run("toy", func(t *testing.T) {
		toy := filepath.Join(t.TempDir(), "toy.arrow")
		execute(t, exec.Command(own, "featurize", "toy", "--shift", "4", "--source-rows", "150", "--target-rows", "150",
			"--target-proportions", "0.6,0.3,0.1", "-q", "-o", toy))
		agree(t, own, arm, []string{"neon"}, toy)
	})
	for _, h := range howTos {
		t.Run(h.page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(programsBeside, h.page+".md"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			tables := exec.Command(filepath.Join(pythonFolder(t), "python3"), "-c", blocks(string(text))[0].text)
			tables.Dir = dir
			execute(t, tables)
			source, target := filepath.Join(dir, h.source), filepath.Join(dir, h.target)
			program, kernels := "", []string(nil)
			if h.page == "tables" {
				keepSome(t, source)
				keepSome(t, target)
				program, kernels = arm, []string{"neon"}
			}
			agree(t, own, program, kernels, "--source", source, "--target", target, "--label", h.label)
		})
	}
}

// keepSome leaves the header and every twelfth row of a table.
func keepSome(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	row := 0
	for line := range strings.Lines(string(content)) {
		if row%12 == 0 {
			kept.WriteString(line)
		}
		row++
	}
	if err := os.WriteFile(file, []byte(kept.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, out)
	}
	return string(out)
}

// agree labels an example with all kernels of this processor, and with some of the emulated program.
func agree(t *testing.T, own, arm string, armKernels []string, example ...string) {
	t.Helper()
	dir := t.TempDir()
	table, summary := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "summary.json")
	var first string
	var wantLabels []string
	var wantShares map[string]float64
	label := func(program, processor, kernels string) {
		t.Helper()
		by := func(args ...string) *exec.Cmd {
			command := exec.Command(program, args...)
			command.Env = append(os.Environ(), "MARS_KERNEL="+kernels)
			return command
		}
		if out, _ := by("version").CombinedOutput(); !strings.Contains(string(out), "kernels: "+kernels) {
			if program == arm || !strings.Contains(string(out), "this processor has no such kernels") {
				t.Fatalf("%s has no kernels %s: %s", program, kernels, out)
			}
			return
		}
		execute(t, by(append([]string{"label", "-q", "--jobs", "1", "-o", table, "--summary", summary}, example...)...))
		content, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for row := range strings.Lines(string(content)) {
			labels = append(labels, strings.Split(row, ",")[1])
		}
		if content, err = os.ReadFile(summary); err != nil {
			t.Fatal(err)
		}
		var of struct{ Proportions map[string]float64 }
		if err := json.Unmarshal(content, &of); err != nil {
			t.Fatal(err)
		}
		shares := of.Proportions
		name := kernels + " on " + processor
		if first == "" {
			if len(labels) < 60 || len(shares) < 2 {
				t.Fatalf("%d lines of labels, %d shares", len(labels), len(shares))
			}
			first, wantLabels, wantShares = name, labels, shares
		}
		if !slices.Equal(labels, wantLabels) {
			t.Errorf("labels of %s are not those of %s", name, first)
		}
		for class, share := range shares {
			if math.Abs(share-wantShares[class]) > 1e-4 {
				t.Errorf("shares of %s are %v, those of %s %v", name, shares, first, wantShares)
			}
		}
	}
	for _, kernels := range []string{"generic", "avx2", "avx512"} {
		label(own, runtime.GOARCH, kernels)
	}
	for _, kernels := range armKernels {
		label(arm, "arm64", kernels)
	}
}
