package cli

import (
	"github.com/spf13/cobra"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/embed"
)

// Embed is the command of the stage that learns a representation.
func Embed() *cobra.Command {
	var o embed.Options
	var load string
	var n networkFlags
	cmd := &cobra.Command{
		Use:   "mars-embed",
		Short: "Learn a representation on the source rows and add it to every row",
		Long: `Trains a representation g and a classifier h on the labelled source rows, or with
--method self-training on the target's rows too, and adds the column embedding, z = g(x), to all
rows. With --load it applies a saved model instead,
to any number of rows in constant memory; models of mars-train work too.`,
		Example: `  mars-featurize toy | mars-embed --save g.safetensors -o embedded.arrow
  mars-embed --hold-out 3 --save g.safetensors features.arrow -o embedded.arrow
  mars-embed --load g.safetensors more.arrow -o more-embedded.arrow
  mars-featurize --source a.csv --target b.csv | mars-embed --arch identity | mars-cluster`,
	}
	o.Method = embed.Methods()[0]
	cmd.Flags().Var(oneOf{&o.Method, embed.Methods()}, "method", "how to learn: on the source alone, or on augmented rows of both domains, with labels that the network gives the target")
	n.register(cmd.Flags())
	cmd.Flags().StringVar(&o.Augment, "augment", "", augmentHelp("with self-training"))
	cmd.Flags().StringVar(&o.Save, "save", "", "keep the model in this safetensors file")
	cmd.Flags().StringVar(&load, "load", "", "apply the model in this file instead of learning one")
	return streamCommand(cmd, []string{"features", "domain", "label", "embedding", "unseen"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return embed.Apply(load), refuse(cmd, "--load applies a model and learns nothing", append(n.names(), "save", "method", "augment"))
		}
		if o.Method == embed.Methods()[0] {
			if err := refuse(cmd, "--method "+o.Method+" changes no row at random", []string{"augment"}); err != nil {
				return nil, err
			}
		}
		var err error
		o.Arch, o.HoldOut, o.Tune = n.arch, n.holdOut, n.given(cmd.Flags())
		o.Shape, err = parseShape(n.shape)
		return embed.Fit(o), err
	})
}
