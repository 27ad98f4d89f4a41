package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"mars.dev/mars/tables"
)

// browserProgram is the name by which mars is called to be what a page runs.
const browserProgram = "mars-browser"

// Browser is the command that runs in a browser: what the page of make web and mars ui needs of mars.
func Browser() *cobra.Command {
	root := &cobra.Command{Use: "mars", Short: "What the page in a browser runs", Args: knownCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	for _, command := range []func() *cobra.Command{labelCommand, proportionsCommand, askCommand, lookCommand} {
		root.AddCommand(mount(command()))
	}
	return newCommand(root)
}

// seen is what a page shows of a column.
type seen struct {
	Name, Type string
	Missing    int
	Numbers    bool
	Kinds      int // different values, where they were counted
	Different  bool
	Values     string
}

// lookCommand prints for a page what mars view prints for a person.
func lookCommand() *cobra.Command {
	var how tables.Options
	cmd := newCommand(&cobra.Command{
		Use:   "look FILE...",
		Short: "Print what is in files as JSON",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			var looks []any
			for _, path := range paths {
				l, err := tables.LookAt(cmd.Context(), path, how, 0)
				if err != nil {
					return err
				}
				columns := []seen{}
				for _, c := range l.Columns {
					n := len(c.Values)
					columns = append(columns, seen{c.Name, c.Type, c.Missing, c.Numbers, n, n > 1 && c.Values[0].Rows == 1, valuesSeen(c)})
				}
				looks = append(looks, map[string]any{"Format": l.Format, "Rows": l.Rows, "More": l.More, "Columns": columns})
			}
			return json.NewEncoder(rawOut(cmd)).Encode(looks)
		},
	})
	cmd.Flags().StringVar(&how.Encoding, "encoding", "", "encoding of text")
	new(common).limitFlag(cmd.Flags())
	return cmd
}
