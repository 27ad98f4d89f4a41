package train

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

// write writes a row a candidate: its settings, its scores, how long it took, whether it was
// chosen and why it failed.
func (c Choice) write(ctx context.Context, outcomes []outcome, best int) error {
	rec := c.record(outcomes, best)
	out, err := arrowio.Create(c.Report, arrowio.WriteOptions{})
	if err != nil {
		return err
	}
	return arrowio.Copy(ctx, out, arrowio.NewBatches(c.Report, rec.Schema(), rec))
}

func (c Choice) record(outcomes []outcome, best int) arrow.Record {
	var fields []arrow.Field
	for _, s := range c.Candidates[0].Settings {
		fields = append(fields, arrow.Field{Name: s.Flag, Type: arrow.BinaryTypes.String})
	}
	for _, name := range c.Scores {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	fields = append(fields, arrow.Field{Name: "seconds", Type: arrow.PrimitiveTypes.Float64}, arrow.Field{Name: "chosen", Type: arrow.FixedWidthTypes.Boolean},
		arrow.Field{Name: "failed", Type: arrow.BinaryTypes.String, Nullable: true})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, o := range outcomes {
		at := 0
		next := func() array.Builder { at++; return b.Field(at - 1) }
		for _, s := range c.Candidates[i].Settings {
			next().(*array.StringBuilder).Append(s.Value)
		}
		for _, name := range c.Scores {
			v, ok := o.scores[name]
			next().(*array.Float64Builder).AppendValues([]float64{v}, []bool{ok})
		}
		next().(*array.Float64Builder).Append(math.Round(o.seconds*1000) / 1000)
		next().(*array.BooleanBuilder).Append(i == best)
		if failed := next().(*array.StringBuilder); o.failed == nil {
			failed.AppendNull()
		} else {
			failed.Append(o.failed.Error())
		}
	}
	return b.NewRecord()
}
