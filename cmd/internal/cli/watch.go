package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/watch"
)

// watchCommand looks after a stream that never ends.
func watchCommand() *cobra.Command {
	w := &watching{}
	cmd := &cobra.Command{
		Use:   "watch --model FILE [flags] [FILE]",
		Short: "Watch a stream that never ends: class shares of every window, and drift",
		Long: `Reads rows as they come, CSV or JSON lines or an Arrow stream, from standard input, from
FILE, or with --follow from a table that grows. For every window of rows it writes the share
of each class with an interval, the error to expect of them, how far they are from the model's
and from those of the window before, p-values of drift since the reference and since the
window before, and a verdict: ok, care or doubt (shares expected to be off by more than 0.1 or
0.2 in L1), change (rows differ from those before) or drift (from the reference). Each window is written at
once when it has ended, and memory is bounded for ever.

The reference of drift is the first window, or the rows of --reference. The p-values hold for
the whole life of the stream: without drift, the probability that it ever has an alarm is at
most --false-alarm, however many windows it has, as long as rows can be taken to be drawn
independently. After drift the verdict stays drift, until --accept.

Windows of time are aligned to 1970 UTC. A row belongs to the window of its time, in whatever
order rows come. A window is closed when a row comes whose time is --late after its end, and
rows of closed windows are left out, warned of and counted. A row that is more than ten windows
ahead of all others waits for a second one that agrees; otherwise it is left out too. Windows
without rows are not written. 10,000 late rows in succession end the watch: a clock was set back.

A row that cannot be read ends the watch, and is named; --bad-rows skip leaves it out and
counts it, up to 1,000 in succession.

With --checkpoint the state is kept in a file after every window and at the end; a watch that
is started again goes on from there and writes what one without an interruption would have
written. Rows of the last window, which is not complete, are then waited for; without
--checkpoint it is written as it is when the input ends. --alert ends with the status 4 at the
first window of change or drift.`,
		Example: `  sensors | mars watch --model model.safetensors --window 10000
  mars watch --model model.safetensors --follow readings.csv --window 1h --time at --checkpoint watch.state -o windows.csv
  mars watch --model model.safetensors --window 1h --time at --slide 10m --alert today.csv || echo look`,
		Args: cobra.MaximumNArgs(1),
	}
	c := &common{name: "mars-watch", columns: arrowio.DefaultColumns()}
	w.common, w.look = c, w
	cmd.RunE = w.run
	f := cmd.Flags()
	f.StringVar(&w.options.Model, "model", "", "file that mars label or mars train saved (required)")
	f.StringVar(&w.window, "window", "10000", "length of a window: a number of rows, or a time such as 15m, 1h or 7d")
	f.StringVar(&w.slide, "slide", "", "begin a window every so many rows, or so much time (default: windows do not overlap)")
	f.StringVar(&w.time, "time", "", "column with the time of each row, for windows of time: 2026-03-01T12:00:00Z, or seconds since 1970")
	f.StringVar(&w.reference, "reference", "", "file with rows that drift is measured from, instead of the first window")
	f.BoolVar(&w.accept, "accept", false, "take the rows after the checkpoint as the reference of drift: what has drifted before is accepted")
	f.BoolVar(&w.alert, "alert", false, "end at the first window of change or drift: with a line on standard error and the status 4")
	w.register(f)
	f.Float64Var(&w.options.FalseAlarm, "false-alarm", 0.01, "probability that a stream without drift ever has an alarm")
	f.Float64Var(&w.options.Level, "level", 0.9, "level of the intervals of shares")
	f.StringVar(&w.metrics, "metrics-file", "", "keep the last window in this file for Prometheus, for node_exporter's textfile collector")
	w.files.registerTables(f)
	f.Var(oneOf{&w.format, watch.Formats}, "format", "what to write (default: by the name of the output, text where it does not say)")
	f.StringVarP(&c.output, "output", "o", "", "write to this file instead of standard output, as its name says: .txt, .csv, .tsv, .jsonl, .arrows")
	c.memory = arrowio.DefaultSpoolMemory
	c.limitFlag(f)
	c.chanceFlags(f)
	c.logFlags(f)
	return newCommand(cmd)
}

type watching struct {
	streaming
	options                        watch.Options
	window, slide, time, reference string
	accept, alert                  bool
	files                          featurizeFlags

	watcher *watch.Watcher
	live    *featurize.Live
	writer  interface {
		Write(context.Context, *watch.Row) error
		Close() error
	}
	told bool // of drift
}

