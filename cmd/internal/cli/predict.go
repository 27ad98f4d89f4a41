package cli

import (
	"github.com/spf13/cobra"

	"mars/stages"
	"mars/stages/predict"
)

// Predict is the command of the stage that applies a trained model.
func Predict() *cobra.Command {
	var o predict.Options
	cmd := &cobra.Command{
		Use:   "mars-predict",
		Short: "Label rows with a trained model",
		Long: `Adds prediction, predicted_class and probability (typicality too, if the model can tell) to any number of rows, in constant
memory and batch by batch, so that copies of it may run side by side on parts of the data.
It reads features or, if the model was trained on embeddings, embedding.`,
		Example: `  mars-predict --model model.safetensors more.arrow -o labelled.arrow
  mars-featurize --target new.csv --load prepared.arrow | mars-predict --model model.safetensors | mars inspect`,
	}
	cmd.Flags().StringVar(&o.Model, "model", "", "file that mars-train or mars-embed saved (required)")
	cmd.Flags().Var(oneOf{&o.Decision, decisions}, "decision", "what predictions are made ready for: the most right rows, the best mean recall of the classes, or neither (default: as the model was trained)")
	return streamCommand(cmd, []string{"features", "embedding", "prediction", "predicted_class", "probability", "typicality"}, func(*cobra.Command, *common) (stages.Func, error) {
		if o.Model == "" {
			return nil, usagef("say which model: --model FILE")
		}
		return predict.Apply(o), nil
	})
}
