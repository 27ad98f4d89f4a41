package arrowio

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

// limited gives the process 100 bytes, once what other tests have held is back.
func limited(t *testing.T) {
	for range 100 {
		if process.Used() == 0 {
			break
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	SetMemoryLimit(process.Used() + 100)
	t.Cleanup(func() { SetMemoryLimit(0) })
}

// What budgets hold together is not more than the process may have, and what a part holds is
// given back with it.
func TestBudgetsAreParts(t *testing.T) {
	limited(t)
	before := process.Used()
	a := NewBudget(0)
	part := a.Part()
	if err := part.Take(60); err != nil || a.Used() != 60 || process.Used() != before+60 {
		t.Errorf("a part of 60 is %d of its budget and %d of the process, %v", a.Used(), process.Used()-before, err)
	}
	b := NewBudget(0)
	var refused *LimitError
	if err := b.Take(50); !errors.As(err, &refused) || b.Used() != 0 {
		t.Errorf("60 and 50 are 100: %v; %d are taken", err, b.Used())
	}
	part.Close()
	if err := b.Take(50); err != nil || a.Used() != 0 || part.Used() != 0 {
		t.Errorf("after the part is closed it holds %d, its budget %d, %v", part.Used(), a.Used(), err)
	}
	b.Give(50)
	if process.Used() != before {
		t.Errorf("the process holds %d more than before", process.Used()-before)
	}
}

// What a budget holds comes back when nobody has the budget any more.
func TestBudgetsThatNobodyHolds(t *testing.T) {
	limited(t)
	for range 20 {
		if err := NewBudget(60).Take(60); err != nil {
			t.Fatal(err)
		}
	}
}

// What is needed is more than the limit, in the message too.
func TestLimitError(t *testing.T) {
	for want, e := range map[string]LimitError{
		"needs 3934 KB of memory, the limit is 3933 KB": {3933<<10 + 200, 3933<<10 + 100},
		"needs 8191 KB of memory, the limit is 8190 KB": {8<<20 - 1024, 8<<20 - 2048},
		"needs 8 MB of memory, the limit is 7 MB":       {8 << 20, 7 << 20},
		"needs 65 MB of memory, the limit is 64 MB":     {64<<20 + 1, 64 << 20},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
