package pipeline

import (
	"strings"
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

// Lines of stages at work end before the edge of the terminal, and take the place of those before.
func TestLinesFit(t *testing.T) {
	node := testNodes(t)[0]
	for _, c := range []struct{ width, want int }{{0, defaultWidth - 1}, {40, 39}, {2, 1}, {1, 1}} {
		var screen strings.Builder
		v := &Live{W: &screen, Width: func() int { return c.width }, active: []*activity{{node: node, what: strings.Repeat("rows ", 30), done: 5, start: time.Now()}}, total: 3}
		v.above("")
		if line := strings.TrimSuffix(screen.String(), "\n"); len([]rune(line)) != c.want {
			t.Errorf("of a width of %d: %q, want %d characters", c.width, line, c.want)
		}
		screen.Reset()
		v.active = nil
		v.above("done")
		if got := screen.String(); got != "\x1b[1A\x1b[Jdone\n" {
			t.Errorf("the line becomes %q", got)
		}
	}
}
