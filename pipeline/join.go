package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"mars.dev/mars/arrowio"
)

// A Filter reads rows from in and writes rows to out, which it begins but neither
// closes nor fails.
type Filter func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error

// Join runs stages at the same time in this process, each joined to the next by a
// channel: filters in their order, then a consumer, which may stop before the end
// of its rows. The first stage reads in, which may be nil if it reads no rows.
// Errors call the rows between stages by name.
//
// It returns when all have ended. Of several errors it returns the one that
// the others follow from.
func Join(ctx context.Context, name string, in arrowio.Stream, filters []Filter, consume func(context.Context, arrowio.Stream) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	last := func(ctx context.Context, in arrowio.Stream, _ arrowio.Sink) error { return consume(ctx, in) }
	steps := append(slices.Clone(filters), last)
	ended := make(chan outcome)
	for i, step := range steps {
		j := &joined{run: step, in: in}
		if i+1 < len(steps) {
			j.out, in = Channel(ctx, name)
		}
		go func() { ended <- outcome{i, j.whole(ctx)} }()
	}
	failures := make([]error, len(steps))
	for range steps {
		o := <-ended
		if failures[o.step] = o.err; o.err != nil && o.step == len(steps)-1 {
			cancel() // nobody takes what the others still make
		}
	}
	return cause(failures)
}

// outcome is how a step ended.
type outcome struct {
	step int
	err  error
}

// cause is the first failure, in the order of the rows, that the others follow
// from: a step whose rows nobody takes any more, or that is told to end, has not
// failed by itself.
func cause(failures []error) error {
	for _, err := range failures {
		if err != nil && !errors.Is(err, arrowio.ErrBrokenPipe) && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	last := len(failures) - 1
	if failures[last] != nil {
		return failures[last]
	}
	for _, err := range failures[:last] {
		if errors.Is(err, context.Canceled) {
			return err
		}
	}
	return nil
}

// joined is a step between two channels. The first has no channel before it, and
// the last no sink.
type joined struct {
	run Filter
	in  arrowio.Stream
	out arrowio.Sink
}

// whole runs the step and ends its channels. A panic is the step's failure.
func (j *joined) whole(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if c, ok := j.in.(*ChannelStream); ok {
			c.Close()
		}
		switch {
		case j.out == nil:
		case err != nil:
			j.out.Fail(err)
		default:
			err = j.out.Close()
		}
	}()
	if c, ok := j.in.(*ChannelStream); ok {
		if err := c.Open(); err != nil {
			return err
		}
	}
	return j.run(ctx, j.in, j.out)
}
