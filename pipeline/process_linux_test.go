package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openFiles counts the files that this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("open files cannot be counted here: %v", err)
	}
	return len(files)
}

// A process that cannot be started leaves no pipe open.
func TestFailedStartClosesPipes(t *testing.T) {
	node := testNodes(t)[1]
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		name    string
		program string
		task    task
		more    uint64 // files that may be opened, 0 for any number
	}{
		{"no program", none, task{stream: true}, 0},
		{"no file", self, task{file: none}, 0},
		{"no room for the first pipe", self, task{stream: true}, 1},
		{"no room for the third", self, task{stream: true}, 5},
	} {
		before := openFiles(t)
		if c.more > 0 {
			low := limit
			low.Cur = uint64(before) + c.more
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
				t.Fatal(err)
			}
		}
		c.task.node = node
		_, err := processes{c.program}.start(context.Background(), c.task)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		if err == nil || !strings.Contains(err.Error(), "cannot be started: ") {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%s: %d files are open, %d were", c.name, after, before)
		}
	}
}

// A chain of which no stage can be started ends, and says why.
func TestChainThatCannotStart(t *testing.T) {
	g := expand(t, "[[stage]]\nrun = \"make\"\n[[stage]]\nrun = \"map\"\noutput = \"rows.arrow\"\n")
	if err := g.Keys(t.Context(), &Machine{Kernels: "generic", Threads: 1}); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	before := openFiles(t)
	r := &Runner{Graph: g, Cache: openTest(t), Jobs: 1, Program: filepath.Join(t.TempDir(), "none"), View: &Lines{W: &log}}
	if err := r.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "make: cannot be started: ") {
		t.Errorf("the run ends with %v\n%s", err, &log)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}
