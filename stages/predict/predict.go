// Package predict is the stage that labels rows with a trained model, in
// constant memory.
//
// Columns read: features. Added: prediction, predicted_class, probability.
package predict

import (
	"context"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/internal/state"
	"mars/stages/train/adapt"
)

// Apply labels rows with the model in a file.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		if err := rows.Require(in, "begin with mars-featurize, or name the column with --features", env.Columns.Features); err != nil {
			return err
		}
		model, sum, err := state.Load(path, adapt.Load)
		if err != nil {
			return err
		}
		env.KeepState(path, sum)
		meta, err := arrowio.ReadMeta(in.Schema())
		if err != nil {
			return err
		}
		return rows.Predict(ctx, env, in, out, meta, model)
	}
}
