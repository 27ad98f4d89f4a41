package featurize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mars.dev/mars/stages/featurize/format"
)

// LiveText reads a table of text that never ends, CSV or JSON lines, part by part. What a
// part holds does not depend on where the parts were cut.
type LiveText struct {
	*Live
	Name  string // of the input, for messages
	Lines int64  // that were read
	// Head is what comes before the rows of each part: the header of CSV, or a row of JSON
	// that shows the fields; "" while nothing was read.
	Head string
	json bool
}

// maxLine is the length of a line beyond which the input is taken to have none.
const maxLine = 64 << 20

// Cut returns how much of text is whole lines. end says that no more will come.
func (t *LiveText) Cut(text []byte, end bool) (int, error) {
	n := bytes.LastIndexByte(text, '\n') + 1
	if end {
		n = len(text)
	}
	for n > 0 && !end && !t.isJSON(text) && bytes.Count(text[:n], []byte{'"'})%2 == 1 { // in a quoted cell
		n = bytes.LastIndexByte(text[:n-1], '\n') + 1
	}
	if n == 0 && len(text) > maxLine {
		return 0, fmt.Errorf("%s: line %d is longer than %d MB: check what writes it", t.Name, t.Lines+1, maxLine>>20)
	}
	return n, nil
}

func (t *LiveText) isJSON(text []byte) bool {
	if t.Head != "" {
		text = []byte(t.Head)
	}
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

// Read reads whole lines, and calls rows for those that can be read and bad for each that
// cannot, in their order. rows returns how many it has taken; after an error the rest is not
// read. done is how many bytes were.
func (t *LiveText) Read(ctx context.Context, text []byte, rows func(*LiveRows) (int, error), bad func(error) error) (done int, err error) {
	all := text
	if t.json = t.isJSON(text); !t.json && t.Head == "" && !t.options.NoHeader {
		header := t.header(text)
		if header == 0 {
			t.Lines += int64(bytes.Count(text, []byte("\n")))
			return len(all), nil
		}
		t.Head = string(text[:header])
		if t.Head[header-1] != '\n' {
			t.Head += "\n"
		}
		t.Lines += int64(bytes.Count([]byte(t.Head), []byte("\n")))
		text = text[header:]
	}
	ends, head := t.lineEnds(text), len(all)-len(text)
	if t.json && t.Head == "" {
		if err := t.findHead(ctx, text, ends); err != nil {
			return 0, err
		}
	}
	begin := func(i int) int {
		if i == 0 {
			return 0
		}
		return ends[i-1]
	}
	before, stopped := t.Lines, len(text)
	read := func(lo, hi int) (*LiveRows, error) {
		read, err := t.part(ctx, text[begin(lo):ends[hi-1]])
		if err != nil && hi-lo == 1 {
			line := before + 1 + int64(bytes.Count(text[:begin(lo)], []byte("\n")))
			err = renumber(err, t.Name, "line", int64(bytes.Count([]byte(t.Head), []byte("\n")))+1, line)
		}
		return read, err
	}
	err = eachPiece(ctx, len(ends), read, func(lo, hi int, r *LiveRows) error {
		taken, err := rows(r)
		if err != nil {
			stopped = t.after(text, ends[lo:hi], begin(lo), taken)
		}
		return err
	}, bad)
	text = text[:stopped]
	t.Lines += int64(bytes.Count(text, []byte("\n")))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Lines++
	}
	return head + stopped, err
}

// pieceLines is how many lines are read at a time.
const pieceLines = 8192

