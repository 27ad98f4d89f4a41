package cli

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/check"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/train"
	"mars.dev/mars/tables"
)

// checkCommand says how right a model still is.
func checkCommand() *cobra.Command {
	k := &checking{streaming: streaming{common: &common{name: "mars-check", columns: arrowio.DefaultColumns()}}}
	k.look = k
	cmd := &cobra.Command{
		Use:   "check --reference FILE [flags] [PREDICTIONS]",
		Short: "Say how right a model still is, without labels: accuracy and other figures of each window",
		Long: `Reads predictions of any model, and as the reference predictions with labels of rows that
the model was not trained on. For all rows, or for each window of them, it writes the accuracy
that is to be expected, balanced accuracy, F1 of each class, logarithmic loss, and of two
classes the area under the ROC curve and the confusion matrix, each with an interval and the
change since the reference, what they rest on, and a verdict: whether to believe them.

Predictions are tables in CSV, TSV, JSON lines, Parquet or Arrow, or on standard input (-):
a column probability_CLASS for each class, or the posterior of one of two classes (--score), or
a column of predicted classes alone (--prediction). What is predicted is the most probable
class, unless there is a column predicted_class, or --prediction names one.

The figures rest on two assumptions: that posteriors mean what they mean in the reference, on
which they are calibrated, and that only the proportions of the classes have changed. How the
predictions are spread says how much each counts, and widens the intervals where neither
explains it. If labels follow another rule now, no row without a label shows it: mars ask draws
some rows to label, and --labels takes them.

With --columns the rows' own columns are a second opinion: mars label learns from the reference and
says of some rows of each window which classes they are of. Where classes have moved, predictions
do not show it, and the columns often do. The two count by the inverse of how far off each is
expected to be. It takes about a second a window.

With --follow, --checkpoint, --late or --bad-rows the predictions are a stream that never ends, as
mars watch takes it: CSV or JSON lines or an Arrow stream, from standard input, or with --follow
from a table that grows. Each window is written at once when it has ended, and memory is
bounded for ever. A window of time ends when a row comes whose time is --late after its end, and
rows of windows that have ended are left out, warned of and counted. With --checkpoint the state
is kept in a file after every window and at the end; a check that is started again goes on from
there and writes what one without an interruption would have written. --alert ends it at the
first window that is below.

--alert .9 ends with the status 4 if the accuracy of a window is below .9: if the upper bound
of its interval is, which for intervals of 90 % is so with 95 %.

The name of --output says how the report is written: .csv, .tsv, .jsonl, .parquet and .arrow get
a row a window, .json the whole report.`,
		Example: `  mars check today.csv --reference labelled.csv --label y
  mars check predictions.parquet --reference labelled.parquet --window 1d --time at --metrics-file check.prom
  mars check scores.csv --reference labelled.csv --score score --positive yes --alert .9 || echo look
  mars check predictions.csv --reference labelled.csv --prediction class -o windows.csv --window 5000
  mars check predictions.parquet --reference labelled.parquet --columns 'age,income,area*'
  mars check --follow predictions.csv --reference labelled.csv --window 1h --time at --checkpoint check.state -o windows.csv`,
		Args: cobra.MaximumNArgs(1),
	}
	cmd.RunE = k.run
	f, c, o := cmd.Flags(), k.common, &k.options
	f.StringVar(&k.reference, "reference", "", "file with predictions and labels of rows that the model was not trained on (required)")
	f.StringVar(&o.Columns.Label, "label", "label", "label column of the reference")
	f.StringVar(&o.Truth, "reference-labels", "", "file with the labels of the reference's rows, if that has none: rows belong together by --id")
	f.StringVar(&o.Columns.Probability, "probability", "probability", "what the columns of posteriors begin with, as in probability_CLASS, or the column with lists of them")
	f.StringVar(&o.Columns.Score, "score", "", "column with the posterior of one of two classes")
	f.StringVar(&o.Columns.Positive, "positive", "", "class that --score is of (default: the last by value or name)")
	f.StringVar(&o.Columns.Prediction, "prediction", "", "column of predicted classes (default \"predicted_class\", if it is there, else the most probable class)")
	f.StringVar(&o.Columns.ID, "id", "id", "identity column, for --labels and --reference-labels (default: row numbers if there is none)")
	k.given.register(f)
	f.StringSliceVar(&o.Features, "columns", nil, "columns that the rows have besides, in both tables, or patterns such as 'm*' or '*': mars label then says by them, with the reference as the source, which classes each window's rows are of, and that counts too")
	f.StringVar(&k.window, "window", "", "length of a window: a number of rows, or a time such as 15m, 1h or 7d (default: all rows are one)")
	f.StringVar(&o.Columns.Time, "time", "", "column with the time of each row, for windows of time: 2026-03-01T12:00:00Z, or seconds since 1970")
	amountVar(f, &o.Alert, "alert", 1, "end with the status 4 if the accuracy of a window is below this")
	f.Float64Var(&o.Level, "level", 0.9, "level of the intervals")
	f.StringVar(&k.metrics, "metrics-file", "", "keep the last window in this file for Prometheus, for node_exporter's textfile collector")
	pageFlag(f, &k.page)
	f.BoolVar(&k.asJSON, "json", false, "print one JSON object")
	k.register(f)
	k.files.registerTables(f)
	c.outputFlags(f)
	writesTables(f, "write the report to this file too")
	c.limitFlag(f)
	c.classesFlag(f)
	c.chanceFlags(f)
	c.logFlags(f)
	return newCommand(cmd)
}

