// Package predict is the stage that labels rows with a trained model, in
// constant memory.
//
// Columns read: features, or embedding where the model was trained on that.
// Added: prediction, predicted_class, probability.
package predict

import (
	"context"
	"fmt"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/stream"
)

// Options of prediction.
type Options struct {
	Model    string // file
	Decision string // "accuracy", "balanced", "none"; "" is the model's own
}

// Apply labels rows with the model in a file.
func Apply(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		model, sum, err := models.Load(ctx, o.Model, o.Decision)
		if err != nil {
			return err
		}
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require(inputAdvice(model), models.Input(env, model.Vectors)); err != nil {
			return err
		}
		if err := models.CheckPreparation(r, model.Preparation); err != nil {
			return err
		}
		r.KeepState(o.Model, sum)
		meta, err := r.Meta()
		if err != nil {
			return err
		}
		return model.Emit(ctx, r, out, meta)
	}
}

// inputAdvice says how to come by the column that the model takes.
func inputAdvice(model *models.Labeller) string {
	if model.Vectors != "" {
		return "this model was trained on embeddings: run mars-embed --load with the model that made them before"
	}
	return "begin with mars-featurize, or name the column with --features"
}

// Preparation is how the rows of the model in a file have to be prepared, as
// featurize.Options.Prepared takes it, and its classes. It fails for a model that cannot
// be applied to files: one that takes embeddings, or does not know its columns.
func Preparation(ctx context.Context, path string) (text string, classes []string, err error) {
	model, _, err := models.Load(ctx, path, "")
	switch {
	case err != nil:
		return "", nil, err
	case model.Vectors != "":
		return "", nil, fmt.Errorf("%s: %s", path, inputAdvice(model))
	case model.Preparation == "":
		return "", nil, fmt.Errorf("%s: the model does not say how its rows were prepared: prepare the file with mars-featurize, or train the model again", path)
	}
	return model.Preparation, model.Classes, nil
}
