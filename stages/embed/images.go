package embed

import (
	"context"
	"errors"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/internal/stream"
)

// Wanted reports whether the rows of in are images without an embedding. Classes
// do not move in the space of pixels, so what follows their movement needs one.
func Wanted(env stages.Env, in arrowio.Stream) bool {
	r := &stream.Rows{Env: env, Stream: in}
	return r.Images() && !r.Has(env.Columns.Embedding)
}

// Images learns an embedding where it is Wanted, and passes all other rows on as they are.
func Images(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		if Wanted(env, in) {
			how := "on the source"
			if o.Method == selftrain.Method {
				how = "by self-training"
			}
			env.Logger().Info("the rows are images: learning an embedding " + how + " first")
			return Fit(o)(ctx, env, in, out)
		}
		if o.Augment != "" {
			r := &stream.Rows{Env: env, Stream: in}
			return r.Fail("", errors.New("these rows are no images without an embedding, so no image is changed"), "leave --augment out, or say the shape of the images with --shape")
		}
		if err := out.Begin(in.Schema()); err != nil {
			return err
		}
		return arrowio.Each(ctx, in, out.Write)
	}
}
