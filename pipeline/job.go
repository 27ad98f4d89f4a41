package pipeline

import (
	"context"
	"io"

	"mars/arrowio"
)

// A job is a stage at work, in a process of its own or in this one.
type job interface {
	// in is where its rows go; nil unless it reads a stream.
	in() arrowio.Sink
	// rows is what comes out. It blocks until the schema is there.
	rows() (arrowio.Stream, error)
	// text is what comes out of a stage that puts out no rows.
	text() io.Reader
	// wait ends once the output has been read to its end.
	wait() error
}

// A task is what a job is to do.
type task struct {
	node     *Node
	args     []string // after the stage's name
	stream   bool     // rows come in as a stream
	file     string   // or from this file of the cache
	log      func(line string)
	progress func(what string, done, total int64)
}

// A launcher starts jobs.
type launcher interface {
	start(ctx context.Context, t task) (job, error)
}

// A StageError is the failure of a stage.
type StageError struct {
	Label   string
	Message string
	Status  int // as of the process
	Err     error
}

func (e *StageError) Error() string { return e.Label + ": " + e.Message }

func (e *StageError) Unwrap() error { return e.Err }
