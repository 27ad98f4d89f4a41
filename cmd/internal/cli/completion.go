package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// complete prints the shell completion of a program without subcommands, for
// which cobra has no command: "mars-embed completion bash".
func complete(cmd *cobra.Command, args []string, out io.Writer) (asked bool, err error) {
	if cmd.HasSubCommands() || len(args) != 2 || args[0] != "completion" {
		return false, nil
	}
	switch args[1] {
	case "bash":
		return true, cmd.GenBashCompletionV2(out, true)
	case "zsh":
		return true, cmd.GenZshCompletion(out)
	case "fish":
		return true, cmd.GenFishCompletion(out, true)
	case "powershell":
		return true, cmd.GenPowerShellCompletionWithDesc(out)
	}
	return true, usagef("there is no completion for %q: name bash, zsh, fish or powershell", args[1])
}
