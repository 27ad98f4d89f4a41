package pipeline

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
)

// Lines is a View that writes a line for each thing that happens.
type Lines struct {
	W     io.Writer
	Quiet bool // write warnings alone
	mu    sync.Mutex
}

func (v *Lines) print(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintln(v.W, safetext.EscapeLines(fmt.Sprintf(format, args...)))
}

// Plan says how much there is to do, and what there is already.
func (v *Lines) Plan(reuse, run []*Node) {
	if v.Quiet {
		return
	}
	for _, n := range reuse {
		v.print("%s: cached", n.Label())
	}
	v.print("%s", planText(reuse, run))
}

func planText(reuse, run []*Node) string {
	if len(run) == 0 {
		return fmt.Sprintf("nothing to run: %s in the cache", spelling.Count(len(reuse), "stage", "stages"))
	}
	return fmt.Sprintf("%s to run, %d in the cache", spelling.Count(len(run), "stage", "stages"), len(reuse))
}

// Start prints nothing: a line a stage is enough.
func (v *Lines) Start(*Node) {}

// Progress prints nothing.
func (v *Lines) Progress(*Node, string, int64, int64) {}

// Log passes on a line of a stage's log.
func (v *Lines) Log(n *Node, line string) {
	if !v.Quiet || strings.Contains(line, "warning") {
		v.print("%s: %s", n.Label(), withoutCommand(line))
	}
}

// withoutCommand takes the command's name off a line of a stage's log.
func withoutCommand(line string) string {
	if name, rest, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(name, "mars-") {
		return rest
	}
	return line
}

// Done prints the line of a stage. Run returns failures.
func (v *Lines) Done(n *Node, rows int64, took time.Duration, err error) {
	if err == nil && !v.Quiet {
		v.print("%s", doneText(n, rows, took))
	}
}

func doneText(n *Node, rows int64, took time.Duration) string {
	if !n.Stage.Rows {
		return fmt.Sprintf("%s: done in %s", n.Label(), seconds(took))
	}
	return fmt.Sprintf("%s: %s in %s", n.Label(), spelling.Count(rows, "row", "rows"), seconds(took))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// Warn prints a warning.
func (v *Lines) Warn(text string) { v.print("warning: %s", text) }

// Live is a View for a terminal. Finished stages scroll by; below them a line for
// each stage at work is kept up to date.
type Live struct {
	W      io.Writer
	Width  func() int // of the terminal; nil or 0 if unknown
	mu     sync.Mutex
	active []*activity
	drawn  int       // lines of stages at work that are on the screen
	total  int       // stages to run
	done   int       // stages that have run
	last   time.Time // when the lines were drawn
}

// An activity is a stage at work.
type activity struct {
	node        *Node
	start       time.Time
	what        string // is counted: rows, epochs
	done, total int64  // total is 0 if it is not known
}

// defaultWidth is the width of a terminal that does not tell its own.
const defaultWidth = 80

// redrawEvery keeps a fast stage from flooding the terminal.
const redrawEvery = 100 * time.Millisecond

// above prints a line, if it is not "", above those of the stages at work, and draws
// these again.
func (v *Live) above(text string) {
	v.clear()
	if text != "" {
		fmt.Fprintln(v.W, safetext.EscapeLines(text))
	}
	v.draw()
}

func (v *Live) clear() {
	if v.drawn > 0 {
		fmt.Fprintf(v.W, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn = 0
	}
}

func (v *Live) draw() {
	v.last = time.Now()
	width := defaultWidth
	if v.Width != nil && v.Width() > 0 {
		width = v.Width()
	}
	for _, a := range v.active {
		line := []rune(safetext.Escape(fmt.Sprintf("[%d/%d] %s: %s", v.done, v.total, a.node.Label(), v.text(a))))
		fmt.Fprintln(v.W, string(line[:min(len(line), max(1, width-1))]))
		v.drawn++
	}
}

// text is what a stage does. One that has counted nothing waits for the rows of the
// stage before it, if that is at work.
func (v *Live) text(a *activity) string {
	if before := v.find(a.node.Parent); before != nil && a.done == 0 {
		return "waits for the rows of " + before.node.Label()
	}
	return a.text()
}

// find is the activity of a node, nil if it is not at work.
func (v *Live) find(n *Node) *activity {
	for _, a := range v.active {
		if a.node == n {
			return a
		}
	}
	return nil
}

// text is how far a stage has come: amount, rate and, if the total is known, the time
// left.
func (a *activity) text() string {
	took := time.Since(a.start)
	if a.done == 0 {
		return "at work for " + seconds(took)
	}
	rate := float64(a.done) / took.Seconds()
	if a.total <= 0 {
		return fmt.Sprintf("%d %s, %.0f/s", a.done, a.what, rate)
	}
	left := time.Duration(float64(a.total-a.done) / rate * float64(time.Second))
	return fmt.Sprintf("%d of %d %s, %.3g/s, %s left", a.done, a.total, a.what, rate, left.Round(time.Second))
}

// Plan says how much there is to do.
func (v *Live) Plan(reuse, run []*Node) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.total, v.done = len(run), 0
	for _, n := range reuse {
		v.above(n.Label() + ": cached")
	}
	v.above(planText(reuse, run))
}

// Start adds a stage's line.
func (v *Live) Start(n *Node) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.active = append(v.active, &activity{node: n, start: time.Now()})
	v.above("")
}

// Progress brings a stage's line up to date. A count with a total, as of epochs, is
// preferred to one without, as of rows.
func (v *Live) Progress(n *Node, what string, done, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.find(n); a != nil && (total > 0 || a.total <= 0 || a.done == a.total) {
		a.what, a.done, a.total = what, done, total
	}
	if time.Since(v.last) > redrawEvery {
		v.above("")
	}
}

// Log passes on a line of a stage's log.
func (v *Live) Log(n *Node, line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.above(n.Label() + ": " + withoutCommand(line))
}

// Done turns a stage's line into one that stays.
func (v *Live) Done(n *Node, rows int64, took time.Duration, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.active = slices.DeleteFunc(v.active, func(a *activity) bool { return a.node == n })
	for _, a := range v.active {
		if a.node.Parent == n && a.done == 0 {
			a.start = time.Now() // until now it waited
		}
	}
	text := ""
	if err == nil {
		v.done++
		text = doneText(n, rows, took)
	}
	v.above(text)
}

// Warn prints a warning.
func (v *Live) Warn(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.above("warning: " + text)
}
