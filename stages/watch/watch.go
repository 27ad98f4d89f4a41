// Package watch is the stage that looks after a stream that never ends: for every window
// of rows it says what the class shares are, how sure that is, and whether the rows have
// drifted.
//
// It reads vectors that the model takes, and times; it writes a Row a window. Memory is
// bounded: of a window it keeps a sample of 50,000 rows' posteriors and of 1,000 rows'
// scores, and of all before nothing but counts.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/stages/internal/windows"
	"mars.dev/mars/tables"
)

// Options of a watch.
type Options struct {
	Model  string // file
	Window Span
	Slide  Span // by which windows move on; zero: by their length
	// Late is how long rows may be late: a window is closed when a row comes that is so
	// much after its end.
	Late time.Duration
	// Level is that of the intervals; 0 means 0.9.
	Level float64
	// FalseAlarm is the probability that a stream without drift ever has an alarm; 0 means
	// 0.01. Half of it is for drift since the reference, and half for that between windows.
	FalseAlarm float64
	Seed       uint64
	// Warn is told of rows that are in no window because of their times: of the first since
	// the last window that was written. It may be nil.
	Warn func(string)
	// SkipBad leaves out rows for which the model gives no posteriors, and counts them.
	SkipBad bool
}

// ErrPosterior is the error of a row for which the model gives no posteriors.
var ErrPosterior = errors.New("the model gives a posterior that is no number, as values are too large for it: mend the row; --bad-rows skip leaves such rows out")

// MaxSlides is how many times windows may overlap.
const MaxSlides = 1_000

// emTolerance ends the estimation of shares when a step changes them by less, in L1.
const emTolerance = 1e-6

// A Watcher makes rows of windows.
type Watcher struct {
	State   State
	Classes []string

	options Options
	model   *models.Labeller
	sum     string
	slides  int // panes of a window
	divider windows.Divider[*pane]
	names   []string
	weights []float64
	row     []float32 // posteriors, features
}

// State is all that a Watcher knows of the stream: see Watcher.Resume.
type State struct {
	windows.Panes[*pane]
	Written int64   // windows
	Recent  []*pane // closed ones that windows to come share, by number

	Bad, Missing int64 // since the last window that was written

	Test    *drift.Test
	Steps   int64     // pairs of panes that were tested
	Before  []float32 // scores of the pane before
	Shares  []float64 // of the window before
	Drifted bool
}

// New makes a Watcher.
func New(ctx context.Context, o Options) (*Watcher, error) {
	o.Level, o.FalseAlarm = cmp.Or(o.Level, 0.9), cmp.Or(o.FalseAlarm, 0.01)
	w := &Watcher{options: o, slides: 1}
	if err := w.divide(); err != nil {
		return nil, err
	}
	var err error
	if w.model, w.sum, err = models.Load(ctx, o.Model, ""); err != nil {
		return nil, err
	}
	w.Classes = w.model.Classes
	if w.model.Prior == nil {
		return nil, fmt.Errorf("%s: the model does not say which class proportions its posteriors assume, from which those of a window follow: train it again", o.Model)
	}
	return w, w.nameScores()
}

// divide finds the panes of a window.
func (w *Watcher) divide() error {
	o := &w.options
	if o.Slide == (Span{}) {
		o.Slide = o.Window
	}
	window, slide := o.Window.Rows, o.Slide.Rows
	if o.Window.Time > 0 {
		window, slide = int64(o.Window.Time), int64(o.Slide.Time)
	}
	switch {
	case slide == 0:
		return errors.New("windows and the steps by which they slide are both of rows, or both of time")
	case slide > window || window%slide != 0:
		return errors.New("the length of a window has to be a multiple of the step by which it slides")
	case window/slide > MaxSlides:
		return fmt.Errorf("a window is %d steps long: want at most %d", window/slide, MaxSlides)
	}
	w.slides = int(window / slide)
	w.divider = windows.Divider[*pane]{Panes: &w.State.Panes, Size: slide, Window: o.Window.Time, Wait: o.Late, New: w.newPane, Add: w.addRow, Warn: o.Warn}
	return nil
}

