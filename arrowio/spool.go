package arrowio

import (
	"cmp"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
)

// DefaultSpoolMemory is how much a spool holds in memory unless told otherwise.
const DefaultSpoolMemory = 64 << 20

// A Rewinder is a Stream that may be one to read more than once.
type Rewinder interface {
	Stream
	// CanRewind reports whether Rewind can be called.
	CanRewind() bool
	// Rewind starts over at the first batch.
	Rewind() error
}

// Spool makes a Rewinder of any stream. The first pass reads the stream; Rewind
// starts another pass over all of it. A stream that can be rewound (of a regular
// file, or a Table) is read again. Any other is kept: in memory up to a limit, the
// rest in a temporary file without a name, which is gone when the process ends.
type Spool struct {
	src    Stream
	memory int64 // of held, at most

	held     []arrow.Record // the first batches
	size     int64          // of held, in bytes
	file     *os.File       // the batches after those
	overflow *Writer        // to file
	filled   bool           // the stream has been read to its end

	next   int     // of held, in this pass
	reread *Reader // of file, in this pass
	err    error
}

// NewSpool spools src, with so many bytes of batches in memory before the rest goes to a
// temporary file; 0 means DefaultSpoolMemory. It reads nothing yet.
func NewSpool(src Stream, memory int64) *Spool {
	return &Spool{src: src, memory: cmp.Or(memory, DefaultSpoolMemory)}
}

// Name is that of the stream.
func (s *Spool) Name() string { return s.src.Name() }

// Schema is that of the stream.
func (s *Spool) Schema() *arrow.Schema { return s.src.Schema() }

// Next returns the next batch of this pass, io.EOF at its end.
func (s *Spool) Next() (arrow.Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	rec, err := s.advance()
	if err != nil && err != io.EOF {
		s.err = err
	}
	return rec, err
}

func (s *Spool) advance() (arrow.Record, error) {
	if s.next < len(s.held) {
		s.next++
		return s.held[s.next-1], nil
	}
	if s.reread != nil {
		return s.reread.Next()
	}
	if s.filled {
		return nil, io.EOF
	}
	return s.fill()
}

// fill reads one batch of the stream, and keeps it.
func (s *Spool) fill() (arrow.Record, error) {
	rec, err := s.src.Next()
	if err == io.EOF {
		s.filled = true
		return nil, s.closeOverflow()
	}
	if err != nil || s.rewinder() != nil {
		return rec, err
	}
	if size := heldSize(rec); s.overflow == nil && s.size+size <= s.memory {
		rec.Retain()
		s.held = append(s.held, rec)
		s.size += size
		s.next = len(s.held)
		return rec, nil
	}
	return rec, s.spill(rec)
}

// heldSize is the memory that holding rec takes.
func heldSize(rec arrow.Record) int64 {
	if b, ok := rec.(*batch); ok {
		return int64(len(b.body.data))
	}
	return int64(recordSize(rec))
}

func (s *Spool) spill(rec arrow.Record) error {
	if s.overflow == nil {
		f, err := tempFile()
		if err != nil {
			return err
		}
		s.file = f
		s.overflow = NewWriter(f, "temporary file", WriteOptions{})
		if err := s.overflow.Begin(s.src.Schema()); err != nil {
			return err
		}
	}
	return s.overflow.Write(rec)
}

func (s *Spool) closeOverflow() error {
	if s.overflow != nil {
		if err := s.overflow.Close(); err != nil {
			return err
		}
	}
	return io.EOF
}

// rewinder is the stream if it can be read again, else nil.
func (s *Spool) rewinder() Rewinder {
	if r, ok := s.src.(Rewinder); ok && r.CanRewind() {
		return r
	}
	return nil
}

// CanRewind is true.
func (s *Spool) CanRewind() bool { return true }

// Rewind starts another pass over all batches. What the last pass has not read of
// a stream that is kept is read now.
func (s *Spool) Rewind() error {
	if r := s.rewinder(); r != nil {
		s.filled, s.err = false, nil
		return r.Rewind()
	}
	for !s.filled {
		if _, err := s.Next(); err != nil && err != io.EOF {
			return err
		}
	}
	s.next = 0
	if s.file == nil {
		return nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return inputError("temporary file", plainCause(err), "")
	}
	if s.reread != nil {
		return s.reread.Rewind()
	}
	var err error
	s.reread, err = NewReader(s.file, "temporary file", ReadOptions{})
	return err
}

// Close lets go of everything the spool keeps. The stream stays open.
func (s *Spool) Close() error {
	for _, rec := range s.held {
		rec.Release()
	}
	s.held, s.filled = nil, true
	if s.overflow != nil {
		s.overflow.release()
	}
	if s.reread != nil {
		s.reread.Close()
	}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
