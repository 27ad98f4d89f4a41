// Package featurize is the stage that turns raw data of two domains into the
// stream: files (Files) or the paper's toy problem (Toy).
//
// It adds the columns id, domain, label (only on source rows) and features, and
// on request truth (only on target rows).
package featurize

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

// A side is one domain, ready to be written. Both sides have the same width.
type side struct {
	domain  arrowio.Domain
	x       blas32.General
	labels  []int32 // label of source rows, truth of target rows; nil if unknown, −1 for null
	ids     []int64
	idNames []string // instead of ids
	shape   []int    // of an image, or of the row
	files   []string // of each row, if the stream has a column of them
	batches []string // of source rows, if the stream has a column of them
}

// A dataset holds what the stream is made of.
type dataset struct {
	sides    []side
	flow     *flow         // the target's rows, if they are not a side; nil
	source   *tables.Table // nil if there is none
	shape    []int
	classes  []string
	levels   json.RawMessage // see arrowio.LevelsKey; nil says nothing
	truth    bool            // write the truth of target rows
	taken    []int           // rows of the source's table that the target is not to have; nil: none
	prepared string          // see arrowio.PreparationKey; "" says nothing
	doubts   []string        // see arrowio.DoubtsKey
	files    string          // column of the rows' files; "" for none
	batches  bool            // whether the stream says which batch a source row is of
	totals   string          // see arrowio.TotalsKey; "" says nothing
}

// batchBytes is the approximate size of a batch. A row takes rowBytes beside its features: what is
// made of its id, domain, label and truth.
const (
	batchBytes = 1 << 20
	rowBytes   = 64
)

// write sends the rows of all sides to out, source first.
func (d *dataset) write(ctx context.Context, env stages.Env, out arrowio.Sink) error {
	meta := arrowio.Meta{Classes: d.classes, Levels: d.levels, Provenance: arrowio.WithStep(nil, env.Step)}
	schema := meta.Apply(d.schema(env.Columns))
	if err := out.Begin(schema); err != nil {
		return err
	}
	for _, s := range d.sides {
		if err := d.writeSide(ctx, s, schema, out, func(done int) { env.Report("rows", int64(done), int64(s.x.Rows)) }); err != nil {
			return err
		}
	}
	if d.flow == nil {
		return nil
	}
	return d.flow.run(ctx, func(s side) error { // blocks are about as large as batches
		before := d.flow.rows - s.x.Rows
		return d.writeSide(ctx, s, schema, out, func(done int) { env.Report("rows", int64(before+done), int64(d.flow.ids.Features.Rows)) })
	})
}

// writeSide sends the rows of a side, or a part of it, to out.
func (d *dataset) writeSide(ctx context.Context, s side, schema *arrow.Schema, out arrowio.Sink, report func(done int)) error {
	step := max(1, batchBytes/(4*s.x.Cols+rowBytes))
	if s.x.Rows < 2*step && s.domain == arrowio.TargetDomain && d.flow != nil {
		step = s.x.Rows
	}
	for lo := 0; lo < s.x.Rows; lo += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+step, s.x.Rows)
		rec := array.NewRecord(schema, d.columns(s, lo, hi), int64(hi-lo))
		err := out.Write(rec)
		rec.Release()
		if err != nil {
			return err
		}
		report(hi)
	}
	return nil
}

// width is the number of features of a row.
func (d *dataset) width() int {
	if len(d.sides) > 0 {
		return d.sides[0].x.Cols
	}
	return d.flow.width()
}

