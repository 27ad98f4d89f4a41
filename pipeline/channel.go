package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// Channel joins two stages in one process: what is written to the sink is read
// from the stream, batch by batch. What the sink's Fail is given, the stream's Next
// returns. The end of ctx is an error of both.
func Channel(ctx context.Context, name string) (arrowio.Sink, *ChannelStream) {
	c := &channel{ctx: ctx, schema: make(chan *arrow.Schema, 1), records: make(chan arrow.Record, 1), done: make(chan struct{}), gone: make(chan struct{})}
	return &channelSink{channel: c}, &ChannelStream{channel: c, name: name}
}

type channel struct {
	ctx     context.Context
	schema  chan *arrow.Schema
	records chan arrow.Record
	done    chan struct{} // closed by the sink's end, after err is set
	gone    chan struct{} // closed when the stream is
	err     error         // io.EOF if the sink was closed
}

type channelSink struct {
	*channel
	ended bool
}

func (s *channelSink) Begin(schema *arrow.Schema) error {
	s.schema <- schema
	return nil
}

func (s *channelSink) Write(rec arrow.Record) error {
	rec.Retain()
	select {
	case s.records <- rec:
		return nil
	case <-s.gone:
		rec.Release()
		return arrowio.ErrBrokenPipe
	case <-s.ctx.Done():
		rec.Release()
		return s.ctx.Err()
	}
}

func (s *channelSink) Close() error {
	s.end(io.EOF)
	return nil
}

func (s *channelSink) Fail(cause error) { s.end(cause) }

func (s *channelSink) end(err error) {
	if !s.ended {
		s.ended, s.err = true, err
		close(s.done)
	}
}

// A ChannelStream is the end of a Channel that is read.
type ChannelStream struct {
	*channel
	name    string
	opened  *arrow.Schema
	current arrow.Record // the batch given last
	closed  bool
}

// Open waits for the schema.
func (s *ChannelStream) Open() error {
	select {
	case s.opened = <-s.schema:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-s.done:
	}
	select { // begun and ended at once
	case s.opened = <-s.schema:
		return nil
	default:
	}
	if errors.Is(s.err, io.EOF) {
		return &arrowio.Error{Input: s.name, Err: errors.New("ended before it began")}
	}
	return s.err
}

// Name is what errors call the input.
func (s *ChannelStream) Name() string { return s.name }

// Schema is there after Open.
func (s *ChannelStream) Schema() *arrow.Schema { return s.opened }

// Next gives the next batch, valid until the following call.
func (s *ChannelStream) Next() (arrow.Record, error) {
	if s.current != nil {
		s.current.Release()
		s.current = nil
	}
	select {
	case s.current = <-s.records:
		return s.current, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	case <-s.done:
	}
	select { // what was written before the end
	case s.current = <-s.records:
		return s.current, nil
	default:
		return nil, s.err
	}
}

// Close tells the sink that nobody reads any more.
func (s *ChannelStream) Close() {
	if !s.closed {
		s.closed = true
		close(s.gone)
	}
}
