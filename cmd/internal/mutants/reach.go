package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/cover"
)

// A reach says which scripts run which statements, by a run of all of them with counters. All scripts take minutes,
// and those that run a line often seconds.
type reach struct {
	took   time.Duration
	all    []string // scripts
	blocks map[string][]block // by file
}

// A block is a run of statements, by its bytes in the file, and the scripts that run it.
type block struct {
	from, to int
	scripts  []string
}

const scriptsPackage, scriptsTest = "./cmd/mars", "TestScripts"

// reachOf runs the scripts in the tree at dir. They must pass there: a line that is broken would be noticed by any
// script that fails.
func reachOf(ctx context.Context, dir string) (*reach, error) {
	counts, err := os.MkdirTemp("", "mars-reach-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(counts)
	began := time.Now()
	run := tests{scriptsPackage, "^" + scriptsTest + "$"}.start(ctx, dir, 30*time.Minute, "-cover", "-covermode=set", "-coverpkg=./stages/...,./pipeline,./arrowio/...")
	run.Env = append(os.Environ(), "MARS_REACH="+counts)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the scripts fail though no line is broken: %w\n%s", err, out[max(0, len(out)-4000):])
	}
	r := &reach{took: time.Since(began), blocks: map[string][]block{}}
	ran, err := os.ReadDir(counts)
	if err != nil {
		return nil, err
	}
	for _, script := range ran {
		name := strings.TrimPrefix(script.Name(), "script-")
		if err := r.add(ctx, dir, filepath.Join(counts, script.Name()), name); err != nil {
			return nil, err
		}
		r.all = append(r.all, name)
	}
	return r, nil
}

// add adds what a script has run.
func (r *reach) add(ctx context.Context, dir, counts, script string) error {
	text := counts + ".txt"
	if out, err := command(ctx, dir, "go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+text).CombinedOutput(); err != nil {
		return fmt.Errorf("counts of script %s: %w: %s", script, err, out)
	}
	profiles, err := cover.ParseProfiles(text)
	if err != nil {
		return err
	}
	for _, p := range profiles {
		file := strings.TrimPrefix(p.FileName, "mars.dev/mars/")
		if r.blocks[file] == nil {
			lines, err := lineStarts(filepath.Join(dir, file))
			if err != nil {
				return err
			}
			for _, b := range p.Blocks {
				r.blocks[file] = append(r.blocks[file], block{from: lines[b.StartLine-1] + b.StartCol - 1, to: lines[b.EndLine-1] + b.EndCol - 1})
			}
		}
		for i, b := range p.Blocks {
			if b.Count > 0 {
				r.blocks[file][i].scripts = append(r.blocks[file][i].scripts, script)
			}
		}
	}
	return nil
}

func lineStarts(file string) (starts []int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	at := 0
	for line := range bytes.Lines(text) {
		starts = append(starts, at)
		at += len(line)
	}
	return starts, nil
}

// of are the scripts that run a mutant's line: its statements, its function if it is in none (a case of a switch), and all
// scripts if it is in no function.
func (r *reach) of(m mutant, dir string) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, filepath.Join(dir, m.file), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		from, to := set.Position(d.Pos()).Offset, set.Position(d.End()).Offset
		if _, ok := d.(*ast.FuncDecl); ok && from <= m.at && m.at < to {
			return r.within(m, from, to), nil
		}
	}
	return slices.Clone(r.all), nil
}

// within are the scripts of a mutant in the function that is between two bytes of its file.
func (r *reach) within(m mutant, from, to int) []string {
	var scripts, own []string
	found := false
	for _, b := range r.blocks[m.file] {
		if from < b.to && b.from < to {
			scripts = append(scripts, b.scripts...)
		}
		if b.from <= m.at && m.at < b.to { // the last one is the innermost
			own, found = b.scripts, true
		}
	}
	if found {
		return slices.Clone(own)
	}
	slices.Sort(scripts)
	return slices.Compact(scripts)
}

func scriptTests(names []string) []tests {
	if len(names) == 0 {
		return nil
	}
	return []tests{{scriptsPackage, "^" + scriptsTest + "$/^(" + strings.Join(names, "|") + ")$"}}
}

var failedScript = regexp.MustCompile(`(?m)^ *--- FAIL: ` + scriptsTest + `/(\S+)`)

// failing are those of the scripts that fail in the tree at dir.
func failing(ctx context.Context, dir string, names []string, limit time.Duration) (failed map[string]bool, err error) {
	failed = map[string]bool{}
	for _, t := range scriptTests(names) {
		out, err := t.start(ctx, dir, limit).CombinedOutput()
		for _, m := range failedScript.FindAllSubmatch(out, -1) {
			failed[string(m[1])] = true
		}
		if err != nil && len(failed) == 0 {
			return nil, fmt.Errorf("no script fails, but all: %w\n%s", err, out[max(0, len(out)-4000):])
		}
	}
	return failed, nil
}
