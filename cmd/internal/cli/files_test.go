package cli

import (
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag that names a file or a folder says what that is to the command, so that
// checkFiles knows of it.
func TestFlagsOfFilesHaveRoles(t *testing.T) {
	named := regexp.MustCompile(`\b(file|folder)\b`)
	others := []string{"memory", "cache", "cached", "separator", "file-column", "each-target"} // they speak of files and name none that is checked here
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			role := roleOf(f.Name)
			if f.Value.Type() == "string" && named.MatchString(f.Usage) && !slices.Contains(others, f.Name) && !role.Reads() && !role.Writes() {
				t.Errorf("%s: --%s has no role: %s", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(Mars())
}
