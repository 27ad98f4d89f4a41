package adapt

import (
	"runtime"
	"testing"
)

// Members that come late to a round, or park in it, must neither miss it nor take
// its call for the next one's.
func TestCrewRunsEveryRoundOnce(t *testing.T) {
	for size := 1; size <= 4; size++ {
		for _, looks := range []int{0, 1, 100} {
			c := startCrew(size, looks)
			counts := make([]int, size)
			for round := 1; round <= 2000; round++ {
				c.run(func(member int) {
					if (round+member)%7 == 0 {
						runtime.Gosched()
					}
					counts[member]++
				})
				for member, n := range counts {
					if n != round {
						t.Fatalf("%d members, %d looks: member %d did %d of %d rounds", size, looks, member, n, round)
					}
				}
			}
			c.dismiss()
		}
	}
}
