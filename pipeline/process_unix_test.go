//go:build unix

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mars.dev/mars/arrowio"
)

// stageVariable is set for the processes that these tests start, to what they are to do.
const stageVariable = "MARS_TEST_STAGE"

// TestMain lets the test program be a stage.
func TestMain(m *testing.M) {
	switch what := os.Getenv(stageVariable); what {
	case "":
		os.Exit(m.Run())
	case "ends well": // when it is asked to end
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "is ready")
		<-asked
	case "rows":
		w := arrowio.NewWriter(os.Stdout, "rows", arrowio.WriteOptions{})
		if err := arrowio.Copy(context.Background(), w, arrowio.NewBatches("rows", testSchema, batch(1, 2, 3))); err != nil {
			os.Exit(1)
		}
	default: // what it logs, and its exit status
		var status int
		log, code, _ := strings.Cut(what, "|")
		fmt.Sscan(code, &status) //nolint:errcheck // then it is 0
		io.WriteString(os.Stderr, log)
		os.Exit(status)
	}
}

// startStage starts the test program as a stage.
func startStage(t *testing.T, ctx context.Context, what string, log func(string)) job {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stageVariable, what)
	j, err := processes{self}.start(ctx, task{node: testNodes(t)[0], log: log, progress: func(string, int64, int64) {}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A stage's failure is the error that its command ended with, or else the last line of its log.
func TestFailureOfProcess(t *testing.T) {
	lines := func(from, to int) (text string) {
		for i := from; i <= to; i++ {
			text += fmt.Sprintf("line %d\n", i)
		}
		return text
	}
	failed := startStage(t, t.Context(), "mars make: is of no use\n|7", func(line string) { t.Errorf("the log has %q", line) }).wait()
	var exit *exec.ExitError
	if stage, is := failed.(*StageError); !is || stage.Status != 7 || failed.Error() != "make: is of no use" || !errors.As(failed, &exit) {
		t.Fatalf("the failure is %+v", failed)
	}
	for _, c := range []struct {
		name, log, want string
		logged          int // lines
	}{
		{"an error", "mars make: no room\n", "no room", 0},
		{"an error after others", "one\nmars make: first\nmars make: last\n", "last", 1},
		{"an error before others", "mars make: no room\none\ntwo\n", "no room", 2},
		{"no error", "one\ntwo\n", "two (exit status 7)", 2},
		{"one line", "one\n", "one (exit status 7)", 1},
		{"nothing", "", "exit status 7", 0},
		{"a line that says nothing", "mars make\n", "mars make (exit status 7)", 0},
		{"the first of as many lines as are kept", "mars make: no room\n" + lines(2, keptLines), "no room", keptLines - 1},
		{"the first that are kept of one more", "one\nmars make: no room\n" + lines(3, keptLines+1), "no room", keptLines},
		{"one line more", "mars make: no room\n" + lines(1, keptLines), fmt.Sprintf("line %d (exit status 7)", keptLines), keptLines},
		{"many lines", lines(1, 99), "line 99 (exit status 7)", 99},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, c.log); err != nil {
			t.Fatal(err)
		}
		w.Close()
		logged, p := 0, &process{}
		p.readMessages(r, func(string) { logged++ })
		if got := p.reason(exit); got != c.want || logged != c.logged {
			t.Errorf("%s: %s, want %s; %d lines were passed on, want %d", c.name, got, c.want, logged, c.logged)
		}
	}
}

// A stage that was asked to end has failed, also if it says that all is well.
func TestInterruptedProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	j := startStage(t, ctx, "ends well", func(line string) {
		if line == "is ready" {
			cancel()
		}
	})
	if err := j.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if err := Stop(j.(*process).cmd.Process); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("stopping what has ended: %v", err)
	}
}

// Stages that run as processes pass on rows, and their failure ends the run.
func TestRunOfProcesses(t *testing.T) {
	l := newLab(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stageVariable, "rows")
	r := l.runner("[[stage]]\nrun = \"make\"\noutput = \"rows.arrow\"\n[[stage]]\nrun = \"tell\"\noutput = \"text\"\n")
	r.InProcess, r.Program = false, self
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows, err := arrowio.Open("text", arrowio.ReadOptions{}); err != nil { // all stages of this program write rows
		t.Error(err)
	} else {
		rows.Close()
	}
	if !isThere("rows.arrow") || !strings.Contains(l.log.String(), "make: 3 rows in ") {
		t.Errorf("the log is\n%s", &l.log)
	}
	t.Setenv(stageVariable, "mars make: model: "+syscall.ENOSPC.Error()+"\n|1")
	r = l.runner("[[stage]]\nrun = \"make\"\nsize = 2\n")
	r.InProcess, r.Program = false, self
	if err := r.Run(t.Context()); err == nil || err.Error() != "make: model: no space left on device" || strings.Count(l.log.String(), "going on without it") != 1 {
		t.Errorf("%v, the log is\n%s", err, &l.log)
	}
}

// What is in a folder that another user owns, or can write, is not believed.
func TestFoldersOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for _, c := range []struct {
		mode  os.FileMode
		empty bool
		want  string
	}{
		{0o700, false, ""}, {0o755, false, ""}, {0o777, true, ""}, {0o720, false, "other users may write in it"}, {0o702, false, "other users may write in it"},
	} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.Chmod(dir, c.mode)); err != nil {
			t.Fatal(err)
		}
		err := makePrivate(dir, c.empty)
		info, statErr := os.Stat(dir)
		if statErr != nil {
			t.Fatal(statErr)
		}
		if c.want == "" && (err != nil || info.Mode().Perm() != privateMode) || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("of mode %o: %v, want %s; the mode is %o", c.mode, err, c.want, info.Mode().Perm())
		}
	}
	if err := os.Chown(dir, 1, -1); err != nil {
		t.Skip(err) // only root gives files away
	}
	if err := makePrivate(dir, true); err == nil || !strings.HasPrefix(err.Error(), "belongs to another user") || isOwn(dir) {
		t.Errorf("of another user: %v, own: %t", err, isOwn(dir))
	}
}

// What killed processes have left is kept for a while: a day, and a checkpoint for a month.
func TestSweepByAge(t *testing.T) {
	c := openQuick(t)
	key := strings.Repeat("a", 64)
	day := func(n time.Duration) time.Time { return time.Now().Add(-n*24*time.Hour - time.Minute) }
	left := map[string]struct {
		days       time.Duration
		run, prune bool // it goes with a run, with pruning
	}{
		"building/.spool-new": {0, false, false}, "building/.spool-old": {1, true, true}, "building/.dropped-new": {0, false, false}, "building/.dropped-old": {1, true, true},
		"building/" + key: {0, false, true}, "checkpoints/" + key: {29, false, false}, "checkpoints/" + strings.Repeat("b", 64): {30, false, true},
	}
	for name, f := range left {
		path := filepath.Join(c.Dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chtimes(path, day(f.days), day(f.days))); err != nil {
			t.Fatal(err)
		}
	}
	newStore(c, func(text string) { t.Error(text) })
	for name, f := range left {
		if isThere(filepath.Join(c.Dir, name)) == f.run {
			t.Errorf("%s goes with a run: %t, want %t", name, !f.run, f.run)
		}
	}
	if _, _, err := c.Prune(1 << 30); err != nil {
		t.Fatal(err)
	}
	for name, f := range left {
		if isThere(filepath.Join(c.Dir, name)) == f.prune {
			t.Errorf("%s goes with pruning: %t, want %t", name, !f.prune, f.prune)
		}
	}
}
