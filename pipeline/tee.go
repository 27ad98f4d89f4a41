package pipeline

import (
	"errors"
	"io"

	"mars.dev/mars/arrowio"
)

// A tee passes rows on to the next stage and into the cache. Either may fail without
// harm to the other: a stage that has failed says so itself, and a run can do without
// the cache.
type tee struct {
	next, kept arrowio.Sink // nil for none
	lost       func(error)  // called once, if the cache takes no more
	rows       int64        // passed on so far
	progress   func(rows int64)
}

// copy passes on all of src. It returns an error of src alone.
func (t *tee) copy(src arrowio.Stream) error {
	t.both(func(s arrowio.Sink) error { return s.Begin(src.Schema()) })
	for {
		rec, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.both(func(s arrowio.Sink) error { return s.Write(rec) })
		t.rows += rec.NumRows()
		t.progress(t.rows)
	}
}

func (t *tee) both(do func(arrowio.Sink) error) {
	if t.kept != nil {
		if err := do(t.kept); err != nil {
			t.lose(err)
		}
	}
	if t.next != nil {
		if err := do(t.next); err != nil {
			t.next.Fail(err)
			t.next = nil
		}
	}
}

func (t *tee) lose(err error) {
	t.kept.Fail(err)
	t.kept = nil
	t.lost(err)
}

// end closes both sides, or fails them with err.
func (t *tee) end(err error) {
	if err == nil {
		t.both(func(s arrowio.Sink) error { return s.Close() })
		return
	}
	for _, s := range []arrowio.Sink{t.kept, t.next} {
		if s != nil {
			s.Fail(err)
		}
	}
}
