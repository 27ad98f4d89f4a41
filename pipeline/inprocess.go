package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"mars.dev/mars/arrowio"
)

// goroutines runs every stage in this process, joined by channels.
type goroutines struct{}

type goroutine struct {
	label  string
	sink   arrowio.Sink   // its input; nil unless it reads a stream
	output *ChannelStream // its rows; nil for text
	reader *io.PipeReader // its text; nil for rows
	done   chan error
	status func(error) int
}

func (goroutines) start(ctx context.Context, t task) (job, error) {
	g := &goroutine{label: t.node.Label(), done: make(chan error, 1), status: t.node.Stage.Status}
	s := Streams{Log: &lineWriter{log: t.log}, Progress: t.progress}
	var end func(error)
	if t.node.Stage.Rows {
		out, output := Channel(ctx, "output of "+g.label)
		s.Out, g.output = out, output
		end = out.Fail // without effect after Close
	} else {
		r, w := io.Pipe()
		s.Text, g.reader = w, r
		end = func(err error) { w.CloseWithError(err) }
	}
	var open func() error
	if t.stream {
		sink, input := Channel(ctx, "standard input")
		g.sink, s.In, open = sink, input, input.Open
	} else if t.file != "" {
		file, err := arrowio.Open(t.file, arrowio.ReadOptions{})
		if err != nil {
			return nil, err
		}
		s.In = file
	}
	go func() {
		err := g.run(ctx, t, s, open)
		g.done <- err
		if c, ok := s.In.(*ChannelStream); ok {
			c.Close()
		}
		if f, ok := s.In.(*arrowio.Reader); ok {
			f.Close()
		}
		end(err)
	}()
	return g, nil
}

// run runs the stage. A panic is a failure of that stage alone.
func (g *goroutine) run(ctx context.Context, t task, s Streams, open func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v\n%s", g.label, p, debug.Stack())
		}
	}()
	if open != nil {
		if err := open(); err != nil {
			return err
		}
	}
	return t.node.Stage.Run(ctx, t.args, s)
}

func (g *goroutine) in() arrowio.Sink { return g.sink }

func (g *goroutine) rows() (arrowio.Stream, error) { return g.output, g.output.Open() }

func (g *goroutine) text() io.Reader { return g.reader }

func (g *goroutine) wait() error {
	if g.output != nil {
		g.output.Close()
	}
	if g.reader != nil {
		g.reader.Close()
	}
	err := <-g.done
	if err == nil {
		return nil
	}
	failure := &StageError{Label: g.label, Message: err.Error(), Status: 1, Err: err}
	if g.status != nil {
		failure.Status = g.status(err)
	}
	return failure
}

// peak is not known: stages in one process share its memory.
func (g *goroutine) peak() int64 { return 0 }

// lineWriter calls log with every whole line that is written to it.
type lineWriter struct {
	log  func(string)
	rest []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		w.log(strings.TrimRight(string(line), "\r"))
		w.rest = rest
	}
}