func (w *watching) run(cmd *cobra.Command, args []string) error {
	c := w.common
	c.input = append(args, "")[0]
	if err := c.check(); err != nil {
		return err
	}
	if err := w.parse(); err != nil {
		return err
	}
	env, done := c.env(cmd)
	defer done()
	w.log = env.Logger()
	w.nameInput()
	w.options.Warn = func(text string) { w.log.Warn(w.name + ": " + text) }
	ctx := cmd.Context()
	if err := w.begin(ctx); err != nil {
		return err
	}
	out, name, begun, err := w.openOutput(cmd, w.watcher.State.Written > 0)
	if err != nil {
		return err
	}
	w.writer = w.watcher.NewWriter(out, name, w.format, begun)
	return w.streaming.run(ctx)
}

// parse reads the flags.
func (w *watching) parse() (err error) {
	o := &w.options
	if o.Model == "" {
		return usagef("say which model: --model FILE")
	}
	if o.Window, err = watch.ParseSpan(w.window); err != nil {
		return usagef("--window: %w", err)
	}
	if w.slide != "" {
		if o.Slide, err = watch.ParseSpan(w.slide); err != nil {
			return usagef("--slide: %w", err)
		}
	}
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return usagef("--level %g: want a number between 0 and 1", o.Level)
	case !(o.FalseAlarm > 0 && o.FalseAlarm < 1):
		return usagef("--false-alarm %g: want a number between 0 and 1", o.FalseAlarm)
	case w.accept && w.checkpoint == "":
		return usagef("--accept is for what is known of before: give the --checkpoint too")
	case w.accept && w.reference != "":
		return usagef("the reference is --reference, or what comes next, by --accept: give one of them")
	}
	o.Seed, o.SkipBad = w.common.seed, w.badRows == "skip"
	o.Late, err = w.streaming.parse(w.window, w.time, o.Window.Time > 0)
	return err
}

// begin reads the model, and what was known before.
func (w *watching) begin(ctx context.Context) (err error) {
	if w.watcher, err = watch.New(ctx, w.options); err != nil {
		return err
	}
	preparation, err := w.watcher.Preparation()
	if err != nil {
		return err
	}
	how, err := w.files.text()
	if err != nil {
		return err
	}
	if err := checkEncoding(how); err != nil {
		return err
	}
	if w.live, err = featurize.NewLive(preparation, how, w.time, watch.ParseTime); err != nil {
		return fmt.Errorf("%s: %w", w.options.Model, err)
	}
	w.live.Then = w.predict
	w.text = &featurize.LiveText{Live: w.live, Name: w.name}
	if w.checkpoint != "" {
		place, found, err := w.watcher.Resume(w.checkpoint)
		if err != nil {
			return err
		}
		if found {
			w.goOn(place, w.watcher.State.Rows, w.watcher.State.Written)
			if w.accept {
				w.watcher.Accept()
			}
		}
	}
	if w.reference != "" && w.watcher.State.Test == nil {
		rows, err := w.live.Open(ctx, w.reference)
		if err != nil {
			return err
		}
		if err := w.watcher.Refer(ctx, rows.Features); err != nil {
			return fmt.Errorf("%s: %w", w.reference, err)
		}
	}
	return nil
}

// write writes a window, to the output and for Prometheus, and looks at the verdict.
func (w *watching) write(ctx context.Context) func(*watch.Row) error {
	return func(r *watch.Row) error {
		if err := w.writer.Write(ctx, r); err != nil {
			return err
		}
		w.written = true
		if w.metrics != "" {
			if err := atomicfile.Write(w.metrics, func(out io.Writer) error { return w.watcher.WriteMetrics(out, r) }); err != nil {
				return err
			}
		}
		if !r.Verdict.Alarm() {
			return nil
		}
		if w.alert {
			return &alertError{r.Sentence()}
		}
		if r.Verdict != watch.Drift || !w.told {
			w.log.Warn(r.Sentence())
		}
		w.told = w.told || r.Verdict == watch.Drift // which stays
		return nil
	}
}

// predicted is what the model says of rows.
type predicted struct {
	posteriors blas32.General
	err        error
}

// predict is Live.Then.
func (w *watching) predict(ctx context.Context, r *featurize.LiveRows) any {
	p, err := w.watcher.Predict(ctx, r.Features)
	return predicted{p, err}
}

// take is that of a lookout.
func (w *watching) take(ctx context.Context, r *featurize.LiveRows) (int, error) {
	p := r.Then.(predicted)
	if p.err != nil {
		return 0, p.err
	}
	return w.watcher.Add(ctx, r.Features, p.posteriors, r.Times, r.Missing, w.write(ctx))
}

func (w *watching) skip() { w.watcher.Bad() }

func (w *watching) finish(ctx context.Context) error { return w.watcher.Finish(ctx, w.write(ctx)) }

func (w *watching) lateRows() int64 { return w.watcher.State.Late }

func (w *watching) saveTo(path string, place watch.Place) error { return w.watcher.Save(path, place) }

func (w *watching) close() error { return w.writer.Close() }
