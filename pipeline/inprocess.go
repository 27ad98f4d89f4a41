package pipeline

import (
	"bytes"
	"context"
	"io"
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
	j := &joined{run: func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error {
		s.In, s.Out = in, out
		return t.node.Stage.Run(ctx, t.args, s)
	}}
	finish := func(error) {}
	if t.node.Stage.Rows {
		j.out, g.output = Channel(ctx, "output of "+g.label)
	} else {
		r, w := io.Pipe()
		s.Text, g.reader = w, r
		finish = func(err error) { w.CloseWithError(err) }
	}
	if t.stream {
		g.sink, j.in = Channel(ctx, "standard input")
	} else if t.file != "" {
		file, err := arrowio.Open(t.file, arrowio.ReadOptions{})
		if err != nil {
			return nil, err
		}
		j.in = file
	}
	go func() {
		err := j.whole(ctx)
		if file, ok := j.in.(*arrowio.Reader); ok {
			file.Close()
		}
		finish(err)
		g.done <- err
	}()
	return g, nil
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
