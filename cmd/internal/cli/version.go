package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables/write"
)

// version, revision (the commit) and date (of the commit) are set by the linker in make build.
var version, revision, date string

// origin says where a source archive is from: git archive puts in what the words with
// dollars in this file stand for.
//
//go:embed origin.txt
var origin string

// fromOrigin is a line of origin, "" in a clone and where git had nothing to put in.
func fromOrigin(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+": "); ok && !strings.HasPrefix(value, "$Format:") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// setting is what the Go tool noted of the clone that a program was built in.
func setting(name string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == name {
				return s.Value
			}
		}
	}
	return ""
}

// Version is the program's version: the one it was built with, or that of the archive or
// the module that it was built from.
func Version() string {
	module := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		module = info.Main.Version
	}
	return cmp.Or(version, fromOrigin(origin, "version"), short(fromOrigin(origin, "commit")), module, "unknown")
}

// Commit is the commit that the program was built from, as far as it is known: that
// of a module from elsewhere is its version.
func Commit() string { return cmp.Or(revision, fromOrigin(origin, "commit"), setting("vcs.revision")) }

// Date is when that commit was made, as in RFC 3339.
func Date() string { return cmp.Or(date, fromOrigin(origin, "date"), setting("vcs.time")) }

// short is what is shown of a commit.
func short(commit string) string { return commit[:min(12, len(commit))] }

// day is the day of a date.
func day(date string) string { return date[:min(len("2006-01-02"), len(date))] }

// build is what a program is and runs on.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Kernels  string `json:"kernels"`
	Threads  int    `json:"threads"`
}

func thisBuild() build {
	return build{Version(), Commit(), Date(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, algorithms.KernelLevel(), runtime.GOMAXPROCS(0)}
}

// String is what --version says after the program's name.
func (b build) String() string {
	from := ""
	if b.Commit != "" {
		from = "commit " + short(b.Commit)
		if b.Date != "" {
			from += " of " + day(b.Date)
		}
		from = " (" + from + ")"
	}
	return fmt.Sprintf("%s%s\n%s %s, kernels: %s, threads: %d\n", b.Version, from, b.Go, b.Platform, b.Kernels, b.Threads)
}

func versionCommand() *cobra.Command {
	asJSON := false
	cmd := newCommand(&cobra.Command{
		Use:   "version",
		Short: "Print the version, and what the numerical loops run on",
		Long: `Prints the version, the commit that it was built from and its date, the Go and the system that it
was built for, which numerical loops run on this processor, and on how many threads.`,
		Example: `  mars version
  mars version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return write.Object(cmd.OutOrStdout(), thisBuild())
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), "mars ", thisBuild())
			return err
		},
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
