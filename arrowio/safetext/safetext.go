// Package safetext prints text that others wrote, such as the names of columns and
// classes, so that it is only text: a terminal takes no orders from it, a line stays a
// line, and a spreadsheet computes nothing.
package safetext

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape writes control characters, characters that turn the direction of the text, and
// bytes that are no UTF-8 as \u001b and \xff.
func Escape(text string) string { return escape(text, false) }

// EscapeLines is Escape for text of several lines: line ends and tabs stay.
func EscapeLines(text string) string { return escape(text, true) }

func escape(text string, lines bool) string {
	if strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || isControl(r, lines) }) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case isControl(r, lines):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// turning are the characters that turn the direction of text, and those that end lines.
var turning = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x061c, Hi: 0x061c, Stride: 1}, {Lo: 0x200e, Hi: 0x200f, Stride: 1}, {Lo: 0x2028, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}

func isControl(r rune, lines bool) bool {
	if lines && (r == '\n' || r == '\t') {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(turning, r)
}

// A Writer escapes the lines that are written to it. What it writes into a string of
// JSON is still JSON.
type Writer struct {
	w    io.Writer
	rest []byte // the beginning of a character
}

// NewWriter writes escaped lines to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Raw is where the escaped lines go.
func (w *Writer) Raw() io.Writer { return w.w }

// Write writes the text that is complete in b and what was written before.
func (w *Writer) Write(b []byte) (int, error) {
	text := append(w.rest, b...)
	whole := len(text)
	for i := whole - 1; i >= max(0, whole-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				whole = i
			}
			break
		}
	}
	w.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(w.w, EscapeLines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// number is text that begins like a formula and is none.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Cell puts an apostrophe before text that a spreadsheet would take for a formula, so
// that it is shown as it is.
func Cell(text string) string {
	if strings.IndexAny(text, "=+-@\t\r\n|%＝＋－＠") != 0 || number.MatchString(text) {
		return text
	}
	return "'" + text
}
