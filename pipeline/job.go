package pipeline

import (
	"context"
	"io"

	"mars.dev/mars/arrowio"
)

// A job is a stage at work, in a process of its own or in this one.
type job interface {
	// in takes the rows that it reads; nil unless it reads a stream.
	in() arrowio.Sink
	// rows gives the rows that it puts out. It waits for their schema.
	rows() (arrowio.Stream, error)
	// text gives what a stage that puts out no rows puts out.
	text() io.Reader
	// wait drops what is left of the output, waits for the stage to end, and
	// returns its failure.
	wait() error
	// peak is the most memory, in bytes, that the stage has held at once; 0 if that is
	// not known. It is known after wait.
	peak() int64
}

// A task is what a job is to do.
type task struct {
	node     *Node
	args     []string // after the stage's name
	stream   bool     // it reads its rows as a stream
	file     string   // or from this file of the cache; "" for none
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
	Status  int // exit status, of the process or as if it were one
	Err     error
}

func (e *StageError) Error() string { return e.Label + ": " + e.Message }

func (e *StageError) Unwrap() error { return e.Err }
