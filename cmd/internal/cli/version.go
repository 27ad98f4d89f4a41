package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages/algorithms"
)

// version is set by the linker in make build.
var version string

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

func versionCommand() *cobra.Command {
	return newCommand(&cobra.Command{
		Use:     "version",
		Short:   "Print the version, and what the numerical loops run on",
		Example: "  mars version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "mars %s\n%s %s/%s, kernels: %s, threads: %d\n",
				Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, algorithms.KernelLevel(), runtime.GOMAXPROCS(0))
			return err
		},
	})
}
