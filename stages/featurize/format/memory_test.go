package format

import (
	"testing"

	"mars.dev/mars/arrowio"
)

// A slice does not grow beyond its budget in silence: what it holds is kept or an error
// comes of it.
func TestPushKeepsToTheBudget(t *testing.T) {
	mem := arrowio.NewBudget(1 << 10)
	var s []int64
	for i := range 1 << 10 {
		longer, err := push(mem, s, int64(i))
		if err != nil {
			if i == 0 || i > 1<<7 {
				t.Errorf("%d numbers of 8 bytes are in a budget of 1024", i)
			}
			return
		}
		if s = longer; len(s) != i+1 || s[i] != int64(i) || s[0] != 0 {
			t.Fatalf("after %d numbers there are %d", i+1, len(s))
		}
	}
	t.Error("the budget has no end")
}
