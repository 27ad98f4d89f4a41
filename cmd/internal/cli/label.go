package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/embed"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/train"
	"mars.dev/mars/tables"
)

// labelCommand answers what the target's labels are.
func labelCommand() *cobra.Command {
	l := newLabeller()
	cmd := &cobra.Command{
		Use:   "label --source FILE --target FILE -o FILE [flags]",
		Short: "Label the rows of a target, with posteriors, confidence and whether to believe them",
		Long: `Reads labelled rows (--source) and rows without labels (--target) from any files that
mars featurize reads, or a stream of it, and writes for each target row its id,
predicted_class, confidence (the posterior of that class), typicality and probability (the
posteriors of all classes): as CSV, TSV, JSON, JSON lines, Parquet or Arrow, by the name of the output
(.csv.gz and .csv.zst too).

Nobody has to know how the target differs from the source. On tables and embeddings the
method is hedge: it labels under five assumptions, from "nothing has changed" to "each part
of a class has moved by itself". An assumption has the more weight the less the target's rows can
be told from those that it expects, beside other signs; the weights were fitted to many tasks whose
truth is known. --assume says what is known. On images the method is self-training: a network is
trained on changed images of the source, then on changed images of the target too, with labels
that it gives itself. With --method translate or hedge images are first given an embedding that
is learnt on the source. For rows that are mixtures of the classes, as of several cells or materials,
there is --method unmix: probability is then what a row is made of. The log says what was assumed, what speaks most for it, and what share of
the labels is expected to be right, and warns when they are not to be believed.

typicality is how usual a row is for its class, as a p-value: --unknown 0.01 labels rows
"unknown" that are like none of their class in the source, and about 1 % of the others. Only
hedge knows it.

docs/default.md and docs/measured/images.md say what this does and where it fails.`,
		Example: `  mars label --source patients.csv --target new.csv --label celltype -o labels.csv
  mars label --source a.npz --target b.npz --decision balanced -o labels.parquet
  mars label --source a.csv --target b.csv --assume move --unknown 0.01 -o labels.csv
  mars label --source a.csv --target b.csv --keep all -o labelled.csv
  mars label --source digits/ --target scans/ -o labels.csv
  mars featurize toy --shift 8 | mars label -o labels.arrow`,
		Args: oneStream,
	}
	l.common = newCommon(cmd, "mars-label", "domain", "features", "embedding")
	cmd.RunE = l.run
	f := cmd.Flags()
	l.files.registerFiles(f)
	l.registerMethod(f)
	l.given.register(f)
	l.each.register(f, "one table, which says of which target a row is")
	f.Float64Var(&l.labels.Unknown, "unknown", 0, "label rows \"unknown\" whose typicality is below this: about the share of rows of known classes that are lost to it")
	amountVar(f, &l.labels.Confidence, "confidence", 1, "give each row the class of the deepest of --levels whose posterior is at least this, such as 0.9, and \"unknown\" where none is (default: the finest class)")
	l.options.Decision = "accuracy"
	f.Var(oneOf{&l.options.Decision, decisions}, "decision", "what to be best at: the most right rows (accuracy), or the mean recall of the classes (balanced)")
	f.StringVar(&l.keep, "keep", keepID, keepHelp)
	f.StringVar(&l.options.Save, "save", "", "keep the model in this safetensors file, for mars predict")
	f.Var(oneOf{&l.format, label.Formats}, "format", "what to write (default: by the name of the output, arrow where it does not say)")
	f.BoolVar(&l.spreadsheet, "spreadsheet", false, "in CSV, put ' before text that a spreadsheet would take for a formula")
	pageFlag(f, &l.common.page)
	f.StringVar(&l.common.summary, "summary", "", "write what is known of the labels as a whole to this JSON file: counts, expected accuracy, assumptions, warnings")
	l.common.outputFlags(f)
	writesTables(f, "write to this file instead of standard output")
	l.common.runFlags(f)
	return newCommand(cmd)
}

func newLabeller() *labeller {
	return &labeller{options: train.Options{Method: train.Auto, Arch: "auto", Schedule: adapt.ScheduleDefault, Panel: true}}
}

// registerMethod registers what says how rows are labelled.
func (l *labeller) registerMethod(f *pflag.FlagSet) {
	f.Var(oneOf{&l.options.Method, append([]string{train.Auto}, train.Methods()...)}, "method", "how to adapt: auto is hedge for tables and embeddings, self-training for images")
	countVar(f, &l.epochs, "epochs", 0, 1, "length of the training, for a first look (default: the method's)")
	f.StringVar(&l.options.Augment, "augment", "", imageAugmentHelp)
	l.hedge.register(f)
}

