package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/watch"
	"mars.dev/mars/tables"
)

// A streaming command reads rows as they come, from standard input, a file, or one that grows, for ever. After
// every window it keeps what it knows in a checkpoint, and goes on from that.
type streaming struct {
	common *common

	follow, late, checkpoint, metrics, format, badRows string

	look    lookout
	text    *featurize.LiveText
	place   watch.Place
	state   fs.FileInfo // of the checkpoint as it is known; nil: there is none
	name    string      // of the input
	file    *os.File    // the output
	kept    bool        // the output still holds what it held before: no row has come
	created bool        // the output was not there before
	source  *os.File    // that is followed
	log     *slog.Logger
	bad     int  // rows in succession
	written bool // a window, since the last checkpoint
}

// A lookout makes windows of the rows of a streaming command.
type lookout interface {
	take(ctx context.Context, rows *featurize.LiveRows) (taken int, err error)
	skip() // counts a row that cannot be read
	finish(ctx context.Context) error
	lateRows() int64 // since the last window
	saveTo(path string, place watch.Place) error
	close() error // the output
}

func (s *streaming) register(f *pflag.FlagSet) {
	f.StringVar(&s.late, "late", "0s", "how long to wait for rows that are late, by the time of rows")
	f.StringVar(&s.follow, "follow", "", "read this table as it grows, for ever, by another one of its name too once it is rotated")
	f.StringVar(&s.checkpoint, "checkpoint", "", "keep the state in this file, and go on from it")
	s.badRows = "stop"
	f.Var(oneOf{&s.badRows, []string{"stop", "skip"}}, "bad-rows", "what to do with a row that cannot be read")
}

// parse reads the flags.
func (s *streaming) parse(window, times string, timed bool) (late time.Duration, err error) {
	c := s.common
	if late, err = watch.ParseDuration(s.late); err != nil {
		return 0, usagef("--late %s: want a time such as 30s or 10m", s.late)
	}
	switch {
	case timed && times == "":
		return 0, usagef("--window %s is of time: name the column with the time of each row with --time", window)
	case !timed && times != "":
		return 0, usagef("--time is for windows of time, and --window %s is of rows: give a time such as 1h, or leave --time out", window)
	case !timed && late > 0:
		return 0, usagef("--late is for windows of time: leave it out")
	case s.follow != "" && c.input != "":
		return 0, usagef("the rows are in FILE or in --follow: give one of them")
	case s.follow == "-":
		return 0, usagef("standard input is read as it comes: leave --follow out")
	}
	if s.format == "" {
		if s.format, err = watch.FormatOf(c.output); err != nil {
			return 0, usageError{err}
		}
	}
	if s.format == "arrow" && s.checkpoint != "" && c.output != "" {
		return 0, usagef("an Arrow stream cannot be gone on with: write CSV or JSON lines with --checkpoint")
	}
	s.state, _ = os.Stat(s.checkpoint)
	var outputs []arrowio.FileUse
	for flag, path := range map[string]string{"--output": c.output, "--checkpoint": s.checkpoint, "--metrics-file": s.metrics} {
		if path != "" {
			outputs = append(outputs, arrowio.FileUse{Flag: flag, Path: path})
		}
	}
	if s.follow != "" {
		if err := arrowio.CheckFiles([]arrowio.FileUse{{Flag: "--follow", Path: s.follow}}, outputs); err != nil {
			return 0, usageError{err}
		}
	}
	return late, nil
}

// nameInput finds out what the rows are read from.
func (s *streaming) nameInput() {
	s.name = tables.StandardInput
	switch c := s.common; {
	case s.follow != "":
		s.name = s.follow
	case c.input != "" && c.input != "-":
		s.name = c.input
	}
}

// checkEncoding refuses text whose lines have other ends than those that a stream is cut at.
func checkEncoding(how tables.Options) error {
	if name := how.Encoding; strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "utf-32") {
		return usagef("--encoding %s: a stream is cut at the ends of its lines, which that encoding writes otherwise: convert it before, as in iconv -f %[1]s -t utf-8", name)
	}
	return nil
}

// goOn goes on from a checkpoint that was found.
func (s *streaming) goOn(place watch.Place, rows, windows int64) {
	s.place = place
	s.log.Info(fmt.Sprintf("%s: going on after %s and %s", s.checkpoint, spelling.Count(rows, "row", "rows"), spelling.Count(windows, "window", "windows")))
	if s.follow != "" {
		s.text.Head, s.text.Lines = place.Head, place.Lines
	}
}

