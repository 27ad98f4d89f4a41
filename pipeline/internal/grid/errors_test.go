package grid

import (
	"errors"
	"io"
	"testing"
)

// fullWriter takes nothing.
type fullWriter struct{ err error }

func (w fullWriter) Write([]byte) (int, error) { return 0, w.err }

// A table that cannot be written is an error in every format.
func TestWritersFail(t *testing.T) {
	full := errors.New("no room")
	for name, write := range map[string]func(io.Writer, []Grid) error{"text": WriteText, "Markdown": WriteMarkdown, "LaTeX": WriteLaTeX} {
		if err := write(fullWriter{full}, []Grid{{Title: "A title"}}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
