package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"mars.dev/mars/internal/spelling"
)

// groups are the headings of mars --help, with their commands in order.
var groups = []struct {
	title    string
	commands []func() *cobra.Command
}{
	{"Answers, from two files:", []func() *cobra.Command{proportionsCommand, labelCommand, askCommand, Predict, watchCommand, checkCommand, exportCommand, uiCommand}},
	{"Steps, each a filter over a stream of rows:", []func() *cobra.Command{Featurize, Embed, Cluster, Match, Reweight, Train, Eval}},
	{"Many rows, in parts:", []func() *cobra.Command{sketchCommand, mergeCommand, respondCommand}},
	{"Looking at what there is:", []func() *cobra.Command{viewCommand, plotCommand, reportCommand, inspectCommand, provenanceCommand, versionCommand}},
	{"Studies:", []func() *cobra.Command{runCommand, compareCommand, cacheCommand}},
}

// Mars is the command that holds all others.
func Mars() *cobra.Command {
	root := &cobra.Command{
		Use:   "mars",
		Short: "Label data whose class balance and class looks differ from the labelled data's",
		Long: `MARS (match and reweight) takes rows with labels (source) and rows without (target)
whose class balance and looks differ, and says what the class proportions and the labels of
the target are, and whether to believe it. The steps are programs of their own too, called
mars-featurize, mars-embed and so on.`,
		Example: `  mars proportions --source patients.csv --target new.csv --label celltype
  mars label --source patients.csv --target new.csv --label celltype -o labels.csv
  mars featurize toy --shift 8 --target-proportions 0.66,0.17,0.17 --truth | mars label -o labels.arrow`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cobra.EnableCommandSorting = false // groups have an order of their own
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, command := range g.commands {
			cmd := mount(command())
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(completionCommand(), shareCommand())
	root.SetHelpCommand(helpCommand(root))
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

// knownCommand refuses a word that is no command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := spelling.Nearest(args[0], names); near != "" {
		return usagef("there is no command %q: did you mean %s?", args[0], near)
	}
	return usagef("there is no command %q", args[0])
}

// helpCommand is "mars help COMMAND". Cobra's own takes any word for a topic.
func helpCommand(root *cobra.Command) *cobra.Command {
	cmd := newCommand(&cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Say more of a command",
		Example: "  mars help label",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 {
				return knownCommand(cmd, rest)
			}
			return cmd.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range cmd.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	})
	cmd.PreRunE = nil // its arguments are no files
	return cmd
}
