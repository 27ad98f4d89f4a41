package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/featurize/shift"
	"mars.dev/mars/tables"
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

// A completer gives what a flag's value may be.
type completer = cobra.CompletionFunc

// valuesOf are the values of flags that are not oneOf, for every command that has them.
var valuesOf = map[string]completer{
	"arch":               cobra.FixedCompletions(append([]string{"auto", "mlp:"}, architectures...), cobra.ShellCompDirectiveNoFileComp),
	"augment":            cobra.FixedCompletions(append(augment.Presets(), augment.Names()...), cobra.ShellCompDirectiveNoFileComp),
	"encoding":           cobra.FixedCompletions(tables.Encodings, cobra.ShellCompDirectiveNoFileComp),
	"compression":        cobra.FixedCompletions([]string{"none", "lz4", "zstd"}, cobra.ShellCompDirectiveNoFileComp),
	"setting":            cobra.FixedCompletions([]string{"low", "mid", "high", "0", "1", "2", "3", "4", "5", "6"}, cobra.ShellCompDirectiveNoFileComp),
	"source-proportions": cobra.FixedCompletions([]string{shift.Random}, cobra.ShellCompDirectiveNoFileComp),
	"target-proportions": cobra.FixedCompletions([]string{shift.Random}, cobra.ShellCompDirectiveNoFileComp),
	"set":                completeSetting,
	"source":             nil, // any file, or a folder of images
	"target":             nil,
	"output":             nil,
	"source-labels":      nil,
	"target-labels":      nil,
	"checkpoint":         nil,
	"source-photographs": folders,
	"target-photographs": folders,
	"cache":              folders,
	"cached":             folders,
	"model":              files("safetensors", "arrow", "onnx"),
	"load":               files("arrow", "safetensors"),
	"save":               files("arrow", "safetensors"),
	"metrics":            files("arrow", "arrows"),
	"augment-preview":    files("png"),
	"table":              files("csv", "md", "txt"),
	"pipeline":           files("toml"),
}

func files(extensions ...string) completer {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
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
	values, known := valuesOf[f.Name]
	one, isOne := f.Value.(oneOf)
	if e, ok := f.Value.(*estimatorFlag); ok {
		one, isOne = e.names(), true
	}
	switch {
	case isOne:
		values = cobra.FixedCompletions(one.from, cobra.ShellCompDirectiveNoFileComp)
	case f.Name == "init" && cmd.Name() == "run":
		values = cobra.FixedCompletions(pipeline.ExampleNames(), cobra.ShellCompDirectiveNoFileComp)
	case f.Name == "init":
		values = files("safetensors")
	case !known:
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
