package stages

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"

	"mars.dev/mars/arrowio"
)

// Env is what whoever runs a stage gives it beside the stage's own options.
// All but Columns may be left out: seed 0, no log, no progress.
type Env struct {
	// Columns are the names the stream's columns go by, such as arrowio.DefaultColumns.
	Columns arrowio.Columns
	// Memory is how many bytes of a pipe a fitting stage holds before it
	// spools to a temporary file; 0 is arrowio's default.
	Memory int64
	// MaxClasses is the greatest number of classes; 0 is DefaultMaxClasses.
	MaxClasses int
	// Seed makes everything random; Jobs is the number of threads (0: all).
	Seed uint64
	Jobs int
	// Shape is that of a row of features, for streams whose metadata do not say; nil: what
	// they say.
	Shape []int
	// Log receives what a user wants to know of a run; nil is silence.
	Log *slog.Logger
	// Progress is told how much of a known (total > 0) or unknown amount of
	// work is done; what names it. It may be nil.
	Progress func(what string, done, total int64)
	// Step is added to the stream's provenance, with the stage's state files. One
	// without a stage is not: what runs the stage has a step itself.
	Step arrowio.Step
}

// A Func is a stage with its options bound: it reads all of in and writes rows
// to out, which it begins but neither closes nor fails; that is its caller's.
type Func func(ctx context.Context, env Env, in arrowio.Stream, out arrowio.Sink) error

// DefaultMaxClasses is the greatest number of classes unless told otherwise. More are
// most often a column of dates or numbers that was taken for labels.
const DefaultMaxClasses = 4096

// CheckClasses returns an error if there are more than n classes.
func (env Env) CheckClasses(n int) error {
	if limit := cmp.Or(env.MaxClasses, DefaultMaxClasses); n > limit {
		return fmt.Errorf("there are %d classes or more, the limit is %d: choose another label column, or raise --max-classes", n, limit)
	}
	return nil
}

// Logger is env.Log, or one that drops everything.
func (env Env) Logger() *slog.Logger {
	if env.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return env.Log
}

// Report tells Progress, if there is one.
func (env Env) Report(what string, done, total int64) {
	if env.Progress != nil {
		env.Progress(what, done, total)
	}
}

// KeepState adds a state file and its SHA-256 to the step's provenance. The
// file's folder is left out, so that the same work gives the same bytes
// wherever it is done.
func (env *Env) KeepState(path, sum string) {
	state := map[string]string{filepath.Base(path): sum}
	maps.Copy(state, env.Step.State)
	env.Step.State = state
}
