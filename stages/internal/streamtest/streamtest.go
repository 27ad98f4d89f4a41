// Package streamtest tests that stages pass on the errors of what they read from and write to.
package streamtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
)

var errBroken = errors.New("it is broken")

// calls are counted down: the one at which none is left fails, and none after it.
type calls struct {
	left   int
	failed bool
}

func (c *calls) next() error {
	c.left--
	if c.left != -1 {
		return nil
	}
	c.failed = true
	return errBroken
}

// source is a stream that can be rewound, of which a call fails.
type source struct {
	*arrowio.Batches
	calls *calls
}

func (s source) Next() (arrow.Record, error) {
	if err := s.calls.next(); err != nil {
		return nil, err
	}
	return s.Batches.Next()
}

func (s source) Rewind() error {
	if err := s.calls.next(); err != nil {
		return err
	}
	return s.Batches.Rewind()
}

// A Sink keeps what is written to it.
type Sink struct {
	Schema  *arrow.Schema
	Batches []arrow.Record
	calls   *calls // nil: none fails
}

// Begin keeps the schema.
func (s *Sink) Begin(schema *arrow.Schema) error {
	s.Schema = schema
	return s.next()
}

// Write keeps a batch.
func (s *Sink) Write(rec arrow.Record) error {
	rec.Retain()
	s.Batches = append(s.Batches, rec)
	return s.next()
}

func (s *Sink) next() error {
	if s.calls == nil {
		return nil
	}
	return s.calls.next()
}

// Close does nothing.
func (s *Sink) Close() error { return nil }

// Fail does nothing.
func (s *Sink) Fail(error) {}

// Fails tests that a stage returns the error of the stream or the sink, whichever call of
// theirs fails. The stage succeeds where none does.
func Fails(t *testing.T, env stages.Env, in *arrowio.Batches, stage stages.Func) {
	t.Helper()
	for what, run := range map[string]func(*calls) error{
		"read":  func(c *calls) error { return stage(t.Context(), env, source{in, c}, &Sink{}) },
		"write": func(c *calls) error { return stage(t.Context(), env, in, &Sink{calls: c}) },
	} {
		for k, c := 0, (*calls)(nil); c == nil || c.failed; k++ {
			c = &calls{left: k}
			in.Rewind()
			err := run(c)
			if want := map[bool]error{true: errBroken}[c.failed]; !errors.Is(err, want) {
				t.Fatalf("%s %d is broken: %v; the error is %v", what, k, c.failed, err)
			}
		}
	}
}

// Stops tests that a stage returns the error of its context, whenever that ends.
func Stops(t *testing.T, env stages.Env, in *arrowio.Batches, stage stages.Func) {
	t.Helper()
	contexttest.Stops(t, 2, func(ctx context.Context) error {
		in.Rewind()
		return stage(ctx, env, in, &Sink{})
	})
}

// ends is a context that ends after a number of calls of Err.
type ends struct {
	context.Context
	left int
}

func (e *ends) Err() error {
	e.left--
	if e.left < 0 {
		return context.Canceled
	}
	return nil
}

// StopsAt tests what contexttest.Stops does, at each call of Err: f calls it from one goroutine,
// and not often.
func StopsAt(t *testing.T, f func(ctx context.Context) error) {
	t.Helper()
	for calls := 0; ; calls++ {
		ctx := &ends{t.Context(), calls}
		err := f(ctx)
		if err == nil && ctx.left >= 0 {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d calls of Err the error is %v", calls, err)
		}
	}
}

// Refuses tests that a stage returns an error that has the text, and writes no row.
func Refuses(t *testing.T, env stages.Env, in arrowio.Stream, stage stages.Func, text string) {
	t.Helper()
	var out Sink
	err := stage(t.Context(), env, in, &out)
	if err == nil || !strings.Contains(err.Error(), text) || len(out.Batches) > 0 {
		t.Errorf("the error is %v, want %q; %d batches are written", err, text, len(out.Batches))
	}
}

// RefusesTypes tests that a stage returns an error that names each of the columns where it is
// of a type that nothing can be made of.
func RefusesTypes(t *testing.T, env stages.Env, in *arrowio.Batches, stage stages.Func, columns ...string) {
	t.Helper()
	for _, name := range columns {
		Refuses(t, env, With(in, name, lists), stage, fmt.Sprintf("column %q: has type list<item: utf8, nullable>", name))
	}
}
