package kernel

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestParallelCoversOnce(t *testing.T) {
	defer SetJobs(0)
	for _, n := range []int{0, 1, 2, 7, 100} {
		for j := 1; j <= 5; j++ {
			SetJobs(j)
			seen := make([]int, n)
			Parallel(n, 1, func(lo, hi int) {
				Parallel(hi-lo, 1, func(from, to int) { // nested
					for i := lo + from; i < lo+to; i++ {
						seen[i]++
					}
				})
			})
			for i, s := range seen {
				if s != 1 {
					t.Fatalf("n=%d jobs=%d: element %d visited %d times", n, j, i, s)
				}
			}
		}
	}
}

func TestParallelRespectsGrain(t *testing.T) {
	defer SetJobs(0)
	SetJobs(4)
	parts := make(chan int, 10)
	Parallel(10, 4, func(lo, hi int) { parts <- hi - lo })
	if close(parts); len(parts) != 2 {
		t.Errorf("%d parts of 10 elements with a grain of 4, want 2", len(parts))
	}
}

// A panic in a part reaches the caller with its value and stack, when the other parts
// have ended.
func TestParallelPassesPanicsOn(t *testing.T) {
	defer SetJobs(0)
	const parts = 3
	SetJobs(parts)
	for guilty := range parts {
		var finished atomic.Int32
		got := recovered(func() {
			Parallel(parts, 1, func(lo, hi int) {
				if lo == guilty {
					fail()
				}
				time.Sleep(time.Millisecond)
				finished.Add(1)
			})
		})
		if guilty < parts-1 { // the last part is the caller's
			passed, ok := got.(*Panic)
			if !ok || !strings.Contains(string(passed.Stack), "kernel.fail") || !errors.Is(passed, io.EOF) {
				t.Fatalf("part %d: recovered %v", guilty, got)
			}
			got = passed.Value
		}
		if got != io.EOF || finished.Load() != parts-1 {
			t.Errorf("part %d: value %v, %d others finished", guilty, got, finished.Load())
		}
	}
}

// A panic that passes through two calls of Parallel keeps its first stack.
func TestNestedParallelPassesPanicsOn(t *testing.T) {
	defer SetJobs(0)
	SetJobs(2)
	got := recovered(func() {
		Parallel(2, 1, func(lo, hi int) {
			if lo == 0 {
				Parallel(2, 1, func(lo, hi int) {
					if lo == 0 {
						fail()
					}
				})
			}
		})
	})
	if passed, ok := got.(*Panic); !ok || passed.Value != io.EOF || !strings.Contains(passed.Error(), "kernel.fail") {
		t.Errorf("recovered %v", got)
	}
}

func fail() { panic(io.EOF) }

// recovered calls f and returns the value that it panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// After an error no more is begun, and the error is that of the first that fails.
func TestEachEndsWithAnError(t *testing.T) {
	SetJobs(2)
	defer SetJobs(0)
	var begun atomic.Int64
	err := Each(100_000, func(i int) error {
		begun.Add(1)
		if i >= 10 {
			return fmt.Errorf("%d fails", i)
		}
		return nil
	})
	if err == nil || err.Error() != "10 fails" {
		t.Errorf("the error is %v", err)
	}
	if n := begun.Load(); n > 1000 {
		t.Errorf("%d were begun", n)
	}
}
