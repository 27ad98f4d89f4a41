package tables

import (
	"bufio"
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
	"mars.dev/mars/tables/scan"
)

// Rows of svmlight (LIBSVM) are a label and the features that are not 0, as in
//
//	+1 3:0.5 17:2   # comment
//
// They are read as columns of numbers whose names are the indices, up to the largest, and
// the column of labels. So an index is the same feature in every file, wherever the
// counting begins, and one that a file never has is 0 in it. Where the largest index is
// beyond maxSparse, the features are hashed, see hash.go.

var svmlightFormat = &format{
	name: "svmlight (LIBSVM) rows", short: "svmlight",
	extensions: []string{".svm", ".svmlight", ".libsvm"},
	text:       regexp.MustCompile(`^(\s*#[^\n]*\n)*[-+]?\d+(\.\d*)?([eE][-+]?\d+)?(,\d+)*([ \t]+qid:\d+)?[ \t]+\d+:[-+.\d]\S*([ \t]+\d+:\S*|\s*\n|\s*#|\s*$)`),
	own: func(o Options) string {
		if o.Hash > 0 {
			return "--hash-features is for svmlight files"
		}
		return ""
	},
	open: openSVMLight,
}

// maxSparse is the largest index of a column: a row is as long, though it be all zeros.
const maxSparse = 1 << 14

// minSparseRows is how many rows of many columns a batch has.
const minSparseRows = 64

// A sparseReader reads them.
type sparseReader struct {
	ctx     context.Context
	lines   *lineReader
	mem     *arrowio.Budget
	looks   bool // for the largest index, and reads neither labels nor values
	largest int
	zero    bool // index 0 is there
	queries bool // qid is there
	indices []int
	values  []float64
	known   map[string]string // labels of words
}

// Bounds of sparseReader.known.
const (
	maxKnown      = 1 << 12
	maxKnownBytes = 32
)

func openSVMLight(ctx context.Context, in *input, o Options) (*batches, error) {
	source, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	again := func() (*sparseReader, error) {
		whole := *in
		whole.Reader = bufio.NewReader(io.NewSectionReader(source, 0, size))
		lines, err := newLineReader(&whole, o.Encoding)
		return &sparseReader{ctx: ctx, lines: lines, mem: in.reading, known: map[string]string{}}, err
	}
	first, err := again()
	if err != nil {
		return nil, err
	}
	first.looks = true
	for row := 0; ; row++ {
		if _, _, err := first.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if err := ended(ctx, row); err != nil {
			return nil, err
		}
	}
	columns, err := first.columns(o)
	if err != nil {
		return nil, err
	}
	r, err := again()
	if err != nil {
		return nil, err
	}
	schema := columns.schema(cmp.Or(o.Label, "label"))
	b, err := newBatchBuilder(schema, in.reading)
	if err != nil {
		return nil, err
	}
	b.most = max(b.most, minSparseRows)
	labels, numbers := b.Field(0).(*array.StringBuilder), make([]*array.Float32Builder, len(columns.row))
	for k := range numbers {
		numbers[k] = b.Field(1 + k).(*array.Float32Builder)
	}
	out := &batches{schema: schema, close: b.close, note: columns.note, next: func() (arrow.Record, error) {
		return b.batch(func() (int, error) { return r.append(labels, numbers, columns) })
	}}
	if first.queries {
		out.skipped = append(out.skipped, Skipped{Name: "qid", Why: "which query a row is of"})
	}
	return out, nil
}

// sparseColumns say which column an index is.
type sparseColumns struct {
	begin, end int         // the indices of columns in their order, without the last
	far        map[int]int // columns of indices beyond maxSparse that were asked for by name
	farNames   []string
	hash       int // how many columns indices are hashed to; 0: they are columns themselves
	note       string
	row        []float64
	buffer     []byte
}

// columns says which there are, after all rows have been read.
func (r *sparseReader) columns(o Options) (*sparseColumns, error) {
	asked := o.Columns
	if o.Fields != nil {
		asked = names(o.Fields)
	}
	c := &sparseColumns{hash: hashedOf(asked), far: map[int]int{}}
	switch {
	case o.Hash > 0 && len(asked) > 0 && c.hash != o.Hash:
		return nil, errors.New("columns cannot be chosen where features are hashed: leave --columns out, or --hash-features")
	case o.Hash > 0:
		c.hash = o.Hash
	case len(asked) == 0 && r.largest > maxSparse:
		c.hash = DefaultHash
		c.note = fmt.Sprintf("has features up to %d, and rows have up to %d: they are hashed to %d (--hash-features chooses another number)", r.largest, maxSparse, c.hash)
	}
	if c.hash > 0 {
		if c.note == "" {
			c.note = fmt.Sprintf("features are hashed to %d", c.hash)
		}
		c.row = make([]float64, c.hash)
		return c, nil
	}
	c.begin = 1
	if r.zero {
		c.begin = 0
	}
	if r.largest > maxSparse {
		c.note = fmt.Sprintf("features above %d that were not asked for are left out", maxSparse)
	}
	c.end = min(r.largest, maxSparse) + 1
	for _, name := range asked {
		i, err := strconv.Atoi(name)
		switch {
		case err != nil || i < 0:
		case i > maxSparse:
			c.farNames = append(c.farNames, name)
		default:
			c.begin, c.end = min(c.begin, i), max(c.end, i+1)
		}
	}
	for k, name := range c.farNames {
		i, _ := strconv.Atoi(name)
		c.far[i] = c.end - c.begin + k
	}
	c.row = make([]float64, c.end-c.begin+len(c.farNames))
	return c, nil
}

