package pipeline

import (
	"context"
	"io"
	"maps"
	"slices"

	"mars.dev/mars/arrowio"
)

// A Stage is what a pipeline knows of a command.
type Stage struct {
	Name      string // as a subcommand: "train", "featurize toy"
	Algorithm int    // version of what it computes: raised when the same input and options give other results
	Reads     bool   // it reads rows
	Rows      bool   // it puts out rows, not text
	Flags     map[string]Flag
	Instead   []string // flags that name files to read instead of rows
	Wants     string   // flag that the first stage before it has to set, if it has that flag
	Unless    string   // flag of its own with which it does not want that

	// Check validates arguments without running the stage, and returns the flags
	// that are set, with their values as the command understands them.
	Check func(args []string) (map[string]string, error)
	// Run runs the stage in this process.
	Run func(ctx context.Context, args []string, s Streams) error
	// Write gives what writes rows to a file of that name in a layout of the stage's own;
	// nil if that is Arrow. It may be nil itself.
	Write func(path string) WriteRows
	// Status is the exit status with which a process would report an error of Run;
	// nil means 1 for every error.
	Status func(error) int
}

// WriteRows writes rows in some layout.
type WriteRows func(ctx context.Context, w io.Writer, rows arrowio.Stream) error

// Streams are what a stage that runs in this process reads and writes.
type Streams struct {
	In       arrowio.Stream // nil: the file named in the arguments
	Out      arrowio.Sink   // nil for text
	Text     io.Writer      // nil for rows
	Log      io.Writer
	Progress func(what string, done, total int64)
}

// A Flag is a flag of a stage.
type Flag struct {
	Name, Default, Usage string
	Bool                 bool
	Role                 Role
}

// A Role is what a flag means to a pipeline.
type Role int

// The roles of flags. Those from Checkpoint on are not for pipeline files.
const (
	Effect      Role = iota // changes the result
	NoEffect                // does not: memory, say
	Seed                    // seed of all that is random
	Threads                 // number of threads
	InputFile               // names a file that is read
	LoadFile                // names a file of what was learnt before: the stage applies that and learns nothing
	RowsFile                // names the file that the rows or the text go to
	StateFile               // names the file that what is learnt goes to
	MetricsFile             // names the file that the figures of every epoch go to
	Encoding                // how the rows' file is encoded
	Checkpoint              // names the file that a training which is killed goes on from
	Resume                  // has it go on
	Quiet                   // has the stage log warnings alone
	PageFile                // names a file for people that is written beside the rows
	Reserved                // belongs to the command line
)

// Settable reports whether a pipeline file may set flags of the role.
func (r Role) Settable() bool { return r < Checkpoint }

// isWritten reports whether flags of the role name a file that the stage writes
// itself. (Its rows and its text are written by the runner.)
func (r Role) isWritten() bool { return r == StateFile || r == MetricsFile }

// Reads reports whether flags of the role name a file that is read.
func (r Role) Reads() bool { return r == InputFile || r == LoadFile }

// Writes reports whether flags of the role name a file that is written.
func (r Role) Writes() bool {
	return r.isWritten() || r == RowsFile || r == Checkpoint || r == PageFile
}

// A Catalogue lists all stages.
type Catalogue []*Stage

// Find is the stage of that name, or of that program's name (mars-train), nil if
// there is none.
func (c Catalogue) Find(name string) *Stage {
	i := slices.IndexFunc(c, func(s *Stage) bool { return s.Name == name || "mars-"+s.Name == name })
	if i < 0 {
		return nil
	}
	return c[i]
}

// Names of all stages.
func (c Catalogue) Names() []string { return namesOf(c, func(s *Stage) string { return s.Name }) }

// flag is the first flag in the role, "" if there is none.
func (s *Stage) flag(role Role) string {
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		if s.Flags[name].Role == role {
			return name
		}
	}
	return ""
}

// Settable are the names of the flags that a pipeline file may set.
func (s *Stage) Settable() []string {
	var names []string
	for name, f := range s.Flags {
		if f.Role.Settable() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
