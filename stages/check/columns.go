package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/accuracy"
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/tables"
)

// A Judge says by rows with labels, in the column label, which classes other rows are of.
type Judge func(ctx context.Context, source, target arrowio.Stream, label string) (*Judgement, error)

// A Judgement is the posteriors of the rows of a target, in their order.
type Judgement struct {
	Classes    []string
	Posteriors blas32.General
	Error      float64 // the share of rows that are expected to be counted for a wrong class
}

// ReadJudgement reads the target rows of a labelled stream. Those without any value are NaN.
func ReadJudgement(ctx context.Context, env stages.Env, in arrowio.Stream) (*Judgement, error) {
	r := &stream.Rows{Env: env, Stream: in}
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	n := len(meta.Classes)
	j := &Judgement{Classes: meta.Classes, Posteriors: blas32.General{Cols: n, Stride: n}}
	if said := diagnostics.Read(meta).ExpectedError; said != nil {
		j.Error = *said / 2
	}
	err = r.Each(ctx, func(rec arrow.Record) error {
		domains, err := r.Domains(rec)
		if err != nil {
			return err
		}
		vectors, err := arrowio.VectorColumnWithGaps(rec, env.Columns.Probability)
		if err != nil {
			return err
		}
		for i, d := range domains {
			if d == arrowio.TargetDomain {
				stream.AppendRow(&j.Posteriors, vectors.Row(i))
			}
		}
		return nil
	})
	return j, err
}

const (
	mostLearnt = 5_000 // rows of the reference whose columns are learnt from
	mostJudged = 2_000 // rows of a window that are judged by their columns
	fewJudged  = 200   // that many are where there are many windows
	// leastJudged is how many rows a window has whose columns say something.
	leastJudged = 10
	// mostCells is about how many values the rows of all windows that are judged may have.
	mostCells = 1 << 22
)

// columns are the rows' own, in the reference and the windows. Rows are kept as text, as CSV has them, so that
// it does not matter in which types the files hold them. The predictions are read once to find out
// which rows are of which window, and then again, for the columns of some.
type columns struct {
	fields    []arrow.Field
	label     string
	reference arrow.Record
	held      []held
}

// A held window has ended, and waits for its columns.
type held struct {
	pane     *pane
	complete bool
}

// hold keeps a window until its columns have been read.
func (c *columns) hold(_ context.Context, p *pane, complete bool) error {
	p.Kept.Settle()
	c.held = append(c.held, held{p, complete})
	return nil
}

// learn reads the columns of the rows of the reference that a sample has kept, or of some of them.
func (c *checker) learn(ctx context.Context, path string, sample *drift.Sample) (_ *columns, err error) {
	all := &columns{label: c.options.Columns.Label}
	if all.fields, err = c.fieldsOf(ctx, path); err != nil {
		return nil, err
	}
	rows := newRows(all.fields)
	wanted := map[uint64]*place{}
	rows.want(wanted, sample, mostLearnt)
	if err := all.read(ctx, path, c.options.Reading, wanted, c.referenceKey); err != nil {
		return nil, err
	}
	labels := make([]string, len(rows.order))
	for i, at := range rows.order {
		labels[i] = c.classes.names[int(sample.Row(at)[c.width()])]
	}
	all.reference = rows.record(all.label, labels)
	return all, nil
}

// free are the columns of a file that are no predictions, label, identity or time.
func free(ctx context.Context, path string, o Options) (fields []arrow.Field, err error) {
	all, _, err := tables.Columns(ctx, path, o.Reading)
	r := &reader{columns: o.Columns}
	return slices.DeleteFunc(all, r.wanted), err
}

// Unused reports whether both files have columns that might be judged by, and the options name none.
func (o Options) Unused(ctx context.Context, path, reference string) bool {
	if len(o.Features) > 0 {
		return false
	}
	there, err := free(ctx, path, o)
	if err != nil {
		return false
	}
	known, err := free(ctx, reference, o)
	return err == nil && slices.ContainsFunc(there, func(f arrow.Field) bool { return hasField(known, f.Name) })
}

// fieldsOf are the columns that the options name, of a file. Those of predictions are none.
func (c *checker) fieldsOf(ctx context.Context, path string) (fields []arrow.Field, err error) {
	others, err := free(ctx, path, c.options)
	if err != nil {
		return nil, err
	}
	for _, name := range c.options.Features {
		matches := tables.Matcher([]string{name})
		if !slices.ContainsFunc(others, func(f arrow.Field) bool { return matches(f.Name) }) {
			return nil, fmt.Errorf("%s: has no column %q, which --columns names (besides predictions, labels, identities and times its columns are %s)", path, name, spelling.List(fieldNames(others)))
		}
	}
	matches := tables.Matcher(c.options.Features)
	return slices.DeleteFunc(others, func(f arrow.Field) bool { return !matches(f.Name) }), nil
}

func fieldNames(fields []arrow.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// common leaves the columns that the predictions have too.
func (c *checker) common(ctx context.Context, path string) error {
	there, err := c.fieldsOf(ctx, path)
	if err != nil {
		return err
	}
	all := c.columns
	both := slices.DeleteFunc(there, func(f arrow.Field) bool { return !hasField(all.fields, f.Name) })
	if len(both) == 0 {
		return fmt.Errorf("%s: has none of the columns of the reference that --columns names", path)
	}
	var reference arrowio.Table
	for i, f := range all.reference.Schema().Fields() {
		if f.Name == all.label || hasField(both, f.Name) {
			reference.AddField(f, all.reference.Column(i))
		}
	}
	all.fields, all.reference = both, reference.Record(arrowio.Meta{})
	return nil
}

func hasField(fields []arrow.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == name })
}