func (d *dataset) schema(c arrowio.Columns) *arrow.Schema {
	features := arrow.Field{Name: c.Features, Type: arrowio.VectorType(d.width())}
	notes := map[string]string{}
	if len(d.shape) == 3 {
		notes[arrowio.ShapeKey] = stages.FormatShape(d.shape)
	}
	if d.prepared != "" {
		notes[arrowio.PreparationKey] = d.prepared
	}
	if d.doubts != nil {
		text, err := json.Marshal(d.doubts)
		if err != nil { // text never fails
			panic(err)
		}
		notes[arrowio.DoubtsKey] = string(text)
	}
	if len(notes) > 0 {
		features.Metadata = arrow.MetadataFrom(notes)
	}
	id := arrow.Field{Name: c.ID, Type: arrow.PrimitiveTypes.Int64}
	if d.namedIDs() {
		id.Type = arrow.BinaryTypes.String
	}
	fields := []arrow.Field{id,
		{Name: c.Domain, Type: arrow.BinaryTypes.String},
		{Name: c.Label, Type: arrow.PrimitiveTypes.Int32, Nullable: true}}
	if d.truth {
		fields = append(fields, arrow.Field{Name: c.Truth, Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	}
	fields = append(fields, features)
	if d.files != "" {
		fields = append(fields, arrow.Field{Name: d.files, Type: arrow.BinaryTypes.String})
	}
	if d.batches {
		fields = append(fields, arrow.Field{Name: c.Batch, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	if d.totals == "" {
		return arrow.NewSchema(fields, nil)
	}
	meta := arrow.NewMetadata([]string{arrowio.TotalsKey}, []string{d.totals})
	return arrow.NewSchema(fields, &meta)
}

func (d *dataset) namedIDs() bool {
	for _, s := range d.sides {
		if s.idNames != nil {
			return true
		}
	}
	return d.flow != nil && d.flow.ids.IDNames != nil
}

// columns returns rows lo to hi of a side, in the order of the schema.
func (d *dataset) columns(s side, lo, hi int) []arrow.Array {
	n := hi - lo
	domains := make([]arrowio.Domain, n)
	for i := range domains {
		domains[i] = s.domain
	}
	columns := []arrow.Array{d.ids(s, lo, hi), arrowio.NewDomainArray(domains),
		s.classColumn(lo, hi, s.domain == arrowio.SourceDomain)}
	if d.truth {
		columns = append(columns, s.classColumn(lo, hi, s.domain == arrowio.TargetDomain))
	}
	data := s.x.Data[lo*s.x.Stride : (hi-1)*s.x.Stride+s.x.Cols]
	columns = append(columns, arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: n, Width: s.x.Cols}))
	if d.files != "" {
		columns = append(columns, arrowio.NewStringArray(s.files[lo:hi]))
	}
	if d.batches {
		columns = append(columns, s.batchColumn(lo, hi))
	}
	return columns
}

func (d *dataset) ids(s side, lo, hi int) arrow.Array {
	if !d.namedIDs() {
		return arrowio.NewInt64Array(s.ids[lo:hi])
	}
	if s.idNames != nil {
		return arrowio.NewStringArray(s.idNames[lo:hi])
	}
	names := make([]string, hi-lo)
	for i := range names {
		names[i] = strconv.FormatInt(s.ids[lo+i], 10)
	}
	return arrowio.NewStringArray(names)
}

// classColumn returns the classes of rows lo to hi, or nulls if not shown.
func (s *side) classColumn(lo, hi int, shown bool) arrow.Array {
	values, valid := make([]int32, hi-lo), make([]bool, hi-lo)
	if shown && s.labels != nil {
		for i, label := range s.labels[lo:hi] {
			values[i], valid[i] = max(label, 0), label >= 0
		}
	}
	return arrowio.NewIntArray(values, valid)
}

// batchColumn returns the batches of rows lo to hi, or nulls of target rows.
func (s *side) batchColumn(lo, hi int) arrow.Array {
	if s.batches == nil {
		return array.MakeArrayOfNull(memory.DefaultAllocator, arrow.BinaryTypes.String, hi-lo)
	}
	return arrowio.NewStringArray(s.batches[lo:hi])
}

// rowNumbers returns 0 … n−1.
func rowNumbers(n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	return ids
}
