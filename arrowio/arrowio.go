package arrowio

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// A Source gives record batches in row order.
//
// A record is valid until the following call of Next, unless retained. Next
// returns io.EOF only after a complete input: an input that stops without its
// end marker is an error, so rows are never lost in silence.
type Source interface {
	// Name is what errors call the input: a path, or "standard input".
	Name() string
	Schema() *arrow.Schema
	Next() (arrow.Record, error)
}

// A Sink takes record batches in row order.
//
// Begin comes first, once. Then either Close commits what was written (end
// marker, rename into place) or Fail makes sure that nobody takes it for whole.
// Whichever comes first wins; the other is then without effect.
type Sink interface {
	Begin(*arrow.Schema) error
	Write(arrow.Record) error
	Close() error
	Fail(error)
}

// ErrBrokenPipe reports that the reader of the output has gone away. It is a
// reason to stop, not a failure: a command that meets it ends quietly.
var ErrBrokenPipe = errors.New("the program behind closed the pipe")

// Error is what is wrong with an input or an output, and where.
type Error struct {
	Input  string // path or stream name
	Offset int64  // byte of the message at fault, -1 where it does not apply
	Batch  int    // record batch counted from 0, -1 where it does not apply
	Column string // empty where it does not apply
	Err    error  // what is wrong
	Advice string // what to do about it, may be empty
}

func (e *Error) Error() string {
	var where []string
	if e.Offset >= 0 {
		where = append(where, fmt.Sprintf("byte %d", e.Offset))
	}
	if e.Batch >= 0 {
		where = append(where, fmt.Sprintf("batch %d", e.Batch))
	}
	if e.Column != "" {
		where = append(where, fmt.Sprintf("column %q", e.Column))
	}
	parts := []string{e.Input}
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
	return &Error{Input: input, Offset: -1, Batch: -1, Err: err, Advice: advice}
}

// Copy passes every batch of src to dst and commits; on an error it fails dst,
// so that the output is never taken for whole.
func Copy(dst Sink, src Source) error {
	err := copyBatches(dst, src)
	if err != nil {
		dst.Fail(err)
		return err
	}
	return dst.Close()
}

func copyBatches(dst Sink, src Source) error {
	if err := dst.Begin(src.Schema()); err != nil {
		return err
	}
	for {
		rec, err := src.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := dst.Write(rec); err != nil {
			return err
		}
	}
}
