package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"mars/arrowio"
)

// A Producer writes rows to out, which it begins but neither closes nor fails.
type Producer func(ctx context.Context, out arrowio.Sink) error

// A Filter passes rows on from in to out, changed or not.
type Filter func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error

// Join runs stages at the same time in this process, each joined to the next by a
// channel: a producer, filters in their order, and a consumer, which may stop
// before the end of its rows. Errors call the rows by name.
//
// It returns when all have ended. Of several errors it returns the one that
// the others follow from.
func Join(ctx context.Context, name string, produce Producer, filters []Filter, consume func(context.Context, arrowio.Stream) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps := []Filter{func(ctx context.Context, _ arrowio.Stream, out arrowio.Sink) error { return produce(ctx, out) }}
	steps = append(steps, filters...)
	steps = append(steps, func(ctx context.Context, in arrowio.Stream, _ arrowio.Sink) error { return consume(ctx, in) })
	ended := make(chan outcome)
	var in *ChannelStream
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

// cause is the first failure, in the order of the rows, that is not the end of a
// step whose rows nobody takes any more.
func cause(failures []error) error {
	var late error
	for _, err := range failures {
		switch {
		case err == nil, errors.Is(err, arrowio.ErrBrokenPipe):
		case errors.Is(err, context.Canceled):
			late = err
		default:
			return err
		}
	}
	return late
}

// joined is a step between two channels; in or out is nil at the ends.
type joined struct {
	run Filter
	in  *ChannelStream
	out arrowio.Sink
}

// whole runs the step and ends its channels. A panic is the step's failure.
func (j *joined) whole(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if j.in != nil {
			j.in.Close()
		}
		switch {
		case j.out == nil:
		case err != nil:
			j.out.Fail(err)
		default:
			err = j.out.Close()
		}
	}()
	if j.in == nil {
		return j.run(ctx, nil, j.out)
	}
	if err := j.in.Open(); err != nil {
		return err
	}
	return j.run(ctx, j.in, j.out)
}
