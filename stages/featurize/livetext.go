package featurize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mars.dev/mars/tables"
)

// LiveText reads a table of text that never ends, CSV or JSON lines, part by part. What a
// part holds does not depend on where the parts were cut.
type LiveText struct {
	*Live
	Name  string // of the input, for messages
	Lines int64  // that were read
	// Head is what comes before the rows of each part: the header of CSV, or a row of JSON
	// that shows the fields; "" while nothing was read.
	Head  string
	json  bool
	ahead *liveLines // the text of the next call of Read, if it is known
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
//
// When the last of text is being read, next is asked for the whole lines that follow, if some
// have come, so that they are read meanwhile: they are then to be the text of the next call.
// It may be nil.
func (t *LiveText) Read(ctx context.Context, text []byte, rows func(*LiveRows) (int, error), bad func(error) error, next func() []byte) (done int, err error) {
	l := t.ahead
	if t.ahead = nil; l == nil {
		if t.json = t.isJSON(text); !t.json && t.Head == "" && !t.options.NoHeader {
			header := t.header(text)
			if header == 0 {
				t.Lines += int64(bytes.Count(text, []byte("\n")))
				return len(text), nil
			}
			t.Head = string(text[:header])
			if t.Head[header-1] != '\n' {
				t.Head += "\n"
			}
			t.Lines += int64(bytes.Count([]byte(t.Head), []byte("\n")))
			if _, err := t.Live.Read(ctx, strings.NewReader(t.Head), t.Name); err != nil && !errors.Is(err, tables.ErrNoRows) {
				return 0, err
			}
			text, done = text[header:], header
		}
		l = t.liveLines(text, t.Lines)
		if t.json && t.Head == "" {
			if err := t.findHead(ctx, text, l.ends); err != nil {
				return 0, err
			}
		}
		l.begin(ctx)
	}
	stopped := len(l.text)
	err = l.each(ctx, func(lo, hi int, r *LiveRows) error {
		taken, err := rows(r)
		if err != nil {
			stopped = t.after(l.text, l.ends[lo:hi], l.start(lo), taken)
		}
		return err
	}, bad, func() {
		if next == nil || t.json && t.Head == "" {
			return
		}
		if follows := next(); len(follows) > 0 {
			t.ahead = t.liveLines(follows, t.Lines+l.count)
			t.ahead.begin(ctx)
		}
	})
	if err != nil {
		t.ahead.drop()
		t.ahead = nil
	}
	if stopped < len(l.text) {
		l.count = lineCount(l.text[:stopped])
	}
	t.Lines += l.count
	return done + stopped, err
}

// lineCount is how many lines a text has, the last of which may lack its end.
func lineCount(text []byte) int64 {
	n := int64(bytes.Count(text, []byte("\n")))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// liveLines are whole lines of a table, which are read piece by piece, the next ones while
// rows are looked at.
type liveLines struct {
	table  *LiveText
	text   []byte
	count  int64 // of lines, those within quotes too
	ends   []int // of the lines, cells in quotes with line ends in them being of one
	before int64 // lines of the table before these
	begun  int   // lines that are read, or have been
	ahead  []chan livePiece
}

// A livePiece is what came of the lines of a piece.
type livePiece struct {
	rows *LiveRows
	err  error
}

func (t *LiveText) liveLines(text []byte, before int64) *liveLines {
	n := lineCount(text)
	return &liveLines{table: t, text: text, count: n, ends: t.lineEnds(text, n), before: before}
}

// start is where line i begins.
func (l *liveLines) start(i int) int {
	if i == 0 {
		return 0
	}
	return l.ends[i-1]
}

func (l *liveLines) read(ctx context.Context, lo, hi int) (*LiveRows, error) {
	t, text := l.table, l.text[l.start(lo):l.ends[hi-1]]
	read, err := t.part(ctx, text)
	if t.hasOtherHeader(text) {
		err = &HeaderError{t.Name, l.before + 1 + int64(bytes.Count(l.text[:l.start(lo)], []byte("\n")))}
	}
	if err != nil && hi-lo == 1 {
		line := l.before + 1 + int64(bytes.Count(l.text[:l.start(lo)], []byte("\n")))
		err = renumber(err, t.Name, "line", int64(bytes.Count([]byte(t.Head), []byte("\n")))+1, line)
	}
	return read, err
}

const (
	// pieceLines is how many lines are read at a time.
	pieceLines = 8192
	// piecesAhead is how many pieces are read while the rows of one are looked at, so that
	// the steps of one that take one thread have those of another beside them.
	piecesAhead = 2
)

// begin begins to read pieces.
func (l *liveLines) begin(ctx context.Context) {
	for len(l.ahead) < piecesAhead && l.begun < len(l.ends) {
		piece := make(chan livePiece, 1)
		lo, hi := l.begun, min(l.begun+pieceLines, len(l.ends))
		go func() {
			r, err := l.read(ctx, lo, hi)
			piece <- livePiece{r, err}
		}()
		l.ahead, l.begun = append(l.ahead, piece), hi
	}
}

// next waits for the next piece, and begins others.
func (l *liveLines) next(ctx context.Context) livePiece {
	got := <-l.ahead[0]
	l.ahead = l.ahead[1:]
	l.begin(ctx)
	return got
}

// drop waits for the pieces that nobody will look at.
func (l *liveLines) drop() {
	if l == nil {
		return
	}
	for _, piece := range l.ahead {
		<-piece
	}
}

// each is halve for all pieces, the first of which have been begun. begun is called once
// all are.
func (l *liveLines) each(ctx context.Context, rows func(lo, hi int, r *LiveRows) error, bad func(error) error, begun func()) error {
	n, told := len(l.ends), false
	for lo := 0; lo < n; lo += pieceLines {
		hi, got := min(lo+pieceLines, n), l.next(ctx)
		if !told && l.begun == n {
			told = true
			begun()
		}
		first := true
		err := halve(ctx, lo, hi, func(lo, hi int) (*LiveRows, error) {
			if first {
				first = false
				return got.rows, got.err
			}
			return l.read(ctx, lo, hi)
		}, rows, bad)
		if err != nil {
			l.drop()
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

// A HeaderError is a second header among the rows, with the columns in another order.
type HeaderError struct {
	Name string // of the input
	Line int64
}

// Error says what is wrong.
func (e *HeaderError) Error() string {
	return fmt.Sprintf("%s: line %d is a header with the columns in another order than the first, and the rows after it cannot be read as those before: write them to another file, or in the first order", e.Name, e.Line)
}

// hasOtherHeader reports whether a line is the header with its columns in another order.
func (t *LiveText) hasOtherHeader(text []byte) bool {
	if t.json || t.Head == "" {
		return false
	}
	header := headerNames(t.headLine())
	names := slices.Sorted(slices.Values(header))
	longest := ""
	for _, name := range names {
		if len(name) > len(longest) {
			longest = name
		}
	}
	if !bytes.Contains(text, []byte(longest)) {
		return false
	}
	for line := range bytes.Lines(text) {
		if there := headerNames(string(line)); len(there) == len(header) && !slices.Equal(there, header) && slices.Equal(slices.Sorted(slices.Values(there)), names) {
			return true
		}
	}
	return false
}

// headLine is the line of the header.
func (t *LiveText) headLine() string {
	head := strings.TrimSuffix(t.Head, "\n")
	return head[strings.LastIndexByte(head, '\n')+1:]
}

// headerNames are the names in a header, whatever is between them.
func headerNames(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t| \"\r\n", r) })
}

// header is the length of the lines before the first row; 0: the header has not come yet.
func (t *LiveText) header(text []byte) int {
	at, lines := 0, 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if lines >= t.options.SkipLines && !t.isBlank(bytes.TrimSpace(line)) {
			return at
		}
		lines++
	}
	return 0
}

// isBlank reports whether a line is none of the table.
func (t *LiveText) isBlank(line []byte) bool {
	return len(line) == 0 || t.options.Comment != "" && bytes.HasPrefix(line, []byte(t.options.Comment))
}

// lineEnds are the ends of the lines, of which there are count with those within quotes.
func (t *LiveText) lineEnds(text []byte, count int64) []int {
	ends := make([]int, 0, count)
	quoted := !t.json && bytes.IndexByte(text, '"') >= 0
	odd, at := false, 0
	for line := range bytes.Lines(text) {
		if quoted && bytes.Count(line, []byte{'"'})%2 == 1 {
			odd = !odd
		}
		if at += len(line); !odd || at == len(text) {
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
	}
	return nil
}

// part reads the rows of lines. It returns nil if there are none.
func (t *LiveText) part(ctx context.Context, text []byte) (*LiveRows, error) {
	if t.allBlank(text) {
		return nil, nil
	}
	headed := headedText{io.MultiReader(strings.NewReader(t.Head), bytes.NewReader(text)), len(t.Head) + len(text)}
	rows, err := t.Live.Read(ctx, headed, t.Name)
	if err != nil {
		return nil, err
	}
	if !t.json || t.Head == "" {
		return t.then(ctx, rows), nil
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
	return t.then(ctx, rows), nil
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
