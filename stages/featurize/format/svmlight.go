package format

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// Rows of svmlight (LIBSVM) are a label and the features that are not 0, as in
//
//	+1 3:0.5 17:2   # comment
//
// They are read as columns of numbers whose names are the indices, up to the largest, and
// the column of labels. So an index is the same feature in every file, wherever the
// counting begins, and one that a file never has is 0 in it.

// maxSparse is the largest index: a row is as long, though it be all zeros.
const maxSparse = 1 << 14

// minSparseRows is how many rows of many columns a batch has.
const minSparseRows = 64

// A sparseReader reads them.
type sparseReader struct {
	lines   *lineReader
	mem     *arrowio.Budget
	largest int
	zero    bool // index 0 is there
	queries bool // qid is there
	row     []float32
	used    []int // indices of the row
	seen    []int // the last row that has the index, from 1
	rows    int
}

func openSVMLight(ctx context.Context, in *input, o Options) (*batches, error) {
	source, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	again := func() (*sparseReader, error) {
		whole := *in
		whole.Reader = bufio.NewReader(io.NewSectionReader(source, 0, size))
		lines, err := newLineReader(&whole, o.Encoding)
		return &sparseReader{lines: lines, mem: in.mem, row: make([]float32, maxSparse+1), seen: make([]int, maxSparse+1)}, err
	}
	first, err := again()
	if err != nil {
		return nil, err
	}
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
	first.want(o.Columns)
	r, err := again()
	if err != nil {
		return nil, err
	}
	fields := []arrow.Field{{Name: orDefault(o.Label, "label"), Type: arrow.BinaryTypes.String, Nullable: true}}
	begin := 1
	if first.zero {
		begin = 0
	}
	for i := begin; i <= first.largest; i++ {
		fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: arrow.PrimitiveTypes.Float32, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b, err := newBatchBuilder(schema, in.mem)
	if err != nil {
		return nil, err
	}
	b.most = max(b.most, minSparseRows)
	out := &batches{schema: schema, close: b.close, next: func() (arrow.Record, error) {
		return b.batch(func() (int, error) { return r.append(b, begin) })
	}}
	if first.queries {
		out.skipped = []Skipped{{Name: "qid", Why: "which query a row is of"}}
	}
	return out, nil
}

// want makes room for features that are asked for by name, which this file may not have.
func (r *sparseReader) want(columns []string) {
	for _, name := range columns {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i <= maxSparse {
			r.largest, r.zero = max(r.largest, i), r.zero || i == 0
		}
	}
}

// append reads a row into the next batch.
func (r *sparseReader) append(b *batchBuilder, begin int) (int, error) {
	label, size, err := r.next()
	if err != nil {
		return 0, err
	}
	b.Field(0).(*array.StringBuilder).Append(label)
	columns := b.Fields()[1:]
	for k, c := range columns {
		c.(*array.Float32Builder).Append(r.row[begin+k])
	}
	return size + 4*len(columns), nil
}

// next reads the next row into r.row and returns its label.
func (r *sparseReader) next() (label string, size int, err error) {
	for _, i := range r.used {
		r.row[i] = 0
	}
	r.used = r.used[:0]
	r.rows++
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
	if label, err = sparseLabel(string(word)); err != nil {
		return "", 0, lineError(r.lines.line, "%w", err)
	}
	for len(rest) > 0 {
		word, rest = nextWord(rest)
		if err := r.feature(string(word)); err != nil {
			return "", 0, lineError(r.lines.line, "%w", err)
		}
	}
	return label, size, nil
}

// nextWord is what stands before the next spaces, and what stands after them.
func nextWord(line []byte) (word, rest []byte) {
	end := bytes.IndexAny(line, " \t")
	if end < 0 {
		return line, nil
	}
	return line[:end], bytes.TrimLeft(line[end:], " \t")
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
		return word, nil // a name
	}
	return floatLabel(v)
}

// feature reads one index:value.
func (r *sparseReader) feature(word string) error {
	index, value, found := strings.Cut(word, ":")
	if !found {
		return fmt.Errorf("%.40q is no index:value: mend the line", word)
	}
	if index == "qid" {
		r.queries = true
		return nil
	}
	i, err := strconv.Atoi(index)
	if err != nil && !errors.Is(err, strconv.ErrRange) || i < 0 {
		return fmt.Errorf("%.40q is no index:value: indices are whole numbers from 0", word)
	}
	if i > maxSparse {
		return fmt.Errorf("has feature %s, and rows have up to %d: bring the features to fewer, in Python: X, y = sklearn.datasets.load_svmlight_file(\"x\"); numpy.savez(\"x.npz\", X=sklearn.decomposition.TruncatedSVD(100).fit_transform(X), y=y), source and target together", index, maxSparse)
	}
	if r.seen[i] == r.rows {
		return fmt.Errorf("has feature %d twice: mend the line", i)
	}
	r.seen[i] = r.rows
	v, err := parseFloat(value, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("feature %d: %.40q is not a number: mend it", i, value)
	}
	r.row[i], r.used = float32(v), append(r.used, i)
	r.largest, r.zero = max(r.largest, i), r.zero || i == 0
	return nil
}
