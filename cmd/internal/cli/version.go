package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages/algorithms"
)

// version and revision (the commit) are set by the linker in make build.
var version, revision string

// Version is the program's version: the one it was built with, or that of its module.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// versionText is what --version says after the program's name.
func versionText() string {
	return fmt.Sprintf("%s%s\n%s %s/%s, kernels: %s, threads: %d\n",
		Version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, algorithms.KernelLevel(), runtime.GOMAXPROCS(0))
}

// commit is the commit that the program was built from, as far as it is known: that
// of a clone is, that of a module from elsewhere is its version.
func commit() string {
	made := revision
	if info, ok := debug.ReadBuildInfo(); ok && made == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				made = s.Value
			}
		}
	}
	if made == "" {
		return ""
	}
	const short = 12
	return " (commit " + made[:min(short, len(made))] + ")"
}

func versionCommand() *cobra.Command {
	return newCommand(&cobra.Command{
		Use:     "version",
		Short:   "Print the version, and what the numerical loops run on",
		Example: "  mars version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), "mars "+versionText())
			return err
		},
	})
}
