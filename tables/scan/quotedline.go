package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// splitLine splits a record on one line by a separator of one byte, where quotes stand around
// whole fields. It reports whether it did: all else, which is seldom, is for splitQuoted.
func (c *Chunk) splitLine() (done bool, err error) {
	data, ends, n := c.buffer, c.ends[:cap(c.ends)], 0
	separators := uint64(c.s.separator[0]) * ones
	begin, closed, open := c.at, -1, false // where the field begins, its last quote, and whether one opens it
	for at := c.at; ; at += 8 {
		word := binary.LittleEndian.Uint64(data[at:])
		for marks := ^(unlike(word, separators) & unlike(word, '\n'*ones) & unlike(word, '"'*ones)) & highs; marks != 0; marks &= marks - 1 {
			i := at + bits.TrailingZeros64(marks)>>3
			mark := data[i]
			if mark == '"' {
				if !open && i != begin && closed != i-1 { // neither the first nor the second of two
					return false, nil
				}
				closed, open = i, !open
				continue
			}
			if open {
				if mark == '\n' {
					return false, nil
				}
				continue
			}
			if closed >= 0 && closed != i-1 && (mark != '\n' || closed != i-2 || data[i-1] != '\r') {
				return false, nil
			}
			if n == len(ends) {
				if ends, err = more(c, ends); err != nil {
					return false, err
				}
				ends = ends[:cap(ends)]
			}
			ends[n] = i
			n++
			if mark == '\n' {
				if i >= len(c.data) {
					return false, nil
				}
				c.ends, c.quoted = ends[:n], true
				return c.endLine(), nil
			}
			begin, closed = i+1, -1
		}
	}
}

// unquoted is the text of a field of a record that splitLine has split.
func (c *Chunk) unquoted(field []byte) []byte {
	if len(field) == 0 || field[0] != '"' {
		return field
	}
	text := field[1 : len(field)-1]
	from := len(c.scratch)
	for i := bytes.IndexByte(text, '"'); i >= 0; i = bytes.IndexByte(text, '"') {
		c.scratch = append(c.scratch, text[:i+1]...)
		text = text[i+2:]
	}
	if from == len(c.scratch) {
		return text
	}
	c.scratch = append(c.scratch, text...)
	return c.scratch[from:]
}
