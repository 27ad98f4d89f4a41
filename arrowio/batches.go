package arrowio

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

// Batches is a stream of batches in memory, which can be read again. The batches stay the
// caller's.
type Batches struct {
	name    string
	schema  *arrow.Schema
	batches []arrow.Record
	next    int
}

// NewBatches is the stream of batches of a schema. name is its name in errors.
func NewBatches(name string, schema *arrow.Schema, batches ...arrow.Record) *Batches {
	return &Batches{name: name, schema: schema, batches: batches}
}

// Name is the name in errors.
func (b *Batches) Name() string { return b.name }

// Schema is that of all batches.
func (b *Batches) Schema() *arrow.Schema { return b.schema }

// Next gives the batches in order.
func (b *Batches) Next() (arrow.Record, error) {
	if b.next == len(b.batches) {
		return nil, io.EOF
	}
	b.next++
	return b.batches[b.next-1], nil
}

// CanRewind is true.
func (b *Batches) CanRewind() bool { return true }

// Rewind starts over at the first batch.
func (b *Batches) Rewind() error {
	b.next = 0
	return nil
}