type labeller struct {
	common      *common
	epochs      int
	files       featurizeFlags
	options     train.Options
	hedge       hedgeFlags
	given       givenLabels
	each        eachTarget
	labels      label.Options
	format      string
	spreadsheet bool
	keep        string
}

func (l *labeller) run(cmd *cobra.Command, args []string) error {
	c := l.common
	if err := c.check(); err != nil {
		return err
	}
	if err := cmp.Or(l.checkMethod(cmd), l.each.check(cmd, &l.files, "save", "summary", "cached")); err != nil {
		return err
	}
	q := &question{files: &l.files, common: c}
	if err := q.check(args); err != nil {
		return err
	}
	if c.cached != "" && l.format != "" {
		return usagef("--cached writes what the output's name asks for: leave --format out, or --cached")
	}
	format, err := outputFormat(l.format, c.output)
	if err != nil {
		return err
	}
	if l.each != "" && format.Name == label.Arrow {
		return usagef("--each-target: the labels of several targets are no Arrow stream: give -o a name that ends in .csv, .json or .parquet")
	}
	if format.Spreadsheet = l.spreadsheet; l.spreadsheet && (format.Name != "csv" && format.Name != "tsv" || c.cached != "") {
		return usagef("--spreadsheet is for CSV that is not from the cache: leave it out, or write CSV without --cached")
	}
	c.input = append(args, "")[0]
	if handled, err := c.hosted(cmd); handled {
		return err
	}
	if err := cmp.Or(c.checkOutput(cmd, format), checkPage(c.page), c.checkSummary()); err != nil {
		return err
	}
	if l.each != "" {
		l.fits(cmd, q)
		return l.askEach(cmd, q, format)
	}
	if err := cmp.Or(l.keepColumns(cmd.Context()), l.given.read(cmd, labelName(&l.files), c)); err != nil {
		return err
	}
	l.options.Labels, l.options.KeepAll, l.labels.Given = l.given.Labels, l.given.path != "" && l.options.Assume == nil, l.given.Sheet
	l.fits(cmd, q)
	q.answer = func(_ context.Context, env stages.Env, in arrowio.Stream) error {
		labels, err := label.New(env, in, l.labels)
		if err != nil {
			return err
		}
		if err := l.common.writeLabels(cmd, env, format, labels); err != nil {
			return err
		}
		if line := askLine(cmd, args); line != "" && labels.Doubtful() {
			env.Logger().Info("to settle it, label a few rows (docs/how-to/ask.md): " + line)
		}
		return nil
	}
	return q.ask(cmd, args)
}

// fits says that the rows of a question are labelled.
func (l *labeller) fits(cmd *cobra.Command, q *question) {
	if cmd.Flags().Changed("epochs") {
		l.options.Tune = append(l.options.Tune, func(c *adapt.Config) { c.SetEpochs(l.epochs) })
	}
	q.stages = []stages.Func{train.Fit(l.options)}
	if l.findsClasses() {
		q.embed = embed.Images(embed.Options{Arch: "auto"})
	}
}

// keepColumns finds which columns of the target's file labels get.
func (l *labeller) keepColumns(ctx context.Context) error {
	switch {
	case l.keep == keepID && l.files.FileColumn == "" && l.each == "":
		return nil
	case l.files.target.Path == "" && l.files.source.Path == "":
		return usagef("--keep %s: the rows are a stream, which has no file: give --source and --target", l.keep)
	}
	options, err := l.files.options()
	if err != nil {
		return err
	}
	if choosesRows(options) {
		return usagef("--keep %s: only some target rows are labelled, and columns are kept of all: leave out what draws or chooses target rows", l.keep)
	}
	l.common.kept, err = newKeep(ctx, l.keep, options)
	return err
}

// choosesRows reports whether only some rows of the target's file are read.
func choosesRows(o featurize.Options) bool {
	t := o.Target
	return t.Rows > 0 || t.MaxRows > 0 || t.Proportions != "" || o.Disjoint || o.Classes != nil
}

// keepID is the value of --keep that keeps the identity alone.
const keepID = "id"

const keepHelp = "columns of the target's table that the labels get too: id, all, or some by name, as in patient,day"

