package arrowio

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

// Table holds rows in memory: first it is a Sink for one producer, then, when that
// has closed it, a Stream that can be read any number of times.
type Table struct {
	name    string
	schema  *arrow.Schema
	records []arrow.Record
	closed  bool
	err     error // what the producer failed of
	next    int   // of records, in this pass
}

// NewTable makes an empty table, which errors call name.
func NewTable(name string) *Table { return &Table{name: name} }

// Begin sets the schema.
func (t *Table) Begin(schema *arrow.Schema) error {
	if t.schema != nil {
		panic("arrowio: Table.Begin called twice")
	}
	t.schema = schema
	return nil
}

// Write keeps a batch.
func (t *Table) Write(rec arrow.Record) error {
	if t.schema == nil || t.closed {
		panic("arrowio: Table.Write before Begin or after Close")
	}
	rec.Retain()
	t.records = append(t.records, rec)
	return nil
}

// Close ends the rows.
func (t *Table) Close() error {
	t.closed = true
	return t.err
}

// Fail ends the table for the reason given, which Next then gives after the rows
// that came before it.
func (t *Table) Fail(cause error) {
	if !t.closed {
		t.closed, t.err = true, cause
	}
}

// Name is what errors call the table.
func (t *Table) Name() string { return t.name }

// Schema is the schema of every batch.
func (t *Table) Schema() *arrow.Schema { return t.schema }

// Next returns the next batch, or io.EOF. A batch is valid until Release.
func (t *Table) Next() (arrow.Record, error) {
	switch {
	case !t.closed:
		panic("arrowio: Table.Next before Close")
	case t.next < len(t.records):
		t.next++
		return t.records[t.next-1], nil
	case t.err != nil:
		return nil, t.err
	}
	return nil, io.EOF
}

// CanRewind is true.
func (t *Table) CanRewind() bool { return true }

// Rewind starts over at the first batch.
func (t *Table) Rewind() error {
	t.next = 0
	return nil
}

// Release lets go of all batches.
func (t *Table) Release() {
	for _, rec := range t.records {
		rec.Release()
	}
	t.records, t.next = nil, 0
}
