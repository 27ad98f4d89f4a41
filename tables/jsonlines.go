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
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// JSON lines have an object a line. Its keys are columns in the order in which they are
// first seen, those of an object in it are columns of their own, as in pos.x, and a list of
// numbers is a vector. A key that is missing is null. The types of columns are found in the
// first 16 MB (sampleBytes); what differs later is an error and not a null.

var jsonLinesFormat = &format{
	name: "JSON lines", short: "JSON lines", extensions: []string{".jsonl", ".ndjson"},
	text: regexp.MustCompile(`^\s*\{[ \t]*("|\}\s*\n\s*\{)`),
	open: openJSONLines,
}

// A jsonType is what the values of a column are.
type jsonType uint8

const (
	jsonEmpty   jsonType = iota // all null
	jsonBools                   // true and false alone
	jsonWhole                   // whole numbers that float64 may not hold, or that name a row or class
	jsonFloats                  // numbers
	jsonText                    // strings, or values of several kinds
	jsonVector                  // lists of numbers
	jsonOther                   // what can be no column: lists of others
	jsonObjects                 // objects, whose keys are columns
)

func (t jsonType) String() string {
	return [...]string{"nothing but null", "true and false", "whole numbers", "numbers", "text", "lists of numbers", "lists", "objects"}[t]
}

// A jsonObject is the keys of objects at one place.
type jsonObject struct {
	prefix string // of the names of columns
	fields []*jsonField
	at     map[string]int
}

// A jsonField is a key of them.
type jsonField struct {
	key, name string
	kind      jsonType
	object    *jsonObject // of jsonObjects
	whole     bool        // all numbers are whole
	largest   float64     // of their magnitudes
	row       int         // the last with the key, from 1
	index     int         // of the column, −1 if it is not read
}

// A jsonReader reads them.
type jsonReader struct {
	*replay
	jsonParser
	called string // what a line is
	mem    *arrowio.Budget
	top    *jsonObject
	row    int // the current one, from 1
	names  map[string]bool
	named  bool // columns were named: keys that are new are no loss
	build  *batchBuilder
	fields []*jsonField // of the columns
}

func openJSONLines(ctx context.Context, in *input, o Options) (*batches, error) {
	lines, err := newLineReader(in, o.Encoding)
	if err != nil {
		return nil, err
	}
	return openJSONObjects(ctx, in, o, lines, "line")
}

