package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/tables"
)

// Columns are the names of what predictions are read from.
type Columns struct {
	// Probability is what the columns of posteriors begin with, as in probability_CLASS, or the column
	// with lists of them.
	Probability string
	// Score is a column with the posterior of Positive, for two classes; "" for none.
	Score, Positive string
	// Prediction is the column of predicted classes. Without it the most probable class is
	// predicted, or what PredictedColumn has, if it is there.
	Prediction string
	Label      string // of the reference
	Time       string // "" for none
	ID         string // of rows that a person has labelled; defaultID need not be there
}

// defaultID is the column of identities that is not asked for.
const defaultID = "id"

// PredictedColumn is the column of predicted classes that mars label writes.
const PredictedColumn = "predicted_class"

// A kind says what predictions are.
type kind int

const (
	posteriors kind = iota // a column a class
	listed                 // lists of posteriors
	scores                 // of the second of two classes
	hard                   // classes alone
)

// A reader reads the predictions of a table, batch by batch.
type reader struct {
	columns Columns
	kind    kind
	classes *classes // of the reference; nil while that is read
	header  []string
	rows    int64         // before a batch
	schema  *arrow.Schema // of the file that is read
	before  int64         // rows of files before it
	live    bool          // who reads knows where a row is
}

// wanted reports whether a column is read.
func (r *reader) wanted(f arrow.Field) bool {
	if !slices.Contains(r.header, f.Name) {
		r.header = append(r.header, f.Name)
	}
	c := r.columns
	return f.Name == c.Label && c.Label != "" || f.Name == c.Time && c.Time != "" || f.Name == c.ID || f.Name == c.Score && c.Score != "" || f.Name == c.prediction() ||
		c.Score == "" && (f.Name == c.Probability || strings.HasPrefix(f.Name, c.Probability+"_"))
}

// prediction is the column of predicted classes that may be there.
func (c Columns) prediction() string { return cmp.Or(c.Prediction, PredictedColumn) }

// of is a column of a batch, nil if there is none.
func of(rec arrow.Record, name string) arrow.Array {
	if at := rec.Schema().FieldIndices(name); len(at) == 1 && name != "" {
		return rec.Column(at[0])
	}
	return nil
}

// named are the classes that have a column of posteriors, in the order of the columns.
func (r *reader) named(rec arrow.Record) (names []string) {
	for _, f := range rec.Schema().Fields() {
		if class, ok := strings.CutPrefix(f.Name, r.columns.Probability+"_"); ok && r.columns.Score == "" && f.Name != r.columns.Label {
			names = append(names, class)
		}
	}
	return names
}

// kindOf finds out what the predictions of a table are.
func (r *reader) kindOf(rec arrow.Record) (kind, error) {
	switch {
	case r.columns.Score != "" && of(rec, r.columns.Score) == nil:
		return 0, r.lacks(r.columns.Score, "name the column of scores with --score")
	case r.columns.Score != "":
		return scores, nil
	case len(r.named(rec)) > 0:
		return posteriors, nil
	case of(rec, r.columns.Probability) != nil:
		return listed, nil
	case of(rec, r.columns.prediction()) != nil:
		return hard, nil
	case r.columns.Prediction != "":
		return 0, r.lacks(r.columns.Prediction, "name the column of predicted classes with --prediction")
	}
	return 0, fmt.Errorf("has no predictions (its columns are %s): give a column %s_CLASS for each class, or name the one with the scores of two classes with --score, or the one with predicted classes with --prediction", spelling.List(r.header), r.columns.Probability)
}

func (r *reader) lacks(name, remedy string) error {
	near := ""
	if is := spelling.Nearest(name, r.header); is != "" {
		near = fmt.Sprintf("did you mean %q? Otherwise ", is)
	}
	return fmt.Errorf("has no column %q (its columns are %s): %s%s", name, spelling.List(r.header), near, remedy)
}

// each gives the batches of a table; it fails if there is no row.
func (r *reader) each(ctx context.Context, path string, o tables.Options, batch func(arrow.Record) error) error {
	err := tables.EachWanted(ctx, path, o, r.wanted, func(rec arrow.Record) error {
		if rec.NumRows() == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if rec.Schema() != r.schema {
			r.schema, r.before = rec.Schema(), r.rows
		}
		if err := batch(rec); err != nil {
			return err
		}
		r.rows += rec.NumRows()
		return nil
	})
	if path == "-" {
		path = tables.StandardInput
	}
	switch {
	case err != nil:
		return err
	case r.rows == 0:
		return fmt.Errorf("%s: %w", path, tables.ErrNoRows)
	}
	return nil
}

// number is that of row i of a batch in its file, from 1.
func (r *reader) number(i int) int64 { return r.rows - r.before + int64(i) + 1 }

// at names a place in an error.
func (r *reader) at(i int, column string, err error) error {
	if r.live {
		return fmt.Errorf("column %q: %w", column, err)
	}
	return fmt.Errorf("row %d, column %q: %w", r.number(i), column, err)
}

// inRow names the row in an error of all columns.
func (r *reader) inRow(i int, err error) error {
	if r.live {
		return err
	}
	return fmt.Errorf("row %d: %w", r.number(i), err)
}