// openOutput opens the output, begun if windows were written before: what is beyond a checkpoint is written again.
func (s *streaming) openOutput(cmd *cobra.Command, begun bool) (out io.Writer, name string, has bool, err error) {
	c := s.common
	if c.output == "" || c.output == "-" {
		if s.format == "text" {
			return cmd.OutOrStdout(), "standard output", false, nil
		}
		return rawOut(cmd), "standard output", false, nil
	}
	_, err = os.Stat(c.output)
	s.created = errors.Is(err, fs.ErrNotExist)
	if s.file, err = os.OpenFile(c.output, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, "", false, err
	}
	info, err := s.file.Stat()
	regular := err == nil && info.Mode().IsRegular()
	s.kept = regular && !begun
	if regular && begun {
		if info.Size() < s.place.Output {
			return nil, "", false, fmt.Errorf("%s: has %d bytes, and %d when the checkpoint was made: give the file that was written then, or begin anew with another checkpoint", c.output, info.Size(), s.place.Output)
		}
		if err := s.file.Truncate(s.place.Output); err != nil {
			return nil, "", false, err
		}
		if _, err := s.file.Seek(s.place.Output, io.SeekStart); err != nil {
			return nil, "", false, err
		}
		begun = s.place.Output > 0
	}
	return s.file, c.output, begun, nil
}

// clear empties an output that is begun: when rows come, so that an input that cannot be read takes nothing away.
func (s *streaming) clear() error {
	if !s.kept {
		return nil
	}
	s.kept = false
	return s.file.Truncate(0)
}

// run reads the input to its end, if it has one, and leaves everything written.
func (s *streaming) run(ctx context.Context) error {
	err := guarded(func() error { return s.readAll(ctx) })
	if err == nil {
		err = s.clear()
	}
	if err == nil && s.checkpoint == "" {
		err = s.look.finish(ctx)
	}
	if n := s.look.lateRows(); n > 0 {
		s.log.Warn(fmt.Sprintf("%s: %s late or far ahead, and in no window", s.name, spelling.Count(n, "row since the last window that was written is", "rows since the last window that was written are")))
	}
	ended := err == nil || ctx.Err() != nil || errors.As(err, new(*alertError))
	if s.checkpoint != "" && ended {
		if saveErr := s.save(); saveErr != nil {
			return saveErr
		}
	}
	var closeErr error
	if ended && !s.kept {
		closeErr = s.look.close()
	}
	if s.file != nil {
		closeErr = errors.Join(closeErr, s.file.Close())
		if s.kept && s.created {
			closeErr = errors.Join(closeErr, os.Remove(s.file.Name()))
		}
	}
	if err == nil {
		err = closeErr
	}
	return err
}

// save writes a checkpoint, unless another program has: it writes to the same output.
func (s *streaming) save() (err error) {
	if now, err := os.Stat(s.checkpoint); err == nil && (s.state == nil || !os.SameFile(s.state, now) || !now.ModTime().Equal(s.state.ModTime())) {
		return fmt.Errorf("%s: was written by another program since this one began: give each a checkpoint and an output of its own, and look at the output, which may have rows of both", s.checkpoint)
	}
	if s.file != nil && !s.kept {
		info, err := s.file.Stat()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() {
			s.place.Output = info.Size()
		}
	}
	s.place.Head, s.place.Lines = s.text.Head, s.text.Lines
	if err := s.look.saveTo(s.checkpoint, s.place); err != nil {
		return err
	}
	s.state, err = os.Stat(s.checkpoint)
	return err
}

// give gives rows that could be read to the lookout.
func (s *streaming) give(ctx context.Context, r *featurize.LiveRows) (int, error) {
	s.bad = 0
	if err := s.clear(); err != nil {
		return 0, err
	}
	return s.look.take(ctx, r)
}

// maxBad is how many rows in succession may be bad.
const maxBad = 1_000

// alertError is an alarm that --alert asks for.
type alertError struct{ text string }

func (e *alertError) Error() string { return e.text }

// readAll reads the input to its end, if it has one.
func (s *streaming) readAll(ctx context.Context) error {
	if s.follow != "" {
		return s.followFile(ctx)
	}
	var in io.Reader
	if s.name != s.common.input {
		in = arrowio.StandardInput()
	} else {
		f, err := os.Open(s.common.input)
		if err != nil {
			return fmt.Errorf("%w: check the path", err)
		}
		defer f.Close()
		in = f
	}
	return s.read(ctx, newFeed(ctx, in), true)
}

// followFile reads a file that grows, and those that take its place.
func (s *streaming) followFile(ctx context.Context) error {
	for {
		if err := s.openSource(); err != nil {
			return err
		}
		followed, stop := context.WithCancel(ctx)
		f := &follower{ctx: followed, path: s.follow, file: s.source, offset: s.place.Offset}
		err := s.read(ctx, newFeed(followed, f), false)
		stop()
		s.source.Close()
		if !errors.Is(err, errRotated) {
			return err
		}
		s.log.Info(s.follow + ": " + errRotated.Error())
		s.place.Offset, s.place.Marked = 0, 0
		s.text.Lines, s.text.Head = 0, ""
	}
}