// schema is that of the label and the columns.
func (c *sparseColumns) schema(label string) *arrow.Schema {
	fields := []arrow.Field{{Name: label, Type: arrow.BinaryTypes.String, Nullable: true}}
	add := func(name string) {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32, Nullable: true})
	}
	for k := range c.hash {
		add(nameHashed(k, c.hash))
	}
	for i := c.begin; i < c.end; i++ {
		add(strconv.Itoa(i))
	}
	for _, name := range c.farNames {
		add(name)
	}
	return arrow.NewSchema(fields, nil)
}

// set makes a row of the columns.
func (c *sparseColumns) set(indices []int, values []float64) {
	clear(c.row)
	for k, i := range indices {
		if c.hash > 0 {
			c.buffer = strconv.AppendInt(c.buffer[:0], int64(i), 10)
			at, sign := hashed(c.buffer, c.hash)
			c.row[at] += sign * values[k]
			continue
		}
		if i < c.end {
			c.row[i-c.begin] = values[k]
		} else if at, asked := c.far[i]; asked {
			c.row[at] = values[k]
		}
	}
}

// append reads a row into the next batch.
func (r *sparseReader) append(labels *array.StringBuilder, numbers []*array.Float32Builder, columns *sparseColumns) (int, error) {
	label, size, err := r.next()
	if err != nil {
		return 0, err
	}
	columns.set(r.indices, r.values)
	labels.Append(label)
	for k, v := range columns.row {
		numbers[k].Append(float32(v))
	}
	return size + 4*len(columns.row), nil
}

// next reads the features of the next row and returns its label.
func (r *sparseReader) next() (label string, size int, err error) {
	r.indices, r.values = r.indices[:0], r.values[:0]
	var line []byte
	for {
		if line, err = r.lines.next(); err != nil {
			return "", 0, err
		}
		size = len(line)
		line, _, _ = bytes.Cut(line, []byte("#"))
		if line = bytes.TrimSpace(line); len(line) > 0 {
			break
		}
	}
	word, rest := nextWord(line)
	if label, err = r.label(word); err != nil {
		return "", 0, lineError(r.lines.line, "%w", err)
	}
	for len(rest) > 0 {
		if err := ended(r.ctx, len(r.indices)); err != nil {
			return "", 0, err
		}
		word, rest = nextWord(rest)
		if err := r.feature(word); err != nil {
			return "", 0, lineError(r.lines.line, "%w", err)
		}
	}
	switch i, twice, err := r.repeated(); {
	case err != nil:
		return "", 0, lineError(r.lines.line, "%w", err)
	case twice:
		return "", 0, lineError(r.lines.line, "has feature %d twice: mend the line", i)
	}
	return label, size, nil
}

// repeated finds an index that is there twice. Most rows have them in order.
func (r *sparseReader) repeated() (i int, twice bool, err error) {
	indices := r.indices
	if !slices.IsSorted(indices) {
		if err := take[int](r.mem, len(indices)); err != nil {
			return 0, false, err
		}
		defer give[int](r.mem, len(indices))
		indices = slices.Clone(indices)
		slices.Sort(indices)
	}
	for k := 1; k < len(indices); k++ {
		if indices[k] == indices[k-1] {
			return indices[k], true, nil
		}
	}
	return 0, false, nil
}

// nextWord is what stands before the next spaces, and what stands after them.
func nextWord(line []byte) (word, rest []byte) {
	isSpace := func(i int) bool { return line[i] == ' ' || line[i] == '\t' }
	end := 0
	for end < len(line) && !isSpace(end) {
		end++
	}
	begin := end
	for begin < len(line) && isSpace(begin) {
		begin++
	}
	return line[:end], line[begin:]
}

// label is sparseLabel, which most rows share with others.
func (r *sparseReader) label(word []byte) (string, error) {
	label, known := r.known[string(word)]
	if known || r.looks {
		return label, nil
	}
	label, err := sparseLabel(string(word))
	if err == nil && len(r.known) < maxKnown && len(word) <= maxKnownBytes {
		r.known[string(word)] = label
	}
	return label, err
}

// sparseLabel is the name of a class.
func sparseLabel(word string) (string, error) {
	switch {
	case strings.Contains(word, ":"):
		return "", fmt.Errorf("begins with %.40q where its label should be: put one before it (0 where it is not known)", word)
	case strings.Contains(word, ","):
		return "", fmt.Errorf("has several labels (%.40q): give each row one class", word)
	}
	v, err := parseFloat(strings.TrimPrefix(word, "+"), 64)
	if err != nil {
		//lint:ignore lostnil a name
		return word, nil
	}
	return floatLabel(v)
}

// feature reads one index:value.
func (r *sparseReader) feature(word []byte) error {
	index, value, found := bytes.Cut(word, []byte(":"))
	if !found {
		return fmt.Errorf("%.40q is no index:value: mend the line", word)
	}
	if string(index) == "qid" {
		r.queries = true
		return nil
	}
	i, err := strconv.Atoi(textOf(index))
	if err != nil || i < 0 {
		return fmt.Errorf("%.40q is no index:value: indices are whole numbers from 0 to %d", word, math.MaxInt)
	}
	r.largest, r.zero = max(r.largest, i), r.zero || i == 0
	if r.looks {
		return nil
	}
	v, err := sparseValue(value)
	if err != nil {
		return fmt.Errorf("feature %d: %.40q is not a number: mend it", i, value)
	}
	if r.indices, err = push(r.mem, r.indices, i); err == nil {
		r.values, err = push(r.mem, r.values, v)
	}
	return err
}

// sparseValue reads a number as float32, in which it may be infinite.
func sparseValue(text []byte) (float64, error) {
	if v, ok := scan.Float32(text); ok {
		return float64(v), nil
	}
	v, err := parseFloat(textOf(text), 32)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	return v, err
}
