package arrowio

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// sampleRecord has n rows of the columns that stages use.
func sampleRecord(t testing.TB, n int) arrow.Record {
	t.Helper()
	v := Vectors{Rows: n, Width: 3, Data: make([]float32, 3*n)}
	ids := make([]int64, n)
	labels, valid := make([]int32, n), make([]bool, n)
	domains := make([]Domain, n)
	for i := range ids {
		ids[i] = int64(i)
		labels[i], valid[i] = int32(i%3), i%2 == 0
		domains[i] = Domain(i % 2)
		v.Data[3*i] = float32(i)
	}
	schema := Meta{Classes: []string{"a", "b", "c"}}.Apply(arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "domain", Type: arrow.BinaryTypes.String},
		{Name: "label", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "features", Type: VectorType(3)},
	}, nil))
	return array.NewRecord(schema, []arrow.Array{NewInt64Array(ids), NewDomainArray(domains), NewIntArray(labels, valid), NewVectorArray(v)}, int64(n))
}

func TestRoundTrip(t *testing.T) {
	want := sampleRecord(t, 10)
	var buf bytes.Buffer
	w := NewWriter(&buf, "out", WriteOptions{})
	if err := w.Begin(want.Schema()); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&buf, "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if !array.RecordEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := VectorColumn(got, "features"); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last batch: %v, want EOF", err)
	}
}
