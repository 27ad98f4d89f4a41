package tables

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
	"mars.dev/mars/tables/scan"
)

// textChunk is about how many bytes are read at a time, 0: what is usual; a variable for
// tests.
var textChunk = 0

// A recordReader reads the records of a text table after its header.
type recordReader struct {
	scanner *scan.Scanner
	header  []string
	comma   rune
	spaced  bool // the columns seem to be apart by spaces
	asked   bool // the separator was given
	record  textRecord
	mem     *arrowio.Budget

	size, done int64 // bytes of the text, 0 if that is not known, and of the records that each has given

	lock   sync.Mutex
	blocks []*textBlock // that are not at work
}

// A textRecord is a record of a text table. It is valid until the next one is read.
type textRecord struct {
	line   int      // on which it begins
	fields []string // by column. Of columns that were read as numbers only those that are none

	// numbers are the values of the columns that were read as numbers, in their order; NaN
	// stands for fields that are none, or not plainly. nil: no columns were.
	numbers []float32
	odd     bool // NaN is among them
}

// beginText finds the separator.
func beginText(in *input, o Options) (*recordReader, error) {
	decoded, err := decodedText(in, o.Encoding)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(decoded, 1<<16)
	skipMark(text)
	if mark := separatorLine(text, o); mark != 0 {
		o.Separator, o.SkipLines = mark, 1
	}
	r := &recordReader{comma: separator(text, in.name, o), asked: o.Separator != 0, mem: in.reading, size: in.size()}
	in.comma = r.comma
	r.spaced = !r.asked && isSpaced(beginning(text, o), r.comma)
	// Several spaces are one separator.
	if r.scanner, err = scan.New(text, scan.Options{Separator: r.comma, Trim: r.comma == ' ', Comment: o.Comment, Skip: o.SkipLines, Memory: in.reading, Chunk: textChunk}); err != nil {
		return nil, err
	}
	return r, nil
}

// newTextReader reads the header and finds the separator.
func newTextReader(in *input, o Options) (*recordReader, error) {
	r, err := beginText(in, o)
	if err != nil {
		return nil, err
	}
	if o.NoHeader {
		return r, r.number()
	}
	record, err := r.next()
	if err != nil {
		r.close()
		return nil, err
	}
	if err := in.reading.Take(int64(len(record.fields)) * columnCost); err != nil {
		r.close()
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if r.header, err = headerOf(record.fields); err != nil {
		r.close()
		return nil, r.explain(err)
	}
	return r, nil
}

// number gives the columns of a table without a header names, by their first record.
func (r *recordReader) number() error {
	c, err := r.scanner.Peek()
	if err == nil {
		err = r.mem.Take(int64(c.Len()) * columnCost)
	}
	if err != nil {
		r.close()
		return r.textError(err, nil)
	}
	for i := range c.Len() {
		r.header = append(r.header, fmt.Sprintf("c%d", i+1))
	}
	return nil
}

// beginning are the first lines of a table, or the beginning of one.
func beginning(text *bufio.Reader, o Options) string {
	head, _ := text.Peek(text.Size())
	lines := strings.SplitAfter(string(head), "\n")
	lines = lines[min(o.SkipLines, len(lines)):]
	if o.Comment != "" {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, o.Comment) })
	}
	return strings.Join(lines, "")
}

// close gives back the memory.
func (r *recordReader) close() {
	r.scanner.Close()
	for _, b := range r.blocks {
		b.close(r.mem)
	}
}

// next reads the next record.
func (r *recordReader) next() (*textRecord, error) {
	c, err := r.scanner.Next()
	if err != nil {
		if r.header != nil && errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, r.textError(err, c)
	}
	record := &r.record
	record.line = c.Line()
	if record.fields, err = extend(r.mem, record.fields[:0], c.Len(), maxElements); err != nil {
		return nil, lineError(record.line, "%w", err)
	}
	for i := range record.fields {
		record.fields[i] = textOf(c.Field(i))
	}
	return record, nil
}

// each calls add for the other records, block by block, in order. The columns in numbers are
// read as numbers, by several threads at once, and those in texts are kept as they are.
func (r *recordReader) each(ctx context.Context, numbers, texts []int, style scan.Style, add func(*textBlock) error) error {
	split := func(c *scan.Chunk) (*textBlock, error) {
		b := r.newBlock()
		b.end, b.numberColumns, b.textColumns = c.End(), numbers, texts
		err := r.split(c, b, style)
		n := len(b.lines) // without what a row has that took no more memory
		b.numbers, b.texts = b.numbers[:n*len(numbers)], b.texts[:n*len(texts)]
		return b, err
	}
	return scan.Each(ctx, r.scanner, algorithms.Jobs(), split, func(b *textBlock) error {
		defer r.free(b)
		r.done = b.end
		return add(b)
	})
}

// ahead is a forecast of the records that each gives.
func (r *recordReader) ahead() float64 { return forecastOf(r.done, r.size) }

// A textBlock is what several threads make of the records of a chunk.
type textBlock struct {
	numberColumns, textColumns []int

	lines   []int     // a record
	numbers []float32 // of each record
	texts   []string  // of each record, in the chunk's memory
	odd     []oddCell
	end     int64 // of the chunk in the text
}

// An oddCell is one in a column of numbers that is none, or not plainly.
type oddCell struct {
	row, column int
	text        string // in the chunk's memory
}

