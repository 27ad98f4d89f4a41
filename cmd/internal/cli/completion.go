package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/pipeline"
)

// shells are those that there is a completion for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionCommand is "mars completion SHELL".
func completionCommand() *cobra.Command {
	cmd := newCommand(&cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell: " + strings.Join(shells, ", "),
		Example: `  source <(mars completion bash)
  mars completion fish > ~/.config/fish/completions/mars.fish`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0], cmd.OutOrStdout())
		},
	})
	cmd.PreRunE = nil // its argument is no file
	return cmd
}

// complete prints the shell completion of a program that has no command for it, since
// its arguments are files: "mars-embed completion bash". It also has cmd complete
// values when a shell asks for them.
func complete(cmd *cobra.Command, args []string, out io.Writer) (asked bool, err error) {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completeValues(cmd)
	}
	own := slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == "completion" })
	if own || len(args) != 2 || args[0] != "completion" {
		return false, nil
	}
	return true, writeCompletion(cmd, args[1], out)
}

func writeCompletion(cmd *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "bash":
		return cmd.GenBashCompletionV2(out, true)
	case "zsh":
		return cmd.GenZshCompletion(out)
	case "fish":
		return cmd.GenFishCompletion(out, true)
	case "powershell":
		return cmd.GenPowerShellCompletionWithDesc(out)
	}
	return usagef("there is no completion for %q: name %s", shell, strings.Join(shells, ", "))
}

// completeValues registers what the flags and arguments of a command and of those
// below it may be. Cobra keeps that for good, so only a program that is asked to
// complete does it.
func completeValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f) })
	cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f) })
	switch {
	case cmd.ValidArgsFunction != nil || cmd.ValidArgs != nil:
	case cmd.Name() == "run":
		cmd.ValidArgsFunction = files("toml")
	case cmd.Name() == "export":
		cmd.ValidArgsFunction = files("safetensors", "arrow", "onnx")
	case cmd.Args != nil && cmd.Args(cmd, []string{"FILE"}) != nil:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range cmd.Commands() {
		completeValues(sub)
	}
}

func completeFlag(cmd *cobra.Command, f *pflag.Flag) {
	m := meaningOf()[f.Name]
	values := m.values
	of, chosen := f.Value.(interface{ choices() []string })
	switch {
	case chosen:
		values = offer(of.choices()...)
	case f.Name == "init" && cmd.Name() == "run":
		values = offer(pipeline.ExampleNames()...)
	case f.Name == "set" && cmd.Name() == "run":
		values = completeSetting
	case values == nil && !m.role.Reads() && !m.role.Writes():
		values = cobra.NoFileCompletions
	}
	if values != nil {
		cmd.RegisterFlagCompletionFunc(f.Name, values) //nolint:errcheck // the flag is there
	}
}

// completeSetting completes --set of mars run: STAGE.FLAG=VALUE.
func completeSetting(_ *cobra.Command, _ []string, begun string) (found []string, _ cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	name, _, named := strings.Cut(begun, ".")
	for _, stage := range catalogue() {
		if !named {
			found = append(found, stage.Name+".")
		} else if stage.Name == name {
			for _, flag := range stage.Settable() {
				found = append(found, name+"."+flag+"=")
			}
		}
	}
	if !named {
		found = append(found, "matrix.", "table.")
	}
	return found, more
}
