package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mars.dev/mars/pipeline"
)

// cacheCommand looks after the cache of mars run and --cached.
func cacheCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List, check and shrink the cache of mars run",
		Long: `The cache holds what stages put out, each entry whole or not at all, under the hash of
all that it depends on. It may be removed or shrunk at any time, also while pipelines run.`,
		Example: `  mars cache ls
  mars cache prune --max-size 5GB
  mars cache verify --cache study/.mars-cache`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "cache", "", "folder of the cache (default: $MARS_CACHE, or the user's cache folder)")
	var most bytesFlag
	add := func(name, does, example string, do func(*cobra.Command, *pipeline.Cache) error) *cobra.Command {
		sub := newCommand(&cobra.Command{Use: name, Short: does, Args: cobra.NoArgs, Example: "  mars cache " + example})
		sub.RunE = func(sub *cobra.Command, _ []string) error {
			dir := cacheDir(dir)
			if dir == "" {
				return usagef("%s", noCacheFolder)
			}
			cache, err := pipeline.FindCache(dir)
			if err != nil {
				return usageError{err}
			}
			return do(sub, cache)
		}
		cmd.AddCommand(sub)
		return sub
	}
	add("ls", "List all entries, the one used last first", "ls", listCache)
	add("verify", "Read all entries and drop those that do not match their hashes", "verify", verifyCache)
	prune := add("prune", "Drop the entries that were used longest ago, until the rest fits a size", "prune --max-size 5GB", func(sub *cobra.Command, cache *pipeline.Cache) error {
		if !sub.Flags().Changed("max-size") {
			return usagef("say how large the cache may be: --max-size 5GB")
		}
		return reportDropped(sub)(cache.Prune(int64(most)))
	})
	prune.Flags().Var(&most, "max-size", "size that the cache may have (required)")
	add("clear", "Drop all entries that no pipeline is using", "clear", func(sub *cobra.Command, cache *pipeline.Cache) error {
		return reportDropped(sub)(cache.Clear())
	})
	return newCommand(cmd)
}

// noCacheFolder is what a user is told who has no home, and has named no folder.
const noCacheFolder = "there is no folder for a cache: set HOME or MARS_CACHE, or name one with --cache"

// cacheDir is the folder of the cache, "" if there is none.
func cacheDir(flag string) string {
	return cmp.Or(flag, os.Getenv("MARS_CACHE"), pipeline.DefaultCacheDir())
}

// openCache opens a cache for a command that runs without one if need be: nil if the
// folder was named by nobody and cannot be written. One that was asked for by name has to
// be there.
func openCache(dir string, byName bool, warn func(string)) (*pipeline.Cache, error) {
	cache, err := pipeline.OpenCache(dir)
	var unwritable *pipeline.UnwritableError
	switch {
	case err == nil:
		return cache, nil
	case !byName && errors.As(err, &unwritable):
		warn(err.Error() + " with --cache or MARS_CACHE; going on without a cache")
		return nil, nil
	}
	return nil, usageError{err}
}

func listCache(cmd *cobra.Command, cache *pipeline.Cache) error {
	all, err := cache.List()
	if err != nil {
		return err
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "key\tstage\trows\tsize\tmade in\tlast used")
	total := int64(0)
	for _, l := range all {
		if l.Err != nil {
			fmt.Fprintf(tw, "%.12s\tcorrupt\t\t\t\t\n", l.Key)
			continue
		}
		total += l.Size()
		fmt.Fprintf(tw, "%.12s\t%s\t%d\t%s\t%.1f s\t%s\n", l.Key, l.Dependencies.Stage, l.Rows, bytesText(l.Size()), l.Seconds, l.Used.Format("2006-01-02 15:04"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d entries, %s\n", len(all), bytesText(total))
	return err
}

// bytesText is an amount of bytes for people.
func bytesText(n int64) string {
	const step = 1000
	value, units := float64(n), []string{"B", "kB", "MB", "GB", "TB"}
	for len(units) > 1 && value >= step {
		value, units = value/step, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}

func verifyCache(cmd *cobra.Command, cache *pipeline.Cache) error {
	good := 0
	dropped, err := cache.Verify(cmd.Context(), func(_ pipeline.ListEntry, bad error) {
		if bad == nil {
			good++
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %v: dropped\n", bad)
		}
	})
	fmt.Fprintf(cmd.OutOrStdout(), "%d entries are whole, %d were not and are gone\n", good, dropped)
	return err
}

func reportDropped(cmd *cobra.Command) func(dropped int, freed int64, err error) error {
	return func(dropped int, freed int64, err error) error {
		fmt.Fprintf(cmd.OutOrStdout(), "dropped %d entries, %s\n", dropped, bytesText(freed))
		return err
	}
}
