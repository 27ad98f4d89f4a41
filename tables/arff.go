package tables

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// An ARFF file has a header of attributes, and rows after @data, as
// https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/ says.

var arffFormat = &format{
	name: "ARFF", short: "ARFF", extensions: []string{".arff"},
	text: regexp.MustCompile(`(?i)^(\s*%[^\n]*\n|\s*\n)*\s*@relation\s`),
	open: openARFF,
}

// An arffType is what the values of an attribute are.
type arffType uint8

const (
	arffNumber arffType = iota
	arffNominal
	arffText
	arffDate
)

// An arffAttribute is a column.
type arffAttribute struct {
	name   string
	kind   arffType
	values map[string]bool // of arffNominal
	first  string          // of them, which sparse rows leave out
	layout string          // of arffDate, as package time has it
}

func (a *arffAttribute) arrow() arrow.DataType {
	switch a.kind {
	case arffNumber:
		return arrow.PrimitiveTypes.Float64
	case arffDate:
		return arrow.FixedWidthTypes.Timestamp_ms
	}
	return arrow.BinaryTypes.String
}

// An arffReader reads a file.
type arffReader struct {
	lines      *lineReader
	mem        *arrowio.Budget
	attributes []*arffAttribute
	set        []int // the last row that has the column, in sparse rows, from 1
	row        int
	build      *batchBuilder
}

func openARFF(ctx context.Context, in *input, o Options) (*batches, error) {
	lines, err := newLineReader(in, o.Encoding)
	if err != nil {
		return nil, err
	}
	r := &arffReader{lines: lines, mem: in.reading}
	if err := r.header(ctx); err != nil {
		return nil, err
	}
	if err := takeSchema(in.reading, len(r.attributes)); err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(r.attributes))
	for i, a := range r.attributes {
		fields[i] = arrow.Field{Name: a.name, Type: a.arrow(), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	if r.build, err = newBatchBuilder(schema, in.reading); err != nil {
		return nil, err
	}
	r.set = make([]int, len(fields))
	return &batches{schema: schema, close: r.build.close, next: func() (arrow.Record, error) { return r.build.batch(r.append) }}, nil
}

// next is the next line that says something.
func (r *arffReader) next() ([]byte, error) {
	for {
		line, err := r.lines.next()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '%' {
			return line, nil
		}
	}
}

func (r *arffReader) fail(format string, args ...any) error {
	return lineError(r.lines.line, format, args...)
}

func (r *arffReader) header(ctx context.Context) error {
	names := map[string]bool{}
	for {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return errors.New("has no @data: it is truncated, or no ARFF")
		}
		if err == nil {
			err = ended(ctx, len(r.attributes))
		}
		if err != nil {
			return err
		}
		word, rest := nextWord(line)
		switch strings.ToLower(string(word)) {
		case "@relation":
		case "@data":
			if len(r.attributes) == 0 {
				return r.fail("@data comes before any @attribute: it has no columns")
			}
			return nil
		case "@attribute":
			a, err := r.attribute(rest)
			if err != nil {
				return err
			}
			if names[a.name] {
				return r.fail("attribute %q is there twice: rename one", a.name)
			}
			names[a.name] = true
			r.attributes = append(r.attributes, a)
		default:
			return r.fail("has %.40q where @attribute or @data should be", word)
		}
	}
}

// attribute reads what follows @attribute: a name and a type.
func (r *arffReader) attribute(text []byte) (*arffAttribute, error) {
	name, _, rest, err := arffToken(text, " \t{")
	if err != nil {
		return nil, r.fail("%w", err)
	}
	a := &arffAttribute{name: string(name)}
	if err := r.mem.Take(int64(len(text)) + 8*nameCost); err != nil {
		return nil, r.fail("%w", err)
	}
	rest = bytes.TrimSpace(rest)
	if len(rest) > 0 && rest[0] == '{' {
		return a, r.nominal(a, rest[1:])
	}
	word, rest := nextWord(rest)
	switch kind := strings.ToLower(string(word)); kind {
	case "numeric", "real", "integer":
		a.kind = arffNumber
	case "string":
		a.kind = arffText
	case "date":
		a.kind = arffDate
		pattern, _, _, err := arffToken(rest, " \t")
		if err != nil {
			return nil, r.fail("%w", err)
		}
		if a.layout = javaLayout(string(pattern)); a.layout == "" {
			a.kind = arffText // as it stands
		}
	default:
		return nil, r.fail("attribute %q has type %.40q: numeric, nominal ({a,b}), string and date can be read: write it as one of these", a.name, word)
	}
	return a, nil
}