// numberAt is the number in row i of a column; NaN where there is none.
func numberAt(column arrow.Array, i int) (float64, error) {
	if column.IsNull(i) {
		return math.NaN(), nil
	}
	switch c := column.(type) {
	case *array.Float64:
		return c.Value(i), nil
	case *array.Float32:
		return asWritten(c.Value(i)), nil
	case *array.String:
		return parseNumber(c.Value(i))
	}
	text, ok := arrowio.Cell(column, i)
	if !ok {
		return math.NaN(), nil
	}
	return parseNumber(text)
}

// asWritten is the number that v is written as in text, so that predictions in single precision are
// those in CSV of the same model.
func asWritten(v float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	return wide
}

// missing are the texts that stand for no value.
var missing = func() map[string]bool {
	all := map[string]bool{}
	for _, text := range tables.MissingTexts() {
		all[text] = true
	}
	return all
}()

func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil {
		return v, nil
	}
	text = strings.TrimSpace(text)
	if missing[text] {
		return math.NaN(), nil
	}
	if v, err = strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err == nil {
		return v, nil
	}
	return 0, fmt.Errorf("%q is not a number: mend or drop the row", text)
}

// text is a class in a column, "" where there is none.
func text(column arrow.Array, i int) string {
	value, ok := arrowio.Cell(column, i)
	if value = strings.TrimSpace(value); !ok || strings.EqualFold(value, "nan") {
		return ""
	}
	return value
}

// A lister gives the posteriors of rows: NaN where there are none.
type lister func(i int, to []float64) error

// lister finds the posteriors of the classes in a batch.
func (r *reader) lister(rec arrow.Record) (lister, error) {
	switch r.kind {
	case scores:
		score := of(rec, r.columns.Score)
		return func(i int, to []float64) (err error) {
			to[r.classes.positive], err = numberAt(score, i)
			to[1-r.classes.positive] = 1 - to[r.classes.positive]
			return r.place(err, i, r.columns.Score)
		}, nil
	case listed:
		return r.lists(rec)
	}
	columns := make([]arrow.Array, len(r.classes.names))
	for k, class := range r.classes.names {
		if columns[k] = of(rec, r.columns.Probability+"_"+class); columns[k] == nil && k < r.classes.predictable {
			return nil, r.lacks(r.columns.Probability+"_"+class, "the reference has it: give the predictions of the same model")
		}
	}
	for _, class := range r.named(rec) {
		if k := slices.Index(r.classes.names, class); k < 0 || k >= r.classes.predictable {
			return nil, fmt.Errorf("has a column %q, and the reference has none: give the predictions of the same model, or leave the column out", r.columns.Probability+"_"+class)
		}
	}
	return func(i int, to []float64) (err error) {
		for k, column := range columns {
			if to[k] = 0; column == nil {
				continue
			}
			if to[k], err = numberAt(column, i); err != nil {
				return r.place(err, i, r.columns.Probability+"_"+r.classes.names[k])
			}
		}
		return nil
	}, nil
}

func (r *reader) place(err error, i int, column string) error {
	if err == nil {
		return nil
	}
	return r.at(i, column, err)
}

// lists finds posteriors in a column of lists.
func (r *reader) lists(rec arrow.Record) (lister, error) {
	names, err := listedClasses(rec, r.columns.Probability)
	if err != nil {
		return nil, err
	}
	vectors, err := arrowio.VectorColumnWithGaps(rec, r.columns.Probability)
	if row := (*arrowio.RowError)(nil); errors.As(err, &row) {
		err = r.at(row.Row, row.Column, row.Err)
	}
	if err != nil {
		return nil, err
	}
	if vectors.Width != len(names) || len(names) != r.classes.predictable {
		return nil, fmt.Errorf("the column %q has lists of %d numbers of %d classes, and the reference posteriors of %d: give the predictions of one model", r.columns.Probability, vectors.Width, len(names), r.classes.predictable)
	}
	at := make([]int, len(names))
	for j, name := range names {
		if at[j] = slices.Index(r.classes.names[:r.classes.predictable], name); at[j] < 0 {
			return nil, fmt.Errorf("the column %q has posteriors of a class %q, and the reference has none: give the predictions of one model", r.columns.Probability, name)
		}
	}
	return func(i int, to []float64) error {
		for j, v := range vectors.Row(i) {
			to[at[j]] = asWritten(v)
		}
		return nil
	}, nil
}

// maxSum is how far from 1 the sum of a row's posteriors may be: rounded ones are.
const maxSum = 0.02

var errNotOne = errors.New("the posteriors do not add up to 1")

// settle checks a row of posteriors and makes it add up to 1. ok is false if a value is missing.
func settle(row []float64) (ok bool, err error) {
	sum := 0.0
	for _, v := range row {
		if v != v {
			return false, nil
		}
		if v < 0 || v > 1 {
			return false, fmt.Errorf("%g is no probability: give numbers from 0 to 1", v)
		}
		sum += v
	}
	if math.Abs(sum-1) > maxSum {
		return false, fmt.Errorf("%w but to %.4g: give those of all classes", errNotOne, sum)
	}
	for k := range row {
		row[k] /= sum
	}
	return true, nil
}
