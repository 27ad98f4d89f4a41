// Command mutants breaks lines of the program, one at a time in a copy of the tree, and
// says which of them neither a test nor make lint notices: those of a fixed list, and others chosen by seed.
// It fails if more than one in twenty survives.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A mutant is a line that is broken, and the tests that should notice.
type mutant struct {
	what     string // what it means to a user; "" for one that was chosen
	file     string
	old, new string // text that is in the file once, and what it becomes
	at       int    // where old is in the file, of a chosen one
	tests    []tests
}

// tests are those of a package, all or those whose names match.
type tests struct{ pkg, run string }

// slowLimit is the time limit of slow tests: all scripts take minutes, and what the limit ends must not count as noticed.
const slowLimit = 30 * time.Minute

// most is the share of mutants that may survive.
const most = 1. / 20

func main() {
	chosen := flag.Int("chosen", 20, "number of mutants chosen by seed, beside the fixed list")
	seed := flag.Uint64("seed", 1, "seed of the choice")
	fixed := flag.Bool("fixed", true, "try the fixed list")
	sixths := flag.Int("sixth", 0, "of the fixed list, try the lines that are in this sixth: 1 to 6 (0: all)")
	only := flag.String("only", "", "of the fixed list, try those whose description has this in it")
	scripts := flag.Bool("scripts", true, "run the scripts, which take minutes, on chosen mutants that the tests of their package have let pass")
	limit := flag.Duration("limit", 4*time.Minute, "time limit of the tests of a package")
	surveyed := flag.Bool("survey", false, "break nothing, but list the lines at which no test would make out that they are broken")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := func() error { return try(ctx, *fixed, *only, *sixths, *chosen, *seed, *scripts, *limit) }
	if *surveyed {
		do = func() error { return survey(ctx) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// fits says whether each line of mutants is in the tree at dir, once.
func fits(mutants []mutant, dir string) error {
	var all []error
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(dir, m.file))
		if n := strings.Count(string(text), m.old); err == nil && n != 1 {
			err = fmt.Errorf("%s: %q is there %d times, not once: mend the fixed list", m.file, m.old, n)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// sixthOf is every sixth mutant, from that of the number on, or all for 0.
func sixthOf(all []mutant, sixth int) (some []mutant) {
	for i, m := range all {
		if sixth == 0 || i%6 == sixth-1 {
			some = append(some, m)
		}
	}
	return some
}

// workers is how many mutants are tried at once, each in a copy of the tree of its own: most tests
// and all linking keep one core busy.
var workers = min(runtime.NumCPU(), 4)

func try(ctx context.Context, fixed bool, only string, sixth, chosen int, seed uint64, scripts bool, limit time.Duration) error {
	dirs := make([]string, workers)
	for i := range dirs {
		dir, err := copyTree(ctx)
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		dirs[i] = dir
	}
	var all []mutant
	for _, m := range fixedMutants {
		if fixed && strings.Contains(m.what, only) {
			all = append(all, m)
		}
	}
	if err := fits(all, dirs[0]); err != nil {
		return err
	}
	if all = sixthOf(all, sixth); sixth != 0 {
		fmt.Printf("sixth %d of the fixed list\n", sixth)
	}
	j := &judge{limit: limit, scripts: scripts}
	if err := j.each(ctx, dirs, all); err != nil {
		return err
	}
	some, slow, err := choose(ctx, dirs[0], seed, chosen)
	if err != nil {
		return err
	}
	j.slow = slow
	if err := j.each(ctx, dirs, some); err != nil {
		return err
	}
	if err := j.together(ctx, dirs); err != nil {
		return err
	}
	return j.sum()
}

// A judge tries mutants, and counts.
type judge struct {
	limit   time.Duration // of the tests of a package
	scripts bool
	slow    map[string][]tests // by file, of chosen mutants that are not tried together yet

	mu        sync.Mutex
	tried     int
	left      []mutant // for what is slow
	survivors []string
}

// each tries mutants, one at a time in each of dirs.
func (j *judge) each(ctx context.Context, dirs []string, mutants []mutant) error {
	left := make(chan mutant, len(mutants))
	for _, m := range mutants {
		left <- m
	}
	close(left)
	failed := make([]error, len(dirs))
	var at sync.WaitGroup
	for i, dir := range dirs {
		at.Go(func() {
			for m := range left {
				if failed[i] = j.try(ctx, dir, m); failed[i] != nil {
					return
				}
			}
		})
	}
	at.Wait()
	return errors.Join(failed...)
}

// try tries a mutant: a chosen one by what is quick, unless it has other tests by now.
func (j *judge) try(ctx context.Context, dir string, m mutant) error {
	began := time.Now()
	fate := survived
	if err := broken(dir, []mutant{m}, func() (err error) {
		if j.slow[m.file] != nil {
			if lint := command(ctx, dir, "make", "lint-go", "PACKAGES=./"+filepath.Dir(m.file)).Run(); lint != nil {
				fate = linted
				return ctx.Err()
			}
		}
		fate, err = notice(ctx, dir, m.tests, j.limit)
		return err
	}); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if fate == survived && j.slow[m.file] != nil {
		j.left = append(j.left, m)
		fmt.Printf("| %s | `%s` | `%s` | is left for what is slow | %.0f s\n", m.place(dir), oneLine(m.old), oneLine(m.new), time.Since(began).Seconds())
		return nil
	}
	j.tried++
	j.say(dir, m, fate, time.Since(began))
	return nil
}

// say prints the fate of a mutant.
func (j *judge) say(dir string, m mutant, fate string, took time.Duration) {
	line := fmt.Sprintf("| %s | `%s` | `%s` | %s |", m.place(dir), oneLine(m.old), oneLine(m.new), fate)
	if fate == survived || fate == unbuilt {
		j.survivors = append(j.survivors, line)
	}
	fmt.Printf("%s %.0f s\n", line, took.Seconds())
}

// together runs all that is slow once, with all lines broken that are left. What passes notices none of them, and what
// fails is run on each.
func (j *judge) together(ctx context.Context, dirs []string) error {
	began, left, slow := time.Now(), j.left, j.slow
	if len(left) == 0 {
		return nil
	}
	run := map[tests]bool{}
	for _, m := range left {
		for _, t := range slow[m.file] {
			run[t] = true
		}
	}
	failed := map[tests]bool{}
	if err := broken(dirs[0], left, func() error {
		for t := range run {
			if t == allScripts && !j.scripts {
				continue
			}
			all, err := t.failing(ctx, dirs[0])
			for _, one := range all {
				failed[one] = true
			}
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	fmt.Printf("%d lines at once: %d of the slow tests fail, %.0f s\n", len(left), len(failed), time.Since(began).Seconds())
	for i, m := range left {
		left[i].tests = nil
		for t := range failed {
			if slices.ContainsFunc(slow[m.file], func(own tests) bool { return own.pkg == t.pkg }) {
				left[i].tests = append(left[i].tests, t)
			}
		}
	}
	j.slow, j.limit = nil, slowLimit
	return j.each(ctx, dirs, left)
}

// sum says how many were noticed.
func (j *judge) sum() error {
	fmt.Printf("\n%d of %d broken lines are not noticed\n", len(j.survivors), j.tried)
	if len(j.survivors) > 0 {
		fmt.Printf("\n| where | was | became | fate |\n|---|---|---|---|\n%s\n", strings.Join(j.survivors, "\n"))
	}
	if float64(len(j.survivors)) > most*float64(j.tried) {
		return fmt.Errorf("more than 1 in %.0f survives: write tests that notice", 1/most)
	}
	return nil
}

// The fates of mutants.
const (
	noticed  = "noticed"
	linted   = "noticed by make lint"
	timedOut = "took too long"
	survived = "SURVIVED"
	unbuilt  = "DOES NOT BUILD"
)

// timeouts are what go test and a script say at their time limit. A script fails there like one that has noticed.
var timeouts = []string{"panic: test timed out", "test timed out while running command"}

// broken breaks lines in the copy while do runs.
func broken(dir string, mutants []mutant, do func() error) (err error) {
	mutants = slices.SortedFunc(slices.Values(mutants), func(a, b mutant) int { return b.at - a.at }) // the last first: the others stay where they are
	was := map[string][]byte{}
	defer func() {
		for path, text := range was {
			err = errors.Join(err, os.WriteFile(path, text, 0o666))
		}
	}()
	for _, m := range mutants {
		path := filepath.Join(dir, m.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if was[path] == nil {
			was[path] = text
		}
		text = []byte(string(text[:m.at]) + strings.Replace(string(text[m.at:]), m.old, m.new, 1))
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return do()
}

// notice runs tests in the tree at dir.
func notice(ctx context.Context, dir string, run []tests, limit time.Duration) (fate string, err error) {
	for _, t := range run {
		out, err := t.start(ctx, dir, limit, "-failfast").CombinedOutput()
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && strings.Contains(string(out), "[build failed]"):
			return unbuilt, nil
		case err != nil && slices.ContainsFunc(timeouts, func(say string) bool { return strings.Contains(string(out), say) }):
			return timedOut, nil
		case err != nil:
			//lint:ignore lostnil tests that fail are what is looked for
			return noticed, nil
		case strings.Contains(string(out), "no tests to run"):
			return "", fmt.Errorf("%s has no test %s: mend the fixed list", t.pkg, t.run)
		}
	}
	return survived, nil
}

// start is the command that runs tests in the tree at dir.
func (t tests) start(ctx context.Context, dir string, limit time.Duration, flags ...string) *exec.Cmd {
	args := append([]string{"test", "-short", "-count=1", "-vet=off", "-trimpath", "-ldflags=-s -w", "-timeout=" + limit.String()}, flags...)
	if t.run != "" {
		args = append(args, "-run="+t.run)
	}
	return command(ctx, dir, "go", append(args, t.pkg)...)
}

var failedScript = regexp.MustCompile(`(?m)^ *--- FAIL: ` + allScripts.run + `/(\S+)`)

// failing are those of the tests that fail in the tree at dir: of scripts each by itself.
func (t tests) failing(ctx context.Context, dir string) (failed []tests, err error) {
	out, err := t.start(ctx, dir, slowLimit).CombinedOutput()
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, ctx.Err()
	case strings.Contains(string(out), "[build failed]"):
		return nil, fmt.Errorf("%s: the lines that are left compile each, but not together: take another seed", t.pkg)
	}
	for _, m := range failedScript.FindAllSubmatch(out, -1) {
		failed = append(failed, tests{t.pkg, "^" + allScripts.run + "$/^" + string(m[1]) + "$"})
	}
	if len(failed) == 0 {
		failed = append(failed, t)
	}
	return failed, nil
}

// place is the mutant's file, with the line of a chosen one.
func (m mutant) place(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return m.file
	}
	at := m.at + strings.Index(string(text[m.at:]), m.old)
	return fmt.Sprintf("%s:%d", m.file, 1+strings.Count(string(text[:at]), "\n"))
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd
}

// copyTree copies the files that git knows into a new folder.
func copyTree(ctx context.Context) (dir string, err error) {
	list, err := command(ctx, "", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "mars-mutants-"); err != nil {
		return "", err
	}
	for _, file := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, err := os.Stat(file)
		if err != nil {
			continue // it is deleted, and that not committed
		}
		text, err := os.ReadFile(file)
		to := filepath.Join(dir, file)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o777), os.WriteFile(to, text, info.Mode().Perm())); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
