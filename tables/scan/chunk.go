package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"math/bits"
	"unicode"
	"unsafe"
)

// A Chunk is some whole records of a text, one after another.
type Chunk struct {
	s      *Scanner
	buffer []byte // what the chunk may grow into, and spare bytes
	cost   int64  // memory that was taken for it
	data   []byte // of buffer: the records. A line ends behind them, if none did
	err    error  // what follows the records; nil: the next chunk
	quotes bool   // there are quotes in data
	at     int    // of data: where the next record begins
	line   int    // of data[at]
	offset int64  // of data[0] in the text

	// The last record. Its fields are between these ends, in data, if it has no quotes but
	// around fields.
	from   int // of data
	began  int // its line
	ends   []int
	quoted bool // there may be quotes around them

	// Those of one with others.
	fields  [][]byte
	scratch []byte // holds those that are not in data as they are
}

// spare is how many bytes there are at least behind a field, so that numbers can be read
// in words.
const spare = 24

// Next goes to the next record. It returns io.EOF after the last. If a record has another
// number of fields than others, they are there with the error.
func (c *Chunk) Next() error {
	c.ends, c.fields, c.quoted = c.ends[:0], c.fields[:0], false
	if !c.skipBlank() {
		return c.end()
	}
	c.from, c.began = c.at, c.line
	err := c.split()
	if err == nil && c.s.fields > 0 && c.Len() != c.s.fields {
		err = &csv.ParseError{StartLine: c.began, Line: c.began, Column: 1, Err: csv.ErrFieldCount}
	}
	return err
}

// Len is how many fields the record has.
func (c *Chunk) Len() int { return len(c.ends) + len(c.fields) }

// Field is field i of the record. It is valid until the chunk has been delivered.
func (c *Chunk) Field(i int) []byte {
	if len(c.fields) > 0 {
		return c.fields[i]
	}
	field := c.raw(i)
	if c.quoted {
		return c.unquoted(field)
	}
	return field
}

// raw is field i of a record that has its fields in data, with quotes around it.
func (c *Chunk) raw(i int) []byte {
	begin := c.from
	if i > 0 {
		begin = c.ends[i-1] + 1
	}
	return c.buffer[begin:c.ends[i]]
}

// Numbers puts the numbers in columns of the record into values, and NaN for fields that
// are none. It returns how many those are.
func (c *Chunk) Numbers(columns []int, style Style, values []float32) (odd int) {
	point, raw := style.point(), len(c.fields) == 0
	for k, i := range columns {
		var v float32
		var field []byte
		ok := false
		if raw {
			field = c.raw(i) // most have no quotes
		}
		if !raw || c.quoted && len(field) > 0 && field[0] == '"' {
			field = c.Field(i)
		}
		if len(field) <= maxShort && cap(field) >= spare {
			v, ok = parseShort(field[:spare], len(field), point)
		}
		if !ok {
			if v, ok = style.Float32(bytes.TrimSpace(field)); !ok {
				v = float32(math.NaN())
				odd++
			}
		}
		values[k] = v
	}
	return odd
}

// Line is the line of the record, from 1.
func (c *Chunk) Line() int { return c.began }

// End is where the text goes on behind the chunk's records, in bytes from its beginning.
func (c *Chunk) End() int64 { return c.offset + int64(len(c.data)) }

// set gives the chunk its records.
func (c *Chunk) set(data []byte, line int, offset int64) {
	c.data, c.at, c.err, c.line, c.offset = data, 0, nil, line, offset
	c.quotes = bytes.IndexByte(data, '"') >= 0
	if n := len(data); n > 0 && data[n-1] != '\n' {
		c.buffer[n] = '\n'
	}
}

// grow makes room for size bytes, and keeps the first n.
func (c *Chunk) grow(size, n int) error {
	if len(c.buffer) >= size+spare {
		return nil
	}
	cost := int64(size) * chunkCost
	if err := c.s.take(cost); err != nil {
		return err
	}
	grown := make([]byte, size+spare)
	copy(grown, c.buffer[:n])
	c.s.give(c.cost)
	c.buffer, c.cost = grown, cost
	return nil
}

