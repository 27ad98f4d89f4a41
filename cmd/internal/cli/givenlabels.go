package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/stages/ask"
)

// givenLabels are the flags of labels that a person gave some target rows, and the labels.
type givenLabels struct {
	ask.Labels
	path  string
	fresh []string
}

func (g *givenLabels) register(f *pflag.FlagSet) {
	f.StringVar(&g.path, "labels", "", "the table of mars ask, filled in as far as you like: the answer heeds these labels of the target")
	f.StringSliceVar(&g.fresh, "new-class", nil, "values in --labels that are classes which the source lacks, though they are spelt almost like one of its own")
}

// read reads the labels, if there are any, which are in a column. Their seed is that of the fit, unless another is given:
// so the answer is that of the model whose guesses the table has.
func (g *givenLabels) read(cmd *cobra.Command, column string, c *common) (err error) {
	if g.path == "" {
		if g.fresh != nil {
			return usagef("--new-class names values in --labels: give both")
		}
		return nil
	}
	if g.Labels, err = ask.ReadLabels(cmd.Context(), g.path, column, g.fresh); err != nil {
		return err
	}
	if !cmd.Flags().Changed("seed") {
		c.seed = g.Sheet.Seed
	}
	return nil
}
