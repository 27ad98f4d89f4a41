package tables

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// A JSON array has an object a row, as pandas (orient="records"), jq, programs of the web and mars itself write
// one. It is read as JSON lines, object by object, however it is broken into lines.

var jsonArrayFormat = &format{
	name: "a JSON array of objects", short: "JSON arrays",
	text: regexp.MustCompile(`^\s*\[\s*\{`),
	open: func(ctx context.Context, in *input, o Options) (*batches, error) {
		lines, err := newLineReader(in, o.Encoding)
		if err != nil {
			return nil, err
		}
		lines.r = bufio.NewReaderSize(&objectLines{text: lines.r}, 1<<16)
		return openJSONObjects(ctx, in, o, lines, "object")
	},
}

// An arrayPlace is where in an array the text is.
type arrayPlace uint8

const (
	beforeArray  arrayPlace = iota
	beforeFirst             // after [
	inObject                // or in what it holds
	afterObject             // where a comma or ] follows
	beforeObject            // after a comma
	afterArray
)

// objectLines gives the objects of an array a line each: what lies between them is left out, and a line
// ends within an object no more. What is no JSON it leaves to who reads the lines.
type objectLines struct {
	text    *bufio.Reader
	place   arrayPlace
	depth   int // of braces and brackets
	quoted  bool
	escaped bool
	ended   bool // an object, whose line does not yet
	objects int
}

func (l *objectLines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if l.ended {
			l.ended = false
			p[n] = '\n'
			n++
			continue
		}
		b, err := l.text.ReadByte()
		if errors.Is(err, io.EOF) && l.place != afterArray {
			return n, &damage{fmt.Sprintf("ends within the array, in or after object %d: it is cut off: copy it again", l.objects), io.ErrUnexpectedEOF}
		}
		if err != nil {
			return n, err
		}
		if l.place != inObject {
			if err := l.between(b); err != nil {
				return n, err
			}
			if l.place != inObject {
				continue
			}
		}
		p[n] = l.within(b)
		n++
	}
	return n, nil
}

// between reads a byte between objects.
func (l *objectLines) between(b byte) error {
	switch {
	case b == ' ' || b == '\t' || b == '\r' || b == '\n':
	case b == '[' && l.place == beforeArray:
		l.place = beforeFirst
	case b == '{' && (l.place == beforeFirst || l.place == beforeObject):
		l.place = inObject
		l.objects++
	case b == ',' && l.place == afterObject:
		l.place = beforeObject
	case b == ']' && (l.place == beforeFirst || l.place == afterObject):
		l.place = afterArray
	default:
		wanted := [...]string{"[", "an object", "", "a comma or ]", "an object", "the end"}[l.place]
		return &damage{fmt.Sprintf("after object %d: has %q where %s should be: give one array of objects", l.objects, b, wanted), nil}
	}
	return nil
}

// within is what a byte of an object becomes.
func (l *objectLines) within(b byte) byte {
	switch {
	case l.quoted:
		l.quoted = b != '"' || l.escaped
		l.escaped = b == '\\' && !l.escaped
	case b == '"':
		l.quoted = true
	case b == '\n':
		return ' '
	case b == '{' || b == '[':
		l.depth++
	case b == '}' || b == ']':
		if l.depth--; l.depth == 0 {
			l.place, l.ended = afterObject, true
		}
	}
	return b
}