// records gives the records of a block, of which those that are asked for come in order. One
// is valid until the next.
func (b *textBlock) records() func(row int) *textRecord {
	record, odd := &textRecord{}, b.odd
	for _, i := range slices.Concat(b.numberColumns, b.textColumns) {
		for len(record.fields) <= i {
			record.fields = append(record.fields, "")
		}
	}
	numbers, texts := len(b.numberColumns), len(b.textColumns)
	return func(row int) *textRecord {
		record.line = b.lines[row]
		record.numbers = b.numbers[row*numbers : (row+1)*numbers]
		for k, i := range b.textColumns {
			record.fields[i] = b.texts[row*texts+k]
		}
		for ; len(odd) > 0 && odd[0].row < row; odd = odd[1:] {
		}
		record.odd = len(odd) > 0 && odd[0].row == row
		for ; len(odd) > 0 && odd[0].row == row; odd = odd[1:] {
			record.fields[odd[0].column] = odd[0].text
		}
		return record
	}
}

func (r *recordReader) newBlock() *textBlock {
	r.lock.Lock()
	defer r.lock.Unlock()
	if n := len(r.blocks); n > 0 {
		b := r.blocks[n-1]
		r.blocks = r.blocks[:n-1]
		return b
	}
	return &textBlock{}
}

// free keeps a block for another chunk.
func (r *recordReader) free(b *textBlock) {
	*b = textBlock{lines: b.lines[:0], numbers: b.numbers[:0], texts: b.texts[:0], odd: b.odd[:0]}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.blocks = append(r.blocks, b)
}

func (b *textBlock) close(mem *arrowio.Budget) {
	give[int](mem, cap(b.lines))
	give[float32](mem, cap(b.numbers))
	give[string](mem, cap(b.texts))
	give[oddCell](mem, cap(b.odd))
}

// split adds the records of a chunk to b.
func (r *recordReader) split(c *scan.Chunk, b *textBlock, style scan.Style) error {
	numbers, texts := b.numberColumns, b.textColumns
	for row := 0; ; row++ {
		if err := c.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return r.textError(err, c)
		}
		at := len(b.numbers)
		var err error
		if b.numbers, err = extend(r.mem, b.numbers, len(numbers), maxElements); err != nil {
			return err
		}
		values := b.numbers[at:]
		if c.Numbers(numbers, style, values) > 0 {
			for k, i := range numbers {
				if v := values[k]; v == v {
					continue
				}
				if b.odd, err = push(r.mem, b.odd, oddCell{row, i, textOf(c.Field(i))}); err != nil {
					return err
				}
			}
		}
		at = len(b.texts)
		if b.texts, err = extend(r.mem, b.texts, len(texts), maxElements); err != nil {
			return err
		}
		for k, i := range texts {
			b.texts[at+k] = textOf(c.Field(i))
		}
		if b.lines, err = push(r.mem, b.lines, c.Line()); err != nil {
			return err
		}
	}
}

// explain says what to do about an error of the header, if the fields are apart in
// another way.
func (r *recordReader) explain(err error) error {
	switch {
	case err == nil || len(r.header) > 1:
	case r.spaced:
		return fmt.Errorf("line 1: the columns seem to be apart by spaces: give --separator ' '")
	case r.asked:
		return fmt.Errorf("%w; its header has no %q, and --separator holds for all tables: leave it out, and each table's own is found", err, r.comma)
	}
	return err
}

// isSpaced reports whether the first lines look like columns with spaces in between.
func isSpaced(head string, comma rune) bool {
	lines := strings.SplitN(head, "\n", 3)
	if len(lines) < 2 || strings.ContainsRune(lines[0], comma) {
		return false
	}
	names, values := len(strings.Fields(lines[0])), len(strings.Fields(lines[1]))
	return names > 1 && (values == names || values == names+1) // R writes row names without a header
}

// textError explains an error of the record of a chunk.
func (r *recordReader) textError(err error, c *scan.Chunk) error {
	fields, found := len(r.header), 0
	if c != nil {
		found = c.Len()
	}
	var bad *csv.ParseError
	var coded *encodingError
	var limit *arrowio.LimitError
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &limit):
		return err
	case errors.Is(err, io.EOF):
		return errors.New("has no header line: check what wrote it")
	case !errors.As(err, &bad):
		return readError(err)
	case r.spaced:
		return r.explain(err)
	case errors.Is(err, csv.ErrFieldCount) && found == fields+1 && len(c.Field(fields)) == 0:
		return fmt.Errorf("line %d: ends with a separator, and the header does not: take it away from all rows, or put one behind the header", bad.Line)
	case errors.Is(err, csv.ErrFieldCount) && found == fields-1 && r.header[fields-1] == "":
		return fmt.Errorf("line %d: has %d fields, and the header %d, since it ends with a separator: take that away, or put one behind each row", bad.Line, found, fields)
	case errors.Is(err, csv.ErrFieldCount) && bad.Line == 2 && found == fields+1:
		comma := ""
		if r.comma == ',' {
			comma = "; if a comma is a decimal mark, another character has to be between the fields"
		}
		return fmt.Errorf("line 2: has %d fields and the header %d: if the first are the row names that R writes, write the table without them (row.names = FALSE)%s", fields+1, fields, comma)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: has another number of fields than the %d of the header: mend the line, or check the separator", bad.Line, fields)
	}
	return fmt.Errorf("line %d, column %d: %w: mend the quotes of the line", bad.Line, bad.Column, bad.Err)
}
