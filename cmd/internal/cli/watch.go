package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/watch"
	"mars.dev/mars/tables"
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
	w.common = c
	cmd.RunE = w.run
	f := cmd.Flags()
	f.StringVar(&w.options.Model, "model", "", "file that mars label or mars train saved (required)")
	f.StringVar(&w.window, "window", "10000", "length of a window: a number of rows, or a time such as 15m, 1h or 7d")
	f.StringVar(&w.slide, "slide", "", "begin a window every so many rows, or so much time (default: windows do not overlap)")
	f.StringVar(&w.time, "time", "", "column with the time of each row, for windows of time: 2026-03-01T12:00:00Z, or seconds since 1970")
	f.StringVar(&w.late, "late", "0s", "how long to wait for rows that are late, by the time of rows")
	f.StringVar(&w.follow, "follow", "", "read this table as it grows, for ever, by another one of its name too once it is rotated")
	f.StringVar(&w.reference, "reference", "", "file with rows that drift is measured from, instead of the first window")
	f.StringVar(&w.checkpoint, "checkpoint", "", "keep the state in this file, and go on from it")
	f.BoolVar(&w.accept, "accept", false, "take the rows after the checkpoint as the reference of drift: what has drifted before is accepted")
	f.BoolVar(&w.alert, "alert", false, "end at the first window of change or drift: with a line on standard error and the status 4")
	w.badRows = "stop"
	f.Var(oneOf{&w.badRows, []string{"stop", "skip"}}, "bad-rows", "what to do with a row that cannot be read")
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
	common                                 *common
	options                                watch.Options
	window, slide, time, late              string
	follow, reference, checkpoint, metrics string
	format, badRows                        string
	accept, alert                          bool
	files                                  featurizeFlags

	watcher *watch.Watcher
	live    *featurize.Live
	text    *featurize.LiveText
	place   watch.Place
	name    string // of the input
	file    *os.File
	writer  *watch.Writer
	log     *slog.Logger
	bad     int // rows in succession
	written bool
	told    bool // of drift
}

// maxBad is how many rows in succession may be bad.
const maxBad = 1_000

// alertError is an alarm that --alert asks for.
type alertError struct{ text string }

func (e *alertError) Error() string { return e.text }

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
	w.name = tables.StandardInput
	switch {
	case w.follow != "":
		w.name = w.follow
	case c.input != "" && c.input != "-":
		w.name = c.input
	}
	w.options.Warn = func(text string) { w.log.Warn(w.name + ": " + text) }
	ctx := cmd.Context()
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := w.openOutput(cmd); err != nil {
		return err
	}
	err := guarded(func() error { return w.watch(ctx) })
	if err == nil && w.checkpoint == "" {
		err = w.watcher.Finish(ctx, w.write(ctx))
	}
	if n := w.watcher.State.Late; n > 0 {
		w.log.Warn(fmt.Sprintf("%s: %s late or far ahead, and in no window", w.name, spelling.Count(n, "row since the last window that was written is", "rows since the last window that was written are")))
	}
	if w.checkpoint != "" && (err == nil || ctx.Err() != nil || errors.As(err, new(*alertError))) {
		if saveErr := w.save(); saveErr != nil {
			return saveErr
		}
	}
	if closeErr := w.closeOutput(); err == nil {
		err = closeErr
	}
	return err
}

