package tables

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"mars.dev/mars/arrowio"
)

// A lineReader reads text line by line, as UTF-8.
type lineReader struct {
	r    *bufio.Reader
	mem  *arrowio.Budget
	long []byte // a line that is longer than the buffer
	line int    // the number of the last, from 1
}

func newLineReader(in *input, encoding string) (*lineReader, error) {
	decoded, err := decodedText(in, encoding)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(decoded, 1<<16)
	skipMark(text)
	return &lineReader{r: text, mem: in.reading}, nil
}

// next is the next line without its end, valid until the call that follows, and io.EOF
// after the last.
func (l *lineReader) next() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	l.line++
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if err := l.add(part); err != nil {
			return nil, err
		}
		part, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if coded := (*encodingError)(nil); errors.As(err, &coded) {
			return nil, coded
		}
		return nil, readError(err)
	}
	if len(l.long) > 0 {
		if err := l.add(part); err != nil {
			return nil, err
		}
		part = l.long
	}
	if err != nil && len(part) == 0 {
		return nil, io.EOF
	}
	return bytes.TrimRight(part, "\r\n"), nil
}

func (l *lineReader) add(part []byte) error {
	if need := len(l.long) + len(part); need > cap(l.long) {
		room := max(need, cap(l.long)+cap(l.long)/2)
		if err := l.mem.Take(int64(room) * lineCost); err != nil {
			return fmt.Errorf("line %d: %w", l.line, err)
		}
		longer := append(make([]byte, 0, room), l.long...)
		l.mem.Give(int64(cap(l.long)) * lineCost)
		l.long = longer
	}
	l.long = append(l.long, part...)
	return nil
}

// lineCost is the memory of a byte of a long line: itself, and that of a text in it, which is
// copied where it has escapes.
const lineCost = 2

// textOf is text that is valid as long as the bytes stay as they are.
func textOf(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// lineError says where in a text something is.
func lineError(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

// A replay gives lines that were read before and, after rewind, those that follow. Types of
// columns are found in the lines that it holds.
type replay struct {
	*lineReader
	held []byte
	at   int
	line int  // of the last line
	only bool // no line after those that are held is given
}

// sampleBytes is how much text the types of columns are found in.
const sampleBytes = 16 << 20

// hold reads lines up to sampleBytes, or an eighth of the memory.
func hold(l *lineReader) (*replay, error) {
	r := &replay{lineReader: l, only: true}
	most := int(min(sampleBytes, l.mem.Limit()/8))
	for len(r.held) < most {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		at := len(r.held)
		if r.held, err = extend(l.mem, r.held, len(line)+1, maxElements); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
		copy(r.held[at:], line)
		r.held[len(r.held)-1] = '\n'
	}
	return r, nil
}

// next is the next line, from the beginning.
func (r *replay) next() ([]byte, error) {
	if r.at < len(r.held) {
		r.line++
		end := r.at + bytes.IndexByte(r.held[r.at:], '\n')
		line := r.held[r.at:end]
		r.at = end + 1
		return line, nil
	}
	if r.only {
		return nil, io.EOF
	}
	if r.held != nil {
		give[byte](r.mem, cap(r.held))
		r.held, r.at = nil, 0
	}
	line, err := r.lineReader.next()
	r.line = r.lineReader.line
	return line, err
}

// rewind goes back to the first line, to read all.
func (r *replay) rewind() { r.at, r.line, r.only = 0, 0, false }
