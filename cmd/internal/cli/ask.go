package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/ask"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/tables"
)

// askCommand chooses the rows that a person is to label.
func askCommand() *cobra.Command {
	a := asker{labeller: newLabeller(), keep: ask.KeepAuto, options: ask.Options{Budget: 50}}
	cmd := &cobra.Command{
		Use:   "ask --source FILE --target FILE -o FILE [flags]",
		Short: "Choose the rows of a target that a person is to label, so that a few labels settle the answer",
		Long: `Labels the target as mars label does, draws a few of its rows at known probabilities, and
writes them with an empty column for their labels. Fill it in, from the first row on, and give
the file to --labels of mars proportions and mars label: then they say what the shares are,
with intervals that hold whatever has shifted, how many labels are right, and which
assumptions about the change the labels refute.

Half of the rows are drawn uniformly, so that a model that is wrong and sure of it is found
out, and half in proportion to the model's doubt. --for CLASS chooses rows that say most about
one class, --uniform draws all uniformly. The rows stand in an order in which the first ones,
however many, are a fair sample again: stop when you like, but leave out no row.

The table has order, id, columns of the target's file (--keep), the empty column, called as the
source's labels are, predicted_class and confidence, the probability with which the row was
drawn, the part (uniform or chosen), and a code, by which mars knows the row again. A
spreadsheet may sort and save it, as long as the code stays in its row.

docs/how-to/ask.md shows how it is done.`,
		Example: `  mars ask --source patients.csv --target new.csv --label celltype --budget 50 -o ask.csv
  mars proportions --source patients.csv --target new.csv --label celltype --labels ask.csv
  mars label --source patients.csv --target new.csv --label celltype --labels ask.csv -o labels.csv
  mars ask --source patients.csv --target new.csv --label celltype --until width=.05 --for blast -o ask.csv`,
		Args: cobra.MaximumNArgs(1),
	}
	a.common = newCommon(cmd, "mars-ask", "domain", "features", "embedding")
	cmd.RunE = a.run
	f := cmd.Flags()
	countVar(f, &a.options.Budget, "budget", 50, 1, "rows to draw")
	f.StringVar(&a.until, "until", "", "draw as many rows as are estimated to be needed for intervals of a width, as in width=.05")
	f.Float64Var(&a.level, "level", 0.9, "probability with which those intervals are to hold the true share")
	f.StringVar(&a.options.For, "for", "", "choose the rows that say most about the share of this class")
	f.BoolVar(&a.options.Uniform, "uniform", false, "draw all rows uniformly")
	f.StringVar(&a.keep, "keep", ask.KeepAuto, "columns of the target's table that a person is to see: auto (all of at most "+strconv.Itoa(ask.MostKept)+", else id alone), id, all, or some by name, as in patient,day")
	a.files.registerFiles(f)
	a.registerMethod(f)
	f.StringVar(&a.labeller.options.Save, "save", "", "keep the model in this safetensors file, for mars proportions --model")
	pageFlag(f, &a.common.page)
	f.Lookup("report").Usage = "make a page to look at of the rows too, with their pictures if they are images, in this HTML file"
	f.Var(oneOf{&a.format, label.Formats}, "format", "what to write (default: by the name of the output, csv where it does not say)")
	f.BoolVar(&a.spreadsheet, "spreadsheet", false, "in CSV, put ' before text that a spreadsheet would take for a formula")
	a.common.outputFlags(f)
	writesTables(f, "write to this file instead of standard output")
	a.common.machineFlags(f)
	a.common.logFlags(f)
	return newCommand(cmd)
}

type asker struct {
	*labeller
	options     ask.Options
	until, keep string
	level       float64
}

