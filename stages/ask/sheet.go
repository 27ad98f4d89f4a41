package ask

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/tables/write"
)

// A Sheet is the rows that a person is to label.
type Sheet struct {
	sheet.Plan
	Rows []sheet.Row // in order of drawing
	// Judgement and Verdict say, before anybody has filled the sheet in, whether to believe the labels that
	// the model gives, in a word and in a sentence; "" where nobody can tell.
	Judgement diagnostics.Verdict
	Verdict   string

	name       string
	label      string
	id         arrow.Field
	guess      []string
	confidence []float32
	meta       arrowio.Meta
}

// newSheet takes the rows that were drawn.
func newSheet(r *rows, draws []ppi.Draw, env stages.Env, meta arrowio.Meta, label string) *Sheet {
	s := &Sheet{Plan: sheet.Plan{Seed: env.Seed, Target: r.target.Letters()}, name: r.name, label: label, id: arrow.Field{Name: env.Columns.ID, Type: arrow.BinaryTypes.String},
		meta: arrowio.Meta{Classes: meta.Classes, Provenance: arrowio.WithStep(meta.Provenance, env.Step)}}
	s.Judgement, s.Verdict = diagnostics.Read(meta).Labels()
	if r.whole {
		s.id.Type = arrow.PrimitiveTypes.Int64
	}
	for i, d := range draws {
		if d.Part == ppi.Uniform {
			s.Uniform++
		} else {
			s.Chosen++
		}
		d.Probability = sheet.Rounded(d.Probability)
		s.guess, s.confidence = append(s.guess, r.guess[d.Row]), append(s.confidence, r.sure[d.Row])
		place := r.places[d.Row]
		d.Row = place.Number
		s.Rows = append(s.Rows, sheet.Row{Draw: d, Order: i + 1, ID: place.ID})
	}
	return s
}

// Line says what was drawn.
func (s *Sheet) Line() string {
	of := fmt.Sprintf("%d uniformly and %d in proportion to the model's doubt", s.Uniform, s.Chosen)
	if s.Chosen == 0 {
		of = "uniformly"
	}
	return fmt.Sprintf("drew %s, %s: fill in the column %q from the first row on, and stop when you like", spelling.Count(len(s.Rows), "row", "rows"), of, s.label)
}

// Stream is the table, with columns of the target's file after the identities; nil for none.
func (s *Sheet) Stream(kept arrow.Record) (*Table, error) {
	n := len(s.Rows)
	order, p, parts, codes := make([]int64, n), make([]float64, n), make([]string, n), make([]string, n)
	for i, row := range s.Rows {
		order[i], p[i], parts[i], codes[i] = int64(row.Order), row.Probability, sheet.PartName(row.Part), s.Code(row)
	}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var t arrowio.Table
	t.Add(sheet.OrderColumn, arrowio.NewInt64Array(order))
	t.Add(s.id.Name, ids)
	if kept != nil {
		for j, f := range kept.Schema().Fields() {
			t.AddField(f, kept.Column(j))
		}
	}
	t.AddNullable(s.label, arrowio.NewStringsOrNull(make([]string, n)))
	t.Add(guessColumn, arrowio.NewStringArray(s.guess))
	t.Add(confidenceColumn, arrowio.NewFloatArray(s.confidence))
	t.Add(sheet.ProbabilityColumn, arrowio.NewDoubleArray(p))
	t.Add(sheet.PartColumn, arrowio.NewStringArray(parts))
	t.Add(sheet.CodeColumn, arrowio.NewStringArray(codes))
	rec := t.Record(s.meta)
	return &Table{arrowio.NewBatches(s.name, rec.Schema(), rec), rec}, nil
}

// Columns of a sheet that labels have too.
const (
	guessColumn      = "predicted_class"
	confidenceColumn = "confidence"
)

// ids are the identities of the rows.
func (s *Sheet) ids() (arrow.Array, error) {
	var texts []string
	var numbers []int64
	for _, row := range s.Rows {
		texts = append(texts, row.ID)
		if s.id.Type.ID() == arrow.INT64 {
			n, err := strconv.ParseInt(row.ID, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("the identity %q is no whole number: give identities as text", row.ID)
			}
			numbers = append(numbers, n)
		}
	}
	if numbers != nil {
		return arrowio.NewInt64Array(numbers), nil
	}
	return arrowio.NewStringArray(texts), nil
}

// A Table is the rows of a sheet.
type Table struct {
	*arrowio.Batches
	rec arrow.Record
}

// Text is the table as text: the names of its columns, and its rows. The column of codes is for
// programs alone.
func (o *Table) Text() (head []string, rows [][]string) {
	columns := int(o.rec.NumCols()) - 1
	for _, f := range o.rec.Schema().Fields()[:columns] {
		head = append(head, f.Name)
	}
	for i := range int(o.rec.NumRows()) {
		row := make([]string, columns)
		for j := range row {
			row[j], _ = arrowio.Cell(o.rec.Column(j), i)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// Write writes a table of a format other than Arrow.
func Write(ctx context.Context, w io.Writer, f write.Format, table arrowio.Stream) error {
	return write.Write(ctx, w, f, table)
}