type checking struct {
	streaming
	options                 check.Options
	files                   featurizeFlags
	given                   givenLabels
	reference, window, page string
	asJSON                  bool

	stream *check.Stream // nil: the predictions end
	writer interface {
		Write(context.Context, *check.Window) error
		Close() error
	}
}

func (k *checking) run(cmd *cobra.Command, args []string) error {
	c := k.common
	c.input = append(args, "")[0]
	if err := cmp.Or(c.check(), k.parse()); err != nil {
		return err
	}
	for _, name := range []string{"follow", "checkpoint", "late", "bad-rows"} {
		if cmd.Flags().Changed(name) {
			return k.runStream(cmd, name)
		}
	}
	if c.input == "" {
		return usagef("give the predictions: a file, or - for standard input")
	}
	format, err := c.reportFormat()
	if err != nil {
		return err
	}
	if err := cmp.Or(c.checkReport(), checkPage(k.page)); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := k.readLabels(cmd); err != nil {
		return err
	}
	env, done := c.env(cmd)
	defer done()
	if k.options.Features != nil {
		if isPipe(c.input) || c.input == "-" {
			return usagef("--columns: the predictions are read twice: give them as a file")
		}
		k.options.Judge = k.judge(env)
	}
	if !k.asJSON && k.window != "" && c.output != "-" && !c.quiet {
		k.options.Each = func(r *check.Report, w *check.Window) error { return r.WriteLine(cmd.OutOrStdout(), w) }
	}
	var r *check.Report
	if err := guarded(func() error {
		r, err = check.Run(ctx, env, c.input, k.reference, k.options)
		return err
	}); err != nil {
		return err
	}
	if err := unchanged(cmd); err != nil {
		return err
	}
	return k.put(cmd, format, r)
}

