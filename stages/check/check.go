// Package check is the stage that says how right a model still is: for every window of
// its predictions, without their labels, the accuracy and other figures to be expected, each with
// an interval, what they rest on, and whether to believe them.
//
// It reads tables of predictions, one with labels as the reference, and writes a Report. Memory is
// bounded: of the reference it keeps a sample of 100,000 rows, and of each window one of 50,000.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/accuracy"
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/windows"
	"mars.dev/mars/tables"
)

// A Span is the length of a window.
type Span = windows.Span

// ParseSpan reads a Span.
var ParseSpan = windows.ParseSpan

// Options of a check.
type Options struct {
	Columns Columns
	Reading tables.Options // how tables are written
	Truth   string         // the file with the labels of the reference, by identity; "": the reference has them
	Window  Span           // zero: all rows are one window
	Level   float64        // of the intervals; 0 means 0.9
	Alert   float64        // accuracy below which a window is an alarm; 0: none is
	// Labels are those of some rows, which are then one window: they were drawn from a file of the name
	// Target, whose hash is TargetHash.
	Labels             Labels
	Target, TargetHash string
	MaxClasses         int
	Seed               uint64
	// Features are names, or patterns of names, of columns that predictions and reference have, by which
	// Judge says of each window, beside what the predictions say, which classes its rows are of. nil: none are.
	Features []string
	Judge    Judge
	// Each is given each window when it has ended; it may be nil.
	Each func(*Report, *Window) error
}

const (
	mostReference = 100_000 // rows of the reference that are kept
	mostWindow    = 50_000  // of a window
	// mostValues is about how many numbers all open windows keep: of more each keeps half as many rows.
	mostValues = 1 << 23
	// mostOpen is how many windows of time may be open.
	mostOpen = 100_000
)

// A checker makes windows of predictions.
type checker struct {
	options   Options
	classes   *classes
	kind      kind
	guessed   bool // a column says which classes are predicted
	reference *accuracy.Reference
	report    *Report

	state   state
	divider windows.Divider[*pane]
	live    bool // rows come for ever: windows are given away when they have ended
	sum     string
	row     []float32
	value   []float64
	given   *given          // labels; nil: there are none
	lost    map[string]bool // predicted classes that the reference lacks
	columns *columns        // the rows' own; nil: they are not looked at
}

// A state is all that is known of the predictions: a stream goes on from it.
type state struct {
	windows.Panes[*pane]
	Most    int // rows that each pane keeps
	Written int // windows
	Bad     int64
}

// A pane is the rows of an open window.
type pane struct {
	Number, First, Last int64
	Kept                drift.Sample
	Empty, Unknown      int64

	opinion *accuracy.Opinion // of its columns; nil: they say nothing
}

// Slot is the number of a windows.Pane.
func (p *pane) Slot() int64 { return p.Number }

// forEver is a number of rows that no table has, and in nanoseconds a wait that no row is too late for.
const forEver = 1 << 62

// newChecker learns from the reference.
func newChecker(ctx context.Context, env stages.Env, reference string, o Options) (*checker, error) {
	o.Level = cmp.Or(o.Level, 0.9)
	o.MaxClasses = cmp.Or(env.MaxClasses, stages.DefaultMaxClasses)
	if tables.IsPiped(reference) {
		return nil, fmt.Errorf("%s: the reference is read twice: give it as a file", reference)
	}
	c := &checker{options: o, state: state{Most: mostWindow}, lost: map[string]bool{}}
	c.divider = windows.Divider[*pane]{Panes: &c.state.Panes, Size: cmp.Or(int64(o.Window.Time), o.Window.Rows, forEver), Window: o.Window.Time, Wait: forEver, New: c.newPane, Add: c.add}
	return c, c.refer(ctx, env, reference)
}

// Run reads predictions of a table, or of standard input if path is "-", and a reference, and
// says how right they are.
func Run(ctx context.Context, env stages.Env, path, reference string, o Options) (*Report, error) {
	c, err := newChecker(ctx, env, reference, o)
	if err != nil {
		return nil, err
	}
	if err := c.read(ctx, env, path); err != nil {
		return nil, err
	}
	return c.report, nil
}

