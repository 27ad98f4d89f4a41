package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
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

// columnNames completes the names of the columns of a file that stands on the line: of the first of
// these flags that is given, or else of the first argument.
func columnNames(flags ...string) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var paths []string
		for _, name := range flags {
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
				paths = append(paths, once(f.Value.String()))
			}
		}
		paths = append(paths, args...)
		if len(paths) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return columnsOf(cmd, paths[0]), cobra.ShellCompDirectiveNoFileComp
	}
}

// once is the value of a flag that adds to what it has: cobra reads a line that it completes twice.
func once(list string) string {
	if half := len(list) / 2; len(list)%2 == 1 && list == list[:half]+","+list[:half] {
		return list[:half]
	}
	return list
}

// columnsOf are the names of the columns of a file, of the first if the path names several; none if it
// has none, or is a pipe, which can be read but once. Only its beginning is read.
func columnsOf(cmd *cobra.Command, path string) (names []string) {
	paths, err := tables.Expand(path)
	if err != nil || isPipe(paths[0]) {
		return nil
	}
	var how featurizeFlags // as the line says how the file is written
	text := pflag.NewFlagSet("", pflag.ContinueOnError)
	how.registerText(text)
	text.VisitAll(func(f *pflag.Flag) {
		if said := cmd.Flags().Lookup(f.Name); said != nil && said.Changed {
			f.Value.Set(said.Value.String()) //nolint:errcheck // it was valid before
		}
	})
	o, err := how.text()
	if err != nil {
		return nil
	}
	columns, _, _ := tables.Columns(cmd.Context(), paths[0], o) //nolint:errcheck // then there is nothing to offer
	for _, c := range columns {
		if c.Name != "" && safetext.Escape(c.Name) == c.Name { // a tab or a line's end would end it
			names = append(names, c.Name)
		}
	}
	return names
}

// lists completes the last of several values with commas between: those that are not there yet.
func lists(one completer) completer {
	return func(cmd *cobra.Command, args []string, begun string) (found []string, _ cobra.ShellCompDirective) {
		last := strings.LastIndexByte(begun, ',') + 1
		there := strings.Split(begun[:last], ",")
		names, directive := one(cmd, args, begun[last:])
		for _, name := range names {
			if !slices.Contains(there, name) && !strings.ContainsAny(name, `,"`) {
				found = append(found, begun[:last]+name)
			}
		}
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
}
