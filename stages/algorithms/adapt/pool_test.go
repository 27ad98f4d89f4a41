package adapt

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Workers that are late for a round, or park in it, must neither miss it nor take its
// signal for the next one's.
func TestPoolRunsEveryRoundOnce(t *testing.T) {
	for size := 1; size <= 4; size++ {
		for _, spins := range []int{0, 1, 100} {
			p := startPool(size, spins)
			counts := make([]int, size)
			for round := 1; round <= 2000; round++ {
				p.run(func(worker int) {
					if (round+worker)%7 == 0 {
						runtime.Gosched()
					}
					counts[worker]++
				})
				for worker, n := range counts {
					if n != round {
						t.Fatalf("%d workers, %d spins: worker %d did %d of %d rounds", size, spins, worker, n, round)
					}
				}
			}
			p.stop()
		}
	}
}

// A worker's panic reaches the caller of run with its value and stack when the others have
// finished, and the pool can be used again.
func TestPoolPassesPanicsOn(t *testing.T) {
	for _, spins := range []int{0, 100} {
		p := startPool(3, spins)
		for guilty := range p.size {
			var finished atomic.Int32
			got := recovered(func() {
				p.run(func(worker int) {
					if worker == guilty {
						fail(worker)
					}
					time.Sleep(time.Millisecond)
					finished.Add(1)
				})
			})
			if guilty > 0 {
				passed, ok := got.(*kernel.Panic)
				if !ok || !strings.Contains(string(passed.Stack), "adapt.fail") {
					t.Fatalf("worker %d: recovered %v", guilty, got)
				}
				got = passed.Value
			}
			if got != guilty || finished.Load() != 2 {
				t.Errorf("worker %d: value %v, %d others finished", guilty, got, finished.Load())
			}
		}
		var ran atomic.Int32
		p.run(func(int) { ran.Add(1) })
		if ran.Load() != 3 {
			t.Errorf("%d workers ran after a panic", ran.Load())
		}
		p.stop()
	}
}

// fail panics with the worker's number.
func fail(worker int) { panic(worker) }

// recovered calls f and returns the value that it panics with.
func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
