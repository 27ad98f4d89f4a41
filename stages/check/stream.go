package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/windows"
)

// A Stream says how right a model still is on predictions that come one by one, for ever: each window when
// it has ended. Its memory is bounded.
type Stream struct {
	Report *Report // without windows

	c      *checker
	mu     sync.Mutex // of reader and what it reads into
	reader reader
}

// NewStream learns from the reference. Rows of windows of time may be late by so much, and warn is told of those
// in no window.
func NewStream(ctx context.Context, env stages.Env, reference string, late time.Duration, warn func(string), o Options) (*Stream, error) {
	c, err := newChecker(ctx, env, reference, o)
	if err != nil {
		return nil, err
	}
	c.live, c.report.live = true, true
	c.divider.Wait, c.divider.Warn = late, warn
	s := &Stream{Report: c.report, c: c, reader: reader{columns: o.Columns, classes: c.classes, live: true}}
	s.reader.columns.Label, s.reader.columns.ID = "", ""
	return s, nil
}

// Wanted reports whether Read looks at a column. Like Read it may be called from any goroutine.
func (s *Stream) Wanted(f arrow.Field) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader.wanted(f)
}

// Read gives the rows of a batch to Add, and their times.
func (s *Stream) Read(rec arrow.Record) (x blas32.General, at []int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r, name := s.c, &s.reader, s.c.options.Columns.Time
	times := of(rec, name)
	if name != "" && times == nil {
		return x, nil, r.lacks(name, "name the column of times with --time")
	}
	x.Cols, x.Stride = c.width(), c.width()
	err = c.take(r, rec, func(i, _ int) error {
		if times != nil {
			t, err := windows.TimeOf(times, i)
			if err != nil {
				return r.at(i, name, err)
			}
			at = append(at, t)
		}
		x.Rows++
		x.Data = append(x.Data, c.row[:x.Cols]...)
		return nil
	})
	return x, at, err
}

// Add takes rows in the order of their arrival. It gives the windows that have ended to write. After an error of that it takes
// no more rows; taken is how many it has.
func (s *Stream) Add(ctx context.Context, x blas32.General, times []int64, write func(*Window) error) (taken int, err error) {
	end := s.closing(write)
	for i := range x.Rows {
		row := windows.Row{Row: x.Data[i*x.Stride : i*x.Stride+x.Cols]}
		if times != nil {
			row.Time = times[i]
		}
		if took, err := s.c.put(ctx, row, end); err != nil {
			if took {
				i++
			}
			return i, err
		}
	}
	return x.Rows, nil
}

// Bad counts a row that could not be read.
func (s *Stream) Bad() { s.c.state.Bad++ }

// Late is how many rows were late since the last window.
func (s *Stream) Late() int64 { return s.c.state.Late }

// Finish gives the windows that are not complete: the stream has ended.
func (s *Stream) Finish(ctx context.Context, write func(*Window) error) error {
	return s.c.divider.Finish(ctx, s.closing(write))
}

// closing gives the windows that end to write.
func (s *Stream) closing(write func(*Window) error) windows.Close[*pane] {
	return func(ctx context.Context, p *pane, complete bool) error {
		w, err := s.c.close(ctx, p, complete)
		if err != nil {
			return err
		}
		s.c.state.Bad = 0
		s.c.divider.Settle()
		return write(w)
	}
}

// hash is the SHA-256 of what was learnt from: another reference has another.
func (c *checker) hash(reference *drift.Sample) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q %d %d %d\n", c.kind, c.classes.names, c.classes.predictable, c.classes.positive, reference.Rows)
	if err := binary.Write(h, binary.LittleEndian, reference.Values); err != nil {
		panic(err) // numbers of a fixed size can be written, and a hash takes them
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *Stream) checkpoint() windows.Checkpoint[state] {
	o := s.c.options
	settings := map[string]string{"window": o.Window.String(), "late": s.c.divider.Wait.String(), "level": fmt.Sprint(o.Level), "seed": fmt.Sprint(o.Seed)}
	for name, column := range map[string]string{"label": o.Columns.Label, "probability": o.Columns.Probability, "score": o.Columns.Score, "positive": o.Columns.Positive, "prediction": o.Columns.Prediction} {
		settings[name] = cmp.Or(column, `""`)
	}
	return windows.Checkpoint[state]{Model: s.c.sum, Options: settings, State: s.c.state}
}

// A Place is how far input and output have come.
type Place = windows.Place

// Save writes a checkpoint, whole or not at all.
func (s *Stream) Save(path string, place Place) error {
	c := s.checkpoint()
	c.Place = place
	return c.Save(path)
}

// Resume goes on from a checkpoint. found is false if there is none.
func (s *Stream) Resume(path, reference string) (place Place, found bool, err error) {
	c := s.checkpoint()
	if found, err = c.Resume(path, "mars check", "reference than "+reference); err != nil || !found {
		return place, false, err
	}
	if !s.fits(&c.State) {
		return place, false, windows.Damaged(path)
	}
	s.c.state = c.State
	return c.Place, true, nil
}

// fits reports whether a state is one of this reference: what is in it has the lengths and values that it is
// read by.
func (s *Stream) fits(is *state) bool {
	width, classes := s.c.width(), float32(len(s.c.classes.names))
	isRow := func(row []float32) bool { said := row[width-1]; return said >= unknown && said < classes }
	if is.Most < 1 || is.Most > mostWindow || is.Held != nil && (len(is.Held.Row) != width || !isRow(is.Held.Row)) {
		return false
	}
	return !slices.ContainsFunc(is.Open, func(p *pane) bool {
		if p == nil || !p.Kept.Fits(width, is.Most) {
			return true
		}
		for i := range p.Kept.Keys {
			if row := p.Kept.Row(i); !isRow(row) || row[width-1] < 0 {
				return true
			}
		}
		return false
	})
}

// Rows and Windows are how many there were.
func (s *Stream) Rows() int64    { return s.c.state.Rows }
func (s *Stream) Windows() int64 { return int64(s.c.state.Written) }

// How windows of a stream are written.
var (
	Formats  = windows.Formats
	FormatOf = windows.FormatOf
)

// NewWriter writes windows as they end in one of Formats. begun says that out has windows already.
func (s *Stream) NewWriter(out io.Writer, name, format string, begun bool) *windows.Writer[*Window] {
	return windows.NewWriter[*Window](lines{s.Report}, out, name, format, begun)
}

// lines are windows one by one.
type lines struct{ *Report }

// Record is a batch of one row.
func (l lines) Record(w *Window) arrow.Record {
	one := *l.Report
	one.Windows = []*Window{w}
	return one.Record()
}

// Schema is that of Record.
func (l lines) Schema() *arrow.Schema { return l.Report.Record().Schema() }
