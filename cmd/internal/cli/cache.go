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
	open := func() (*pipeline.Cache, error) {
		dir := cacheDir(dir)
		if dir == "" {
			return nil, usagef("%s", noCacheFolder)
		}
		cache, err := pipeline.FindCache(dir)
		if err != nil {
			return nil, usageError{err}
		}
		return cache, nil
	}
	cmd.AddCommand(cacheList(open), cacheVerify(open), cachePrune(open), cacheClear(open))
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

func cacheList(open func() (*pipeline.Cache, error)) *cobra.Command {
	return newCommand(&cobra.Command{
		Use: "ls", Short: "List all entries, the one used last first", Args: cobra.NoArgs, Example: "  mars cache ls",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := open()
			if err != nil {
				return err
			}
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
		},
	})
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

func cacheVerify(open func() (*pipeline.Cache, error)) *cobra.Command {
	return newCommand(&cobra.Command{
		Use: "verify", Short: "Read all entries and drop those that do not match their hashes", Args: cobra.NoArgs, Example: "  mars cache verify",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := open()
			if err != nil {
				return err
			}
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
		},
	})
}

func cachePrune(open func() (*pipeline.Cache, error)) *cobra.Command {
	var most bytesFlag
	cmd := &cobra.Command{
		Use: "prune", Short: "Drop the entries that were used longest ago, until the rest fits a size", Args: cobra.NoArgs,
		Example: "  mars cache prune --max-size 5GB",
	}
	cmd.Flags().Var(&most, "max-size", "size that the cache may have (required)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("max-size") {
			return usagef("say how large the cache may be: --max-size 5GB")
		}
		cache, err := open()
		if err != nil {
			return err
		}
		return reportDropped(cmd)(cache.Prune(int64(most)))
	}
	return newCommand(cmd)
}

func cacheClear(open func() (*pipeline.Cache, error)) *cobra.Command {
	return newCommand(&cobra.Command{
		Use: "clear", Short: "Drop all entries that no pipeline is using", Args: cobra.NoArgs, Example: "  mars cache clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := open()
			if err != nil {
				return err
			}
			return reportDropped(cmd)(cache.Clear())
		},
	})
}

func reportDropped(cmd *cobra.Command) func(dropped int, freed int64, err error) error {
	return func(dropped int, freed int64, err error) error {
		fmt.Fprintf(cmd.OutOrStdout(), "dropped %d entries, %s\n", dropped, bytesText(freed))
		return err
	}
}
