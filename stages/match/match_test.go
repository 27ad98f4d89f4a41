package match

import (
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/internal/stream"
)

// none is a stream without rows.
type none struct{}

func (none) Name() string                { return "empty" }
func (none) Schema() *arrow.Schema       { return arrow.NewSchema(nil, nil) }
func (none) Next() (arrow.Record, error) { return nil, io.EOF }

// Covariances that would fill the memory are refused before any is made.
func TestTooManyCovariances(t *testing.T) {
	in := arrowio.NewSpool(none{}, 0)
	defer in.Close()
	f := fitter{Rows: &stream.Rows{Stream: in}, classes: make([]string, 1), components: 1, width: 8192, cost: transport.Bures}
	if err := f.begin(); err != nil {
		t.Errorf("a gigabyte: %v", err)
	}
	for width, refused := range map[int]bool{50: false, 2048: true} {
		f := fitter{Rows: &stream.Rows{Stream: in}, classes: make([]string, 65), components: 65, width: width, cost: transport.Bures}
		if err := f.begin(); (err != nil) != refused || refused && !strings.Contains(err.Error(), "empty: the cost bures takes 130 covariances of 2048×2048 numbers") {
			t.Errorf("%d columns: %v", width, err)
		}
	}
}