func (c *Chunk) end() error {
	if c.err == nil {
		return io.EOF
	}
	return c.err
}

// skipBlank goes to the next line that is neither blank nor a comment. It reports whether
// there is one.
func (c *Chunk) skipBlank() bool {
	for c.at < len(c.data) {
		rest := c.data[c.at:]
		switch {
		case rest[0] == '\n':
			c.at++
		case rest[0] == '\r' && len(rest) == 1 && !c.failed():
			c.at++
			return false
		case rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n':
			c.at += 2
		case c.s.Comment != "" && bytes.HasPrefix(rest, c.s.comment):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				c.at = len(c.data)
				return false
			}
			c.at += end + 1
		default:
			return true
		}
		c.line++
	}
	return false
}

// failed reports whether an error of reading follows the records.
func (c *Chunk) failed() bool { return c.err != nil && !errors.Is(c.err, io.EOF) }

// split finds the fields of the record at c.at, which is not blank, and goes behind it.
func (c *Chunk) split() error {
	plain := len(c.s.separator) == 1 && !c.s.Trim
	if plain && c.quotes {
		if done, err := c.splitLine(); done || err != nil {
			return err
		}
	}
	if !plain || c.quotes {
		return c.splitQuoted()
	}
	whole, err := c.splitPlain()
	if err == nil && !whole && c.failed() {
		return c.err
	}
	return err
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// unlike marks the bytes of word that are not the one repeated in pattern, by their high bits. Other
// bits mean nothing.
func unlike(word, pattern uint64) uint64 {
	x := word ^ pattern
	return (x&^highs + (highs - ones)) | x
}

// splitPlain splits a record on one line without quotes by a separator of one byte. whole
// says that the line has an end.
func (c *Chunk) splitPlain() (whole bool, err error) {
	data, ends, n := c.buffer, c.ends[:cap(c.ends)], 0
	separators := uint64(c.s.separator[0]) * ones
	for at := c.at; ; at += 8 {
		word := binary.LittleEndian.Uint64(data[at:])
		for marks := ^(unlike(word, separators) & unlike(word, '\n'*ones)) & highs; marks != 0; marks &= marks - 1 {
			i := at + bits.TrailingZeros64(marks)>>3
			if n == len(ends) {
				if ends, err = more(c, ends); err != nil {
					return false, err
				}
				ends = ends[:cap(ends)]
			}
			ends[n] = i
			n++
			if data[i] == '\n' {
				c.ends = ends[:n]
				return c.endLine(), nil
			}
		}
	}
}

// endLine goes behind the line of the record, whose last end is that of the line, and
// reports whether there is one in the text.
func (c *Chunk) endLine() (whole bool) {
	end := &c.ends[len(c.ends)-1]
	if whole = *end < len(c.data); whole {
		c.at, c.line = *end+1, c.line+1
	} else {
		c.at = len(c.data)
	}
	if *end > c.from && c.data[*end-1] == '\r' && (whole || !c.failed()) {
		*end-- // the field before cannot end there
	}
	return whole
}

// more makes s longer, from memory that is counted.
func more[T any](c *Chunk, s []T) ([]T, error) {
	var zero T
	grown := max(16, 2*cap(s), c.s.fields)
	if err := c.s.take(int64(grown-cap(s)) * int64(unsafe.Sizeof(zero))); err != nil {
		return nil, c.s.tooLong(c.offset+int64(c.from), err)
	}
	return append(make([]T, 0, grown), s...), nil
}

// A line is a line of text as encoding/csv sees it: \r\n is its end as \n is, and so is a
// \r at the end of the text.
type line struct {
	text []byte
	end  bool // by \n
}

// nextLine takes the line at c.at.
func (c *Chunk) nextLine() line {
	rest := c.data[c.at:]
	i := bytes.IndexByte(rest, '\n')
	l := line{rest, i >= 0}
	if l.end {
		l.text = rest[:i]
		c.at += i + 1
		c.line++
	} else {
		c.at = len(c.data)
	}
	if n := len(l.text); n > 0 && l.text[n-1] == '\r' && (l.end || !c.failed()) {
		l.text = l.text[:n-1]
	}
	return l
}

// splitQuoted splits any record.
func (c *Chunk) splitQuoted() (err error) {
	q := quoted{c: c, line: c.line, column: 1}
	q.rest = c.nextLine()
	for another := true; another; {
		if c.s.Trim {
			n := len(q.rest.text) - len(bytes.TrimLeftFunc(q.rest.text, unicode.IsSpace))
			q.skip(n)
		}
		if another, err = q.field(); err != nil {
			return err
		}
	}
	if !q.rest.end && c.failed() {
		return c.err
	}
	return nil
}

// add appends a field of a record with quotes.
func (c *Chunk) add(field []byte) (err error) {
	if len(c.fields) == cap(c.fields) {
		if c.fields, err = more(c, c.fields); err != nil {
			return err
		}
	}
	c.fields = append(c.fields, field)
	return nil
}

// A quoted is the state of splitting a record with quotes.
type quoted struct {
	c            *Chunk
	rest         line // not yet split
	line, column int  // of rest
}

func (q *quoted) skip(n int) {
	q.rest.text = q.rest.text[n:]
	q.column += n
}

func (q *quoted) wrong(column int, err error) error {
	return &csv.ParseError{StartLine: q.c.began, Line: q.line, Column: column, Err: err}
}

// field takes the next field, and reports whether another one follows.
func (q *quoted) field() (another bool, err error) {
	var field []byte
	if len(q.rest.text) > 0 && q.rest.text[0] == '"' {
		q.skip(1)
		field, another, err = q.inQuotes()
	} else {
		field, another, err = q.unquoted()
	}
	if err != nil {
		return false, err
	}
	return another, q.c.add(field)
}

func (q *quoted) unquoted() (field []byte, more bool, err error) {
	field, _, more = bytes.Cut(q.rest.text, q.c.s.separator)
	if i := bytes.IndexByte(field, '"'); i >= 0 {
		return nil, false, q.wrong(q.column+i, csv.ErrBareQuote)
	}
	if more {
		q.skip(len(field) + len(q.c.s.separator))
	}
	return field, more, nil
}

// inQuotes takes a field after its first quote. If it is not in the text as it is, it is
// put together in the chunk's scratch.
func (q *quoted) inQuotes() (field []byte, more bool, err error) {
	from, copied := len(q.c.scratch), false
	piece := func(text []byte) {
		q.c.scratch = append(q.c.scratch, text...)
		copied = true
	}
	for {
		i := bytes.IndexByte(q.rest.text, '"')
		if i < 0 {
			piece(q.rest.text)
			if err := q.wrap(); err != nil {
				return nil, false, err
			}
			continue
		}
		text := q.rest.text[:i]
		q.skip(i + 1)
		if len(q.rest.text) > 0 && q.rest.text[0] == '"' {
			piece(text)
			piece([]byte{'"'})
			q.skip(1)
			continue
		}
		more = bytes.HasPrefix(q.rest.text, q.c.s.separator)
		if !more && len(q.rest.text) > 0 {
			return nil, false, q.wrong(q.column-1, csv.ErrQuote)
		}
		if more {
			q.skip(len(q.c.s.separator))
		}
		if copied {
			piece(text)
			text = q.c.scratch[from:]
		}
		return text, more, nil
	}
}

// wrap goes to the next line within a field in quotes.
func (q *quoted) wrap() error {
	c := q.c
	q.column += len(q.rest.text)
	if q.rest.end {
		c.scratch = append(c.scratch, '\n')
		q.column++
	}
	if c.at == len(c.data) {
		if c.failed() {
			return c.err
		}
		return q.wrong(q.column, csv.ErrQuote)
	}
	q.rest = c.nextLine()
	if q.rest.end || len(q.rest.text) > 0 {
		q.line, q.column = q.line+1, 1
	}
	return nil
}