// eachPiece is halve for pieces of n lines, one after another. While rows looks at one, the
// next is read.
func eachPiece(ctx context.Context, n int, read func(lo, hi int) (*LiveRows, error), rows func(lo, hi int, r *LiveRows) error, bad func(error) error) error {
	type piece struct {
		rows *LiveRows
		err  error
	}
	ahead := make(chan piece, 1)
	begin := func(lo int) {
		if lo < n {
			go func() {
				r, err := read(lo, min(lo+pieceLines, n))
				ahead <- piece{r, err}
			}()
		}
	}
	begin(0)
	for lo := 0; lo < n; lo += pieceLines {
		hi, got := min(lo+pieceLines, n), <-ahead
		begin(hi)
		first := true
		err := halve(ctx, lo, hi, func(lo, hi int) (*LiveRows, error) {
			if first {
				first = false
				return got.rows, got.err
			}
			return read(lo, hi)
		}, rows, bad)
		if err != nil {
			if hi < n {
				<-ahead
			}
			return err
		}
	}
	return nil
}

// after is where the line after so many rows begins.
func (t *LiveText) after(text []byte, ends []int, at, rows int) int {
	for _, end := range ends {
		if !t.isBlank(bytes.TrimSpace(text[at:end])) {
			if rows == 0 {
				return at
			}
			rows--
		}
		at = end
	}
	return at
}

// header is the length of the lines before the first row; 0: the header has not come yet.
func (t *LiveText) header(text []byte) int {
	at := 0
	for line := 0; at < len(text); line++ {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		content := bytes.TrimSpace(text[at:end])
		at = end
		if line >= t.options.SkipLines && !t.isBlank(content) {
			return at
		}
	}
	return 0
}

// isBlank reports whether a line is none of the table.
func (t *LiveText) isBlank(line []byte) bool {
	return len(line) == 0 || t.options.Comment != "" && bytes.HasPrefix(line, []byte(t.options.Comment))
}

// lineEnds are the ends of the lines, cells in quotes with line ends in them being of one.
func (t *LiveText) lineEnds(text []byte) []int {
	var ends []int
	quoted := !t.json && bytes.IndexByte(text, '"') >= 0
	odd, at := false, 0
	for at < len(text) {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if quoted && bytes.Count(text[at:end], []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if at = end; !odd || at == len(text) {
			ends = append(ends, at)
		}
	}
	return ends
}

// findHead finds a row of JSON that has all fields. Behind it, each row is read alike,
// whatever rows are with it.
func (t *LiveText) findHead(ctx context.Context, text []byte, ends []int) error {
	at := 0
	for _, end := range ends {
		line := bytes.TrimSpace(text[at:end])
		at = end
		if len(line) == 0 {
			continue
		}
		_, err := t.Live.Read(ctx, bytes.NewReader(line), t.Name)
		if err == nil {
			t.Head = string(line) + "\n"
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if lacking := (*format.MissingColumns)(nil); errors.As(err, &lacking) && end == ends[len(ends)-1] {
			return err
		}
	}
	return nil
}

// part reads the rows of lines. It returns nil if there are none.
func (t *LiveText) part(ctx context.Context, text []byte) (*LiveRows, error) {
	if !slices.ContainsFunc(bytes.Split(text[:min(len(text), 4096)], []byte("\n")), func(line []byte) bool { return !t.isBlank(bytes.TrimSpace(line)) }) && t.allBlank(text) {
		return nil, nil
	}
	headed := headedText{io.MultiReader(strings.NewReader(t.Head), bytes.NewReader(text)), len(t.Head) + len(text)}
	rows, err := t.Live.Read(ctx, headed, t.Name)
	if err != nil || !t.json || t.Head == "" {
		return rows, err
	}
	x := &rows.Features // without the row that shows the fields
	x.Rows--
	x.Data = x.Data[x.Stride:]
	if rows.Times != nil {
		rows.Times = rows.Times[1:]
	}
	if rows.Missing != nil {
		rows.Missing = rows.Missing[1:]
	}
	if x.Rows == 0 {
		return nil, nil
	}
	return rows, nil
}

// headedText is a text of two parts, of known length.
type headedText struct {
	io.Reader
	length int
}

// Len is the length.
func (h headedText) Len() int { return h.length }

func (t *LiveText) allBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !t.isBlank(bytes.TrimSpace(line)) {
			return false
		}
	}
	return true
}
