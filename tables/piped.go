package tables

import (
	"context"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// A Piped is standard input or another input that can be read but once, and only as it
// comes. It is open, and its first bytes have said what it holds.
type Piped struct {
	in    *input
	name  string
	close func() error
}

// IsPiped reports whether a path is of such an input.
func IsPiped(path string) bool {
	if path == "-" {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// OpenPiped opens one.
func OpenPiped(ctx context.Context, path string, o Options) (*Piped, error) {
	p := &Piped{name: StandardInput, close: func() error { return nil }}
	var r io.Reader
	if path == "-" {
		r = arrowio.StandardInput()
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, absent(path, err)
		}
		p.name, r, p.close = path, f, f.Close
	}
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	var err error
	if p.in, err = newInput(ctx, r, p.name, o); err != nil {
		p.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, named(p.name, err)
	}
	return p, nil
}

// Close closes the input.
func (p *Piped) Close() error {
	p.in.reading.Close()
	return p.close()
}

// Arrow is the batches of an Arrow stream; nil if the input holds something else. The input
// is then read through them alone.
func (p *Piped) Arrow() (arrowio.Stream, error) {
	if p.in.format != arrowFormat {
		return nil, nil
	}
	r, err := arrowio.NewReader(p.in, p.name, arrowio.ReadOptions{Budget: p.in.mem})
	if err != nil {
		return nil, named(p.name, err)
	}
	return r, nil
}

// ReadParts reads the tables of an input that is no Arrow stream, as OpenParts does.
func (p *Piped) ReadParts(ctx context.Context, o Options) ([]*Table, error) {
	t, err := readOpened(ctx, p.in, p.name, o)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return t, err
}

// HasIdentities reports whether one of the columns names the rows. It fails if columns that
// the options name are missing, or are not what they have to be.
func HasIdentities(schema *arrow.Schema, o Options) (bool, error) {
	flat, _ := flatSchema(schema)
	plan, err := planColumns(flat, o)
	return err == nil && plan.id >= 0, err
}
