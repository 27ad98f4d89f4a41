// Package predict is the stage that labels rows with a trained model, in
// constant memory.
//
// Columns read: features, or embedding where the model was trained on that. Added: prediction, predicted_class, probability.
package predict

import (
	"context"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
)

// Options of prediction.
type Options struct {
	Model    string // file
	Decision string // "accuracy", "balanced", "none"; "" is the model's own
}

// Apply labels rows with the model in a file.
func Apply(o Options) stages.Func {
	path := o.Model
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		model, sum, err := rows.LoadLabeller(path, o.Decision)
		if err != nil {
			return err
		}
		if err := rows.Require(in, inputRemedy(model), rows.ModelInput(env, model.Vectors)); err != nil {
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

// inputRemedy says how to come by the column that the model takes.
func inputRemedy(model *rows.Labeller) string {
	if model.Vectors != "" {
		return "this model was trained on embeddings: run mars-embed --load with the model that made them before"
	}
	return "begin with mars-featurize, or name the column with --features"
}
