package embed

import (
	"context"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/stream"
)

// Wanted reports whether the rows of in are images without an embedding. Classes
// do not move in the space of pixels, so what follows their movement needs one.
func Wanted(env stages.Env, in arrowio.Stream) bool {
	r := &stream.Rows{Env: env, Stream: in}
	return r.Images() && !r.Has(env.Columns.Embedding)
}

// Images learns an embedding on the source where it is Wanted, and passes all
// other rows on as they are.
func Images(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
	if Wanted(env, in) {
		env.Logger().Info("the rows are images: learning an embedding on the source first")
		return Fit(Options{Arch: "auto"})(ctx, env, in, out)
	}
	if err := out.Begin(in.Schema()); err != nil {
		return err
	}
	return arrowio.Each(ctx, in, out.Write)
}
