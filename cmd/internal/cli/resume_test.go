package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/pipeline"
)

// testResume checks that a finished training does not stand for one with another value of
// a flag: resuming is refused, or ends where training anew does.
func (w wiring) testResume(t *testing.T, name string) {
	t.Helper()
	x, _ := w.wire(name)
	role := w.stage.Flags[name].Role
	usual := usualRuns[w.stage.Name]
	if x.bare || !slices.Contains([]pipeline.Role{pipeline.Effect, pipeline.Seed, pipeline.InputFile}, role) {
		return
	}
	rows := usual.rows
	if x.rows != "" {
		rows = x.rows
	}
	flags := usual.flags + " " + x.with
	checkpoint := "--checkpoint=" + filepath.Join("changing", "checkpoint")
	if _, err := w.try(t, rows, flags, name, checkpoint); err != nil {
		t.Fatal(err)
	}
	for _, value := range strings.Fields(x.values) {
		flag := "--" + name + "=" + value
		resumed, err := w.try(t, rows, flags, "", flag, checkpoint, "--resume")
		if err != nil {
			continue
		}
		if anew := w.run(t, x, rows, flags, "", flag); anew.result != resumed {
			t.Errorf("%s: a checkpoint of another value is resumed, to another result", flag)
		}
	}
}

// try is run without what is known, and may fail.
func (w wiring) try(t *testing.T, rows, flags, without string, more ...string) (string, error) {
	t.Helper()
	given, order := w.parse(flags, without, more...)
	args := []string{"--output=out/rows.arrow"}
	for _, name := range order {
		args = append(args, "--"+name+"="+given[name])
	}
	if err := errors.Join(os.RemoveAll("out"), os.Mkdir("out", 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := w.stage.Run(t.Context(), append(args, rows), pipeline.Streams{Log: &bytes.Buffer{}}); err != nil {
		return "", err
	}
	return w.collect(t, "").result, nil
}
