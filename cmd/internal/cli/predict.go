package cli

import (
	"github.com/spf13/cobra"

	"mars/stages"
	"mars/stages/predict"
)

// Predict is the command of the stage that applies a trained model.
func Predict() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use:   "mars-predict",
		Short: "Label rows with a trained model",
		Long: `Adds prediction, predicted_class and probability to any number of rows, in constant
memory and batch by batch, so that copies of it may run side by side on parts of the data.`,
		Example: `  mars-predict --model model.safetensors more.arrow -o labelled.arrow
  mars-featurize --target new.csv --load prepared.arrow | mars-predict --model model.safetensors | mars inspect`,
	}
	cmd.Flags().StringVar(&model, "model", "", "safetensors file that mars-train or mars-embed saved (required)")
	return streamCommand(cmd, []string{"features", "prediction", "predicted_class", "probability"}, func(*cobra.Command, *common) (stages.Func, error) {
		if model == "" {
			return nil, usagef("say which model: --model FILE")
		}
		return predict.Apply(model), nil
	})
}
