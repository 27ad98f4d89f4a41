package arrowio

import "testing"

// A control group allows less than the machine has, or says nothing.
func TestMemoryOfControlGroup(t *testing.T) {
	for _, c := range []struct {
		machine int64
		limit   string
		want    int64
	}{
		{100, "", 100}, {100, "max\n", 100}, {100, "0\n", 100}, {100, "-1\n", 100},
		{100, "50\n", 50}, {100, "9223372036854771712\n", 100}, {0, "50\n", 50}, {0, "max\n", 0},
	} {
		if got := allowed(c.machine, c.limit); got != c.want {
			t.Errorf("a machine of %d with limit %q: %d, want %d", c.machine, c.limit, got, c.want)
		}
	}
}