// Preparation is how rows have to be prepared; it fails for a model that takes embeddings
// or does not know.
func (w *Watcher) Preparation() (string, error) {
	switch {
	case w.model.Vectors != "":
		return "", fmt.Errorf("%s: the model takes embeddings, which a stream does not have: train one on features", w.options.Model)
	case w.model.Preparation == "":
		return "", fmt.Errorf("%s: the model does not say how its rows were prepared: train it again, on a file", w.options.Model)
	}
	return w.model.Preparation, nil
}

// maxScores is how many classes, and how many features, tests of drift look at. Of more
// features, as those of images, none are: they are in the posteriors.
const maxScores = 64

// nameScores finds what tests of drift look at: the posteriors, the features and the
// typicality. These groups have the same part of the bets.
func (w *Watcher) nameScores() error {
	var columns []string
	if text := w.model.Preparation; text != "" {
		p, err := prepared.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", w.options.Model, err)
		}
		columns = p.Columns
	}
	var groups []int
	if n := len(w.Classes); n <= maxScores {
		for _, class := range w.Classes {
			w.names = append(w.names, "class "+class)
		}
		groups = append(groups, n)
	}
	if d := w.model.Width; d <= maxScores {
		for j := range d {
			name := "feature " + strconv.Itoa(j+1)
			if len(columns) == d {
				name = "column " + columns[j]
			}
			w.names = append(w.names, name)
		}
		groups = append(groups, d)
	}
	if w.model.Typicality != nil {
		w.names = append(w.names, "typicality")
		groups = append(groups, 1)
	}
	if len(groups) == 0 {
		return fmt.Errorf("%s: the model has %d classes and %d features, and drift can be told of %d classes or features at most", w.options.Model, len(w.Classes), w.model.Width, maxScores)
	}
	for _, n := range groups {
		for range n {
			w.weights = append(w.weights, 1/float64(n*len(groups)))
		}
	}
	return nil
}

// Predict returns the posteriors of rows. It changes nothing, so that it may be called from
// any goroutine, ahead of Add.
func (w *Watcher) Predict(ctx context.Context, x blas32.General) (blas32.General, error) {
	if x.Cols != w.model.Width {
		return blas32.General{}, fmt.Errorf("rows have %d numbers, and the model takes %d: give the rows that it was trained for", x.Cols, w.model.Width)
	}
	missing := models.TakeMissing(&x)
	if w.model.Prepare != nil {
		x = w.model.Prepare(x)
	}
	predict := w.model.Predict
	if w.model.Unadjusted != nil {
		predict = w.model.Unadjusted
	}
	p, err := predict(ctx, x)
	if err != nil {
		return p, err
	}
	for i := range missing { // posteriors that are p_S leave estimates as they are
		for k, share := range w.model.Prior {
			p.Data[i*p.Stride+k] = float32(share)
		}
	}
	return p, nil
}

