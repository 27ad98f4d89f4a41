package rows

import (
	"context"

	"mars/arrowio"
	"mars/stages"
)

// A Learnt is what a stage has learnt from a stream: how to save it (nil if
// there is nothing to save) and how to apply it to the stream's rows.
type Learnt struct {
	Save func(path string) (sum string, err error)
	Emit func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error
}

// Fit is the fit mode of every stage: learn from the whole of in, save what was
// learnt if a path is given, then pass all rows on with what it adds to them.
func Fit(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink, path string,
	learn func(*arrowio.Spool) (*Learnt, error)) error {
	spool, err := arrowio.NewSpool(in, arrowio.SpoolOptions{Memory: env.Memory})
	if err != nil {
		return err
	}
	defer spool.Close()
	learnt, err := learn(spool)
	if err != nil {
		return err
	}
	if path != "" && learnt.Save != nil {
		sum, err := learnt.Save(path)
		if err != nil {
			return err
		}
		env.KeepState(path, sum)
	}
	if err := spool.Rewind(); err != nil {
		return err
	}
	return learnt.Emit(ctx, env, spool, out)
}