// parse reads the flags.
func (w *watching) parse() (err error) {
	o, c := &w.options, w.common
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
	if o.Late, err = watch.ParseDuration(w.late); err != nil {
		return usagef("--late %s: want a time such as 30s or 10m", w.late)
	}
	switch timed := o.Window.Time > 0; {
	case timed && w.time == "":
		return usagef("--window %s is of time: name the column with the time of each row with --time", w.window)
	case !timed && w.time != "":
		return usagef("--time is for windows of time, and --window %s is of rows: give a time such as 1h, or leave --time out", w.window)
	case !timed && o.Late > 0:
		return usagef("--late is for windows of time: leave it out")
	case !(o.Level > 0 && o.Level < 1):
		return usagef("--level %g: want a number between 0 and 1", o.Level)
	case !(o.FalseAlarm > 0 && o.FalseAlarm < 1):
		return usagef("--false-alarm %g: want a number between 0 and 1", o.FalseAlarm)
	case w.follow != "" && c.input != "":
		return usagef("the rows are in FILE or in --follow: give one of them")
	case w.follow == "-":
		return usagef("standard input is read as it comes: leave --follow out")
	case w.accept && w.checkpoint == "":
		return usagef("--accept is for what is known of before: give the --checkpoint too")
	case w.accept && w.reference != "":
		return usagef("the reference is --reference, or what comes next, by --accept: give one of them")
	}
	o.Seed, o.SkipBad = c.seed, w.badRows == "skip"
	if w.format == "" {
		if w.format, err = watch.FormatOf(c.output); err != nil {
			return usageError{err}
		}
	}
	if w.format == "arrow" && w.checkpoint != "" && c.output != "" {
		return usagef("an Arrow stream cannot be gone on with: write CSV or JSON lines with --checkpoint")
	}
	var outputs []arrowio.FileUse
	for flag, path := range map[string]string{"--output": c.output, "--checkpoint": w.checkpoint, "--metrics-file": w.metrics} {
		if path != "" {
			outputs = append(outputs, arrowio.FileUse{Flag: flag, Path: path})
		}
	}
	if w.follow != "" {
		if err := arrowio.CheckFiles([]arrowio.FileUse{{Flag: "--follow", Path: w.follow}}, outputs); err != nil {
			return usageError{err}
		}
	}
	return nil
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
	if name := how.Encoding; strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "utf-32") {
		return usagef("--encoding %s: a stream is cut at the ends of its lines, which that encoding writes otherwise: convert it before, as in iconv -f %[1]s -t utf-8", name)
	}
	if w.live, err = featurize.NewLive(preparation, how, w.time, watch.ParseTime); err != nil {
		return fmt.Errorf("%s: %w", w.options.Model, err)
	}
	w.live.Then = w.predict
	w.text = &featurize.LiveText{Live: w.live, Name: w.name}
	found := false
	if w.checkpoint != "" {
		if w.place, found, err = w.watcher.Resume(w.checkpoint); err != nil {
			return err
		}
	}
	if found {
		w.log.Info(fmt.Sprintf("%s: going on after %s and %s", w.checkpoint, spelling.Count(w.watcher.State.Rows, "row", "rows"), spelling.Count(w.watcher.State.Written, "window", "windows")))
		if w.follow != "" {
			w.text.Head, w.text.Lines = w.place.Head, w.place.Lines
		}
		if w.accept {
			w.watcher.Accept()
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

// openOutput opens the output: what is beyond a checkpoint is written again.
func (w *watching) openOutput(cmd *cobra.Command) error {
	c := w.common
	begun := w.watcher.State.Written > 0
	if c.output == "" || c.output == "-" {
		out := io.Writer(rawOut(cmd))
		if w.format == "text" {
			out = cmd.OutOrStdout()
		}
		w.writer = w.watcher.NewWriter(out, "standard output", w.format, false)
		return nil
	}
	flags := os.O_RDWR | os.O_CREATE
	if !begun {
		flags |= os.O_TRUNC
	}
	var err error
	if w.file, err = os.OpenFile(c.output, flags, 0o666); err != nil {
		return err
	}
	if info, err := w.file.Stat(); err == nil && info.Mode().IsRegular() && begun {
		if info.Size() < w.place.Output {
			return fmt.Errorf("%s: has %d bytes, and %d when the checkpoint was made: give the file that was written then, or remove the checkpoint to begin anew", c.output, info.Size(), w.place.Output)
		}
		if err := w.file.Truncate(w.place.Output); err != nil {
			return err
		}
		if _, err := w.file.Seek(w.place.Output, io.SeekStart); err != nil {
			return err
		}
		begun = w.place.Output > 0
	}
	w.writer = w.watcher.NewWriter(w.file, c.output, w.format, begun)
	return nil
}

func (w *watching) closeOutput() error {
	err := w.writer.Close()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	return err
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

// save writes a checkpoint.
func (w *watching) save() error {
	if w.file != nil {
		info, err := w.file.Stat()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			w.place.Output = info.Size()
		}
	}
	w.place.Head, w.place.Lines = w.text.Head, w.text.Lines
	return w.watcher.Save(w.checkpoint, w.place)
}

// watch reads the input to its end, if it has one.
func (w *watching) watch(ctx context.Context) error {
	if w.follow != "" {
		return w.followFile(ctx)
	}
	var in io.Reader
	if w.name != w.common.input {
		in = arrowio.StandardInput()
	} else {
		f, err := os.Open(w.common.input)
		if err != nil {
			return fmt.Errorf("%w: check the path", err)
		}
		defer f.Close()
		in = f
	}
	return w.read(ctx, newFeed(ctx, in), true)
}

// followFile reads a file that grows, and those that take its place.
func (w *watching) followFile(ctx context.Context) error {
	for {
		file, err := os.Open(w.follow)
		if err != nil {
			return fmt.Errorf("%w: check the path", err)
		}
		if w.place.Offset > 0 {
			if err := isMarked(w.follow, w.place.Marked, w.place.Mark); err != nil {
				file.Close()
				return err
			}
			if _, err := file.Seek(w.place.Offset, io.SeekStart); err != nil {
				file.Close()
				return err
			}
		}
		followed, stop := context.WithCancel(ctx)
		f := &follower{ctx: followed, path: w.follow, file: file, offset: w.place.Offset}
		err = w.read(ctx, newFeed(followed, f), false)
		stop()
		file.Close()
		if !errors.Is(err, errRotated) {
			return err
		}
		w.log.Info(w.follow + ": " + errRotated.Error())
		w.place.Offset, w.place.Marked = 0, 0
		w.text.Lines, w.text.Head = 0, ""
	}
}

// read takes rows from a feed until it ends.
func (w *watching) read(ctx context.Context, f *feed, detect bool) error {
	var held, follows []byte
	lines := 0                         // bytes of held that are whole lines, if that is known
	work := context.WithoutCancel(ctx) // what is begun is done, so that the state is that after a line
	begun := w.rows(work)
	rows := func(r *featurize.LiveRows) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return begun(r)
	}
	for {
		var err error
		if lines == 0 {
			held, err = f.take(held)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		end := err != nil
		if end && !errors.Is(err, io.EOF) && !errors.Is(err, errRotated) {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if detect && w.text.Lines == 0 && len(held) > 0 {
			if arrowio.IsArrow(held) {
				return w.readArrow(ctx, io.MultiReader(bytes.NewReader(held), feedReader{f}))
			}
			if isCompressed(held) {
				return fmt.Errorf("%s: is compressed, and a stream is read as it comes: decompress it before, as in zcat FILE | mars watch", w.name)
			}
			if bytes.HasPrefix(held, []byte("PAR1")) {
				return fmt.Errorf("%s: is Parquet, which cannot be read as it comes: write it as CSV, JSON lines or an Arrow stream", w.name)
			}
		}
		if lines == 0 {
			var cutErr error
			if lines, cutErr = w.text.Cut(held, end); cutErr != nil {
				return cutErr
			}
		}
		if n := lines; n > 0 {
			lines, follows = 0, follows[:0]
			done, err := w.text.Read(work, held[:n], rows, w.badRow, func() []byte {
				follows = f.takeReady(append(follows, held[n:]...))
				whole, cutErr := w.text.Cut(follows, false)
				if cutErr == nil { // else it is said when more has come
					lines = whole
				}
				return follows[:lines]
			})
			if err == nil || errors.As(err, new(*alertError)) || errors.Is(err, context.Canceled) {
				err = errors.Join(err, w.advance(int64(done)))
			}
			if err != nil {
				return w.located(err)
			}
			if len(follows) == 0 {
				follows = append(follows, held[n:]...)
			}
			held, follows = follows, held
		}
		if end {
			if w.text.Lines == 0 && errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: is empty: check what writes it", w.name)
			}
			if errors.Is(err, errRotated) {
				return err
			}
			return nil
		}
	}
}

// located names the input in an error that does not.
func (w *watching) located(err error) error {
	if errors.Is(err, watch.ErrPosterior) {
		err = fmt.Errorf("line %d: %w", w.text.Lines+1, err)
	}
	if lacking := (*tables.MissingColumns)(nil); errors.As(err, &lacking) {
		return fmt.Errorf("%s: has no column %s, which the model takes (its columns are %s): give the rows that column, or train a model without it", w.name, lacking.Names(), strings.Join(lacking.Header, ", "))
	}
	if text := err.Error(); errors.As(err, new(*alertError)) || len(text) > len(w.name) && text[:len(w.name)] == w.name {
		return err
	}
	return fmt.Errorf("%s: %w", w.name, err)
}

// advance notes that n bytes more are done, and saves that after a window.
func (w *watching) advance(n int64) error {
	if w.follow != "" {
		w.place.Offset += n
		if w.place.Marked < headMark && w.checkpoint != "" {
			w.place.Marked = min(headMark, w.place.Offset)
			var err error
			if w.place.Mark, err = mark(w.follow, w.place.Marked); err != nil {
				return err
			}
		}
	}
	if w.written && w.checkpoint != "" {
		if err := w.save(); err != nil {
			return err
		}
	}
	w.written = false
	return nil
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

// rows takes rows that could be read.
func (w *watching) rows(ctx context.Context) func(*featurize.LiveRows) (int, error) {
	write := w.write(ctx)
	return func(r *featurize.LiveRows) (int, error) {
		w.bad = 0
		p := r.Then.(predicted)
		if p.err != nil {
			return 0, p.err
		}
		return w.watcher.Add(ctx, r.Features, p.posteriors, r.Times, r.Missing, write)
	}
}

// badRow takes a row that could not.
func (w *watching) badRow(err error) error {
	if w.badRows == "stop" {
		return fmt.Errorf("%w; --bad-rows skip leaves such rows out", err)
	}
	w.watcher.Bad()
	if w.bad++; w.bad >= maxBad {
		return fmt.Errorf("%d rows in succession cannot be read; the last: %w", maxBad, err)
	}
	return nil
}

// feedReader reads from a feed.
type feedReader struct{ *feed }

func (r feedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.wait(); err != nil {
		return 0, err
	}
	n := copy(p, r.ready)
	r.ready = r.ready[:copy(r.ready, r.ready[n:])]
	r.news.Broadcast()
	return n, nil
}

// readArrow reads the batches of an Arrow stream.
func (w *watching) readArrow(ctx context.Context, r io.Reader) error {
	in, err := arrowio.NewReader(r, w.name, arrowio.ReadOptions{})
	if err != nil {
		return err
	}
	defer in.Close()
	work := context.WithoutCancel(ctx)
	first := int64(0)
	for {
		rec, err := in.Next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.live.Batch(work, rec, w.name, first, w.rows(work), w.badRow); err != nil {
			return w.located(err)
		}
		first += rec.NumRows()
		w.text.Lines = first
		if err := w.advance(0); err != nil {
			return err
		}
	}
}

// isCompressed reports whether bytes begin as gzip, zstd, xz, bzip2 or lz4 do.
func isCompressed(head []byte) bool {
	for _, magic := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ", "BZh", "\x04\x22\x4d\x18"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
