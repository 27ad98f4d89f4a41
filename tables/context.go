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
