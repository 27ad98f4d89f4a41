package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// programs are the commands of mars that are programs of their own too: mars-train is
// mars train.
func programs() []func() *cobra.Command { return append(stageCommands(), Proportions, Label) }

// Programs are the names of the separate programs.
func Programs() []string {
	var names []string
	for _, program := range programs() {
		names = append(names, program().Name())
	}
	return names
}

// Program is the command that a program called by path is: the separate program of that
// name, or else mars. So one file with links to it is all of them.
func Program(path string) *cobra.Command {
	name := filepath.Base(path)
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") {
		name = strings.TrimSuffix(name, ext)
	}
	if i := slices.Index(Programs(), name); i >= 0 {
		return programs()[i]()
	}
	if name == browserProgram {
		return Browser()
	}
	return Mars()
}

// Label is the command that answers what the target's labels are.
func Label() *cobra.Command { return asProgram(labelCommand()) }

// Proportions is the command that answers what the target's class proportions are.
func Proportions() *cobra.Command { return asProgram(proportionsCommand()) }

// asProgram makes a program of a subcommand of mars: "label" becomes "mars-label".
func asProgram(cmd *cobra.Command) *cobra.Command {
	cmd.Example = strings.ReplaceAll(cmd.Example, "mars "+cmd.Name()+" ", "mars-"+cmd.Name()+" ")
	cmd.Use = "mars-" + cmd.Use
	return cmd
}
