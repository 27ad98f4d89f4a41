// Command runtests is go test that says at its end which tests took the longest, and which were skipped, why, and
// so what to install to run them. With -must it fails if one of those was skipped whose
// reason matches.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

func main() {
	must := flag.String("must", "", "fail if a test was skipped for a reason that matches this regular expression")
	flag.Parse()
	needed, err := regexp.Compile(*must)
	if err == nil {
		err = run(flag.Args(), needed, *must != "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, needed *regexp.Regexp, strict bool) error {
	// The scripts of cmd/mars take minutes, and many where other programs use the machine. They start other programs and
	// wait for these, so that more of them than there are cores keep those busy. make lint vets all.
	cmd := exec.Command("go", append([]string{"test", "-json", "-vet=off", "-timeout", "60m", "-parallel", strconv.Itoa(runtime.NumCPU() + 1)}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := report{output: map[string][]string{}, skipped: map[string][]string{}}
	r.read(events, os.Stdout)
	failed := cmd.Wait()
	missing := r.write(os.Stdout, needed)
	switch {
	case failed != nil:
		return fmt.Errorf("go test: %w", failed)
	case strict && len(missing) > 0:
		return fmt.Errorf("tests that could have run were skipped:\n  %s", strings.Join(missing, "\n  "))
	}
	return nil
}

// An event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds
}

type report struct {
	output  map[string][]string // of tests that have not ended
	skipped map[string][]string // tests, by the reason
	slow    []event             // tests of slowest seconds and more
}

// Of tests of slowest seconds and more, mostSlow are named that took the longest: what to look at where
// all of it takes too long. That others ran beside them counts.
const slowest, mostSlow = 10, 20

// read prints what go test prints without -v.
func (r *report) read(in io.Reader, w io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text())
			continue
		}
		test := e.Package + "." + e.Test
		if e.Test != "" && e.Elapsed >= slowest {
			r.slow = append(r.slow, e)
		}
		switch {
		case e.Action == "build-output", e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
			fmt.Fprint(w, e.Output)
		case e.Action == "output" && e.Test != "":
			r.output[test] = append(r.output[test], e.Output)
		case e.Test == "":
		case e.Action == "fail":
			fmt.Fprint(w, strings.Join(r.output[test], ""))
			delete(r.output, test)
		case e.Action == "skip":
			why := reason(r.output[test])
			r.skipped[why] = append(r.skipped[why], test)
			delete(r.output, test)
		case e.Action == "pass":
			delete(r.output, test)
		}
	}
}

// place is the file and line that go test puts before a message.
var place = regexp.MustCompile(`^\s*\w+\.go:\d+: `)

// reason is what a test that was skipped has said last.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		if text := place.ReplaceAllString(line, ""); !strings.HasPrefix(strings.TrimSpace(text), "---") && !strings.HasPrefix(text, "===") && strings.TrimSpace(text) != "" {
			why = strings.TrimSpace(text)
		}
	}
	return why
}

// module is left out of the names of tests.
const module = "mars.dev/mars/"

// write prints what was slow and what was skipped, and returns the reasons that match.
func (r *report) write(w io.Writer, needed *regexp.Regexp) (missing []string) {
	if len(r.slow) > 0 {
		fmt.Fprintln(w, "\nslow:")
	}
	slices.SortStableFunc(r.slow, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range r.slow[:min(len(r.slow), mostSlow)] {
		fmt.Fprintf(w, "  %4.0f s  %s.%s\n", e.Elapsed, strings.TrimPrefix(e.Package, module), e.Test)
	}
	if len(r.skipped) > 0 {
		fmt.Fprintln(w, "\nskipped:")
	}
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		var names []string
		for _, test := range r.skipped[why] {
			names = append(names, strings.TrimPrefix(test, module))
		}
		fmt.Fprintf(w, "  %s\n    %s\n", why, strings.Join(names, " "))
		if needed.MatchString(why) {
			missing = append(missing, why)
		}
	}
	return missing
}