// newKeep keeps the columns of the target's file that the value of --keep names.
func newKeep(ctx context.Context, keep string, o featurize.Options) (*label.Keep, error) {
	how := o.Target.Format
	how.Domain, how.Parts = cmp.Or(o.Domain, o.Target.Column), []tables.Part{{Name: arrowio.TargetDomain.String(), Values: o.Target.Domains}}
	var names []string
	if keep != "all" {
		var err error
		if names, err = csv.NewReader(strings.NewReader(keep)).Read(); err != nil {
			return nil, usagef("--keep %q: want id, all or names with commas between", keep)
		}
		if keep == keepID {
			names = nil
		}
		for _, name := range []string{how.FileColumn, o.Target.Column} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return label.NewKeep(ctx, o.Target.Path, how, names)
}

// checkMethod checks the flags of some methods.
func (l *labeller) checkMethod(cmd *cobra.Command) error {
	method := l.options.Method
	hedges := method == train.Auto || method == hedge.Method
	if err := l.hedge.refuseUnless(cmd, hedges, method); err != nil {
		return err
	}
	l.options.Assume, l.options.Classifiers = l.hedge.views(), l.hedge.members()
	if method == unmix.Method {
		if err := refuseUnmixed(cmd, l.options.Decision, "labels", "new-class"); err != nil {
			return err
		}
	}
	if l.options.Augment != "" && method != train.Auto && method != selftrain.Method {
		return usagef("--augment: --method %s changes no image at random: choose %s", method, selftrain.Method)
	}
	switch u := l.labels.Unknown; {
	case !(u >= 0 && u < 1):
		return usagef("--unknown %g: want a rate from 0 to 1, such as 0.01", u)
	case u > 0 && !hedges:
		return usagef("--unknown: --method %s cannot tell rows unlike the source: choose hedge", method)
	}
	return nil
}

// refuseUnmixed refuses flags that say nothing to rows that are mixtures.
func refuseUnmixed(cmd *cobra.Command, decision string, names ...string) error {
	if decision != "none" {
		names = append(names, "decision")
	}
	return refuse(cmd, "--method unmix says what rows are made of", names)
}

// findsClasses reports whether the method finds the classes in the rows as they are, so
// that images need an embedding first.
func (l *labeller) findsClasses() bool {
	switch l.options.Method {
	case hedge.Method, translate.Method:
		return true
	}
	return false
}

// outputFormat is the format of that name, or the one that the output's name asks for.
func outputFormat(name, output string) (label.Format, error) {
	if name != "" {
		return label.Format{Name: name}, nil
	}
	f, err := label.FormatOf(output)
	if err != nil {
		return f, usagef("--output %w", err)
	}
	return f, nil
}

// reportFormat is the format that the name of a report's output asks for. Reports are no
// rows for the next stage of a pipeline, so the cache keeps what is printed of them.
func (c *common) reportFormat() (label.Format, error) {
	if c.cached != "" && c.output != "" {
		return label.Format{}, usagef("--cached keeps what is printed: leave --output out, or --cached")
	}
	return outputFormat("", c.output)
}

// checkReport reports before the work what is wrong with a report's output.
func (c *common) checkReport() error {
	if c.output == "" {
		return nil
	}
	return arrowio.CheckOutput(c.output, arrowio.WriteOptions{Force: c.force})
}

// checkOutput reports before the work what is wrong with the output.
func (c *common) checkOutput(cmd *cobra.Command, format label.Format) error {
	if c.summarises(cmd, format) || hostOf(cmd).streams.Out != nil && c.output == "" || format.Name != label.Arrow && (c.output == "" || c.output == "-") {
		return nil
	}
	return arrowio.CheckOutput(c.output, arrowio.WriteOptions{Force: c.force})
}

// summarises reports whether labels are for a person's eyes: nobody has said where they go
// or as what, and standard output is a terminal.
func (c *common) summarises(cmd *cobra.Command, format label.Format) bool {
	return c.output == "" && format.Name == label.Arrow && !c.force && hostOf(cmd).streams.Out == nil && isTerminal(bare(cmd.OutOrStdout()))
}

// filterToLabels runs a stage that labels rows, and writes what mars label does.
func (c *common) filterToLabels(cmd *cobra.Command, stage stages.Func, format label.Format) error {
	if err := c.checkOutput(cmd, format); err != nil {
		return err
	}
	in, closeInput, err := c.open(cmd, c.input)
	if err != nil {
		return err
	}
	defer closeInput()
	env, done := c.env(cmd)
	defer done()
	return c.labelled(cmd, env, in, []pipeline.Filter{filter(stage, env)}, format, label.Options{})
}

// labelled runs filters, of which the last labels rows, and writes what mars label does.
func (c *common) labelled(cmd *cobra.Command, env stages.Env, in arrowio.Stream, filters []pipeline.Filter, format label.Format, o label.Options) error {
	return pipeline.Join(cmd.Context(), c.input, in, filters, func(_ context.Context, in arrowio.Stream) error {
		labels, err := label.New(env, in, o)
		if err != nil {
			return err
		}
		return c.writeLabels(cmd, env, format, labels)
	})
}

// tally is that of labels. It looks at the rows' values where something is said of them.
func (c *common) tally(labels *label.Labels) (*label.Tally, error) {
	tally := label.NewTally(labels)
	if c.page != "" || labels.Unknown > 0 {
		return tally, tally.Look()
	}
	return tally, nil
}

// writeLabels writes labels to the output, and logs how many there are of each class and
// which to check first. On a terminal it shows them instead.
func (c *common) writeLabels(cmd *cobra.Command, env stages.Env, format label.Format, labels *label.Labels) error {
	tally, err := c.tally(labels)
	if err != nil {
		return err
	}
	if c.summarises(cmd, format) {
		if err := label.Summarise(cmd.Context(), cmd.OutOrStdout(), tally); err != nil {
			return err
		}
		return c.writeKnown(cmd, tally)
	}
	known := func() error { return c.writeKnown(cmd, tally) }
	if err := c.eachRow(cmd.Context(), env, tally, func(rows arrowio.Stream) error { return c.saveRows(cmd, format, rows, label.Write, known) }); err != nil {
		return err
	}
	c.tell(env, tally)
	return nil
}

// eachRow gives labels with the columns that they keep.
func (c *common) eachRow(ctx context.Context, env stages.Env, tally *label.Tally, each func(arrowio.Stream) error) error {
	if c.kept == nil {
		return each(tally)
	}
	if warning := c.kept.Warning(); warning != "" {
		env.Logger().Warn(warning)
	}
	with, err := c.kept.With(ctx, tally, env.Columns.ID)
	if err != nil {
		return err
	}
	defer with.Close()
	return each(with)
}

// tell logs how many labels there are of each class, and which to check first.
func (c *common) tell(env stages.Env, tally *label.Tally) {
	env.Logger().Info(tally.Line())
	if line := tally.LevelLine(); line != "" {
		env.Logger().Info(line)
	}
	if line := tally.UnlikeLine(); line != "" {
		env.Logger().Info(line)
	}
	for _, warning := range tally.Noticed() {
		env.Logger().Warn(warning)
	}
	if check := tally.Check(); check != "" {
		env.Logger().Info(check)
	}
}

// next is the command that comes after labels: that which draws rows for a person to label, or that
// which says how the shares of the classes are.
func (c *common) next(cmd *cobra.Command, doubtful bool) (words, line string) {
	switch args := cmd.Flags().Args(); {
	case strings.TrimPrefix(cmd.Name(), "mars-") != "label":
		return "", ""
	case doubtful:
		return "Label a few rows by hand, which settles it (docs/how-to/ask.md):", askLine(cmd, args)
	default:
		return "The shares of the classes with intervals, which are better than counts of labels:", nextLine(cmd, args, proportionsCommand())
	}
}

// writeKnown writes the page and the summary of labels that are asked for.
func (c *common) writeKnown(cmd *cobra.Command, tally *label.Tally) error {
	if c.page != "" {
		part, err := report.Labels(tally)
		if err == nil {
			part.Next, part.Command = c.next(cmd, tally.Doubtful())
		}
		if err := pageOf(cmd, c.page, err, part); err != nil {
			return err
		}
	}
	if c.summary == "" {
		return nil
	}
	return atomicfile.Write(c.summary, tally.Known().WriteJSON)
}

// checkSummary reports before the work what is wrong with the file of the summary.
func (c *common) checkSummary() error {
	if c.summary == "" {
		return nil
	}
	return arrowio.CheckOutput(c.summary, arrowio.WriteOptions{})
}

// saveRows writes rows to the output, as Arrow or as write does. Then beside writes what else is asked for: if that
// fails, a file of the rows does not get its name.
func (c *common) saveRows(cmd *cobra.Command, format label.Format, rows arrowio.Stream, write func(context.Context, io.Writer, label.Format, arrowio.Stream) error, beside func() error) error {
	last := func() error {
		if err := unchanged(cmd); err != nil {
			return err
		}
		return beside()
	}
	switch {
	case format.Name == label.Arrow:
		return c.write(cmd, func(ctx context.Context, _ stages.Env, out arrowio.Sink) error {
			if err := out.Begin(rows.Schema()); err != nil {
				return err
			}
			if err := arrowio.Each(ctx, rows, out.Write); err != nil {
				return err
			}
			return last()
		})
	case c.output == "" || c.output == "-":
		if err := write(cmd.Context(), rawOut(cmd), format, rows); err != nil {
			return err
		}
		return beside()
	}
	return atomicfile.Write(c.output, func(w io.Writer) error {
		if err := write(cmd.Context(), w, format, rows); err != nil {
			return err
		}
		return last()
	})
}
