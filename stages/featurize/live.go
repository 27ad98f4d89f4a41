package featurize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables"
)

// Live prepares parts of a table as the rows of a model were, each for itself, as they
// come: a table that never ends cannot be looked through first.
type Live struct {
	// Then, if it is not nil, is called with rows that have been read, while those before
	// them are looked at: what it returns is kept with the rows.
	Then func(context.Context, *LiveRows) any

	st      *recipe
	options tables.Options
	time    string // the column with the time of each row; "" for none
	parse   func(string) (int64, error)
	columns *LiveColumns // nil: the rows of a model
}

// LiveColumns are the columns of rows that no model prepares.
type LiveColumns struct {
	Wanted func(arrow.Field) bool
	// Read gives the rows of a batch, which may have none, and their times, if there are. It may be called from
	// any goroutine.
	Read func(arrow.Record) (rows blas32.General, times []int64, err error)
}

func (c *LiveColumns) add(rec arrow.Record, to *LiveRows) error {
	x, times, err := c.Read(rec)
	all := &to.Features
	all.Rows, all.Cols, all.Stride = all.Rows+x.Rows, x.Cols, x.Cols
	all.Data, to.Times = append(all.Data, x.Data...), append(to.Times, times...)
	return err
}

// NewLiveColumns reads columns of rows, of text that is written as text says.
func NewLiveColumns(columns LiveColumns, text tables.Options) *Live {
	return &Live{columns: &columns, options: text}
}

// LiveRows are the rows of a part.
type LiveRows struct {
	Features blas32.General
	Times    []int64 // nil without a column of times
	Missing  []int   // cells without a value, by row; nil: none
	Then     any     // what Live.Then has made of them
}

// then lets Then see rows that are complete.
func (l *Live) then(ctx context.Context, rows *LiveRows) *LiveRows {
	if l.Then != nil {
		rows.Then = l.Then(ctx, rows)
	}
	return rows
}

// NewLive prepares rows as a model says (Options.Prepared), of text that is written as
// text says. time is a column of which parse reads the times; "" for none.
func NewLive(prepared string, text tables.Options, time string, parse func(string) (int64, error)) (*Live, error) {
	st, err := parseRecipe(prepared, nil)
	if err != nil {
		return nil, err
	}
	if st.Pictures.Column != "" || !reflect.DeepEqual(st.Target, ImageOptions{}) {
		return nil, errors.New("the model takes images, which are no rows of a stream: give it to mars predict")
	}
	l := &Live{st: st, options: text, time: time, parse: parse}
	o := &l.options
	o.Compensated = st.Compensate
	if o.Decimal == 0 { // a part could be written otherwise than the one before
		o.Decimal = '.'
	}
	o.Centres = append([]float64{}, st.Centres...)
	o.Learnt, o.Times = true, time != ""
	o.OptionalID, o.NoLabels, o.Label = true, time == "", time
	o.Columns, o.Exclude, o.Categorical, o.Mixed = st.Columns, nil, nil, st.Encoder != nil
	if st.Columns == nil {
		return nil, errors.New("the model was trained on rows without names of columns: give it to mars predict")
	}
	if st.Encoder != nil {
		o.Fields = st.Encoder.Fields()
	}
	for _, name := range st.Columns {
		if name == time {
			return nil, fmt.Errorf("the column %q is a feature of the model, and cannot be the time too: give the time in a column of its own, or train a model without it (--exclude %[1]s)", time)
		}
	}
	// Identities would have to be unique, and nobody sees them.
	o.ID = noColumn
	return l, nil
}

// noColumn is the name of a column that no table has.
const noColumn = "\x00none"

// Read reads the rows of a file of any kind.
func (l *Live) Read(ctx context.Context, r io.Reader, name string) (*LiveRows, error) {
	if c := l.columns; c != nil {
		rows := &LiveRows{}
		return rows, tables.ReadWanted(ctx, r, name, l.options, c.Wanted, func(rec arrow.Record) error { return c.add(rec, rows) })
	}
	t, err := tables.Read(ctx, r, name, l.options)
	if err != nil {
		return nil, err
	}
	return l.prepare(ctx, t)
}

// Open reads the rows of a file, or several.
func (l *Live) Open(ctx context.Context, path string) (*LiveRows, error) {
	all := *l
	all.options.NoLabels, all.options.Label, all.time = true, "", ""
	t, err := tables.Open(ctx, path, all.options)
	if err != nil {
		return nil, err
	}
	return all.prepare(ctx, t)
}

