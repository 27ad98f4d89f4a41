package tables

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// flatSchema is a schema in which the fields of structs are columns of their own, with
// names as in pos.x. top has the column of the schema that each is in.
func flatSchema(schema *arrow.Schema) (flat *arrow.Schema, top []int) {
	var fields []arrow.Field
	for i, f := range schema.Fields() {
		fields = flatFields(fields, f, f.Name)
		for len(top) < len(fields) {
			top = append(top, i)
		}
	}
	if !hasStructs(schema) {
		return schema, top
	}
	return arrow.NewSchema(fields, nil), top
}

func hasStructs(schema *arrow.Schema) bool {
	return slices.ContainsFunc(schema.Fields(), func(f arrow.Field) bool { return f.Type.ID() == arrow.STRUCT })
}

func flatFields(fields []arrow.Field, f arrow.Field, name string) []arrow.Field {
	s, ok := f.Type.(*arrow.StructType)
	if !ok {
		return append(fields, arrow.Field{Name: name, Type: f.Type, Nullable: true})
	}
	for _, inner := range s.Fields() {
		fields = flatFields(fields, inner, name+"."+inner.Name)
	}
	return fields
}

// flatRecord is a batch by its flatSchema. The caller releases it.
func flatRecord(rec arrow.Record) arrow.Record {
	schema, _ := flatSchema(rec.Schema())
	var columns []arrow.Array
	for _, c := range rec.Columns() {
		columns = flatColumns(columns, c)
	}
	flat := array.NewRecord(schema, columns, rec.NumRows())
	for _, c := range columns {
		c.Release()
	}
	return flat
}

func flatColumns(columns []arrow.Array, c arrow.Array) []arrow.Array {
	s, ok := c.(*array.Struct)
	if !ok {
		c.Retain()
		return append(columns, c)
	}
	for k := range s.NumField() {
		inner := within(s, k)
		columns = flatColumns(columns, inner)
		inner.Release()
	}
	return columns
}

// within is a field of a struct, null where the struct is.
func within(s *array.Struct, k int) arrow.Array {
	c := s.Field(k)
	d, buffers := c.Data(), slices.Clone(c.Data().Buffers())
	if s.NullN() == 0 || len(buffers) == 0 || !hasNulls(c.DataType()) {
		c.Retain()
		return c
	}
	valid, nulls := make([]byte, bitutil.BytesForBits(int64(d.Offset()+d.Len()))), 0
	for i := range c.Len() {
		if s.IsValid(i) && c.IsValid(i) {
			bitutil.SetBit(valid, d.Offset()+i)
		} else {
			nulls++
		}
	}
	buffers[0] = memory.NewBufferBytes(valid)
	var data *array.Data
	if words, ok := d.Dictionary().(*array.Data); ok && words != nil {
		data = array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, nulls, d.Offset(), words)
	} else {
		data = array.NewData(d.DataType(), d.Len(), buffers, d.Children(), nulls, d.Offset())
	}
	defer data.Release()
	return array.MakeFromData(data)
}

// hasNulls reports whether arrays of the type say in their first buffer which values are
// null.
func hasNulls(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.NULL, arrow.DENSE_UNION, arrow.SPARSE_UNION, arrow.RUN_END_ENCODED:
		return false
	}
	return true
}

// flattened gives the batches of next without structs.
func flattened(schema *arrow.Schema, next records) records {
	if !hasStructs(schema) {
		return next
	}
	var last arrow.Record
	return func() (arrow.Record, error) {
		if last != nil {
			last.Release()
			last = nil
		}
		rec, err := next()
		if err != nil {
			return nil, err
		}
		last = flatRecord(rec)
		return last, nil
	}
}
