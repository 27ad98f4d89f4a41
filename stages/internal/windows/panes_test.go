package windows

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

var errBroken = errors.New("broken")

// A slot counts its rows.
type slot struct{ number, rows int64 }

func (s *slot) Slot() int64 { return s.number }

// newDivider divides rows into panes of two rows, or of ten seconds.
func newDivider(timed bool) *Divider[*slot] {
	d := &Divider[*slot]{Panes: &Panes[*slot]{}, Size: 2, New: func(number int64) *slot { return &slot{number: number} }, Add: func(s *slot, _ Row) { s.rows++ }}
	if timed {
		d.Window = 10 * time.Second
		d.Size = int64(d.Window)
	}
	return d
}

// at is a row of a time in seconds.
func at(seconds int64) Row { return Row{Time: seconds * int64(time.Second)} }

// An error of who is given the panes comes back, whatever closes the pane; of panes of time the row is not taken.
func TestPanesThatNobodyTakes(t *testing.T) {
	for _, c := range []struct {
		name   string
		timed  bool
		before []int64 // times of rows that close nothing
		row    int64   // the time of the one that does; -1: the end of the stream
		taken  bool
		rows   int64 // then
	}{
		{"a number of rows", false, []int64{0}, 0, true, 2},
		{"a time", true, []int64{0, 0}, 10, false, 2},
		{"a pause that a second row confirms", true, []int64{0, 0, 1000}, 1001, false, 3},
		{"the end", true, []int64{0, 0, 5}, -1, false, 3},
		{"the end of rows", false, []int64{0}, -1, false, 1},
		{"the end in a pause", true, []int64{0, 0, 1000}, -1, false, 3},
		{"the end after one row", true, []int64{0}, -1, false, 1},
	} {
		d, calls := newDivider(c.timed), 0
		end := func(context.Context, *slot, bool) error {
			if calls++; calls == 1 {
				return errBroken
			}
			return nil
		}
		for _, seconds := range c.before {
			if taken, err := d.Take(t.Context(), at(seconds), end); !taken || err != nil {
				t.Fatalf("%s: %v, %v at %d", c.name, taken, err, seconds)
			}
		}
		var taken bool
		var err error
		if c.row < 0 {
			err = d.Finish(t.Context(), end)
		} else {
			taken, err = d.Take(t.Context(), at(c.row), end)
		}
		if taken != c.taken || !errors.Is(err, errBroken) || calls != 1 || d.Rows != c.rows {
			t.Errorf("%s: taken %v, %v, %d panes are given, %d rows", c.name, taken, err, calls, d.Rows)
		}
	}
}

// A row of the pane that was closed last is late, and one of the next pane is not. The first late one since Settle is told.
func TestLate(t *testing.T) {
	var warnings []string
	var closed []slot
	d := newDivider(true)
	d.Warn = func(text string) { warnings = append(warnings, text) }
	end := func(_ context.Context, s *slot, _ bool) error { closed = append(closed, *s); return nil }
	take := func(seconds ...int64) {
		for _, s := range seconds {
			if _, err := d.Take(t.Context(), at(s), end); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(5, 9, 10, 19, 9, 0, 10)
	if want := []slot{{0, 2}}; !slices.Equal(closed, want) || d.Late != 2 || d.Rows != 5 {
		t.Errorf("%v are closed, want %v; %d rows are late, of %d", closed, want, d.Late, d.Rows)
	}
	if want := []string{"a row of 1970-01-01T00:00:09Z is late: its window is closed, so it is left out, and counted as late; --late waits for such rows"}; !slices.Equal(warnings, want) {
		t.Errorf("%q\nwant %q", warnings, want)
	}
	d.Settle()
	take(8)
	if len(warnings) != 2 || d.Late != 1 {
		t.Errorf("after Settle: %q, %d late rows", warnings, d.Late)
	}
}

// So many late rows in succession as MaxStray are an error, and one less is none.
func TestStrayRows(t *testing.T) {
	d := newDivider(true)
	end := func(context.Context, *slot, bool) error { return nil }
	for i, seconds := range append([]int64{100, 100}, make([]int64, MaxStray)...) {
		taken, err := d.Take(t.Context(), at(seconds), end)
		if last := i == MaxStray+1; last != (err != nil) || last == taken {
			t.Fatalf("row %d: %v, %v", i+1, taken, err)
		}
		if late := (*LateError)(nil); err != nil && (!errors.As(err, &late) || late.After != 100e9) {
			t.Error(err)
		}
	}
}