// openJSONObjects reads lines that are objects, and are called so in errors.
func openJSONObjects(ctx context.Context, in *input, o Options, lines *lineReader, called string) (*batches, error) {
	held, err := hold(lines)
	if err != nil {
		return nil, err
	}
	r := &jsonReader{replay: held, called: called, jsonParser: jsonParser{ctx: ctx}, mem: in.reading, top: newJSONObject(""), names: map[string]bool{}, named: o.Columns != nil}
	rows, err := r.learn(ctx)
	if err != nil {
		return nil, err
	}
	r.settle(r.top, o)
	if len(r.fields) == 0 {
		return nil, errors.New("has no columns: all objects are empty: give objects with keys")
	}
	if err := r.fit(rows, o); err != nil {
		return nil, err
	}
	if err := takeSchema(in.reading, len(r.fields)); err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for _, f := range r.fields {
		fields = append(fields, arrow.Field{Name: f.name, Type: f.kind.arrow(), Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	if r.build, err = newBatchBuilder(schema, in.reading); err != nil {
		return nil, err
	}
	return &batches{schema: schema, close: r.build.close, next: func() (arrow.Record, error) { return r.build.batch(r.append) }}, nil
}

func newJSONObject(prefix string) *jsonObject {
	return &jsonObject{prefix: prefix, at: map[string]int{}}
}

// arrow is the type of a column.
func (t jsonType) arrow() arrow.DataType {
	switch t {
	case jsonBools:
		return arrow.FixedWidthTypes.Boolean
	case jsonWhole:
		return arrow.PrimitiveTypes.Int64
	case jsonFloats:
		return arrow.PrimitiveTypes.Float64
	case jsonText:
		return arrow.BinaryTypes.String
	case jsonVector:
		return arrow.ListOf(arrow.PrimitiveTypes.Float64)
	case jsonOther:
		return arrow.ListOf(arrow.BinaryTypes.String)
	}
	return arrow.Null
}

// object reads the next line that is not empty, and calls value for its members. size is
// the length of the line.
func (r *jsonReader) object(value func(*jsonObject, []byte) error) (size int, err error) {
	line, err := r.replay.next()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = r.replay.next()
	}
	if err != nil {
		return 0, err
	}
	r.row++
	r.jsonParser.line, r.jsonParser.at = line, 0
	if r.peek() != '{' {
		return 0, r.lineError("has %s where an object should be: JSON lines have one object a line", r.here())
	}
	if err := r.members(func(key []byte) error { return value(r.top, key) }); err != nil {
		return 0, r.lineError("%w", err)
	}
	if r.peek(); r.jsonParser.at < len(line) {
		return 0, r.lineError("%w", r.fail("%s after the object: JSON lines have one object a line", r.here()))
	}
	return len(line) + 1, nil
}

// lineError is an error in the last line.
func (r *jsonReader) lineError(format string, args ...any) error {
	return fmt.Errorf("%s %d: %w", r.called, r.replay.line, fmt.Errorf(format, args...))
}

// fit sees to it that a table of the rows can be held: a key that one row has is a column of
// all. If it cannot, the columns that were named are all that there are, and without these it
// is refused.
func (r *jsonReader) fit(rows int, o Options) error {
	cells := rows * len(r.fields)
	err := take[float32](r.mem, cells)
	if err == nil {
		give[float32](r.mem, cells)
		return nil
	}
	asked := o.Columns
	if o.Fields != nil {
		asked = names(o.Fields)
	}
	if len(asked) == 0 {
		return fmt.Errorf("%d rows have %d keys, and each is a column of all rows (--columns names some of them): %w", rows, len(r.fields), err)
	}
	wanted := Matcher(slices.Concat(asked, []string{cmp.Or(o.Label, "label"), cmp.Or(o.ID, "id"), o.Domain, o.Image, o.Batch}, o.Levels))
	all := r.fields
	r.fields = nil
	for _, f := range all {
		if f.index = -1; wanted(f.name) {
			f.index = len(r.fields)
			r.fields = append(r.fields, f)
		}
	}
	return nil
}

// learn finds the columns and their types in the lines that are held, and says how many lines
// these are.
func (r *jsonReader) learn(ctx context.Context) (rows int, err error) {
	for {
		if err := ended(ctx, r.row); err != nil {
			return 0, err
		}
		_, err := r.object(r.learnMember)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if rows = r.row; rows == 0 {
		return 0, errNoRows
	}
	objects := len(r.top.fields) > 1
	for _, f := range r.top.fields {
		objects = objects && f.kind == jsonObjects
	}
	if r.row == 1 && objects {
		return 0, errors.New("holds one object of objects: if these are columns, as pandas writes them, write rows instead: to_json(\"x.jsonl\", orient=\"records\", lines=True)")
	}
	r.replay.rewind()
	r.row = 0
	r.forget(r.top)
	return rows, nil
}

// forget lets all keys be seen again.
func (r *jsonReader) forget(o *jsonObject) {
	for _, f := range o.fields {
		f.row = 0
		if f.object != nil {
			r.forget(f.object)
		}
	}
}

// field is that of a key, nil if it is new, and marks it as seen in this row.
func (r *jsonReader) field(o *jsonObject, guess *int, key []byte) (*jsonField, error) {
	i := *guess
	if i >= len(o.fields) || o.fields[i].key != string(key) {
		known := false
		if i, known = o.at[string(key)]; !known {
			return nil, nil
		}
	}
	*guess = i + 1
	f := o.fields[i]
	if f.row == r.row {
		return nil, r.fail("key %q is there twice: rename one", f.name)
	}
	f.row = r.row
	return f, nil
}

func (r *jsonReader) learnMember(o *jsonObject, key []byte) error {
	guess := len(o.fields)
	f, err := r.field(o, &guess, key)
	if err != nil {
		return err
	}
	if f == nil {
		if f, err = r.newField(o, string(key)); err != nil {
			return err
		}
	}
	kind := jsonEmpty
	switch r.peek() {
	case '{':
		kind = jsonObjects
	case '[':
		kind = jsonVector
		err = r.elements(func() error { return r.learnElement(&kind) })
	case '"':
		kind = jsonText
		_, err = r.text()
	default:
		kind, err = r.learnScalar(f)
	}
	if err != nil {
		return err
	}
	if f.kind, err = r.join(f, kind); err != nil {
		return err
	}
	if kind != jsonObjects {
		return nil
	}
	if f.object == nil {
		f.object = newJSONObject(f.name + ".")
	}
	if strings.Count(f.object.prefix, ".") > jsonDepth {
		return r.fail("has objects more than %d deep in each other: flatten it", jsonDepth)
	}
	return r.members(func(key []byte) error { return r.learnMember(f.object, key) })
}

func (r *jsonReader) newField(o *jsonObject, key string) (*jsonField, error) {
	f := &jsonField{key: key, name: o.prefix + key, whole: true, row: r.row}
	if err := r.mem.Take(int64(len(f.name)+len(key)) + 4*nameCost); err != nil {
		return nil, err
	}
	if r.names[f.name] {
		return nil, r.fail("column %q is there twice, as a key and as one of an object: rename one", f.name)
	}
	r.names[f.name] = true
	o.at[key] = len(o.fields)
	o.fields = append(o.fields, f)
	return f, nil
}

// learnElement reads an element of a list, whose kind is jsonVector as long as all are
// numbers.
func (r *jsonReader) learnElement(kind *jsonType) error {
	switch r.peek() {
	case '{', '[', '"':
		*kind = jsonOther
		return r.skip(0)
	}
	scalar, _, err := r.scalar()
	if scalar == jsonBool {
		*kind = jsonOther
	}
	return err
}

func (r *jsonReader) learnScalar(f *jsonField) (jsonType, error) {
	scalar, text, err := r.scalar()
	switch {
	case err != nil || scalar == jsonNull:
		return jsonEmpty, err
	case scalar == jsonBool:
		return jsonBools, nil
	}
	if f.whole {
		v, err := strconv.ParseInt(string(text), 10, 64)
		f.whole, f.largest = err == nil, max(f.largest, math.Abs(float64(v)))
	}
	return jsonFloats, nil
}

// join is the type of a column that has values of its type and another.
func (r *jsonReader) join(f *jsonField, kind jsonType) (jsonType, error) {
	a, b := min(f.kind, kind), max(f.kind, kind)
	switch {
	case a == jsonEmpty || a == b:
		return b, nil
	case b == jsonObjects:
		return 0, r.fail("%q has %s here and %s in other rows: give it one kind of value", f.name, kind, f.kind)
	case b <= jsonText:
		return jsonText, nil
	}
	return jsonOther, nil
}

// settle makes columns of the fields. Whole numbers stay so where they name things, and
// where float64 would change them.
func (r *jsonReader) settle(o *jsonObject, options Options) {
	for _, f := range o.fields {
		if f.kind == jsonObjects {
			r.settle(f.object, options)
			continue
		}
		names := f.name == cmp.Or(options.Label, "label") || f.name == cmp.Or(options.ID, "id") || options.Domain != "" && f.name == options.Domain || options.Batch != "" && f.name == options.Batch || slices.Contains(options.Levels, f.name)
		if f.kind == jsonFloats && f.whole && (names || f.largest > 1<<53) {
			f.kind = jsonWhole
		}
		f.index = len(r.fields)
		r.fields = append(r.fields, f)
	}
}

// append reads a row into the next batch.
func (r *jsonReader) append() (int, error) {
	guess := 0
	size, err := r.object(func(o *jsonObject, key []byte) error { return r.appendMember(o, &guess, key) })
	if err != nil {
		return 0, err
	}
	for i, f := range r.fields {
		if f.row != r.row {
			r.build.Field(i).AppendNull()
		}
	}
	return size, nil
}

func (r *jsonReader) appendMember(o *jsonObject, guess *int, key []byte) error {
	f, err := r.field(o, guess, key)
	switch {
	case err != nil:
		return err
	case f == nil && r.named:
		return r.skip(0)
	case f == nil:
		return r.fail("key %q is in none of the first %d MB: name the feature columns with --columns, or give a first row with all keys", o.prefix+string(key), sampleBytes>>20)
	}
	next := r.peek()
	switch {
	case f.index < 0:
		return r.skip(0)
	case f.kind == jsonObjects && next == '{':
		inner := 0
		return r.members(func(key []byte) error { return r.appendMember(f.object, &inner, key) })
	case f.kind == jsonOther:
		r.build.Field(f.index).AppendNull()
		return r.skip(0)
	case next == '{':
		return r.differs(f, jsonObjects)
	case f.kind == jsonVector && next == '[':
		return r.appendVector(f)
	case next == '[':
		return r.differs(f, jsonVector)
	case next == '"' && f.kind == jsonText:
		text, err := r.text()
		if err != nil {
			return err
		}
		r.build.Field(f.index).(*array.StringBuilder).BinaryBuilder.Append(text)
		return nil
	case next == '"':
		return r.differs(f, jsonText)
	}
	return r.appendScalar(f)
}

// differs is the error of a value of a kind that the column has not.
func (r *jsonReader) differs(f *jsonField, kind jsonType) error {
	return r.fail("%q has %s here and %s in the rows before: give it one kind of value", f.name, kind, f.kind)
}

func (r *jsonReader) appendScalar(f *jsonField) error {
	scalar, text, err := r.scalar()
	switch {
	case err != nil:
		return err
	case f.kind == jsonObjects && scalar == jsonNull:
		return nil
	case scalar == jsonNull:
		r.build.Field(f.index).AppendNull()
		return nil
	}
	kind := jsonFloats
	if scalar == jsonBool {
		kind = jsonBools
	}
	switch b := r.build.Field(f.index).(type) {
	case *array.StringBuilder:
		b.BinaryBuilder.Append(text)
		return nil
	case *array.BooleanBuilder:
		if scalar == jsonBool {
			b.Append(len(text) == len("true"))
			return nil
		}
	case *array.Float64Builder:
		if scalar == jsonNumber {
			b.Append(jsonNumberOf(text))
			return nil
		}
	case *array.Int64Builder:
		if scalar != jsonNumber {
			break
		}
		v, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return r.fail("%q is %s here and has whole numbers in the rows before: write them as strings", f.name, text)
		}
		b.Append(v)
		return nil
	}
	return r.differs(f, kind)
}

// jsonNumberOf is the value of a number, or of Infinity.
func jsonNumberOf(text []byte) float64 {
	switch text[len(text)-1] {
	case 'y':
		return math.Inf(1 - 2*strings.Count(string(text[:1]), "-"))
	}
	return jsonFloat(text)
}

func (r *jsonReader) appendVector(f *jsonField) error {
	list := r.build.Field(f.index).(*array.ListBuilder)
	values := list.ValueBuilder().(*array.Float64Builder)
	list.Append(true)
	return r.elements(func() error {
		if next := r.peek(); next == '{' || next == '[' || next == '"' {
			return r.fail("the list %q has something that is no number: give numbers", f.name)
		}
		scalar, text, err := r.scalar()
		switch {
		case err != nil:
			return err
		case scalar == jsonBool:
			return r.fail("the list %q has something that is no number: give numbers", f.name)
		case scalar == jsonNull:
			values.AppendNull()
		default:
			values.Append(jsonNumberOf(text))
		}
		return nil
	})
}