func (a *asker) run(cmd *cobra.Command, args []string) error {
	c := a.common
	if err := c.check(); err != nil {
		return err
	}
	if err := cmp.Or(a.checkMethod(cmd), a.checkDrawing(cmd)); err != nil {
		return err
	}
	a.labeller.options.KeepAll = a.labeller.options.Assume == nil
	q := &question{files: &a.files, common: c}
	a.fits(cmd, q)
	if err := q.check(args); err != nil {
		return err
	}
	c.input = append(args, "")[0]
	if c.output == "" && a.format == "" {
		a.format = "csv"
	}
	format, err := outputFormat(a.format, c.output)
	if err != nil {
		return err
	}
	format.Spreadsheet = a.spreadsheet
	if err := cmp.Or(c.checkOutput(cmd, format), checkPage(c.page)); err != nil {
		return err
	}
	kept, err := a.kept(cmd.Context())
	if err != nil {
		return err
	}
	q.answer = func(ctx context.Context, env stages.Env, in arrowio.Stream) error {
		sheet, err := ask.Draw(ctx, env, in, a.options)
		if err != nil {
			return err
		}
		columns, err := kept.Of(ctx, sheet)
		if err != nil {
			return err
		}
		table, err := sheet.Stream(columns)
		if err != nil {
			return err
		}
		page := func() error { return a.writePage(cmd, sheet, table) }
		if err := c.saveRows(cmd, format, table, ask.Write, page); err != nil {
			return err
		}
		env.Logger().Info(sheet.Line())
		return nil
	}
	return q.ask(cmd, args)
}

// checkDrawing checks the flags that say how rows are drawn.
func (a *asker) checkDrawing(cmd *cobra.Command) error {
	o := &a.options
	o.Label = labelName(&a.files)
	width, ok := strings.CutPrefix(a.until, "width=")
	switch {
	case !(a.level > 0 && a.level < 1):
		return usagef("--level %g: want a probability between 0 and 1, such as 0.9", a.level)
	case o.Uniform && o.For != "":
		return usagef("--for chooses rows, and --uniform chooses none: give one of them")
	case a.until == "":
		if cmd.Flags().Changed("level") {
			return usagef("--level is that of the intervals of --until: leave it out, or --budget")
		}
		return nil
	case cmd.Flags().Changed("budget"):
		return usagef("--until says how many rows --budget is: give one of them")
	}
	w, err := strconv.ParseFloat(width, 64)
	if !ok || err != nil || !(w > 0 && w < 1) {
		return usagef("--until %q: want the width of an interval between 0 and 1, as in width=.05", a.until)
	}
	o.Until = &ask.Until{Width: w, Level: a.level}
	return nil
}

// writePage writes the page of the rows that is asked for.
func (a *asker) writePage(cmd *cobra.Command, s *ask.Sheet, table *ask.Table) error {
	if a.common.page == "" {
		return nil
	}
	folder := a.files.target.Path
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	picture := func(id string) string { return filepath.Join(folder, filepath.FromSlash(id)) }
	if info, err := os.Stat(picture(s.Rows[0].ID)); err != nil || !info.Mode().IsRegular() {
		picture = nil
	}
	return pageOf(cmd, a.common.page, nil, report.Asked(s, table, picture))
}

// labelName is the name of the column of labels.
func labelName(f *featurizeFlags) string {
	if n := len(f.Levels); n > 0 {
		return f.Levels[n-1]
	}
	return cmp.Or(f.how.Label, arrowio.DefaultColumns().Label)
}

// kept says which columns of the target's file the table gets; nil for none.
func (a *asker) kept(ctx context.Context) (*ask.Keep, error) {
	auto := a.keep == ask.KeepAuto
	switch {
	case a.keep == keepID:
		return nil, nil
	case a.files.source.Path == "" && auto:
		return nil, nil
	case a.files.source.Path == "":
		return nil, usagef("--keep %s: the rows are a stream, which has no file: give --source and --target", a.keep)
	}
	o, err := a.files.options()
	if err != nil {
		return nil, err
	}
	if choosesRows(o) {
		if auto {
			return nil, nil
		}
		return nil, usagef("--keep %s: columns are kept of all target rows, and only some are read: leave out what draws or chooses target rows", a.keep)
	}
	names, err := csv.NewReader(strings.NewReader(a.keep)).Read()
	if err != nil {
		return nil, usagef("--keep %q: want auto, id, all or names with commas between", a.keep)
	}
	how := o.Target.Format
	how.Domain, how.Parts = o.Domain, []tables.Part{{Name: arrowio.TargetDomain.String(), Values: o.Target.Domains}}
	return ask.NewKeep(ctx, o.Target.Path, how, names, a.options.Label)
}
