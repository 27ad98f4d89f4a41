package stream

import (
	"context"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// State is what a stage has learnt from a stream.
type State interface {
	// Save keeps the state in a file, written whole or not at all, and returns
	// the SHA-256 of the file.
	Save(path string) (sum string, err error)
	// Emit passes the rows that were learnt from on to out with what the state
	// adds to them.
	Emit(ctx context.Context, r *Rows, out arrowio.Sink) error
}

// Fit is the fit mode of every stage: learn from the whole of in, save what was
// learnt if a path is given, then pass all rows on with what it adds to them.
func Fit[S State](ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink, path string,
	learn func(context.Context, *Rows) (S, error)) error {
	spool := arrowio.NewSpool(in, env.Memory)
	defer spool.Close()
	r := &Rows{Env: env, Stream: spool}
	state, err := learn(ctx, r)
	if err != nil {
		return err
	}
	if path != "" {
		sum, err := state.Save(path)
		if err != nil {
			return err
		}
		r.KeepState(path, sum)
	}
	if err := r.Rewind(); err != nil {
		return err
	}
	return state.Emit(ctx, r, out)
}
