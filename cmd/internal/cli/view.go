package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/tables"
)

// viewCommand shows the beginning of any table.
func viewCommand() *cobra.Command {
	var v viewer
	cmd := &cobra.Command{
		Use:   "view [flags] [FILE...]",
		Short: "Show what is in a file of any format, or in a stream",
		Long: `Says what a file is, what its columns hold, and shows its first rows. Of a large file only the
beginning is read: what is counted is counted there. Columns of text tables have the types that
other commands take them for. Of a model it shows what mars inspect does.

It reads ` + tables.Formats("or") + ` files, compressed or not.`,
		Example: `  mars view patients.csv
  mars view --rows 3 new.parquet
  mars featurize toy | mars view`,
	}
	cmd.RunE = v.run
	f := cmd.Flags()
	countVar(f, &v.rows, "rows", 10, 0, "number of first rows to show")
	v.how.registerText(f)
	v.common.limitFlag(f)
	return newCommand(cmd)
}

type viewer struct {
	common common
	how    featurizeFlags
	rows   int
}

func (v *viewer) run(cmd *cobra.Command, args []string) error {
	o, err := v.how.text()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, path := range args {
		if path == "-" && isTerminal(os.Stdin) {
			return usagef("name a file, or pipe rows into mars view")
		}
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := v.view(cmd, path, o); err != nil {
			return err
		}
	}
	return nil
}

func (v *viewer) view(cmd *cobra.Command, path string, o tables.Options) error {
	if predict.IsModel(path) {
		return predict.Describe(cmd.OutOrStdout(), path, false)
	}
	l, err := tables.LookAt(cmd.Context(), path, o, v.rows)
	if err != nil {
		return err
	}
	return writeLook(cmd.OutOrStdout(), l)
}

// mostColumns is how many columns are listed on a terminal.
const mostColumns = 40

// writeLook writes a sentence, what the columns hold, and the first rows. On a terminal no line is
// wider than it.
func writeLook(w io.Writer, l *tables.Look) error {
	counted := spelling.Count(l.Rows, "row", "rows")
	if l.More {
		counted = fmt.Sprintf("more rows than the %d that were looked at", l.Rows)
	}
	fmt.Fprintf(w, "%s is %s: %s, %s.\n\n", safetext.Escape(l.Name), l.Format, spelling.Count(len(l.Columns), "column", "columns"), counted)
	width, seen := widthOf(w), l.Columns
	if width > 0 {
		seen = seen[:min(len(seen), mostColumns)]
	}
	about := [][]string{{"column", "type", "missing", "values"}}
	for _, c := range seen {
		missing := ""
		if c.Missing > 0 {
			missing = fmt.Sprint(c.Missing)
		}
		about = append(about, []string{shorten(cmp.Or(c.Name, "(no name)")), shorten(c.Type), missing, valuesSeen(c)})
	}
	if err := writeCells(w, about, width); err != nil {
		return err
	}
	if more := len(l.Columns) - len(seen); more > 0 {
		fmt.Fprintf(w, "… and %s: mars view FILE | less lists them all\n", spelling.Count(more, "more column", "more columns"))
	}
	if len(l.Head) == 0 {
		return nil
	}
	first := make([][]string, 1+len(l.Head))
	for k, c := range l.Columns {
		first[0] = append(first[0], shorten(c.Name))
		for i, row := range l.Head {
			first[i+1] = append(first[i+1], shorten(row[k]))
		}
	}
	fmt.Fprintln(w)
	return writeCells(w, first, width)
}

// writeCells writes lines of cells, one below the other. A line that is wider than the width is cut
// off, unless that is 0.
func writeCells(w io.Writer, lines [][]string, width int) error {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		for i, cell := range line {
			fmt.Fprint(tw, safetext.Escape(cell), separator(i, len(line)))
		}
	}
	tw.Flush() //nolint:errcheck // into memory
	for line := range strings.Lines(text.String()) {
		line = strings.TrimRight(line, " \n")
		if runes := []rune(line); width > 0 && len(runes) > width {
			line = string(runes[:width-1]) + "…"
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// widthOf is how many characters a line of the terminal w has, 0 if it is none.
func widthOf(w io.Writer) int {
	f, ok := bare(w).(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// valuesSeen says what the values of a column are: of numbers their range, of text the most
// frequent.
func valuesSeen(c tables.Seen) string {
	var parts []string
	if c.Numbers {
		parts = append(parts, fmt.Sprintf("%.4g to %.4g, mean %.4g", c.Low, c.High, c.Mean))
	}
	if n := len(c.Values); n > maxValues && c.Values[0].Rows == 1 {
		return fmt.Sprintf("%d, all different", n)
	}
	for i, v := range c.Values {
		if i == maxValues {
			parts = append(parts, "and "+spelling.Count(len(c.Values)-i, "other", "others"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s×%d", shorten(v.Value), v.Rows))
	}
	return strings.Join(parts, ", ")
}

// maxValues is how many of the values of a column are shown.
const maxValues = 5
