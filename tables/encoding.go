package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// A decoding turns the beginning of raw into UTF-8, which it may append to dst, and
// says how many bytes of raw it used. What it leaves is incomplete or invalid.
type decoding func(dst, raw []byte) (text []byte, used int)

// newDecoding returns the decoding of an encoding of Encodings, "" for UTF-8.
func newDecoding(name string) (decoding, error) {
	if name == "" || name == Encodings[0] {
		return validUTF8, nil
	}
	e, known := encodings[name]
	if !known {
		return nil, fmt.Errorf("encoding %q is unknown: give one of %s", name, strings.Join(Encodings, ", "))
	}
	d := &decoder{Decoder: e.NewDecoder(), encoding: e, windows: strings.HasPrefix(name, "windows-")}
	return d.decode, nil
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

// A decoder decodes text whose characters do not depend on those before.
type decoder struct {
	*encoding.Decoder
	encoding encoding.Encoding
	windows  bool
}

func (d *decoder) decode(dst, raw []byte) ([]byte, int) {
	begin := len(dst)
	for used := 0; ; {
		free := dst[len(dst):cap(dst)]
		n, read, err := d.Transform(free, raw[used:], false)
		dst, used = dst[:len(dst)+n], used+read
		if errors.Is(err, transform.ErrShortDst) {
			dst = append(make([]byte, 0, 2*cap(dst)+3*len(raw)), dst...)
			continue
		}
		if d.doubtful(dst[begin:]) {
			return d.decodeEach(dst[:begin], raw)
		}
		return dst, used
	}
}

// doubtful reports whether text may be of bytes that are no character. Where Microsoft's
// sets have none, browsers and the package that decodes them read control characters.
func (d *decoder) doubtful(text []byte) bool {
	return bytes.ContainsRune(text, utf8.RuneError) || d.windows && bytes.ContainsFunc(text, isControl)
}

func isControl(r rune) bool { return r >= 0x80 && r <= 0x9f }

// decodeEach decodes one character after another, up to bytes that are none.
func (d *decoder) decodeEach(dst, raw []byte) (text []byte, used int) {
	var buffer [16]byte
	for used < len(raw) {
		size, n := 0, 0
		for end := used + 1; size == 0 && end <= min(used+maxCharacter, len(raw)); end++ {
			n, size, _ = d.Transform(buffer[:], raw[used:end], false)
		}
		if size == 0 || d.doubtful(buffer[:n]) && !d.is(buffer[:n], raw[used:used+size]) {
			break
		}
		dst, used = append(dst, buffer[:n]...), used+size
	}
	return dst, used
}

// is reports whether a character is what the bytes are: the sign for what could not be
// decoded may be in a text.
func (d *decoder) is(character, raw []byte) bool {
	again, err := d.encoding.NewEncoder().Bytes(character)
	return err == nil && !isControl([]rune(string(character))[0]) && bytes.Equal(again, raw)
}

// decodedText is an input as UTF-8. Text that begins with the mark of UTF-16, as Excel writes
// it, is that, unless another encoding is named.
func decodedText(in *input, name string) (*textReader, error) {
	head, err := in.Peek(2)
	marked := err == nil && isUTF16(head)
	if marked && (name == "" || name == Encodings[0]) {
		name = wide
	}
	if name != wide || !marked {
		return newTextDecoder(in.Reader, name)
	}
	order := wide + "le"
	if head[0] == 0xfe {
		order = wide + "be"
	}
	t, err := newTextDecoder(in.Reader, order)
	if err != nil {
		return nil, err
	}
	n, err := in.Discard(len(head))
	t.encoding, t.offset = wide, int64(n)
	return t, err
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

func newTextDecoder(r io.Reader, name string) (*textReader, error) {
	decode, err := newDecoding(name)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = Encodings[0]
	}
	return &textReader{r: r, encoding: name, decode: decode, raw: make([]byte, 1<<16), line: 1}, nil
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
	others := slices.DeleteFunc(slices.Clone(Encodings[:usualEncodings]), func(e string) bool { return e == t.encoding })
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
