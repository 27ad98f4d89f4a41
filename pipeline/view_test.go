package pipeline

import (
	"testing"
	"testing/synctest"
	"time"
)

// A stage's line says how far it has come, how fast, and the time that is left at that rate.
func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &activity{start: time.Now(), what: "epochs"}
		time.Sleep(20 * time.Second)
		for _, c := range []struct {
			done, total int64
			want        string
		}{
			{0, 40, "at work for " + seconds(20*time.Second)},
			{10, 40, "10 of 40 epochs, 0.5/s, 1m0s left"},
			{40, 40, "40 of 40 epochs, 2/s, 0s left"},
			{5_000, 0, "5000 epochs, 250/s"},
		} {
			if a.done, a.total = c.done, c.total; a.text() != c.want {
				t.Errorf("%d of %d: %q, want %q", c.done, c.total, a.text(), c.want)
			}
		}
	})
}
