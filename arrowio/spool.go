package arrowio

import (
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
)

// SpoolOptions say where a spool keeps its batches.
type SpoolOptions struct {
	// Memory is how many bytes of batches are held in memory before the rest
	// goes to a temporary file; 0 means DefaultSpoolMemory.
	Memory int64
	// Dir is the folder of that file; "" means the system's.
	Dir string
}

// DefaultSpoolMemory is what a spool holds in memory where nothing is said.
const DefaultSpoolMemory = 1 << 30

// Spool gives a source as often as it is wanted. It is a Source: the first pass
// reads the input, Rewind starts another pass over all of it. An input that can
// be read again (a regular file) is read again; any other is kept, in memory up
// to a limit, the rest in a temporary file that has no name and so vanishes
// whatever happens.
type Spool struct {
	src     Stream
	options SpoolOptions

	held     []arrow.Record // the first batches
	size     int64
	file     *os.File // the batches after those
	overflow *Writer
	filled   bool // the source has been read to its end

	next   int     // of held, in this pass
	reread *Reader // of file, in this pass
	err    error
}

// NewSpool spools src. It reads nothing yet.
func NewSpool(src Stream, o SpoolOptions) (*Spool, error) {
	if o.Memory == 0 {
		o.Memory = DefaultSpoolMemory
	}
	if o.Memory < 0 {
		return nil, errors.New("arrowio: spool memory is negative")
	}
	return &Spool{src: src, options: o}, nil
}

// Name is that of the source.
func (s *Spool) Name() string { return s.src.Name() }

// Schema is that of the source.
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

// fill reads one batch of the source, and keeps it.
func (s *Spool) fill() (arrow.Record, error) {
	rec, err := s.src.Next()
	if err == io.EOF {
		s.filled = true
		return nil, s.closeOverflow()
	}
	if err != nil || s.canRewind() {
		return rec, err
	}
	if size := heldSize(rec); s.overflow == nil && s.size+size <= s.options.Memory {
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
		f, err := tempFile(s.options.Dir)
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

func (s *Spool) canRewind() bool {
	r, ok := s.src.(*Reader)
	return ok && r.CanRewind()
}

// Rewind starts another pass over all batches; what the pass before has not
// read yet is read first, where it has to be kept.
func (s *Spool) Rewind() error {
	if s.canRewind() {
		s.filled, s.err = false, nil
		return s.src.(*Reader).Rewind()
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

// Close lets go of everything the spool keeps. The source stays open.
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