// runStream checks predictions that never end, as a flag asks.
func (k *checking) runStream(cmd *cobra.Command, flag string) error {
	c, o, ctx := k.common, k.options, cmd.Context()
	switch {
	case k.window == "":
		return usagef("--%s is for predictions that never end: say how long a window is with --window", flag)
	case k.options.Features != nil:
		return usagef("--%s is for predictions that never end, and --columns reads the predictions twice: leave one out", flag)
	case k.given.path != "" || k.page != "" || k.asJSON:
		return usagef("--%s is for predictions that never end, of which there is no report at the end: leave --labels, --report and --json out", flag)
	}
	late, err := k.streaming.parse(k.window, o.Columns.Time, o.Window.Time > 0)
	if err == nil {
		err = checkEncoding(o.Reading)
	}
	if err != nil {
		return err
	}
	env, done := c.env(cmd)
	defer done()
	k.log = env.Logger()
	k.nameInput()
	warn := func(text string) { k.log.Warn(k.name + ": " + text) }
	if k.stream, err = check.NewStream(ctx, env, k.reference, late, warn, o); err != nil {
		return err
	}
	k.text = &featurize.LiveText{Live: featurize.NewLiveColumns(featurize.LiveColumns{Wanted: k.stream.Wanted, Read: k.stream.Read}, o.Reading), Name: k.name}
	if k.checkpoint != "" {
		place, found, err := k.stream.Resume(k.checkpoint, k.reference)
		if err != nil {
			return err
		}
		if found {
			k.goOn(place, k.stream.Rows(), k.stream.Windows())
		}
	}
	out, name, begun, err := k.openOutput(cmd, k.stream.Windows() > 0)
	if err != nil {
		return err
	}
	k.log.Info(k.stream.Report.Unseen)
	k.writer = k.stream.NewWriter(out, name, k.format, begun)
	return k.streaming.run(ctx)
}

// write writes a window of a stream, to the output and for Prometheus, and looks for an alarm.
func (k *checking) write(ctx context.Context) func(*check.Window) error {
	return func(w *check.Window) error {
		if err := k.writer.Write(ctx, w); err != nil {
			return err
		}
		k.written = true
		if err := k.saveMetrics(k.stream.Report, w); err != nil {
			return err
		}
		if w.Alarm {
			return &alertError{k.stream.Report.Alarm(w)}
		}
		return nil
	}
}

// saveMetrics keeps a window for Prometheus, if that is asked for.
func (k *checking) saveMetrics(r *check.Report, w *check.Window) error {
	if k.metrics == "" {
		return nil
	}
	return atomicfile.Write(k.metrics, func(out io.Writer) error { return r.WriteMetrics(out, w) })
}

// take is that of a lookout.
func (k *checking) take(ctx context.Context, r *featurize.LiveRows) (int, error) {
	return k.stream.Add(ctx, r.Features, r.Times, k.write(ctx))
}

func (k *checking) skip() { k.stream.Bad() }

func (k *checking) finish(ctx context.Context) error { return k.stream.Finish(ctx, k.write(ctx)) }

func (k *checking) lateRows() int64 { return k.stream.Late() }

func (k *checking) saveTo(path string, place check.Place) error { return k.stream.Save(path, place) }

func (k *checking) close() error { return k.writer.Close() }

// parse reads the flags.
func (k *checking) parse() (err error) {
	o := &k.options
	if k.reference == "" {
		return usagef("say how right the model was: --reference FILE, with labels")
	}
	if k.window != "" {
		if o.Window, err = check.ParseSpan(k.window); err != nil {
			return usagef("--window: %w", err)
		}
	}
	switch timed := o.Window.Time > 0; {
	case timed && o.Columns.Time == "":
		return usagef("--window %s is of time: name the column with the time of each row with --time", k.window)
	case !timed && o.Columns.Time != "":
		return usagef("--time is for windows of time: give --window too, such as 1d, or leave --time out")
	case !(o.Level > 0 && o.Level < 1):
		return usagef("--level %g: want a number between 0 and 1", o.Level)
	case o.Columns.Positive != "" && o.Columns.Score == "":
		return usagef("--positive is the class that --score is of: give both")
	case o.Features != nil && k.given.path != "":
		return usagef("--labels say how right the predictions are, whatever the columns say: leave --columns out")
	case o.Columns.Label == "":
		return usagef("--label: name the column of labels of the reference")
	}
	if o.Reading, err = k.files.text(); err != nil {
		return err
	}
	o.Seed = k.common.seed
	return nil
}

// readLabels reads the labels, if there are any.
func (k *checking) readLabels(cmd *cobra.Command) (err error) {
	o, path := &k.options, k.common.input
	if err := k.given.read(cmd, o.Columns.Label, k.common); err != nil || k.given.path == "" {
		return err
	}
	switch {
	case k.window != "":
		return usagef("--labels are of all rows together: leave --window out")
	case isPipe(path) || path == "-":
		return usagef("--labels are of rows of a file: give the predictions as one")
	}
	o.Labels, o.Target = k.given.Labels, path
	o.TargetHash, err = machine(0).Hash(cmd.Context(), path)
	return err
}

