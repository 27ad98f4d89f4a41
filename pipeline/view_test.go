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

// What a stage counts with a total is shown rather than its rows, until that is done. A stage
// that has counted nothing waits for the one before it, and its time begins when that ends.
func TestProgressInView(t *testing.T) {
	nodes := testNodes(t)
	synctest.Test(t, func(t *testing.T) {
		var screen strings.Builder
		v := &Live{W: &screen}
		v.Plan(nil, nodes)
		v.Start(nodes[0])
		v.Start(nodes[1])
		shown := func(n *Node, what string, done, total int64) string {
			screen.Reset()
			time.Sleep(2 * redrawEvery)
			v.Progress(n, what, done, total)
			_, drawn, _ := strings.Cut(screen.String(), "\x1b[J")
			lines := strings.Split(strings.TrimSpace(drawn), "\n")
			return strings.Join(lines[len(lines)-len(v.active):], "; ")
		}
		for _, c := range []struct {
			what        string
			done, total int64
			want        string
		}{
			{"rows", 0, 0, "make: at work for 0.2 s"}, {"rows", 4, 0, "make: 4 rows, "}, {"epochs", 1, 2, "make: 1 of 2 epochs, "},
			{"rows", 9, 0, "make: 1 of 2 epochs, "}, {"epochs", 2, 2, "make: 2 of 2 epochs, "}, {"rows", 9, 0, "make: 9 rows, "},
			{"epochs", 0, 1, "make: at work for "}, {"rows", 9, 0, "make: at work for "},
		} {
			if got := shown(nodes[0], c.what, c.done, c.total); !strings.Contains(got, "] "+c.want) || !strings.HasSuffix(got, "map: waits for the rows of make") {
				t.Errorf("at %d of %d %s: %q, want %s", c.done, c.total, c.what, got, c.want)
			}
		}
		v.Done(nodes[0], 9, time.Second, nil)
		if got := shown(nodes[1], "rows", 0, 0); got != "[1/2] map: at work for 0.2 s" {
			t.Errorf("when the first has ended: %q", got)
		}
		v.Start(nodes[0])
		if got := shown(nodes[1], "rows", 1, 0); !strings.HasPrefix(got, "[1/2] map: 1 rows, ") {
			t.Errorf("when it has counted: %q", got)
		}
		time.Sleep(10 * time.Second)
		v.Done(nodes[0], 9, time.Second, nil) // which does not begin the time of one that has counted
		if got := shown(nodes[1], "rows", 106, 0); got != "[2/2] map: 106 rows, 10/s" {
			t.Errorf("at last: %q", got)
		}
		screen.Reset()
		v.Progress(nodes[1], "rows", 107, 0) // too soon
		if screen.Len() > 0 {
			t.Errorf("drawn again at once: %q", &screen)
		}
	})
}
