package tables

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encodings are the names of the character encodings of text that can be read. The
// first is the default.
var Encodings = []string{"utf-8", "latin1", "windows-1252", "utf-16"}

// A decoding turns the beginning of raw into UTF-8, which it may append to dst, and
// says how many bytes of raw it used. What it leaves is incomplete or invalid.
type decoding func(dst, raw []byte) (text []byte, used int)

// newDecoding returns the decoding of an encoding of Encodings, "" for UTF-8.
func newDecoding(encoding string) (decoding, error) {
	switch encoding {
	case "", "utf-8":
		return validUTF8, nil
	case "latin1":
		return func(dst, raw []byte) ([]byte, int) { return singleBytes(dst, raw, nil) }, nil
	case "windows-1252":
		return func(dst, raw []byte) ([]byte, int) { return singleBytes(dst, raw, windows1252[:]) }, nil
	case "utf-16":
		return (&utf16Text{}).decode, nil
	}
	return nil, fmt.Errorf("encoding %q is unknown: give one of %s", encoding, strings.Join(Encodings, ", "))
}

func validUTF8(_, raw []byte) ([]byte, int) {
	if utf8.Valid(raw) {
		return raw, len(raw)
	}
	used := 0
	for used < len(raw) {
		r, n := utf8.DecodeRune(raw[used:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		used += n
	}
	return raw[:used], used
}

// singleBytes decodes one byte a character. table has the characters from 0x80 on
// where they are not Latin-1's; 0 is none.
func singleBytes(dst, raw []byte, table []rune) ([]byte, int) {
	for i, b := range raw {
		r := rune(b)
		if k := int(b) - 0x80; k >= 0 && k < len(table) {
			r = table[k]
		}
		if r == 0 && b != 0 {
			return dst, i
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, len(raw)
}

// windows1252 has the characters 0x80 to 0x9f
// (https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT).
var windows1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

// A utf16Text is UTF-16 in the byte order that its mark says, little-endian if it
// has none.
type utf16Text struct{ begun, big bool }

func (t *utf16Text) decode(dst, raw []byte) ([]byte, int) {
	used := 0
	for len(raw)-used >= 2 {
		r, n := rune(t.unit(raw[used:])), 2
		if utf16.IsSurrogate(r) {
			if len(raw)-used < 4 {
				break
			}
			if r = utf16.DecodeRune(r, rune(t.unit(raw[used+2:]))); r == utf8.RuneError {
				break
			}
			n = 4
		}
		if used += n; !t.begun {
			t.begun = true
			if r == 0xfffe {
				t.big = true
			}
			if r == 0xfffe || r == 0xfeff {
				continue
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, used
}

func (t *utf16Text) unit(raw []byte) uint16 {
	if t.big {
		return uint16(raw[0])<<8 | uint16(raw[1])
	}
	return uint16(raw[1])<<8 | uint16(raw[0])
}

// decodedText is an input as UTF-8. Text that begins with the mark of UTF-16, as Excel writes
// it, is that, unless another encoding is named.
func decodedText(in *input, encoding string) (*textReader, error) {
	if head, err := in.Peek(2); err == nil && (encoding == "" || encoding == Encodings[0]) && isUTF16(head) {
		encoding = "utf-16"
	}
	return newTextDecoder(in.Reader, encoding)
}

// isUTF16 reports whether a head has the mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

// unmarkedUTF16 reports whether a head looks like text in UTF-16 of a language with Latin
// letters, without its mark.
func unmarkedUTF16(head []byte) bool {
	const least = 8
	for i, b := range head[:len(head)&^1] {
		if i%2 == 1 && b != 0 || i%2 == 0 && (b < ' ' && b != '\t' && b != '\r' && b != '\n') {
			return false
		}
	}
	return len(head) >= least
}

// maxCharacter is the greatest length of a character's bytes, in any encoding.
const maxCharacter = 4

// A textReader reads text as UTF-8. It fails at the first byte that is none of its
// encoding, and says where that is.
type textReader struct {
	r        io.Reader
	encoding string
	decode   decoding

	raw, text []byte // buffers
	rest      []byte // of raw: not yet decoded
	ready     []byte // decoded, not yet read
	err       error  // after ready

	offset       int64 // of rest, in bytes of the input
	line, column int   // of rest: lines from 1, characters before it on its line
}

func newTextDecoder(r io.Reader, encoding string) (*textReader, error) {
	decode, err := newDecoding(encoding)
	if err != nil {
		return nil, err
	}
	if encoding == "" {
		encoding = Encodings[0]
	}
	return &textReader{r: r, encoding: encoding, decode: decode, raw: make([]byte, 1<<16), line: 1}, nil
}

func (t *textReader) Read(p []byte) (int, error) {
	for len(t.ready) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

// fill decodes the next bytes of the input.
func (t *textReader) fill() {
	kept := copy(t.raw, t.rest)
	n, err := t.r.Read(t.raw[kept:])
	raw := t.raw[:kept+n]
	text, used := t.decode(t.text[:0], raw)
	if t.encoding != Encodings[0] {
		t.text = text
	}
	t.ready, t.rest, t.err = text, raw[used:], err
	t.advance(text, used)
	if len(t.rest) >= maxCharacter || err == io.EOF && len(t.rest) > 0 {
		t.err = t.invalid()
	}
}

func (t *textReader) advance(text []byte, used int) {
	t.offset += int64(used)
	if last := bytes.LastIndexByte(text, '\n'); last >= 0 {
		t.line += bytes.Count(text, []byte{'\n'})
		t.column, text = 0, text[last+1:]
	}
	t.column += utf8.RuneCount(text)
}

// invalid is the error of the byte that comes next.
func (t *textReader) invalid() error {
	others := slices.DeleteFunc(slices.Clone(Encodings), func(e string) bool { return e == t.encoding })
	return &encodingError{fmt.Sprintf("line %d, column %d (byte %d from 0): 0x%02x is not valid %s: save it as UTF-8, or give --encoding with the one it has (%s)",
		t.line, t.column+1, t.offset, t.rest[0], strings.ToUpper(t.encoding), strings.Join(others, ", "))}
}

// An encodingError says where text is not of its encoding.
type encodingError struct{ text string }

func (e *encodingError) Error() string { return e.text }

// maybeText reports whether a beginning that is not UTF-8 may be text all the same,
// in a single-byte encoding or, with its mark, UTF-16.
func maybeText(head []byte) bool {
	if isUTF16(head) {
		return true
	}
	return !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}