// nominal reads the values of a nominal attribute.
func (r *arffReader) nominal(a *arffAttribute, text []byte) error {
	a.kind, a.values = arffNominal, map[string]bool{}
	for {
		value, _, rest, err := arffToken(bytes.TrimLeft(text, " \t"), ",}")
		if err != nil {
			return r.fail("%w", err)
		}
		if rest = bytes.TrimLeft(rest, " \t"); len(rest) == 0 {
			return r.fail("the values of attribute %q have no } at their end", a.name)
		}
		if err := r.mem.Take(int64(len(value)) + nameCost); err != nil {
			return r.fail("%w", err)
		}
		if len(a.values) == 0 {
			a.first = string(value)
		}
		a.values[string(value)] = true
		if text = rest[1:]; rest[0] == '}' {
			return nil
		}
	}
}

// arffToken reads a value up to a byte of ends, which stays: in quotes, or without spaces
// around it.
func arffToken(text []byte, ends string) (value []byte, quoted bool, rest []byte, err error) {
	if len(text) == 0 || text[0] != '\'' && text[0] != '"' {
		end := bytes.IndexAny(text, ends)
		if end < 0 {
			end = len(text)
		}
		return bytes.TrimSpace(text[:end]), false, text[end:], nil
	}
	quote := text[0]
	out := make([]byte, 0, bytes.IndexByte(text[1:], quote)+1) // but for quotes with a backslash
	for i := 1; i < len(text); i++ {
		switch b := text[i]; {
		case b == quote:
			rest = bytes.TrimLeft(text[i+1:], " \t")
			if len(rest) > 0 && !strings.ContainsRune(ends, rune(rest[0])) && !strings.ContainsAny(ends, " ") {
				return nil, false, nil, fmt.Errorf("has %.20q after the quoted value %.40q: mend the quotes", rest, out)
			}
			return out, true, rest, nil
		case b == '\\' && i+1 < len(text):
			i++
			if k := strings.IndexByte("nrtu", text[i]); k >= 0 && k < 3 {
				out = append(out, "\n\r\t"[k])
				continue
			}
			out = append(out, text[i])
		default:
			out = append(out, b)
		}
	}
	return nil, false, nil, fmt.Errorf("%.40q has no quote at its end", text)
}

