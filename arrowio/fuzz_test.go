package arrowio

import (
	"bytes"
	"testing"
)

// FuzzReader reads anything: it may fail, but not panic, hang, or take more
// memory than allowed; what it takes for whole can be written and read again.
func FuzzReader(f *testing.F) {
	for i := range zoo { // small inputs, which a fuzzer gets further with
		f.Add(write(f, kinds[i%2], codecs[i%3], zooColumn(f, i)))
	}
	f.Add(dictionaryStream(f, true))
	f.Add(writeWhole(f, StreamKind, Compression{}, zooColumn(f, 0)))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := survive(t, data)
		if err != nil {
			return
		}
		r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var out bytes.Buffer
		if err := Copy(t.Context(), NewWriter(&out, "out", WriteOptions{Compression: Compression{Codec: LZ4}}), r); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		total := int64(0)
		for _, n := range rows {
			total += n
		}
		if _, again, err := check(out.Bytes()); err != nil || again != total {
			t.Fatalf("%d rows of %d after writing: %v", again, total, err)
		}
	})
}

// FuzzSchema reads a schema message of any content.
func FuzzSchema(f *testing.F) {
	for _, rec := range []int{6, 16, 20, 22, 24} {
		meta, err := schemaMessage(zooColumn(f, rec).Schema())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(meta)
	}
	f.Fuzz(func(t *testing.T, meta []byte) {
		var msg message
		if msg.parse(meta) != nil {
			return
		}
		schema, ids, err := decodeSchema(msg.header)
		if err == nil {
			_, err = layoutOf(schema, ids)
		}
		if err == nil {
			_ = schema.String()
		}
	})
}