// refer learns from the reference.
func (c *checker) refer(ctx context.Context, env stages.Env, path string) error {
	o := c.options
	t, err := readTruth(ctx, o)
	defer t.close()
	if err != nil {
		return err
	}
	s, err := look(ctx, path, t, o)
	if err != nil {
		return err
	}
	if c.classes, err = s.classes(o, path); err != nil {
		return err
	}
	if err := env.CheckClasses(len(c.classes.names)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if s.missing > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: %s no label and left out", path, spelling.Count(s.missing, "row has", "rows have")))
	}
	c.kind, c.guessed = s.kind, s.guessed
	c.row, c.value = make([]float32, c.width()+1), make([]float64, len(c.classes.names))
	sample := drift.NewSample(c.width()+1, mostReference, mostReference)
	r := &reader{columns: o.Columns, classes: c.classes}
	r.columns.Time = ""
	left := int64(0)
	err = r.each(ctx, path, o.Reading, func(rec arrow.Record) error {
		labels, err := t.labels(r, rec)
		if err != nil {
			return err
		}
		return c.take(r, rec, func(i, said int) error {
			label := labels(i)
			if label == "" || said < 0 {
				left++
				return nil
			}
			class := c.classes.index(label)
			if class < 0 {
				return r.at(i, o.Columns.Label, errors.New("has a label that was not there before: run again when nothing writes to the file"))
			}
			c.row[c.width()] = float32(class)
			sample.Add(c.referenceKey(r.rows+int64(i)), c.row)
			return nil
		})
	})
	if err != nil {
		return err
	}
	sample.Settle()
	if len(sample.Keys) == 0 {
		return fmt.Errorf("%s: no row has a label and a prediction: give labelled rows with predictions as the reference", path)
	}
	if len(o.Features) > 0 {
		if c.columns, err = c.learn(ctx, path, &sample); err != nil {
			return err
		}
	}
	rows, labels := c.unpack(&sample)
	if c.reference, err = accuracy.Fit(ctx, rows, labels, accuracy.Options{Level: o.Level, Seed: o.Seed}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.report, c.sum = newReport(c, r.rows-left), c.hash(&sample)
	return nil
}

// referenceKey is the key of a row of the reference, and rowKey that of a row of predictions.
func (c *checker) referenceKey(row int64) uint64 {
	return drift.Hash(c.options.Seed, 1<<63+uint64(row))
}

func (c *checker) rowKey(row int64) uint64 { return drift.Hash(c.options.Seed, uint64(row+1)) }

// width is how many numbers a row of predictions has: the posteriors, and what is predicted.
func (c *checker) width() int {
	if c.kind == hard {
		return 1
	}
	return len(c.classes.names) + 1
}

// unpack makes rows of those that were kept, and their labels, if they have any.
func (c *checker) unpack(s *drift.Sample) (rows accuracy.Rows, labels []int32) {
	classes, n := len(c.classes.names), len(s.Keys)
	rows = accuracy.Rows{Posteriors: blas32.General{Cols: classes, Stride: classes, Data: make([]float32, 0, n*classes)}, Predicted: make([]int32, 0, n), Hard: c.kind == hard}
	for i := range n {
		row := s.Row(i)
		c.unpackRow(&rows, row)
		if s.Width > c.width() {
			labels = append(labels, int32(row[c.width()]))
		}
	}
	return rows, labels
}

// unpackRow adds a row that was kept.
func (c *checker) unpackRow(rows *accuracy.Rows, row []float32) {
	p, said := &rows.Posteriors, int32(row[c.width()-1])
	rows.Predicted = append(rows.Predicted, said)
	p.Rows++
	if c.kind != hard {
		p.Data = append(p.Data, row[:p.Cols]...)
		return
	}
	p.Data = append(p.Data, make([]float32, p.Cols)...)
	p.Data[len(p.Data)-p.Cols+int(said)] = 1
}

// What stands for a predicted class that a row has not.
const (
	empty   = -1 - iota // a value is missing
	unknown             // a class is predicted that the reference lacks
)

// take reads the rows of a batch into c.row, one by one. said is the class that is predicted.
func (c *checker) take(r *reader, rec arrow.Record, each func(i, said int) error) (err error) {
	if r.kind, err = r.kindOf(rec); err == nil && (r.kind == hard) != (c.kind == hard) {
		err = errors.New("has predictions of another kind than the reference: give the same columns in both, such as a posterior for each class")
	}
	if err != nil {
		return err
	}
	list := lister(nil)
	if c.kind != hard {
		if list, err = r.lister(rec); err != nil {
			return err
		}
	}
	guess := of(rec, r.columns.prediction())
	switch name := r.columns.prediction(); {
	case guess == nil && r.columns.Prediction != "":
		return r.lacks(name, "name the column of predicted classes with --prediction")
	case guess == nil && c.guessed:
		return fmt.Errorf("has no column %q, and the reference has one, by which other classes may be predicted than the most probable ones: give both the column, or neither", name)
	case guess != nil && !c.guessed:
		return fmt.Errorf("has a column %q, and the reference has none, by which other classes may be predicted than the most probable ones: give both the column, or neither", name)
	}
	for i := range int(rec.NumRows()) {
		said, err := c.takeRow(r, list, guess, i)
		if c.row[c.width()-1] = float32(said); err == nil {
			err = each(i, said)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeRow reads the posteriors of row i into c.row, and gives the class that is predicted.
func (c *checker) takeRow(r *reader, list lister, guess arrow.Array, i int) (said int, err error) {
	best := 0
	if list != nil {
		clear(c.value)
		if err := list(i, c.value); err != nil {
			return 0, err
		}
		ok, err := settle(c.value)
		if err != nil {
			return 0, r.inRow(i, err)
		}
		if !ok {
			return empty, nil
		}
		for k, p := range c.value {
			c.row[k] = float32(p)
			if p > c.value[best] {
				best = k
			}
		}
	}
	if guess != nil {
		class := text(guess, i)
		if class == "" {
			return empty, nil
		}
		if best = c.classes.index(class); best < 0 {
			c.lost[class] = true
			return unknown, nil
		}
	}
	return best, nil
}

// read reads the predictions.
func (c *checker) read(ctx context.Context, env stages.Env, path string) error {
	o := c.options
	r := &reader{columns: o.Columns, classes: c.classes}
	r.columns.Label = ""
	if err := c.give(func(text string) { env.Logger().Info(text) }); err != nil {
		return err
	}
	end := windows.Close[*pane](c.keep)
	if c.columns != nil {
		end = c.columns.hold
	}
	err := r.each(ctx, path, o.Reading, func(rec arrow.Record) error {
		times := of(rec, o.Columns.Time)
		if o.Columns.Time != "" && times == nil {
			return r.lacks(o.Columns.Time, "name the column of times with --time")
		}
		ids := of(rec, o.Columns.ID)
		if ids == nil && o.Columns.ID != defaultID {
			return r.lacks(o.Columns.ID, "name the column of identities with --id")
		}
		err := c.take(r, rec, func(i, said int) (err error) {
			if c.given != nil {
				c.given.see(c.state.Rows, ids, i, c.row[:c.width()], said)
			}
			row := windows.Row{Row: c.row[:c.width()]}
			if o.Window.Time > 0 {
				if row.Time, err = windows.TimeOf(times, i); err != nil {
					return r.at(i, o.Columns.Time, err)
				}
			}
			_, err = c.put(ctx, row, end)
			return err
		})
		env.Report("predictions", c.state.Rows, 0)
		return err
	})
	if err != nil {
		return err
	}
	if len(c.lost) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: predicts classes that the reference lacks: %s: nothing is known of how right those rows are", path, spelling.List(sortedKeys(c.lost))))
	}
	if err := c.divider.Finish(ctx, end); err != nil || c.columns == nil {
		return err
	}
	return c.judgeAll(ctx, env, path)
}

// put puts a row into its window, and gives those that have ended to end.
func (c *checker) put(ctx context.Context, row windows.Row, end windows.Close[*pane]) (taken bool, err error) {
	if taken, err = c.divider.Take(ctx, row, end); err != nil {
		return taken, err
	}
	if len(c.state.Open) > mostOpen {
		return true, fmt.Errorf("there are more than %d windows of %s: give a longer --window", mostOpen, c.options.Window.Time)
	}
	c.shrink()
	return true, nil
}

func (c *checker) newPane(number int64) *pane {
	return &pane{Number: number, First: c.state.Rows, Kept: drift.NewSample(c.width(), c.state.Most, 0)}
}

// add adds a row to a pane.
func (c *checker) add(p *pane, row windows.Row) {
	p.Last = c.state.Rows
	switch row.Row[len(row.Row)-1] {
	case empty:
		p.Empty++
	case unknown:
		p.Unknown++
	default:
		p.Kept.Add(c.rowKey(c.state.Rows), row.Row)
	}
}

// shrink makes each open window keep half as many rows where all together keep too many.
func (c *checker) shrink() {
	s := &c.state
	if s.Rows%(1<<14) != 0 {
		return
	}
	total := 0
	for _, p := range s.Open {
		total += len(p.Kept.Values)
	}
	if total <= mostValues {
		return
	}
	s.Most = max(s.Most/2, 100)
	for _, p := range s.Open {
		p.Kept.Most = s.Most
		p.Kept.Settle()
	}
}

// keep makes a window of a pane, and keeps it in the report.
func (c *checker) keep(ctx context.Context, p *pane, complete bool) error {
	w, err := c.close(ctx, p, complete || c.options.Window.Rows == 0)
	if err != nil {
		return err
	}
	if err := c.heed(w); err != nil {
		return err
	}
	c.report.Windows = append(c.report.Windows, w)
	if c.options.Each != nil {
		return c.options.Each(c.report, w)
	}
	return nil
}

// close makes a window of a pane.
func (c *checker) close(ctx context.Context, p *pane, complete bool) (*Window, error) {
	p.Kept.Settle()
	c.state.Written++
	w := c.newWindow(p, complete)
	if len(p.Kept.Keys) > 0 {
		rows, _ := c.unpack(&p.Kept)
		e, err := c.reference.Estimate(ctx, rows, int(p.Kept.Rows), p.opinion)
		if err != nil {
			return nil, err
		}
		w.fill(c, e)
	}
	w.judge(c.report)
	return w, nil
}

// place says where a window is.
func (c *checker) place(p *pane) (start, end string) {
	if d := int64(c.options.Window.Time); d > 0 {
		return windows.TimeText(p.Number * d), windows.TimeText((p.Number + 1) * d)
	}
	return fmt.Sprint(p.First + 1), fmt.Sprint(p.Last + 1)
}
