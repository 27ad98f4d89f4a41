package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonParser reads the values of a line of JSON. It takes what Python writes too: NaN,
// Infinity and -Infinity. Its errors say in which column of the line they are.
type jsonParser struct {
	line    []byte
	at      int
	scratch []byte // of the last string with escapes
	ctx     context.Context
	steps   int // members and elements, after so many of which ctx is looked at
}

// jsonDepth is how deep values may be in each other.
const jsonDepth = 100

func (p *jsonParser) fail(format string, args ...any) error {
	return fmt.Errorf("column %d: %w", min(p.at, len(p.line))+1, fmt.Errorf(format, args...))
}

func (p *jsonParser) space() {
	for p.at < len(p.line) {
		switch p.line[p.at] {
		case ' ', '\t', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek is the first byte of what comes next, 0 at the end of the line.
func (p *jsonParser) peek() byte {
	p.space()
	if p.at == len(p.line) {
		return 0
	}
	return p.line[p.at]
}

// want reads one byte.
func (p *jsonParser) want(b byte) error {
	if p.peek() != b || p.at == len(p.line) {
		return p.fail("%s where %q should be", p.here(), string(b))
	}
	p.at++
	return nil
}

// here names what comes next.
func (p *jsonParser) here() string {
	if p.at >= len(p.line) {
		return "the end of the line"
	}
	r, _ := utf8.DecodeRune(p.line[p.at:])
	return strconv.Quote(string(r))
}

// members calls each with the keys of an object, for it to read the values.
func (p *jsonParser) members(each func(key []byte) error) error {
	if err := p.want('{'); err != nil {
		return err
	}
	if p.peek() == '}' {
		p.at++
		return nil
	}
	for ; ; p.steps++ {
		if err := ended(p.ctx, p.steps); err != nil {
			return err
		}
		if p.peek() != '"' {
			return p.fail("%s where a key in quotes should be", p.here())
		}
		key, err := p.text()
		if err != nil {
			return err
		}
		if err := p.want(':'); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
		if p.peek() == ',' {
			p.at++
			continue
		}
		return p.want('}')
	}
}

// elements calls each for the values of an array.
func (p *jsonParser) elements(each func() error) error {
	if err := p.want('['); err != nil {
		return err
	}
	if p.peek() == ']' {
		p.at++
		return nil
	}
	for ; ; p.steps++ {
		if err := ended(p.ctx, p.steps); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
		if p.peek() == ',' {
			p.at++
			continue
		}
		return p.want(']')
	}
}

// skip reads a value of any kind.
func (p *jsonParser) skip(depth int) error {
	if depth > jsonDepth {
		return p.fail("has objects and lists more than %d deep in each other: flatten it", jsonDepth)
	}
	switch p.peek() {
	case '{':
		return p.members(func([]byte) error { return p.skip(depth + 1) })
	case '[':
		return p.elements(func() error { return p.skip(depth + 1) })
	case '"':
		_, err := p.text()
		return err
	}
	_, _, err := p.scalar()
	return err
}

// A jsonKind is what a scalar is.
type jsonKind uint8

const (
	jsonNull jsonKind = iota // NaN too
	jsonBool
	jsonNumber
)

// scalar reads a value that is no string, and gives its text.
func (p *jsonParser) scalar() (kind jsonKind, text []byte, err error) {
	p.space()
	start := p.at
	for p.at < len(p.line) {
		switch b := p.line[p.at]; {
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '.', b == '-', b == '+':
			p.at++
			continue
		}
		break
	}
	text = p.line[start:p.at]
	switch string(text) {
	case "null", "NaN":
		return jsonNull, text, nil
	case "true", "false":
		return jsonBool, text, nil
	case "Infinity", "-Infinity":
		return jsonNumber, text, nil
	}
	if !isJSONNumber(text) {
		p.at = start
		if len(text) == 0 {
			return 0, nil, p.fail("%s where a value should be", p.here())
		}
		return 0, nil, p.fail("%.40q is no value of JSON: text has to be in quotes", text)
	}
	return jsonNumber, text, nil
}

// isJSONNumber reports whether text is a number as JSON writes it.
func isJSONNumber(text []byte) bool {
	digits := func() int {
		n := 0
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		text = text[n:]
		return n
	}
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	zero := len(text) > 0 && text[0] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if len(text) > 0 && text[0] == '.' {
		text = text[1:]
		if digits() == 0 {
			return false
		}
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		if text = text[1:]; len(text) > 0 && (text[0] == '-' || text[0] == '+') {
			text = text[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return len(text) == 0
}

// jsonFloat is the value of a number.
func jsonFloat(text []byte) float64 {
	v, err := strconv.ParseFloat(textOf(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN() // cannot be: it is a number
	}
	return v
}

// text reads a string. It is valid until the next call.
func (p *jsonParser) text() ([]byte, error) {
	start := p.at + 1
	for i := start; i < len(p.line); i++ {
		switch b := p.line[i]; {
		case b == '"':
			p.at = i + 1
			return p.line[start:i], nil
		case b == '\\':
			return p.escaped(start, i)
		case b < ' ':
			p.at = i
			return nil, p.fail("a string holds the control character %q: write it as an escape", string(rune(b)))
		}
	}
	p.at = len(p.line)
	return nil, p.fail("a string has no end on its line")
}

// escaped reads a string from its first backslash on.
func (p *jsonParser) escaped(start, first int) ([]byte, error) {
	p.scratch = append(slices.Grow(p.scratch[:0], len(p.line)-start), p.line[start:first]...) // no more is needed
	for i := first; i < len(p.line); {
		b := p.line[i]
		switch {
		case b == '"':
			p.at = i + 1
			return p.scratch, nil
		case b < ' ':
			p.at = i
			return nil, p.fail("a string holds the control character %q: write it as an escape", string(rune(b)))
		case b != '\\':
			p.scratch = append(p.scratch, b)
			i++
			continue
		}
		p.at = i
		if i+1 == len(p.line) {
			break
		}
		if p.line[i+1] == 'u' {
			r, n := unicodeEscape(p.line[i:])
			switch {
			case r == utf8.RuneError && n == 0:
				return nil, p.fail("%.6q is half a character: its other half has to follow, as in \\ud83d\\ude00: mend what writes it", p.line[i:])
			case n == 0:
				return nil, p.fail("%.6q is no character: four hexadecimal digits follow \\u", p.line[i:])
			}
			p.scratch = utf8.AppendRune(p.scratch, r)
			i += n
			continue
		}
		k := bytes.IndexByte([]byte(`"\/bfnrt`), p.line[i+1])
		if k < 0 {
			return nil, p.fail("%.2q is no escape of JSON", p.line[i:])
		}
		p.scratch = append(p.scratch, "\"\\/\b\f\n\r\t"[k])
		i += 2
	}
	p.at = len(p.line)
	return nil, p.fail("a string has no end on its line")
}

// unicodeEscape is the character of \u1234 at the beginning of text, or of two that are a
// surrogate pair, and the length of what it read, 0 if it is none. Half a pair is U+FFFD of
// length 0.
func unicodeEscape(text []byte) (rune, int) {
	one := func(text []byte) rune {
		if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
			return -1
		}
		v, err := strconv.ParseUint(string(text[2:6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	r := one(text)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if pair := utf16.DecodeRune(r, one(text[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 0
}
