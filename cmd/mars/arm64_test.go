package main

import (
	"bytes"
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
	var files []string
	for _, name := range []string{"version", "fit_apply", "codes"} {
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

// Whichever kernels a processor has, the labels are the same, and the shares differ by less than
// 1e-4.
func TestKernelsAgree(t *testing.T) {
	arm, own := filepath.Join(emulated(t), "mars"), filepath.Join(programs(t), "mars")
	data, err := exec.Command(own, "featurize", "toy", "--shift", "4", "--source-rows", "150", "--target-rows", "150",
		"--target-proportions", "0.6,0.3,0.1").Output()
	if err != nil {
		t.Fatal(err)
	}
	var first string
	var wantLabels []string
	var wantShares []float64
	for _, run := range []struct{ program, processor, kernels string }{
		{own, runtime.GOARCH, "generic"}, {own, runtime.GOARCH, "avx2"}, {own, runtime.GOARCH, "avx512"}, {arm, "arm64", "neon"}, {arm, "arm64", "generic"},
	} {
		answer := func(args ...string) []byte {
			t.Helper()
			command := exec.Command(run.program, append(args, "--jobs", "1")...)
			command.Stdin, command.Env = bytes.NewReader(data), append(os.Environ(), "MARS_KERNEL="+run.kernels)
			var failure strings.Builder
			command.Stderr = &failure
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%s: %v\n%s", run.kernels, err, failure.String())
			}
			return out
		}
		name := run.kernels + " on " + run.processor
		command := exec.Command(run.program, "version")
		command.Env = append(os.Environ(), "MARS_KERNEL="+run.kernels)
		if out, _ := command.Output(); !strings.Contains(string(out), "kernels: "+run.kernels) {
			continue // this processor has no such kernels
		}
		table := filepath.Join(t.TempDir(), "labels.csv")
		answer("label", "-o", table)
		content, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for row := range strings.Lines(string(content)) {
			labels = append(labels, strings.Split(row, ",")[1])
		}
		var shares struct{ Proportions struct{ Estimated []float64 } }
		if err := json.Unmarshal(answer("proportions", "--json"), &shares); err != nil {
			t.Fatal(err)
		}
		got := shares.Proportions.Estimated
		if first == "" {
			if len(labels) != 151 || len(got) != 3 {
				t.Fatalf("%d lines of labels, %d shares", len(labels), len(got))
			}
			first, wantLabels, wantShares = name, labels, got
		}
		if !slices.Equal(labels, wantLabels) {
			t.Errorf("labels of %s are not those of %s", name, first)
		}
		for i, share := range got {
			if math.Abs(share-wantShares[i]) > 1e-4 {
				t.Errorf("shares of %s are %v, those of %s %v", name, got, first, wantShares)
			}
		}
	}
}