// judgeAll judges the windows that are held by their columns, one after another.
func (c *checker) judgeAll(ctx context.Context, env stages.Env, path string) error {
	if err := c.common(ctx, path); err != nil {
		return err
	}
	all := c.columns
	most := min(max(mostCells/max(len(all.held)*len(all.fields), 1), fewJudged), mostJudged)
	wanted, rows := map[uint64]*place{}, make([]*rows, len(all.held))
	for i, h := range all.held {
		rows[i] = newRows(all.fields)
		rows[i].want(wanted, &h.pane.Kept, most)
	}
	if err := all.read(ctx, path, c.options.Reading, wanted, c.rowKey); err != nil {
		return err
	}
	for i, h := range all.held {
		if err := c.judgeOne(ctx, path, h.pane, rows[i]); err != nil {
			return err
		}
		env.Report("windows", int64(i+1), int64(len(all.held)))
		if err := c.keep(ctx, h.pane, h.complete); err != nil {
			return err
		}
		h.pane.opinion = nil
	}
	return nil
}

// tooFew reports whether a window has too few rows for their columns to say anything.
func (c *checker) tooFew(p *pane) bool { return c.columns != nil && len(p.Kept.Keys) < leastJudged }

// judgeOne asks of what classes rows of a window are, but for those without any value.
func (c *checker) judgeOne(ctx context.Context, path string, p *pane, rows *rows) error {
	if c.tooFew(p) {
		return nil
	}
	table := func(name string, rec arrow.Record) arrowio.Stream { return arrowio.NewBatches(name, rec.Schema(), rec) }
	j, err := c.options.Judge(ctx, table("the reference", c.columns.reference), table(path, rows.record("", nil)), c.columns.label)
	if err == nil && j.Posteriors.Rows != len(rows.order) {
		err = fmt.Errorf("%d of %d rows were judged", j.Posteriors.Rows, len(rows.order))
	}
	if err != nil {
		start, end := c.place(p)
		return fmt.Errorf("%s: the columns of the window from %s to %s: %w: name other columns with --columns, or leave it out", path, start, end, err)
	}
	classes := make([]int, len(j.Classes))
	for k, class := range j.Classes {
		if classes[k] = c.classes.index(class); classes[k] < 0 {
			return fmt.Errorf("the class %q is none of the reference", class) // which it was made of
		}
	}
	none := blas32.General{Cols: len(c.classes.names), Stride: len(c.classes.names)}
	o := &accuracy.Opinion{Posteriors: none, Error: j.Error, Rows: accuracy.Rows{Posteriors: none, Hard: c.kind == hard}}
	row := make([]float32, none.Cols)
	for i, at := range rows.order {
		given := j.Posteriors.Data[i*j.Posteriors.Stride:][:len(j.Classes)]
		if given[0] != given[0] {
			continue
		}
		clear(row)
		for k, q := range given {
			row[classes[k]] = q
		}
		stream.AppendRow(&o.Posteriors, row)
		c.unpackRow(&o.Rows, p.Kept.Row(at))
	}
	if o.Posteriors.Rows > 0 {
		p.opinion = o
	}
	return nil
}

// rows are some rows of a table as text.
type rows struct {
	fields []arrow.Field
	cells  []*array.StringBuilder
	order  []int // of each row, its place in the sample
}

// A place is where a row of a table goes.
type place struct {
	rows *rows
	at   int
}

func newRows(fields []arrow.Field) *rows {
	r := &rows{fields: fields}
	for range fields {
		r.cells = append(r.cells, array.NewStringBuilder(memory.DefaultAllocator))
	}
	return r
}

// want wants the rows of a sample with the least keys.
func (r *rows) want(wanted map[uint64]*place, sample *drift.Sample, most int) {
	limit := ^uint64(0)
	if len(sample.Keys) > most {
		limit = slices.Sorted(slices.Values(sample.Keys))[most-1]
	}
	for at, key := range sample.Keys {
		if key <= limit {
			wanted[key] = &place{r, at}
		}
	}
}

// read reads the rows that are wanted.
func (c *columns) read(ctx context.Context, path string, o tables.Options, wanted map[uint64]*place, key func(int64) uint64) error {
	number := int64(0)
	return tables.EachBatch(ctx, path, o, c.fields, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			if p := wanted[key(number+int64(i))]; p != nil {
				p.rows.add(rec, i)
				p.rows.order = append(p.rows.order, p.at)
			}
		}
		number += rec.NumRows()
		return ctx.Err()
	})
}

// add adds row i of a batch.
func (r *rows) add(rec arrow.Record, i int) {
	for j, cells := range r.cells {
		if text, ok := arrowio.Cell(rec.Column(j), i); ok {
			cells.Append(text)
		} else {
			cells.AppendNull()
		}
	}
}

// record is the table of the rows, with their labels in the column label unless these are nil.
func (r *rows) record(label string, labels []string) arrow.Record {
	var t arrowio.Table
	for j, f := range r.fields {
		t.AddNullable(f.Name, r.cells[j].NewArray())
	}
	if labels != nil {
		t.Add(label, arrowio.NewStringArray(labels))
	}
	return t.Record(arrowio.Meta{})
}