// openSource opens the file that is followed where the checkpoint left it: under another name, if it was
// rotated while nobody watched.
func (s *streaming) openSource() (err error) {
	if s.source, err = s.openAt(s.follow); !errors.Is(err, errOther) {
		return err
	}
	names, listErr := os.ReadDir(filepath.Dir(s.follow))
	for _, entry := range names {
		if !entry.Type().IsRegular() || !strings.HasPrefix(entry.Name(), filepath.Base(s.follow)) {
			continue
		}
		path := filepath.Join(filepath.Dir(s.follow), entry.Name())
		if file, otherErr := s.openAt(path); otherErr == nil {
			s.log.Warn(fmt.Sprintf("%s: was rotated while nobody watched: the rest of %s is read first, and files that had the name between the two are not", s.follow, path))
			s.source = file
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s: %w", s.follow, err), listErr)
}

// errOther says that a file is not the one that a checkpoint is of.
var errOther = errors.New("is another file than that of the checkpoint, and no file beside it whose name begins so is that one: give the old file such a name, or begin anew with another checkpoint and output")

// openAt opens a file where the checkpoint left it, if it is the checkpoint's.
func (s *streaming) openAt(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: check the path", err)
	}
	if s.place.Offset == 0 {
		return file, nil
	}
	got, err := mark(file, s.place.Marked)
	if err == nil && !bytes.Equal(got, s.place.Mark) {
		err = errOther
	}
	if err == nil {
		_, err = file.Seek(s.place.Offset, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// read takes rows from a feed until it ends.
func (s *streaming) read(ctx context.Context, f *feed, detect bool) error {
	var held, follows []byte
	lines := 0                         // bytes of held that are whole lines, if that is known
	work := context.WithoutCancel(ctx) // what is begun is done, so that the state is that after a line
	rows := func(r *featurize.LiveRows) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return s.give(work, r)
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
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if detect && s.text.Lines == 0 && len(held) > 0 {
			if arrowio.IsArrow(held) {
				return s.readArrow(ctx, io.MultiReader(bytes.NewReader(held), feedReader{f}))
			}
			if isCompressed(held) {
				return fmt.Errorf("%s: is compressed, and a stream is read as it comes: decompress it before, as in zcat FILE | %s -", s.name, strings.Replace(s.common.name, "-", " ", 1))
			}
			if bytes.HasPrefix(held, []byte("PAR1")) {
				return fmt.Errorf("%s: is Parquet, which cannot be read as it comes: write it as CSV, JSON lines or an Arrow stream", s.name)
			}
		}
		if lines == 0 {
			var cutErr error
			if lines, cutErr = s.text.Cut(held, end); cutErr != nil {
				return cutErr
			}
		}
		if n := lines; n > 0 {
			lines, follows = 0, follows[:0]
			done, err := s.text.Read(work, held[:n], rows, s.badRow, func() []byte {
				follows = f.takeReady(append(follows, held[n:]...))
				whole, cutErr := s.text.Cut(follows, false)
				if cutErr == nil { // else it is said when more has come
					lines = whole
				}
				return follows[:lines]
			})
			if err == nil || errors.As(err, new(*alertError)) || errors.Is(err, context.Canceled) {
				err = errors.Join(err, s.advance(int64(done)))
			}
			if err != nil {
				return s.located(err)
			}
			if len(follows) == 0 {
				follows = append(follows, held[n:]...)
			}
			held, follows = follows, held
		}
		if end {
			if s.text.Lines == 0 && errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: is empty: check what writes it", s.name)
			}
			if errors.Is(err, errRotated) {
				return err
			}
			return nil
		}
	}
}

// located names the input in an error that does not.
func (s *streaming) located(err error) error {
	if errors.Is(err, watch.ErrPosterior) {
		err = fmt.Errorf("line %d: %w", s.text.Lines+1, err)
	}
	if lacking := (*tables.MissingColumns)(nil); errors.As(err, &lacking) {
		return fmt.Errorf("%s: has no column %s, which the model takes (its columns are %s): give the rows that column, or train a model without it", s.name, lacking.Names(), strings.Join(lacking.Header, ", "))
	}
	if text := err.Error(); errors.As(err, new(*alertError)) || len(text) > len(s.name) && text[:len(s.name)] == s.name {
		return err
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// advance notes that n bytes more are done, and saves that after a window.
func (s *streaming) advance(n int64) error {
	if s.follow != "" {
		s.place.Offset += n
		if s.place.Marked < headMark && s.checkpoint != "" {
			s.place.Marked = min(headMark, s.place.Offset)
			var err error
			if s.place.Mark, err = mark(s.source, s.place.Marked); err != nil {
				return err
			}
		}
	}
	if s.written && s.checkpoint != "" {
		if err := s.save(); err != nil {
			return err
		}
	}
	s.written = false
	return nil
}

// badRow takes a row that could not.
func (s *streaming) badRow(err error) error {
	if s.badRows == "stop" {
		return fmt.Errorf("%w; --bad-rows skip leaves such rows out", err)
	}
	s.look.skip()
	if s.bad++; s.bad >= maxBad {
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
func (s *streaming) readArrow(ctx context.Context, r io.Reader) error {
	in, err := arrowio.NewReader(r, s.name, arrowio.ReadOptions{})
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
		if err := s.text.Batch(work, rec, s.name, first, func(r *featurize.LiveRows) (int, error) { return s.give(work, r) }, s.badRow); err != nil {
			return s.located(err)
		}
		first += rec.NumRows()
		s.text.Lines = first
		if err := s.advance(0); err != nil {
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
