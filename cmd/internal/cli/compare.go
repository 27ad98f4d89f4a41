package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/pipeline/compare"
)

// compareCommand compares methods by what runs left.
func compareCommand() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare [flags] RESULTS...",
		Short: "Compare methods by the results of runs: ranks, wins, and tests",
		Long: `Reads the results of runs, a row a run: the tables that mars run writes (table =
"study.csv"), or CSV and JSON lines of any program with a column for the method. - is standard
input. Prints

  - a table of the mean over seeds, by setting and method. Marked is the best of a setting, with
    all that are not significantly worse (signed-rank test of Wilcoxon over the seeds);
  - how often each method is marked, and its mean rank over the settings;
  - Friedman's test, and how far apart ranks have to be to differ (Nemenyi);
  - signed-rank tests of all pairs of methods over the settings, corrected for being many (Holm);
  - the means of errors, seconds and megabytes, if they are there.

A setting is all that is the same for the methods: the columns that hold no results, but for the
method and the seed. A result that a method lacks is an error, and so is one that is there twice.`,
		Example: `  mars compare study.csv
  mars compare study.csv --number proportions_l1 --control source
  mars compare toy.csv digits.csv --incomplete -o results.md`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.run,
	}
	f, o := cmd.Flags(), &c.options
	f.StringVar(&o.Number, "number", "", "column of what is compared (default: balanced_accuracy, accuracy or proportions_l1, the first that is there)")
	f.StringVar(&o.Method, "method", "method", "column that names what is compared")
	f.StringSliceVar(&o.Over, "over", []string{"seed"}, "columns over which means are taken")
	f.StringSliceVar(&o.Settings, "settings", nil, "columns that make a setting (default: all that hold no results)")
	f.StringVar(&o.Direction, "better", "", "which numbers are better: higher or lower (default: lower for errors, losses, seconds and megabytes)")
	f.Float64Var(&o.Level, "level", 0.01, "level of all tests, between 0 and 1")
	f.StringVar(&o.Control, "control", "", "compare the others with this method only (default: all pairs)")
	f.BoolVar(&o.Incomplete, "incomplete", false, "where a method lacks runs or settings, take what all have")
	f.BoolVar(&o.Mixed, "mixed", false, "take results of different versions of this program")
	f.StringVar(&c.format, "format", "", "how it is written: "+strings.Join(compare.Formats, ", ")+` (default: as the name of --output ends, or text)`)
	f.StringVarP(&c.output, "output", "o", "", "write to this file instead: .txt, .md, .tex, .csv (a row for each setting and method) or .json (all)")
	return newCommand(cmd)
}

type comparison struct {
	options        compare.Options
	format, output string
}

// comparedBy are the formats by the ending of a file's name.
var comparedBy = map[string]string{".txt": "text", ".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json"}

// compare compares the results of files. An interrupt does not wait for it: it leaves nothing
// behind.
func (c *comparison) compare(ctx context.Context, files []string) (*compare.Comparison, error) {
	var result *compare.Comparison
	done := make(chan error, 1)
	go func() {
		done <- guarded(func() (err error) {
			result, err = compare.Files(files, c.options)
			return err
		})
	}()
	select {
	case err := <-done:
		return result, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *comparison) run(cmd *cobra.Command, args []string) error {
	if !(c.options.Level > 0 && c.options.Level < 1) {
		return usagef("--level %g: want a number between 0 and 1", c.options.Level)
	}
	format, err := c.formatName()
	if err != nil {
		return err
	}
	if c.output != "" {
		if err := arrowio.CheckOutput(c.output, arrowio.WriteOptions{}); err != nil {
			return err
		}
	}
	result, err := c.compare(cmd.Context(), args)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return result.Write(w, format) }
	if c.output == "" || c.output == "-" {
		return write(cmd.OutOrStdout())
	}
	return atomicfile.Write(c.output, write)
}

func (c *comparison) formatName() (string, error) {
	ending := strings.ToLower(filepath.Ext(c.output))
	switch known := slices.Contains(compare.Formats, c.format); {
	case known:
		return c.format, nil
	case c.format != "":
		return "", usagef("--format %s is not known: choose %s", c.format, strings.Join(compare.Formats, ", "))
	case c.output == "" || c.output == "-":
		return "text", nil
	case comparedBy[ending] == "":
		return "", usagef("--output %s: name it .txt, .md, .tex, .csv or .json, or say --format", c.output)
	}
	return comparedBy[ending], nil
}
