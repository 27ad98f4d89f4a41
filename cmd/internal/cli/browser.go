package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"mars.dev/mars/tables"
)

// Browser is the command that runs in a browser: what the page of make web needs of mars.
func Browser() *cobra.Command {
	root := &cobra.Command{Use: "mars", Short: "What the page in a browser runs", Args: knownCommand}
	for _, command := range []func() *cobra.Command{labelCommand, proportionsCommand, askCommand, lookCommand} {
		root.AddCommand(mount(command()))
	}
	return newCommand(root)
}

// lookCommand prints for a page what mars view prints for a person.
func lookCommand() *cobra.Command {
	return newCommand(&cobra.Command{
		Use:   "look FILE...",
		Short: "Print what is in files as JSON",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			var looks []*tables.Look
			for _, path := range paths {
				l, err := tables.LookAt(cmd.Context(), path, tables.Options{}, 0)
				if err != nil {
					return err
				}
				looks = append(looks, l)
			}
			return json.NewEncoder(rawOut(cmd)).Encode(looks)
		},
	})
}
