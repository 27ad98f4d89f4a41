package tables

import (
	"context"
	"io"
)

// contextReaderAt is a reader that fails once its context has ended.
type contextReaderAt struct {
	ctx context.Context
	io.ReaderAt
}

func (r contextReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, at)
}

// abandonable calls read, and does not wait for it once ctx has ended: it is for what takes long and
// asks no context. A panic of read is one of the caller.
func abandonable[T any](ctx context.Context, read func() (T, error)) (T, error) {
	var value, none T
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		value, err = read()
	}()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case <-done:
	}
	if panicked != nil {
		panic(panicked)
	}
	return value, err
}

// stepValues is how many values or rows are worked on between two checks of the
// context.
const stepValues = 1 << 16

// ended returns the error of ctx, but only at the first step of a loop and at
// every stepValues-th.
func ended(ctx context.Context, step int) error {
	if step%stepValues != 0 {
		return nil
	}
	return ctx.Err()
}
