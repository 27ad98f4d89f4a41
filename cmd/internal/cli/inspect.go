package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/tables/write"
)

// inspectCommand shows what a stream, a file or a state holds.
func inspectCommand() *cobra.Command {
	var i inspector
	cmd := &cobra.Command{
		Use:   "inspect [flags] [FILE...]",
		Short: "Show or check what is in Arrow streams and files, and in models",
		Long: `Reads all of each input and shows its kind, metadata, columns with statistics, and
first rows. State files of the stages are Arrow files too. Of a model it shows the columns
that it takes, how they are prepared, the metadata and the tensors. --check reads and validates
everything and prints a line for each good input; it fails where one breaks.`,
		Example: `  mars inspect labelled.arrow
  mars featurize toy | mars inspect --head 3
  mars inspect --csv labelled.arrow > labelled.csv
  mars inspect --check *.arrow`,
	}
	cmd.RunE = i.run
	f := cmd.Flags()
	countVar(f, &i.head, "head", 5, 0, "number of first rows to show")
	f.BoolVar(&i.asJSON, "json", false, "print one JSON object for each input")
	f.BoolVar(&i.asCSV, "csv", false, "print all rows as CSV")
	f.BoolVar(&i.raw, "raw", false, "with --csv, write control characters as they are (default: as \\u001b), unless to a terminal")
	f.BoolVar(&i.table.Spreadsheet, "spreadsheet", false, "with --csv, put ' before text that a spreadsheet would take for a formula")
	f.BoolVar(&i.check, "check", false, "only read and validate everything")
	f.BoolVarP(&i.common.quiet, "quiet", "q", false, "with --check, print nothing of inputs that are whole")
	cmd.MarkFlagsMutuallyExclusive("json", "csv", "check")
	i.common.limitFlag(f)
	return newCommand(cmd)
}

type inspector struct {
	common                    common
	asJSON, asCSV, check, raw bool
	table                     write.CSVOptions
	head                      int
}

func (i *inspector) run(cmd *cobra.Command, args []string) error {
	switch {
	case i.asCSV && len(args) > 1:
		return usagef("--csv writes one input: give one file, not %d", len(args))
	case (i.raw || i.table.Spreadsheet) && !i.asCSV:
		return usagef("--raw and --spreadsheet say how --csv writes: give that too, or leave them out")
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for _, path := range args {
		if err := i.inspect(cmd, path); err != nil {
			return err
		}
	}
	return nil
}

// inspect shows or checks one input.
func (i *inspector) inspect(cmd *cobra.Command, path string) error {
	out := cmd.OutOrStdout()
	if predict.IsModel(path) && !i.asCSV && !i.check {
		return predict.Describe(out, path, i.asJSON)
	}
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case i.asCSV && i.raw:
		return i.table.Write(cmd.Context(), rawOut(cmd), r)
	case i.asCSV:
		return i.table.Write(cmd.Context(), out, r)
	case i.check:
		batches, rows, err := arrowio.Check(cmd.Context(), r)
		if err == nil && !i.common.quiet {
			_, err = fmt.Fprintf(out, "%s: whole: %s in %s\n", r.Name(), spelling.Count(rows, "row", "rows"), spelling.Count(batches, "batch", "batches"))
		}
		return err
	}
	return i.summarise(cmd.Context(), out, r)
}

func (i *inspector) summarise(ctx context.Context, w io.Writer, r *arrowio.Reader) error {
	s, err := arrowio.Inspect(ctx, r, i.head)
	if err != nil {
		return err
	}
	if i.asJSON {
		return write.Object(w, s)
	}
	return writeSummary(w, s)
}

func writeSummary(w io.Writer, s *arrowio.Summary) error {
	fmt.Fprintf(w, "%s: %s, %s in %s\n", s.Name, cmp.Or(s.Kind, "Arrow"), spelling.Count(s.Rows, "row", "rows"), spelling.Count(s.Batches, "batch", "batches"))
	for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
		fmt.Fprintf(w, "  %s = %s\n", safetext.Escape(key), safetext.Escape(s.Metadata[key]))
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "column\ttype\tnulls\tmin\tmean\tmax\tvalues")
	for _, c := range s.Columns {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", safetext.Escape(c.Name), safetext.Escape(c.Type), c.Nulls, number(c.Min), number(c.Mean), number(c.Max), safetext.Escape(values(c)))
	}
	if err := tw.Flush(); err != nil || len(s.Head) == 0 {
		return err
	}
	fmt.Fprintln(w)
	for i, c := range s.Columns {
		fmt.Fprint(tw, safetext.Escape(c.Name), separator(i, len(s.Columns)))
	}
	for _, row := range s.Head {
		for i, cell := range row {
			fmt.Fprint(tw, safetext.Escape(shorten(cell)), separator(i, len(row)))
		}
	}
	return tw.Flush()
}

func separator(i, n int) string {
	if i+1 < n {
		return "\t"
	}
	return "\n"
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.4g", *v)
}

// values lists the distinct values of a column with their counts, if there are
// few, the field's metadata, and the number of values that are not finite.
func values(c arrowio.ColumnSummary) string {
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(c.Values)) {
		parts = append(parts, fmt.Sprintf("%s×%d", v, c.Values[v]))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
		parts = append(parts, key+"="+c.Metadata[key])
	}
	if c.NaN > 0 {
		parts = append(parts, fmt.Sprintf("%d not finite", c.NaN))
	}
	return strings.Join(parts, " ")
}

// maxCell is how many characters of a cell are shown.
const maxCell = 32

// shorten cuts a long cell off, so that it fits beside others.
func shorten(cell string) string {
	if runes := []rune(cell); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return cell
}
