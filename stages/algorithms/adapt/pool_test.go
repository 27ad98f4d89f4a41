package adapt

import (
	"runtime"
	"testing"
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
