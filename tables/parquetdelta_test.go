package tables

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

const encodedFile = "../testdata/oracle/featurize/encodings.parquet"

// Numbers in the encodings DELTA_BINARY_PACKED and BYTE_STREAM_SPLIT, as pyarrow writes them, are what
// testdata/oracle/featurize/generate.py says, over pages, batches and row groups.
func TestParquetEncodings(t *testing.T) {
	columns, _, err := Columns(t.Context(), encodedFile, Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := int64(0)
	err = EachBatch(t.Context(), encodedFile, Options{}, columns, func(rec arrow.Record) error {
		whole := func(column int) *array.Int64 { return rec.Column(column).(*array.Int64) }
		for i := range int(rec.NumRows()) {
			if got, want := whole(0).Value(i), (k*k*7919%10007-5000)<<40; got != want {
				t.Fatalf("row %d: i is %d, want %d", k, got, want)
			}
			if got, want := rec.Column(1).(*array.Int32).Value(i), int32((k%2*2-1)*k*700_000); got != want {
				t.Fatalf("row %d: j is %d, want %d", k, got, want)
			}
			if got := whole(2).Value(i); got != -3 {
				t.Fatalf("row %d: same is %d, want -3", k, got)
			}
			if gap := whole(3); gap.IsNull(i) != (k%7 == 0) || !gap.IsNull(i) && gap.Value(i) != 3*k {
				t.Fatalf("row %d: gap is %s", k, gap.ValueStr(i))
			}
			if got, want := rec.Column(4).(*array.Float64).Value(i), float64(k)*0.25; got != want {
				t.Fatalf("row %d: f is %v, want %v", k, got, want)
			}
			if got, want := rec.Column(5).(*array.Float32).Value(i), float32(k)*-0.5; got != want {
				t.Fatalf("row %d: g is %v, want %v", k, got, want)
			}
			k++
		}
		return nil
	})
	if err != nil || k != 2600 {
		t.Errorf("%d rows, error %v", k, err)
	}
}

// The library cannot read differences in several batches: the message says where they are.
func TestParquetEncodingOfTimes(t *testing.T) {
	_, err := Open(t.Context(), "../testdata/oracle/featurize/times.parquet", Options{Mixed: true})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"times.parquet", `column "t"`, "DELTA_BINARY_PACKED", "write it with plain types and encodings"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %v: lacks %q", err, part)
		}
	}
}

// Whatever a page says of its differences, nothing is read beyond it.
func TestParquetDeltasOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 100_000 {
		n := rng.IntN(60)
		data := make([]byte, n, n+pageSpare)
		for i := range data {
			data[i] = byte(rng.Uint32() >> rng.IntN(8))
		}
		copy(data, []byte{0x80, 0x01, 0x04}[:rng.IntN(4)]) // blocks of 128 in four groups
		wide := packedNumbers[uint64]{kind: arrow.PrimitiveTypes.Int64}
		wide.setDeltas(page{pageHeader: pageHeader{values: 300}}, data) //nolint:errcheck // it is damaged, or not
		narrow := packedNumbers[uint32]{kind: arrow.PrimitiveTypes.Int32}
		narrow.setDeltas(page{pageHeader: pageHeader{values: 300}}, data) //nolint:errcheck // it is damaged, or not
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, 1<<63), 1<<59) // 32 times as many groups are none in 64 bits
	c := packedNumbers[uint64]{kind: arrow.PrimitiveTypes.Int64}
	if err := c.setDeltas(page{pageHeader: pageHeader{values: 300}}, append(head, 2, 0)); err == nil {
		t.Error("a block of 2⁶³ values is no error")
	}
}
