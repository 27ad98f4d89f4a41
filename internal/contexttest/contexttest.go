// Package contexttest tests that functions stop soon after their context ends.
package contexttest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// countdown is a context that ends after a number of calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// Stops tests that f returns the error of its context when that ends, at any
// point: it calls f with contexts that end after 0, 1, 2, 3, … calls of Err, in
// growing steps, until f succeeds. Then f must have called Err at least least
// times.
func Stops(t testing.TB, least int, f func(ctx context.Context) error) {
	t.Helper()
	for calls := 0; ; calls += 1 + calls/4 {
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(int64(calls))
		err := f(ctx)
		if err == nil && ctx.left.Load() >= 0 {
			if calls < least {
				t.Errorf("Err was called at most %d times, want at least %d", calls, least)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d calls of Err, its error is %v, want %v", calls, err, context.Canceled)
		}
	}
}
