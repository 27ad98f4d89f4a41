package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Mars is the command that holds all others.
func Mars() *cobra.Command {
	root := &cobra.Command{
		Use:   "mars",
		Short: "Label data whose class balance and class looks differ from the labelled data's",
		Long: `MARS (match and reweight) takes rows with labels (source) and rows without (target)
whose class balance and class-conditionals differ, and estimates the class proportions
and the labels of the target. Each stage is a filter over an Arrow stream; the same
stages are programs of their own, called mars-featurize, mars-embed and so on.`,
		Example: `  mars featurize toy --shift 8 --target-proportions 0.66,0.17,0.17 --truth |
    mars embed | mars cluster --method gmm | mars match | mars reweight |
    mars train --method marsg --save model.safetensors | mars eval
  mars inspect labelled.arrow`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, stage := range stageCommands() {
		root.AddCommand(mount(stage()))
	}
	root.AddCommand(runCommand(), cacheCommand(), provenanceCommand(), inspectCommand(), versionCommand())
	root.AddCommand(proportionsCommand(), labelCommand())
	return newCommand(root)
}

// mount makes a subcommand of a program: "mars-embed" becomes "embed".
func mount(cmd *cobra.Command) *cobra.Command {
	cmd.Use = strings.TrimPrefix(cmd.Use, "mars-")
	cmd.Example = strings.ReplaceAll(cmd.Example, "mars-", "mars ")
	for _, sub := range cmd.Commands() {
		mount(sub)
	}
	return cmd
}