// isDistribution reports whether all posteriors of row i are numbers.
func isDistribution(p blas32.General, i int) bool {
	for _, v := range p.Data[i*p.Stride : i*p.Stride+p.Cols] {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// Refer takes rows as the reference of drift, instead of the first pane.
func (w *Watcher) Refer(ctx context.Context, x blas32.General) error {
	p, err := w.Predict(ctx, x)
	if err != nil {
		return err
	}
	some := &pane{Scores: drift.Sample{Width: p.Cols + x.Cols, Most: 5 * maxTested}}
	for i := range x.Rows {
		if !isDistribution(p, i) {
			return fmt.Errorf("row %d: %w", i+1, ErrPosterior)
		}
		if tables.IsMissing(x.Data[i*x.Stride : i*x.Stride+x.Cols]) {
			continue
		}
		w.row = append(append(w.row[:0], p.Data[i*p.Stride:i*p.Stride+p.Cols]...), x.Data[i*x.Stride:i*x.Stride+x.Cols]...)
		some.Scores.Add(drift.Hash(w.options.Seed, 1<<63+uint64(i)), w.row)
	}
	scores, _, err := w.scores(ctx, some)
	if err != nil {
		return err
	}
	w.State.Test = drift.NewTest(scores, len(w.names), w.weights, w.options.Seed)
	return nil
}

// Accept makes the next pane the reference of drift, and begins the tests anew.
func (w *Watcher) Accept() {
	w.State.Test, w.State.Before, w.State.Steps, w.State.Drifted = nil, nil, 0, false
}

// Add takes rows x in the order of their arrival, with their posteriors p, which Predict
// gives, with their times in nanoseconds since 1970 if windows are of time, and the numbers
// of their missing cells or nil. It gives the windows that have ended to write. After an
// error of that it takes no more rows; taken is how many it has.
func (w *Watcher) Add(ctx context.Context, x, p blas32.General, times []int64, missing []int, write func(*Row) error) (taken int, err error) {
	s, close := &w.State, w.closing(write)
	for i := range x.Rows {
		if !isDistribution(p, i) {
			if !w.options.SkipBad {
				return i, ErrPosterior
			}
			s.Bad++
			continue
		}
		w.row = append(append(w.row[:0], p.Data[i*p.Stride:i*p.Stride+p.Cols]...), x.Data[i*x.Stride:i*x.Stride+x.Cols]...)
		row := windows.Row{Row: w.row}
		if missing != nil {
			row.Missing = int64(missing[i])
		}
		if times != nil {
			row.Time = times[i]
		}
		if took, err := w.divider.Take(ctx, row, close); err != nil {
			if took {
				i++
			}
			return i, err
		}
	}
	return x.Rows, nil
}

// closing gives the windows that end with panes to write.
func (w *Watcher) closing(write func(*Row) error) windows.Close[*pane] {
	return func(ctx context.Context, p *pane, complete bool) error { return w.close(ctx, p, complete, write) }
}

// Bad counts a row that could not be read.
func (w *Watcher) Bad() { w.State.Bad++ }

// Finish closes the panes that are open, whose windows are not complete: the stream has
// ended.
func (w *Watcher) Finish(ctx context.Context, write func(*Row) error) error {
	return w.divider.Finish(ctx, w.closing(write))
}

// close tests a pane and writes the window that ends with it.
func (w *Watcher) close(ctx context.Context, p *pane, complete bool, write func(*Row) error) error {
	s := &w.State
	p.Posteriors.Settle()
	scores, untypical, err := w.scores(ctx, p)
	if err != nil {
		return err
	}
	p.Scores = drift.Sample{}
	row := &Row{Untypical: untypical, Complete: complete}
	w.test(row, scores)
	s.Recent = append(s.Recent, p)
	s.Recent = slices.DeleteFunc(s.Recent, func(q *pane) bool { return q.Number <= p.Number-int64(w.slides) })
	if p.Number-s.First+1 < int64(w.slides) && complete {
		return nil // the first window has not ended
	}
	if err := w.estimate(row, s.Recent); err != nil {
		return err
	}
	w.place(row, p)
	w.judge(row)
	s.Written++
	row.Window = s.Written
	row.Late, row.Bad, row.Missing = s.Late, s.Bad, s.Missing
	s.Bad, s.Missing = 0, 0
	w.divider.Settle()
	if w.slides == 1 {
		s.Recent = nil
	}
	return write(row)
}

// scores are what tests of drift look at of a pane's sample, and the share of it that is
// not typical.
func (w *Watcher) scores(ctx context.Context, p *pane) (scores []float32, untypical *float64, err error) {
	s := &p.Scores
	s.Settle()
	n, classes, d := len(s.Keys), len(w.Classes), w.model.Width
	if n == 0 { // no row has a value
		return nil, nil, nil
	}
	var typicality []float32
	if w.model.Typicality != nil {
		x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		post := blas32.General{Rows: n, Cols: classes, Stride: classes, Data: make([]float32, n*classes)}
		for i := range n {
			copy(post.Data[i*classes:], s.Row(i)[:classes])
			copy(x.Data[i*d:], s.Row(i)[classes:])
		}
		if w.model.Prepare != nil {
			x = w.model.Prepare(x)
		}
		if typicality, err = w.model.Typicality(ctx, x, post); err != nil {
			return nil, nil, err
		}
		unlike := 0
		for _, t := range typicality {
			if t < untypicalRate {
				unlike++
			}
		}
		share := float64(unlike) / float64(n)
		untypical = &share
	}
	scores = make([]float32, 0, n*len(w.names))
	for i := range n {
		row := s.Row(i)
		if classes <= maxScores {
			scores = append(scores, row[:classes]...)
		}
		if d <= maxScores {
			scores = append(scores, row[classes:]...)
		}
		if typicality != nil {
			scores = append(scores, typicality[i])
		}
	}
	return scores, untypical, nil
}

// untypicalRate is the typicality below which rows are untypical (hedge.UntypicalRate).
const untypicalRate = 0.05

const (
	strangeShare = 0.95 // of untypical rows, from which on nothing is known of a window
	maxUntypical = 0.15 // up to which so many are untypical by chance, or because their class is a little wider
)

// strange is the share of rows of which nothing is known: of those that are untypical, as many as
// chance does not explain.
func strange(untypical *float64) float64 {
	switch {
	case untypical == nil || *untypical <= maxUntypical:
		return 0
	case *untypical > strangeShare:
		return 1
	}
	return (*untypical - untypicalRate) / (1 - untypicalRate)
}

// test tests the scores of a pane for drift since the reference and the pane before.
func (w *Watcher) test(row *Row, scores []float32) {
	s, n := &w.State, len(w.names)
	if len(scores) == 0 {
		return
	}
	if s.Test == nil {
		s.Test = drift.NewTest(scores, n, w.weights, w.options.Seed)
		row.Reference = true
	} else {
		s.Test.Add(scores)
		p := min(1, 2*s.Test.P())
		row.DriftP = &p
	}
	if s.Before != nil {
		s.Steps++
		step := drift.Between(s.Before, scores, n, w.weights, s.Steps, w.options.Seed)
		p := min(1, 2*step.P)
		row.ChangeP = &p
		if row.changed = p <= w.options.FalseAlarm; row.changed {
			row.Moved = w.names[step.Most]
		}
	}
	if row.DriftP != nil && *row.DriftP <= w.options.FalseAlarm {
		s.Drifted = true
		row.drifted = true
		row.Moved = w.names[s.Test.Most()]
	}
	s.Before = scores
}

// estimate finds the shares of the rows of panes.
func (w *Watcher) estimate(row *Row, panes []*pane) error {
	classes := len(w.Classes)
	var x blas32.General
	var weights []float64
	even := true
	for _, p := range panes {
		used := len(p.Posteriors.Keys)
		row.Rows += p.Posteriors.Rows
		row.Empty += p.Empty
		row.Used += int64(used)
		x.Data = append(x.Data, p.Posteriors.Values...)
		weight := float64(p.Posteriors.Rows) / float64(used)
		even = even && weight == 1
		weights = append(weights, slices.Repeat([]float64{weight}, used)...)
	}
	x.Rows, x.Cols, x.Stride = int(row.Used), classes, classes
	if even {
		weights = nil
	}
	e, err := labelshift.EM(x, w.model.Prior, labelshift.EMOptions{Tolerance: emTolerance, Weights: weights, Accelerate: true})
	if err != nil {
		return err
	}
	o := labelshift.RowIntervalOptions{Level: w.options.Level, Weights: weights}
	if w.model.Variance != nil {
		o.Model = w.model.Variance(e.Proportions)
	}
	v, err := labelshift.NewRowInterval(x, w.model.Prior, e.Proportions, o)
	if err != nil {
		return err
	}
	row.Shares, row.Lower, row.Upper, row.ExpectedError = e.Proportions, v.Lower, v.Upper, v.ExpectedError
	unknown := strange(row.Untypical)
	row.ExpectedError = (1-unknown)*row.ExpectedError + unknown*labelshift.Unknown(row.Shares)
	labelshift.Widen(row.Lower, row.Upper, unknown)
	missing := float64(row.Empty) / float64(row.Rows)
	row.ExpectedError = labelshift.MissingError(row.ExpectedError, missing)
	labelshift.Widen(row.Lower, row.Upper, missing)
	fitted := w.model.Shares
	if fitted == nil {
		fitted = w.model.Prior
	}
	row.Shift = floats.Distance(e.Proportions, fitted, 1)
	if w.State.Shares != nil {
		d := floats.Distance(e.Proportions, w.State.Shares, 1)
		row.Change = &d
	}
	w.State.Shares = e.Proportions
	return nil
}

// place says where the window that ends with a pane is.
func (w *Watcher) place(row *Row, p *pane) {
	if w.options.Window.Time > 0 {
		row.Start, row.End = timeText((p.Number-int64(w.slides)+1)*w.divider.Size), timeText((p.Number+1)*w.divider.Size)
		return
	}
	row.Start, row.End = strconv.FormatInt(w.State.Recent[0].First+1, 10), strconv.FormatInt(p.Last+1, 10)
}
