package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

var numbers = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)

// count writes batches of one row each until it has written n or fails.
func count(n int) Filter {
	return func(_ context.Context, _ arrowio.Stream, out arrowio.Sink) error {
		if err := out.Begin(numbers); err != nil {
			return err
		}
		for i := range n {
			rec := array.NewRecord(numbers, []arrow.Array{arrowio.NewIntArray([]int32{int32(i)}, nil)}, 1)
			err := out.Write(rec)
			rec.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func pass(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error {
	if err := out.Begin(in.Schema()); err != nil {
		return err
	}
	return arrowio.Each(ctx, in, out.Write)
}

func TestJoin(t *testing.T) {
	wrong := errors.New("wrong")
	fails := func(context.Context, arrowio.Stream, arrowio.Sink) error { return wrong }
	late := func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error {
		if err := pass(ctx, in, out); err != nil {
			return err
		}
		return wrong
	}
	panics := func(context.Context, arrowio.Stream, arrowio.Sink) error { panic("of no use") }
	for name, c := range map[string]struct {
		filters []Filter
		takes   int // rows, at most
		want    string
	}{
		"all":              {[]Filter{pass, pass}, 1 << 30, ""},
		"none between":     {nil, 1 << 30, ""},
		"stops early":      {[]Filter{pass}, 3, ""},
		"fails at once":    {[]Filter{pass, fails, pass}, 1 << 30, "wrong"},
		"fails at its end": {[]Filter{late, pass}, 1 << 30, "wrong"},
		"panics":           {[]Filter{panics}, 1 << 30, "panic: of no use"},
	} {
		seen := 0
		err := Join(t.Context(), "numbers", nil, append([]Filter{count(100)}, c.filters...), func(_ context.Context, in arrowio.Stream) error {
			for seen < c.takes {
				if _, err := in.Next(); err != nil {
					if errors.Is(err, io.EOF) {
						return nil
					}
					return err
				}
				seen++
			}
			return nil
		})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		case c.want == "" && seen != min(100, c.takes):
			t.Errorf("%s: %d rows", name, seen)
		}
	}
}

// A consumer whose own output nobody reads has failed, and says so.
func TestJoinBrokenPipe(t *testing.T) {
	err := Join(t.Context(), "numbers", nil, []Filter{count(100), pass}, func(context.Context, arrowio.Stream) error {
		return arrowio.ErrBrokenPipe
	})
	if !errors.Is(err, arrowio.ErrBrokenPipe) {
		t.Errorf("error %v", err)
	}
}

// The end of the context ends all steps.
func TestJoinCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Join(ctx, "numbers", nil, []Filter{count(1 << 30), pass}, func(ctx context.Context, in arrowio.Stream) error {
		_, err := in.Next()
		cancel()
		<-ctx.Done()
		return errors.Join(err, ctx.Err())
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