// Batch reads the rows of a batch of Arrow data, and calls rows for those that can be
// read and bad for each that cannot, in their order.
func (l *Live) Batch(ctx context.Context, rec arrow.Record, name string, first int64, rows func(*LiveRows) (int, error), bad func(error) error) error {
	if rec.NumRows() == 0 {
		return nil
	}
	if l.columns == nil {
		var err error
		if rec, err = l.textTimes(rec); err != nil {
			return err
		}
	}
	return halve(ctx, 0, int(rec.NumRows()), func(lo, hi int) (*LiveRows, error) {
		part := rec.NewSlice(int64(lo), int64(hi))
		defer part.Release()
		read, err := l.part(ctx, part, name)
		if err == nil {
			return l.then(ctx, read), nil
		}
		if hi-lo == 1 {
			err = renumber(err, name, "row", 1, first+int64(lo)+1)
		}
		return nil, err
	}, func(_, _ int, r *LiveRows) error {
		_, err := rows(r)
		return err
	}, bad)
}

// part reads the rows of a part of a batch.
func (l *Live) part(ctx context.Context, rec arrow.Record, name string) (*LiveRows, error) {
	if l.columns != nil {
		rows := &LiveRows{}
		return rows, l.columns.add(rec, rows)
	}
	sides, err := tables.FromStream(ctx, arrowio.NewBatches(name, rec.Schema(), rec), l.options)
	if err != nil {
		return nil, err
	}
	return l.prepare(ctx, sides[0])
}

// halve reads rows lo to hi: together, or where that fails by halves.
func halve(ctx context.Context, lo, hi int, read func(lo, hi int) (*LiveRows, error), rows func(lo, hi int, r *LiveRows) error, bad func(error) error) error {
	if lo == hi {
		return nil
	}
	got, err := read(lo, hi)
	lacking, header := (*tables.MissingColumns)(nil), (*HeaderError)(nil)
	switch {
	case err == nil && got == nil:
		return nil
	case err == nil:
		return rows(lo, hi, got)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &lacking), hi-lo == 1 && errors.As(err, &header):
		return err
	case hi-lo == 1:
		return bad(err)
	}
	middle := (lo + hi) / 2
	if err := halve(ctx, lo, middle, read, rows, bad); err != nil {
		return err
	}
	return halve(ctx, middle, hi, read, rows, bad)
}

// A numbered error is that of a row whose number in its part is not that in the stream.
type numbered struct {
	error
	text string
}

// Error is the text with the number in the stream.
func (n *numbered) Error() string { return n.text }

// Unwrap is the error.
func (n *numbered) Unwrap() error { return n.error }

// renumber puts the number in the stream where an error of an input says that in the part.
func renumber(err error, name, what string, was, is int64) error {
	if lacking := (*tables.MissingColumns)(nil); errors.As(err, &lacking) {
		return err // all rows lack them
	}
	place := fmt.Sprintf("%s %d", what, is)
	text := strings.TrimPrefix(err.Error(), name+": ")
	for _, word := range []string{"line", "row"} {
		if there := fmt.Sprintf("%s %d", word, was); !strings.Contains(text, place) {
			text = strings.Replace(text, there, place, 1)
		}
	}
	if !strings.Contains(text, place) {
		text = place + ": " + text
	}
	return &numbered{err, name + ": " + text}
}

// textTimes makes text of times that Arrow knows as such.
func (l *Live) textTimes(rec arrow.Record) (arrow.Record, error) {
	at := rec.Schema().FieldIndices(l.time)
	if len(at) != 1 {
		return rec, nil
	}
	times, ok := rec.Column(at[0]).(*array.Timestamp)
	if !ok {
		return rec, nil
	}
	unit := times.DataType().(*arrow.TimestampType).Unit
	texts := make([]string, times.Len())
	for i := range texts {
		if !times.IsNull(i) {
			texts[i] = times.Value(i).ToTime(unit).Format(time.RFC3339Nano)
		}
	}
	schema := arrowio.WithColumns(rec.Schema(), arrow.Field{Name: l.time, Type: arrow.BinaryTypes.String})
	return arrowio.AppendColumns(rec, schema, arrowio.Column{Name: l.time, Array: arrowio.NewStringArray(texts)})
}

func (l *Live) prepare(ctx context.Context, t *tables.Table) (*LiveRows, error) {
	rows := &LiveRows{}
	for i, text := range t.Labels {
		at, err := l.parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %s, column %q: %w", t.Name, t.Place(i), l.time, err)
		}
		rows.Times = append(rows.Times, at)
	}
	for i, v := range t.Features.Data {
		if v != v {
			if rows.Missing == nil {
				rows.Missing = make([]int, t.Features.Rows)
			}
			rows.Missing[i/t.Features.Stride]++
		}
	}
	if e := l.st.Encoder; e != nil {
		var err error
		if t, err = e.Apply(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := l.st.transform(ctx, t); err != nil {
		return nil, err
	}
	if err := l.st.target.Apply(ctx, t.Features); err != nil {
		return nil, err
	}
	rows.Features = t.Features
	return rows, nil
}
