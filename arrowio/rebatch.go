package arrowio

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// rebatched is a Source with batches of about one size.
type rebatched struct {
	Source
	rest arrow.Record // of a batch that is being cut
	at   int64        // rows of rest that are given
	step int64
	last arrow.Record
	err  error
}

// Rebatch gives the rows of src in batches of about 1 MB, whatever the size of
// src's: large ones are cut without a copy, small ones put together. It is for
// inputs of many tiny batches; a Writer cuts large ones by itself.
func Rebatch(src Source) Source { return &rebatched{Source: src} }

// Next gives the next batch, valid until the following call unless retained.
func (r *rebatched) Next() (arrow.Record, error) {
	release(&r.last)
	if r.rest == nil && r.err == nil {
		r.gather()
	}
	if r.rest == nil {
		return nil, r.err
	}
	end := min(r.at+r.step, r.rest.NumRows())
	r.last = r.rest.NewSlice(r.at, end)
	if r.at = end; end == r.rest.NumRows() {
		release(&r.rest)
	}
	return r.last, nil
}

func release(rec *arrow.Record) {
	if *rec != nil {
		(*rec).Release()
		*rec = nil
	}
}

// gather reads batches into rest until they have about the size wanted, or src
// ends.
func (r *rebatched) gather() {
	var parts []arrow.Record
	size := 0
	for size < batchBytes {
		var rec arrow.Record
		if rec, r.err = r.Source.Next(); r.err != nil {
			break
		}
		rec.Retain()
		parts = append(parts, rec)
		size += recordSize(rec)
	}
	if r.err != nil && r.err != io.EOF || len(parts) == 0 {
		releaseAll(parts)
		return
	}
	rec, err := concatenate(parts)
	releaseAll(parts)
	if err != nil {
		r.err = inputError(r.Name(), err, "")
		return
	}
	r.rest, r.at, r.step = rec, 0, int64(rowsPerBatch(rec))
}

func releaseAll(records []arrow.Record) {
	for _, rec := range records {
		rec.Release()
	}
}

// concatenate puts batches of one schema together; the caller releases it.
func concatenate(parts []arrow.Record) (out arrow.Record, err error) {
	if len(parts) == 1 {
		parts[0].Retain()
		return parts[0], nil
	}
	defer unpanic(&err)
	rows := int64(0)
	for _, p := range parts {
		rows += p.NumRows()
	}
	cols := make([]arrow.Array, parts[0].NumCols())
	for i := range cols {
		column := make([]arrow.Array, len(parts))
		for k, p := range parts {
			column[k] = p.Column(i)
		}
		if cols[i], err = array.Concatenate(column, allocator); err != nil {
			return nil, &fault{parts[0].ColumnName(i), err}
		}
		defer cols[i].Release()
	}
	return array.NewRecord(parts[0].Schema(), cols, rows), nil
}