// append reads a row into the next batch.
func (r *arffReader) append() (int, error) {
	line, err := r.next()
	if err != nil {
		return 0, err
	}
	r.row++
	if line[0] == '{' {
		return len(line) + 8*len(r.attributes), r.appendSparse(line[1:])
	}
	rest := line
	for i, a := range r.attributes {
		if i > 0 {
			if len(rest) == 0 || rest[0] != ',' && rest[0] != '\t' {
				return 0, r.fail("has %d values, and there are %d attributes: mend the line", i, len(r.attributes))
			}
			rest = rest[1:]
		}
		var value []byte
		var quoted bool
		if value, quoted, rest, err = arffToken(bytes.TrimLeft(rest, " "), ",\t"); err != nil {
			return 0, r.fail("%w", err)
		}
		if err := r.value(i, a, value, quoted); err != nil {
			return 0, err
		}
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 && !isWeight(rest) {
		return 0, r.fail("has more values than the %d attributes: mend the line", len(r.attributes))
	}
	return len(line), nil
}

// isWeight reports whether all that is left of a row is a weight, as in {2}.
func isWeight(rest []byte) bool {
	rest = bytes.TrimLeft(rest, ", \t")
	return len(rest) > 2 && rest[0] == '{' && rest[len(rest)-1] == '}' && !bytes.ContainsAny(rest, ", ")
}

// appendSparse reads a row such as {1 x, 5 y}, from behind its brace. What it leaves out is
// 0, or the first value of a nominal attribute.
func (r *arffReader) appendSparse(text []byte) error {
	held := map[int]arffValue{}
	for {
		text = bytes.TrimLeft(text, " \t")
		if len(text) > 0 && text[0] == '}' && len(held) == 0 {
			break
		}
		word, rest := nextWord(text)
		i, err := strconv.Atoi(string(word))
		if err != nil || i < 0 || i >= len(r.attributes) {
			return r.fail("%.40q is no index of an attribute: they are from 0 to %d", word, len(r.attributes)-1)
		}
		if r.set[i] == r.row {
			return r.fail("has attribute %d twice: mend the line", i)
		}
		r.set[i] = r.row
		value, quoted, rest, err := arffToken(rest, ",}")
		if err != nil {
			return r.fail("%w", err)
		}
		held[i] = arffValue{value, quoted}
		if rest = bytes.TrimLeft(rest, " \t"); len(rest) == 0 {
			return r.fail("a sparse row has no } at its end")
		}
		if text = rest[1:]; rest[0] == '}' {
			break
		}
	}
	for i, a := range r.attributes {
		v, there := held[i]
		switch {
		case there:
		case a.kind == arffNominal || a.kind == arffText:
			v = arffValue{[]byte(a.first), true}
		case a.kind == arffNumber:
			v.text = []byte("0")
		default:
			v.text = []byte("?")
		}
		if err := r.value(i, a, v.text, v.quoted); err != nil {
			return err
		}
	}
	return nil
}

// An arffValue is one of a row.
type arffValue struct {
	text   []byte
	quoted bool
}

// value appends a value to its column.
func (r *arffReader) value(i int, a *arffAttribute, text []byte, quoted bool) error {
	column := r.build.Field(i)
	if !quoted && (len(text) == 1 && text[0] == '?') {
		column.AppendNull()
		return nil
	}
	if !quoted && len(text) == 0 {
		return r.fail("attribute %q has no value: a missing one is ?", a.name)
	}
	switch a.kind {
	case arffNumber:
		v, err := parseFloat(textOf(text), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(v) {
			return r.fail("attribute %q: %.40q is not a number: mend it", a.name, text)
		}
		column.(*array.Float64Builder).Append(v)
	case arffNominal:
		if !a.values[string(text)] {
			return r.fail("attribute %q: %.40q is none of its values: mend it, or add it to the attribute", a.name, text)
		}
		column.(*array.StringBuilder).BinaryBuilder.Append(text)
	case arffDate:
		v, err := time.Parse(a.layout, string(text))
		if err != nil {
			return r.fail("attribute %q: %.40q is no date as %q: mend it", a.name, text, a.layout)
		}
		column.(*array.TimestampBuilder).Append(arrow.Timestamp(v.UnixMilli()))
	default:
		column.(*array.StringBuilder).BinaryBuilder.Append(text)
	}
	return nil
}

// javaLayout is the layout of package time for a pattern of Java's SimpleDateFormat, "" for
// one that it has not.
func javaLayout(pattern string) string {
	pattern = cmp.Or(pattern, "yyyy-MM-dd'T'HH:mm:ss")
	words := []struct{ java, layout string }{
		{"yyyy", "2006"}, {"yy", "06"}, {"MMMM", "January"}, {"MMM", "Jan"}, {"MM", "01"}, {"M", "1"}, {"dd", "02"}, {"d", "2"},
		{"HH", "15"}, {"hh", "03"}, {"mm", "04"}, {"ss", "05"}, {"SSS", "000"}, {"EEEE", "Monday"}, {"EEE", "Mon"}, {"a", "PM"}, {"Z", "-0700"}, {"X", "Z07"}, {"z", "MST"},
	}
	var out strings.Builder
next:
	for pattern != "" {
		for _, w := range words {
			after, found := strings.CutPrefix(pattern, w.java)
			if found && (after == "" || after[0] != w.java[0]) {
				out.WriteString(w.layout)
				pattern = after
				continue next
			}
		}
		if pattern[0] == '\'' {
			literal, after, closed := strings.Cut(pattern[1:], "'")
			if !closed || strings.ContainsAny(literal, "0123456789") {
				return ""
			}
			out.WriteString(literal)
			pattern = after
			continue
		}
		r, n := utf8.DecodeRuneInString(pattern)
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return ""
		}
		out.WriteString(pattern[:n])
		pattern = pattern[n:]
	}
	return out.String()
}
