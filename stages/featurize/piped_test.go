//go:build unix

package featurize

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// seenSink counts rows, and says when the first have come.
type seenSink struct {
	arrowio.Sink
	rows  int64
	sum   float64
	first chan struct{}
}

func (s *seenSink) Begin(*arrow.Schema) error { return nil }
func (s *seenSink) Write(rec arrow.Record) error {
	if s.rows == 0 {
		close(s.first)
	}
	s.rows += rec.NumRows()
	x, err := arrowio.VectorColumn(rec, "features")
	for _, v := range x.Data {
		s.sum += float64(v)
	}
	return err
}

const twoColumns = `{"version":1,"columns":["b","a"],"source":{},"target":{}}`

// piped gives a path to the rows that write writes, and waits for it in the end.
func piped(t *testing.T, write func(*os.File) error) string {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		err := write(w)
		w.Close()
		done <- err
	}()
	t.Cleanup(func() {
		r.Close()
		<-done
	})
	return fmt.Sprintf("/dev/fd/%d", r.Fd())
}

func pipedOptions(path string) Options {
	return Options{Target: SideOptions{Path: path}, Prepared: twoColumns, Classes: []string{"p", "q"}}
}

func numbers(n int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float32}, {Name: "b", Type: arrow.PrimitiveTypes.Float32}}, nil)
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = 1, 2
	}
	return array.NewRecord(schema, []arrow.Array{arrowio.NewFloatArray(a), arrowio.NewFloatArray(b)}, int64(n))
}

// Rows of an Arrow stream in a pipe are on their way before the last has come, so that
// many take no more memory than few.
func TestRowsOfAPipeFlow(t *testing.T) {
	const rows, batches = 50_000, 12
	sink := &seenSink{first: make(chan struct{})}
	path := piped(t, func(w *os.File) error {
		rec := numbers(rows)
		out := arrowio.NewWriter(w, "test", arrowio.WriteOptions{})
		if err := out.Begin(rec.Schema()); err != nil {
			return err
		}
		for i := range batches {
			if i == batches-1 {
				select {
				case <-sink.first:
				case <-time.After(20 * time.Second): // and the test fails below, by the rows' time
					t.Error("no row was written before all were read")
				}
			}
			if err := out.Write(rec); err != nil {
				return err
			}
		}
		return out.Close()
	})
	if err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, pipedOptions(path), sink); err != nil {
		t.Fatal(err)
	}
	if sink.rows != rows*batches || sink.sum != 3*rows*batches {
		t.Errorf("%d rows with a sum of %g", sink.rows, sink.sum)
	}
}

// What is no Arrow stream is read from the pipe too, though its beginning was looked at,
// and so are rows with identities.
func TestOtherPipes(t *testing.T) {
	for name, text := range map[string]string{"csv": "a,b\n1,2\n1,2\n", "identities": "id,a,b\nr,1,2\ns,1,2\n"} {
		sink := &seenSink{first: make(chan struct{})}
		path := piped(t, func(w *os.File) error { _, err := w.WriteString(text); return err })
		if err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, pipedOptions(path), sink); err != nil {
			t.Fatal(name, err)
		}
		if sink.rows != 2 || sink.sum != 6 {
			t.Errorf("%s: %d rows with a sum of %g", name, sink.rows, sink.sum)
		}
	}
}

// A stream that ends too early, or lacks a column, is an error that says so.
func TestBadPipes(t *testing.T) {
	for want, write := range map[string]func(*os.File) error{
		"ends in the middle": func(w *os.File) error {
			rec := numbers(10)
			out := arrowio.NewWriter(w, "test", arrowio.WriteOptions{})
			return firstOf(out.Begin(rec.Schema()), out.Write(rec))
		},
		`has no column "b"`: func(w *os.File) error {
			rec := numbers(10)
			one := array.NewRecord(arrow.NewSchema(rec.Schema().Fields()[:1], nil), rec.Columns()[:1], 10)
			out := arrowio.NewWriter(w, "test", arrowio.WriteOptions{})
			return firstOf(out.Begin(one.Schema()), out.Write(one), out.Close())
		},
		"gzip": func(w *os.File) error { _, err := w.WriteString("\x1f\x8b\x08"); return err },
		"byte 0": func(w *os.File) error { // the length of a schema, and no more
			_, err := w.WriteString("\xff\xff\xff\xff\x10\x00\x00\x00\x10\x00")
			return err
		},
		"has no rows": func(w *os.File) error {
			out := arrowio.NewWriter(w, "test", arrowio.WriteOptions{})
			return firstOf(out.Begin(numbers(1).Schema()), out.Close())
		},
	} {
		path := piped(t, write)
		err := Files(t.Context(), stages.Env{Columns: arrowio.DefaultColumns()}, pipedOptions(path), &seenSink{first: make(chan struct{})})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
