package windows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// A Pane is the rows that windows of a stream have in common: a window, or the part by which windows
// slide. Its number is that of its slot in time, or among all panes of a number of rows.
type Pane interface{ Slot() int64 }

// Panes are what is known of a stream whose rows are divided.
type Panes[P Pane] struct {
	Rows   int64 // that were taken
	Latest int64 // time of any row
	Closed int64 // the number of the last pane that was closed
	First  int64 // the number of the first pane
	Begun  bool
	Open   []P   // by number
	Stray  int64 // rows in succession that were late
	Held   *Row  // one whose time is far ahead of all others'

	// Late are rows in no pane since Settle: those of closed ones, and those so far ahead that no
	// other row has agreed.
	Late int64
}

// A Row comes with its time, in nanoseconds since 1970. A clock that is wrong once would close all
// windows: a row that is far ahead waits for a second one that agrees.
type Row struct {
	Time    int64
	Row     []float32
	Missing int64 // cells
}

// A Divider puts the rows of a stream into panes, and closes them.
type Divider[P Pane] struct {
	*Panes[P]
	Size   int64         // of a pane: rows, or nanoseconds
	Window time.Duration // that panes are of; 0: of rows
	Wait   time.Duration // how long rows may be late
	New    func(number int64) P
	Add    func(P, Row)      // puts a row, which it does not keep, into a pane
	Warn   func(text string) // of the first row in no pane since Settle
	warned bool
}

// Close takes a pane that has ended. It is complete unless the stream ended before it.
type Close[P Pane] func(ctx context.Context, p P, complete bool) error

// MaxStray is how many rows may be late in succession, and farWindows by how many windows a row has to be
// ahead of all others to be held.
const (
	MaxStray   = 10_000
	farWindows = 10
)

// A LateError is too many late rows in succession.
type LateError struct{ After int64 }

// Error says what is wrong.
func (e *LateError) Error() string {
	return fmt.Sprintf("%d rows in succession are late: their times are before windows that are closed, which a row of %s has closed: if the clock was set back, or that row's time was wrong, begin anew without the checkpoint; or allow later rows with --late", MaxStray, TimeText(e.After))
}

// Take takes the next row. The error says whether it was taken: of panes of time it was not.
func (d *Divider[P]) Take(ctx context.Context, row Row, end Close[P]) (taken bool, err error) {
	if d.Window > 0 {
		err := d.takeTimed(ctx, row, end)
		return err == nil, err
	}
	number := d.Rows / d.Size
	d.put(number, row)
	if d.Rows%d.Size == 0 {
		err = d.closeTo(ctx, number, end)
	}
	return true, err
}

// put puts a row into its pane.
func (d *Divider[P]) put(number int64, row Row) {
	d.Add(d.open(number), row)
	d.Rows++
}

// isFar reports whether time a is far ahead of b.
func (d *Divider[P]) isFar(a, b int64) bool {
	return float64(a)-float64(b) > farWindows*float64(d.Window)+float64(d.Wait)
}

// takeTimed takes a row of a time. After an error it is not taken.
func (d *Divider[P]) takeTimed(ctx context.Context, row Row, end Close[P]) error {
	number := row.Time / d.Size
	isLate := func() bool { return d.Begun && number <= d.Closed }
	if !isLate() { // a row that is says nothing of one that was held
		if err := d.settleHeld(ctx, row.Time, end); err != nil {
			return err
		}
	}
	if isLate() {
		return d.late(row.Time)
	}
	if !d.Begun || d.isFar(row.Time, d.Latest) {
		row.Row = slices.Clone(row.Row)
		d.Held = &row
		return nil
	}
	// Windows close before the row is taken, and at its row for whoever looks.
	if err := d.reach(ctx, row.Time, end); err != nil {
		return err
	}
	d.put(number, row)
	return nil
}

// late counts a row whose window is closed. Of another row's time it says nothing.
func (d *Divider[P]) late(at int64) error {
	d.Late++
	d.warn("a row of %s is late: its window is closed, so it is left out, and counted as late; --late waits for such rows", at)
	if d.Stray++; d.Stray >= MaxStray {
		return &LateError{d.Latest}
	}
	return nil
}

// settleHeld takes the row that is held if a row of a time agrees with it, and else leaves it out.
func (d *Divider[P]) settleHeld(ctx context.Context, at int64, end Close[P]) error {
	h := d.Held
	switch {
	case h == nil:
		return nil
	case d.isFar(h.Time, at):
		d.Held = nil
		d.Late++
		d.warn("a row of %s is far ahead of the rows before and after it: it is left out, and counted as late; check the clock that it is from", h.Time)
		return nil
	}
	return d.takeHeld(ctx, end)
}

// takeHeld takes the row that is held, also where an error ends the closing of windows.
func (d *Divider[P]) takeHeld(ctx context.Context, end Close[P]) error {
	h := d.Held
	d.Held = nil
	err := d.reach(ctx, h.Time, end)
	d.put(h.Time/d.Size, *h)
	return err
}

// reach notes that a time has come, and closes the panes that end with it.
func (d *Divider[P]) reach(ctx context.Context, at int64, end Close[P]) error {
	number := at / d.Size
	d.Stray = 0
	if d.Latest = max(d.Latest, at); !d.Begun {
		d.Closed = number - 1 - int64(d.Wait)/d.Size // rows may yet come that are earlier
		d.First = number
		d.Begun = true
	}
	d.First = min(d.First, number)
	return d.closeTo(ctx, (d.Latest-int64(d.Wait))/d.Size-1, end)
}

// warn tells of a row of a time, once until Settle.
func (d *Divider[P]) warn(format string, at int64) {
	if d.Warn != nil && !d.warned {
		d.Warn(fmt.Sprintf(format, TimeText(at)))
	}
	d.warned = true
}

// Settle counts late rows anew, as those before have been told of.
func (d *Divider[P]) Settle() { d.Late, d.warned = 0, false }

// open is the open pane of a number.
func (d *Divider[P]) open(number int64) P {
	if n := len(d.Open); n > 0 && d.Open[n-1].Slot() == number {
		return d.Open[n-1]
	}
	at, found := slices.BinarySearchFunc(d.Open, number, func(p P, n int64) int { return cmp.Compare(p.Slot(), n) })
	if !found {
		d.Open = slices.Insert(d.Open, at, d.New(number))
	}
	return d.Open[at]
}

// closeTo closes the panes up to a number.
func (d *Divider[P]) closeTo(ctx context.Context, number int64, end Close[P]) error {
	for len(d.Open) > 0 && d.Open[0].Slot() <= number {
		if err := d.closeFirst(ctx, true, end); err != nil {
			return err
		}
	}
	if d.Closed < number || !d.Begun {
		d.Closed = number
	}
	return nil
}

func (d *Divider[P]) closeFirst(ctx context.Context, complete bool, end Close[P]) error {
	p := d.Open[0]
	d.Open = d.Open[1:]
	return end(ctx, p, complete)
}

// Finish closes the panes that are open, which are not complete: the stream has ended.
func (d *Divider[P]) Finish(ctx context.Context, end Close[P]) error {
	if d.Held != nil {
		if err := d.takeHeld(ctx, end); err != nil {
			return err
		}
	}
	for len(d.Open) > 0 {
		if err := d.closeFirst(ctx, false, end); err != nil {
			return err
		}
	}
	return nil
}
