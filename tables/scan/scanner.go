package scan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"mars.dev/mars/arrowio"
)

// Options say how a text is delimited.
type Options struct {
	// Separator is between fields.
	Separator rune

	// Trim ignores white space before a field, so that several spaces are one separator.
	Trim bool

	// Comment is what lines begin with that are no records; "": there are none.
	Comment string

	// Skip is how many lines there are before the first record.
	Skip int

	// Fields is how many a record has; 0: as many as the first, negative: any number.
	Fields int

	// Chunk is about how many bytes a chunk has; 0: what is fast, and little of Memory.
	Chunk int

	// Memory is what chunks may take; nil: any.
	Memory *arrowio.Budget
}

const (
	usualChunk = 256 << 10 // as much as stays in a processor's cache
	leastChunk = 4 << 10

	// chunkCost is the memory of a byte of a chunk: itself, a copy of it if quotes are
	// taken out, and the results of the work.
	chunkCost = 4

	// share of the memory that all chunks may take, but for long records, and fewest
	// how many they then are.
	share  = 16
	fewest = 8
)

// A Scanner reads the records of a text.
type Scanner struct {
	Options
	r         io.Reader
	separator []byte
	comment   []byte
	fields    int // see Options.Fields

	tail   []byte // read, and not in a chunk yet
	line   int    // of tail
	offset int64  // of tail
	err    error  // what follows tail, if it is known
	ended  bool   // the last chunk has been cut

	held    atomic.Int64
	current *Chunk // of Next
}

// New returns a scanner of r.
func New(r io.Reader, o Options) (*Scanner, error) {
	if !delimits(o.Separator) || o.Comment == string(o.Separator) {
		return nil, fmt.Errorf("fields cannot be separated by %q: give another character", o.Separator)
	}
	if o.Chunk == 0 {
		o.Chunk = int(min(usualChunk, max(leastChunk, o.Memory.Limit()/share/chunkCost/fewest)))
	}
	s := &Scanner{Options: o, r: r, separator: []byte(string(o.Separator)), comment: []byte(o.Comment), fields: o.Fields, line: 1}
	return s, nil
}

func delimits(r rune) bool {
	return r != 0 && r != '"' && r != '\r' && r != '\n' && r != utf8.RuneError && utf8.ValidRune(r)
}

// Next goes to the next record, which the chunk that it returns has until the next call.
// It is not to be called once Each has been.
func (s *Scanner) Next() (*Chunk, error) {
	if s.current == nil {
		s.current = &Chunk{s: s}
		s.cut(s.current)
	}
	err := s.current.Next()
	for ; errors.Is(err, io.EOF) && !s.ended; err = s.current.Next() {
		s.cut(s.current)
	}
	if err == nil && s.fields == 0 {
		s.fields = s.current.Len()
	}
	return s.current, err
}

// Peek is Next, but the record is still the next one.
func (s *Scanner) Peek() (*Chunk, error) {
	c, err := s.Next()
	if err == nil {
		c.at, c.line = c.from, c.began
	}
	return c, err
}

// Close gives back the memory.
func (s *Scanner) Close() {
	s.Memory.Give(s.held.Swap(0))
}

func (s *Scanner) take(n int64) error {
	err := s.Memory.Take(n)
	if err == nil {
		s.held.Add(n)
	}
	return err
}

func (s *Scanner) give(n int64) {
	s.Memory.Give(n)
	s.held.Add(-n)
}

// tooLong is the error of a record that the memory has no room for.
func (s *Scanner) tooLong(offset int64, err error) error {
	return fmt.Errorf("the record that begins at byte %d: %w", offset, err)
}

// cut makes c the next chunk.
func (s *Scanner) cut(c *Chunk) {
	c.scratch = c.scratch[:0]
	n := 0
	for size := max(s.Chunk, 2*len(s.tail)); ; size *= 2 {
		if err := c.grow(size, n); err != nil {
			s.finish(c, 0, 0)
			c.err, s.ended = s.tooLong(s.offset, err), true
			return
		}
		if n == 0 {
			n = copy(c.buffer, s.tail)
		}
		n = s.fill(c.buffer[:size], n)
		end := n
		if s.err == nil {
			end = s.boundary(c.buffer[:n])
		}
		if end == 0 && s.err == nil {
			end = s.broken(c, n)
		}
		if end > 0 || s.err != nil {
			s.finish(c, end, n)
			if end == n && s.err != nil {
				c.err, s.ended = s.err, true
			}
			return
		}
	}
}

// finish gives c its first end bytes of the n that it has.
func (s *Scanner) finish(c *Chunk, end, n int) {
	c.set(c.buffer[:end], s.line, s.offset)
	s.line += bytes.Count(c.data, newline)
	s.offset += int64(end)
	s.tail = append(s.tail[:0], c.buffer[end:n]...)
}

// fill reads into buffer, which has n bytes, and returns how many it has then.
func (s *Scanner) fill(buffer []byte, n int) int {
	for n < len(buffer) && s.err == nil {
		var k int
		k, s.err = s.r.Read(buffer[n:])
		n += k
		if s.Skip > 0 {
			n = s.skipLines(buffer[:n])
		}
	}
	return n
}

// skipLines leaves out lines before the first record.
func (s *Scanner) skipLines(text []byte) (left int) {
	rest := text
	for s.Skip > 0 && len(rest) > 0 {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			i = len(rest) - 1
		} else {
			s.Skip--
			s.line++
		}
		rest = rest[i+1:]
	}
	s.offset += int64(len(text) - len(rest))
	return copy(text, rest)
}

var newline, quote = []byte{'\n'}, []byte{'"'}

// boundary returns the end of the last whole record of text, 0 if there is none. In a
// right record quotes come in pairs, so a line ends one if it has as many as not.
func (s *Scanner) boundary(text []byte) (end int) {
	if bytes.IndexByte(text, '"') < 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	open := false
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return end
		}
		line := text[at : at+n]
		at += n + 1
		if open || s.Comment == "" || !bytes.HasPrefix(line, s.comment) {
			open = open != (bytes.Count(line, quote)%2 == 1)
		}
		if !open {
			end = at
		}
	}
}

// errOpen is what follows a record that is not whole.
var errOpen = errors.New("the record has more lines")

// broken returns the end of the whole lines of c's first n bytes, which are no whole record,
// if they have an error. No more need then be read: without it a lonely quote would hold
// all that follows. It returns 0 if there is none.
func (s *Scanner) broken(c *Chunk, n int) int {
	end := bytes.LastIndexByte(c.buffer[:n], '\n') + 1
	c.set(c.buffer[:end], s.line, s.offset)
	c.err = errOpen
	if err := c.Next(); errors.Is(err, errOpen) || errors.Is(err, csv.ErrFieldCount) {
		return 0
	}
	return end
}
