package streamtest

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

// Clouds is a stream of three batches, each of six rows of the source, the classes a and b in
// turn, and then six of the target. The vectors of a are near (0, 0) and those of b near (4, 8),
// in the target a little further on. The target's rows have components, and were matched, as
// the classes go; the posteriors of all rows are right.
func Clouds() *arrowio.Batches {
	var batches []arrow.Record
	for k := range 3 {
		var domains []arrowio.Domain
		var labels, components []int32
		var valid []bool
		var vectors, posteriors []float32
		for i := range 12 {
			y, target := int32(i%2), i >= 6
			domain, moved := arrowio.SourceDomain, float32(0)
			if target {
				domain, moved = arrowio.TargetDomain, .5
			}
			domains, labels, components, valid = append(domains, domain), append(labels, y), append(components, y), append(valid, target)
			at := float32(y)
			vectors = append(vectors, 4*at+moved+.3*float32(i%3), 8*at-moved+.2*float32(k)+.1*float32(i%5))
			posteriors = append(posteriors, .9-.8*at, .1+.8*at)
		}
		width := func(data []float32) arrow.Array {
			return arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: 12, Width: 2})
		}
		var table arrowio.Table
		table.Add("domain", arrowio.NewDomainArray(domains))
		table.AddNullable("label", arrowio.NewIntArray(labels, nil))
		table.Add("features", width(vectors))
		table.Add("embedding", width(slices.Clone(vectors)))
		table.AddNullable("component", arrowio.NewIntArray(components, valid))
		table.AddNullable("matched", arrowio.NewIntArray(slices.Clone(components), valid))
		table.Add("probability", width(posteriors))
		batches = append(batches, table.Record(arrowio.Meta{Classes: []string{"a", "b"}}))
	}
	return arrowio.NewBatches("clouds", batches[0].Schema(), batches...)
}

// each is the stream of the batches as change makes them.
func each(in *arrowio.Batches, change func(batch int, rec arrow.Record) arrow.Record) *arrowio.Batches {
	in.Rewind()
	var batches []arrow.Record
	for rec, err := in.Next(); err == nil; rec, err = in.Next() {
		batches = append(batches, change(len(batches), rec))
	}
	in.Rewind()
	return arrowio.NewBatches(in.Name(), batches[0].Schema(), batches...)
}

// With is the stream with a column of another content, or one more.
func With(in *arrowio.Batches, name string, column func(batch int, rec arrow.Record) arrow.Array) *arrowio.Batches {
	return each(in, func(batch int, rec arrow.Record) arrow.Record {
		values := column(batch, rec)
		schema := arrowio.WithColumns(rec.Schema(), arrow.Field{Name: name, Type: values.DataType(), Nullable: true})
		columns := append(slices.Clone(rec.Columns()), nil)[:schema.NumFields()]
		columns[schema.FieldIndices(name)[0]] = values
		return array.NewRecord(schema, columns, rec.NumRows())
	})
}

// Without is the stream without a column.
func Without(in *arrowio.Batches, name string) *arrowio.Batches {
	return each(in, func(_ int, rec arrow.Record) arrow.Record {
		at := rec.Schema().FieldIndices(name)[0]
		meta := rec.Schema().Metadata()
		schema := arrow.NewSchema(slices.Delete(slices.Clone(rec.Schema().Fields()), at, at+1), &meta)
		return array.NewRecord(schema, slices.Delete(slices.Clone(rec.Columns()), at, at+1), rec.NumRows())
	})
}

// WithMeta is the stream with this metadata alone.
func WithMeta(in *arrowio.Batches, meta map[string]string) *arrowio.Batches {
	return each(in, func(_ int, rec arrow.Record) arrow.Record {
		m := arrow.MetadataFrom(meta)
		return array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &m), rec.Columns(), rec.NumRows())
	})
}

// Pick is the stream of some rows of each batch.
func Pick(in *arrowio.Batches, from, to int64) *arrowio.Batches {
	return each(in, func(_ int, rec arrow.Record) arrow.Record { return rec.NewSlice(from, to) })
}

// lists is a column of lists of texts, which no stage can read.
func lists(_ int, rec arrow.Record) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
	for range rec.NumRows() {
		b.Append(true)
		b.ValueBuilder().(*array.StringBuilder).Append("x")
	}
	return b.NewArray()
}

// Empty is a column of vectors of no number.
func Empty(_ int, rec arrow.Record) arrow.Array {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
	for range rec.NumRows() {
		b.Append(true)
	}
	return b.NewArray()
}

// Sparse is the stream with vectors of the column as lists, and a batch without rows, of which
// the type does not say how wide vectors are, before each batch and at the end.
func Sparse(in *arrowio.Batches, column string) *arrowio.Batches {
	in = With(in, column, func(_ int, rec arrow.Record) arrow.Array {
		v, err := arrowio.VectorColumnWithGaps(rec, column)
		if err != nil {
			panic(err)
		}
		b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
		for i := range v.Rows {
			b.Append(true)
			b.ValueBuilder().(*array.Float32Builder).AppendValues(v.Row(i), nil)
		}
		return b.NewArray()
	})
	var batches []arrow.Record
	for rec, err := in.Next(); err == nil; rec, err = in.Next() {
		batches = append(batches, rec.NewSlice(0, 0), rec)
	}
	return arrowio.NewBatches(in.Name(), in.Schema(), append(batches, batches[0])...)
}

// Alone is the stream of the batches and one more, of the first of its rows.
func Alone(in *arrowio.Batches, change func(*arrowio.Batches) *arrowio.Batches) *arrowio.Batches {
	last := change(Pick(in, 0, 1))
	rec, _ := last.Next()
	var batches []arrow.Record
	for rec, err := in.Next(); err == nil; rec, err = in.Next() {
		batches = append(batches, rec)
	}
	in.Rewind()
	return arrowio.NewBatches(in.Name(), in.Schema(), append(batches, rec)...)
}

// Narrow has vectors of one number in a column.
func Narrow(column string) func(*arrowio.Batches) *arrowio.Batches {
	return func(in *arrowio.Batches) *arrowio.Batches {
		return With(in, column, func(_ int, rec arrow.Record) arrow.Array {
			return arrowio.NewVectorArray(arrowio.Vectors{Data: make([]float32, rec.NumRows()), Rows: int(rec.NumRows()), Width: 1})
		})
	}
}

// Unreadable has a number that is none in the first row of a column of vectors.
func Unreadable(column string) func(*arrowio.Batches) *arrowio.Batches {
	return func(in *arrowio.Batches) *arrowio.Batches {
		return With(in, column, func(_ int, rec arrow.Record) arrow.Array {
			v, err := arrowio.VectorColumn(rec, column)
			if err != nil {
				panic(err)
			}
			v.Data = slices.Clone(v.Data)
			v.Data[1] = float32(math.Inf(1))
			return arrowio.NewVectorArray(v)
		})
	}
}

// Prepared is the stream whose features say how they were prepared.
func Prepared(in *arrowio.Batches, preparation string) *arrowio.Batches {
	return each(in, func(_ int, rec arrow.Record) arrow.Record {
		field := rec.Schema().Field(rec.Schema().FieldIndices("features")[0])
		field.Metadata = arrow.MetadataFrom(map[string]string{arrowio.PreparationKey: preparation})
		return array.NewRecord(arrowio.WithColumns(rec.Schema(), field), rec.Columns(), rec.NumRows())
	})
}
