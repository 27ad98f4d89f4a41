package featurize

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/toy"
)

// fullSink has room for some batches, then for none.
type fullSink struct {
	arrowio.Sink
	room int
}

var errFull = errors.New("no space left")

func (s *fullSink) Begin(*arrow.Schema) error { return s.take() }
func (s *fullSink) Write(arrow.Record) error  { return s.take() }
func (s *fullSink) take() error {
	if s.room--; s.room < 0 {
		return errFull
	}
	return nil
}

// Rows that could not be written are an error, whichever they are.
func TestUnwrittenRowsAreReported(t *testing.T) {
	env := stages.Env{Columns: arrowio.DefaultColumns()}
	path := writeNumbered(t, "rows.csv", 20)
	both := SideOptions{Path: path}
	both.Format.Label = "label"
	for name, produce := range map[string]func(arrowio.Sink) error{
		"tables": func(out arrowio.Sink) error {
			return Files(t.Context(), env, Options{Source: both, Target: SideOptions{Path: path}, Standardize: "none"}, out)
		},
		"toy": func(out arrowio.Sink) error {
			return Toy(t.Context(), env, toy.Options{Noise: "mid", SourceRows: 9, TargetRows: 9}, false, out)
		},
	} {
		room := 0
		for ; room < 10; room++ {
			err := produce(&fullSink{room: room})
			if err == nil {
				break
			}
			if !errors.Is(err, errFull) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if room != 3 { // the schema and a batch of each domain
			t.Errorf("%s: all is said to be well when %d pieces are written", name, room)
		}
	}
}