// judge says by their columns which classes rows are of, as mars label does. What becomes of the columns is told of the
// first window, and of the others what is warned of and new.
func (k *checking) judge(env stages.Env) check.Judge {
	prepared := env
	prepared.Progress = nil
	news := &newsHandler{Handler: env.Logger().Handler(), said: map[string]bool{}}
	prepared.Log = slog.New(news)
	env.Log, env.Progress = nil, nil
	return func(ctx context.Context, source, target arrowio.Stream, label string) (j *check.Judgement, err error) {
		files := k.files
		files.how.Label = label
		files.source.Path, files.source.Stream = source.Name(), source
		files.target.Path, files.target.Stream = target.Name(), target
		options, err := files.options()
		if err != nil {
			return nil, err
		}
		filters := []pipeline.Filter{filter(featurized(options), prepared), filter(train.Fit(newLabeller().options), env)}
		defer func() { news.later = true }()
		err = pipeline.Join(ctx, target.Name(), nil, filters, func(ctx context.Context, in arrowio.Stream) error {
			j, err = check.ReadJudgement(ctx, env, in)
			return err
		})
		return j, err
	}
}

// put prints and writes the report, and ends with an alarm if there is one.
func (k *checking) put(cmd *cobra.Command, format label.Format, r *check.Report) error {
	c := k.common
	if r.Doubtful() {
		r.Next = k.askLine(cmd.Context())
		r.Unused = r.Next != "" && k.options.Unused(cmd.Context(), c.input, k.reference)
	}
	if err := k.save(cmd, format, r); err != nil {
		return err
	}
	if k.page != "" {
		part, err := report.Checked(r)
		if err := pageOf(cmd, k.page, err, part); err != nil {
			return err
		}
	}
	if err := k.saveMetrics(r, r.Windows[len(r.Windows)-1]); err != nil {
		return err
	}
	print := r.WriteTable
	if k.asJSON {
		print = r.WriteJSON
	}
	if c.output != "-" && (k.asJSON || !c.quiet || c.output == "") {
		if err := print(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	alarms := r.Alarms()
	if len(alarms) == 0 {
		return nil
	}
	var texts []string
	for _, w := range alarms {
		texts = append(texts, r.Alarm(w))
	}
	return &alertError{strings.Join(texts, "\n")}
}

// save writes the report to the output file, if one is named.
func (k *checking) save(cmd *cobra.Command, format label.Format, r *check.Report) error {
	switch c := k.common; {
	case c.output == "":
		return nil
	case format.Name == label.Arrow:
		return c.write(cmd, func(_ context.Context, _ stages.Env, out arrowio.Sink) error { return r.Write(out) })
	default:
		return r.Save(cmd.Context(), c.output, format)
	}
}

// askLine is the command that draws rows to label: predictions are features enough. A column of times is left out
// where the reference has it, whose columns are the features. It is "" where no command is known.
func (k *checking) askLine(ctx context.Context) string {
	if isPipe(k.common.input) || k.common.input == "-" {
		return ""
	}
	words := []string{"mars", "ask", "--source", k.reference, "--target", k.common.input, "--label", k.options.Columns.Label}
	if truth := k.options.Truth; truth != "" { // which may lack some
		words = append(words, "--source-labels", truth, "--missing-labels", "drop")
		if k.options.Columns.ID != "id" {
			words = append(words, "--id", k.options.Columns.ID)
		}
	}
	fields, _, err := tables.Columns(ctx, k.reference, k.options.Reading)
	if err == nil && slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == k.options.Columns.Time }) {
		words = append(words, "--exclude", k.options.Columns.Time)
	}
	return quoted(append(words, "-o", "ask.csv"))
}

// A newsHandler passes on what was not said before, and later warnings alone.
type newsHandler struct {
	slog.Handler
	said  map[string]bool
	later bool
}

func (h *newsHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.said[r.Message] || h.later && r.Level < slog.LevelWarn {
		return nil
	}
	h.said[r.Message] = true
	return h.Handler.Handle(ctx, r)
}
