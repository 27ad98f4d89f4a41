package arrowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// A Stream gives record batches in row order.
//
// A record is valid until the following call of Next, unless retained. Next
// returns io.EOF only after a complete input: an input that stops without its
// end marker is an error, so rows are never lost in silence.
type Stream interface {
	// Name is what errors call the input: a path, or "standard input".
	Name() string
	Schema() *arrow.Schema
	Next() (arrow.Record, error)
}

// A Sink takes record batches in row order.
//
// Begin comes first, once. In the end either Close commits what was written (end
// marker, rename into place) or Fail makes sure that nobody takes it for whole.
// The second of the two has no effect.
type Sink interface {
	Begin(*arrow.Schema) error
	Write(arrow.Record) error
	Close() error
	Fail(error)
}

// ErrBrokenPipe reports that nobody reads the output any more. It is a reason to
// stop, not a failure: a command that gets it ends quietly.
//
// On standard output a program gets it only if it ignores SIGPIPE; otherwise the
// signal ends it (see os/signal).
var ErrBrokenPipe = errors.New("the program behind closed the pipe")

// Error is what is wrong with an input or an output, and where.
type Error struct {
	Input  string // path or stream name; empty until the error is Located
	At     *Place // nil where it does not apply
	Column string // empty where it does not apply
	Err    error  // what is wrong
	Advice string // what to do about it, may be empty
}

// Place is where in a stream something is.
type Place struct {
	Offset int64 // of the message, in bytes
	Batch  int   // record batch, counted from 0
}

func (e *Error) Error() string {
	var where []string
	if e.At != nil {
		where = append(where, fmt.Sprintf("byte %d, batch %d", e.At.Offset, e.At.Batch))
	}
	if e.Column != "" {
		where = append(where, fmt.Sprintf("column %q", e.Column))
	}
	var parts []string
	if e.Input != "" {
		parts = append(parts, e.Input)
	}
	if len(where) > 0 {
		parts = append(parts, strings.Join(where, ", "))
	}
	parts = append(parts, e.Err.Error())
	if e.Advice != "" {
		parts = append(parts, e.Advice)
	}
	return strings.Join(parts, ": ")
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// inputError is an Error about an input as a whole.
func inputError(input string, err error, advice string) *Error {
	return &Error{Input: input, Err: err, Advice: advice}
}

// Copy passes every batch of src to dst and commits; on an error it fails dst,
// so that the output is never taken for whole.
func Copy(ctx context.Context, dst Sink, src Stream) error {
	err := dst.Begin(src.Schema())
	if err == nil {
		err = Each(ctx, src, dst.Write)
	}
	if err != nil {
		dst.Fail(err)
		return err
	}
	return dst.Close()
}

// WriteRecord writes a batch alone, and does not end dst.
func WriteRecord(dst Sink, rec arrow.Record) error {
	if err := dst.Begin(rec.Schema()); err != nil {
		return err
	}
	return dst.Write(rec)
}

// Each calls f with every batch that is left in src, until an error or the end of
// ctx. Errors of f are Located.
func Each(ctx context.Context, src Stream, f func(arrow.Record) error) error {
	for before := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rows := int(rec.NumRows())
		if err := f(rec); err != nil {
			return Located(err, src, before)
		}
		before += rows
	}
}

// Located gives an Error that names no input the name of src, and a RowError that too and the number
// of the row in all of src, of which so many came before its batch.
func Located(err error, src Stream, before int) error {
	if at, ok := err.(*RowError); ok {
		return inputError(src.Name(), &RowError{at.Column, before + at.Row, at.Err}, "")
	}
	var about *Error
	if errors.As(err, &about) && about.Input == "" {
		about.Input = src.Name()
	}
	return err
}
