package scan

import (
	"unicode/utf8"
)

// A Style is how numbers are written. The zero value has a decimal point, and nothing
// between thousands.
type Style struct {
	// Decimal is the decimal mark, 0 for a point.
	Decimal byte

	// Thousands is the character between groups of three digits, 0 for none. A space
	// stands for those that do not break, too.
	Thousands rune
}

// Float32 is Float32 of a number that is written so. Numbers need not have groups of
// thousands, but those that are there must be right: 1.23 is no 123.
func (s Style) Float32(field []byte) (v float32, ok bool) {
	point := s.point()
	if v, ok = parse(field, point); ok || s.Thousands == 0 {
		return v, ok
	}
	var room [64]byte
	whole, ok := s.ungroup(room[:0], field)
	if !ok {
		return 0, false
	}
	return parse(whole, point)
}

func (s Style) point() byte {
	if s.Decimal == 0 {
		return '.'
	}
	return s.Decimal
}

// Ungroup returns a number without what is between its thousands, or the field itself if
// it has no right groups of them.
func (s Style) Ungroup(field string) string {
	if whole, ok := s.ungroup(nil, []byte(field)); ok {
		return string(whole)
	}
	return field
}

// ungroup appends a number to dst without what is between thousands. ok is false if it has
// no right groups of them.
func (s Style) ungroup(dst, field []byte) (whole []byte, ok bool) {
	if s.Thousands == 0 {
		return dst, false
	}
	if len(field) > 0 && (field[0] == '-' || field[0] == '+') {
		dst, field = append(dst, field[0]), field[1:]
	}
	first := countDigits(field)
	if first == 0 || first > 3 {
		return dst, false
	}
	dst, field = append(dst, field[:first]...), field[first:]
	for n := s.mark(field); n > 0; n = s.mark(field) {
		if countDigits(field[n:]) != 3 {
			return dst, false
		}
		dst, field, ok = append(dst, field[n:n+3]...), field[n+3:], true
	}
	return append(dst, field...), ok
}

func countDigits(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' < 10 {
		n++
	}
	return n
}

// mark is the length of the mark of thousands at the beginning of text, 0 if it has none.
func (s Style) mark(text []byte) int {
	r, n := utf8.DecodeRune(text)
	const noBreak, narrowNoBreak = '\u00a0', '\u202f'
	if n > 0 && (r == s.Thousands && r != utf8.RuneError || s.Thousands == ' ' && (r == noBreak || r == narrowNoBreak)) {
		return n
	}
	return 0
}
