package tables

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
)

var textFormat = &format{
	name: "a text table", short: "CSV, TSV", extensions: []string{".csv", ".tsv"}, // what else text is, is told after this
	read: readText, rows: textBatches, labels: readTextLabels,
}

// readText reads a text table: a header, then one line for each row. Fields may
// be quoted as in RFC 4180.
func readText(ctx context.Context, in *input, o Options) ([]*Table, error) {
	r, err := abandonable(ctx, func() (*recordReader, error) { return newTextReader(in, o) })
	if err != nil {
		return nil, err
	}
	defer r.close()
	p, err := planned(&o, func(o Options) (*plan, error) {
		return abandonable(ctx, func() (*plan, error) { return planText(r.header, o) })
	})
	if err != nil {
		return nil, r.explain(err)
	}
	if o.OnlyIDs {
		if p.id < 0 {
			return []*Table{{}}, nil
		}
		p.cells, p.width, p.settled = nil, 0, true
	}
	if !o.OnlyIDs {
		p.awaitStyle(r.comma)
	}
	t := newTextTables(r, p, o, in.mem)
	defer func() { give[float32](in.mem, cap(t.cells)) }()
	if err := t.addAll(ctx); err != nil {
		if bad := p.badCells(); bad != nil && ctx.Err() == nil { // it comes before
			return nil, bad
		}
		return nil, err
	}
	out, err := t.finish(ctx)
	return out, r.explain(err)
}

// headerOf checks the names of the columns.
func headerOf(record []string) ([]string, error) {
	header, seen := make([]string, len(record)), make(map[string]bool, len(record))
	for i, name := range record {
		header[i] = strings.Clone(strings.TrimSpace(name))
		if seen[header[i]] && header[i] != "" {
			return nil, fmt.Errorf("line 1: column %q is there twice: rename one", header[i])
		}
		seen[header[i]] = true
	}
	if i := slices.IndexFunc(header, func(name string) bool { return strings.Contains(name, "\r") }); i >= 0 {
		return nil, errors.New("line 1: the lines end with carriage returns alone, as on old Macs: write them with line feeds: tr '\\r' '\\n' < old.csv > new.csv")
	}
	if isData(header) {
		return nil, errors.New("line 1: has numbers where the columns' names should be: add a header line")
	}
	return header, nil
}

// skipMark skips the byte-order mark at the beginning, which spreadsheets write.
func skipMark(r *bufio.Reader) {
	if head, err := r.Peek(3); err == nil && string(head) == "\xef\xbb\xbf" {
		r.Discard(3) // cannot fail: the bytes are there
	}
}

// separatorLine is the separator that a first line such as sep=; says, which Excel writes and
// reads; 0 if there is no such line, or lines are left out anyway.
func separatorLine(text *bufio.Reader, o Options) rune {
	if o.SkipLines > 0 {
		return 0
	}
	head, _ := text.Peek(16)
	line, _, found := strings.Cut(string(head), "\n")
	line = strings.TrimSuffix(line, "\r")
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		line = strings.TrimSuffix(quoted, `"`)
	}
	mark, ok := strings.CutPrefix(line, "sep=")
	if runes := []rune(mark); found && ok && len(runes) == 1 && runes[0] != '"' {
		return runes[0]
	}
	return 0
}

func separator(text *bufio.Reader, name string, o Options) rune {
	if o.Separator != 0 {
		return o.Separator
	}
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		return '\t'
	}
	line, _, _ := strings.Cut(beginning(text, o), "\n")
	best := ','
	for _, s := range ";\t|" {
		if strings.Count(line, string(s)) > strings.Count(line, string(best)) {
			best = s
		}
	}
	return best
}

// isData reports whether a header is in fact a row: all numbers, but not the 0, 1,
// 2, … with which pandas names the columns of an array.
func isData(header []string) bool {
	counted := true
	for i, name := range header {
		if _, err := parseFloat(name, 64); err != nil {
			return false
		}
		counted = counted && name == strconv.Itoa(i)
	}
	return !counted
}

// textTables builds the tables of a text. The first rows wait until it is settled what the
// columns are.
type textTables struct {
	*builder
	text  *recordReader
	first textBlock
	parts [][]int   // the rows of first
	in    []int     // the row of the input that each row of first is
	held  int64     // memory of first
	cells []float32 // of a block, where not all are plain numbers
}

func newTextTables(r *recordReader, p *plan, o Options, mem *arrowio.Budget) *textTables {
	b := newBuilder(p, o, mem, r.ahead)
	b.lines = true
	t := &textTables{builder: b, text: r, parts: make([][]int, len(b.tables))}
	t.first.textColumns = everyRow(len(r.header))
	return t
}

// addAll adds all records. Once it is settled what the columns are, several threads read
// them.
func (t *textTables) addAll(ctx context.Context) error {
	for !t.plan.settled {
		record, err := t.text.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = t.hold(ctx, record)
		} else if t.plan.options.Fields != nil && len(t.in) > 0 { // what is wrong with the rows that wait comes before
			err = cmp.Or(t.settle(ctx), err)
		}
		if err != nil {
			return err
		}
	}
	numbers, texts := t.plan.uses()
	return t.text.each(ctx, numbers, texts, t.plan.style(), func(b *textBlock) error {
		first := t.split.rows
		rows, _, err := t.divide(len(b.lines), rowsOfText{t, b})
		if err != nil {
			return err
		}
		for i, line := range b.lines {
			t.lines = t.lines && line == first+i+2
		}
		err = t.addRows(ctx, b, rows, func(i int) int { return first + i })
		if limit := (*arrowio.LimitError)(nil); errors.As(err, &limit) {
			err = fmt.Errorf("the rows from line %d on: %w", b.lines[0], err)
		}
		return err
	})
}

// addRows adds rows of a block.
func (t *textTables) addRows(ctx context.Context, b *textBlock, rows [][]int, in func(i int) int) error {
	read, err := t.read(rowsOfText{t, b}, rows)
	if err != nil {
		return err
	}
	return t.add(ctx, read, rows, in)
}

// hold keeps a record until it is settled what the columns are.
func (t *textTables) hold(ctx context.Context, record *textRecord) error {
	domain := ""
	if i := t.plan.domain; i >= 0 {
		domain = record.fields[i]
	}
	in := t.split.rows
	k, err := t.split.part(domain)
	if err != nil {
		return err
	}
	t.lines = t.lines && record.line == in+2
	if k < 0 {
		return nil
	}
	size := int64(len(record.fields)) * sizeOf[string]()
	for _, field := range record.fields {
		size += int64(len(field))
	}
	if err := t.mem.Take(size); err != nil {
		return err
	}
	t.held += size
	t.parts[k] = append(t.parts[k], len(t.in))
	t.in = append(t.in, in)
	t.first.lines = append(t.first.lines, record.line)
	for _, field := range record.fields {
		t.first.texts = append(t.first.texts, strings.Clone(field))
	}
	if len(t.in) < settleRows && t.plan.options.Mixed {
		return nil
	}
	return t.settle(ctx)
}

// settle settles what the columns are, and adds the rows that wait.
func (t *textTables) settle(ctx context.Context) error {
	var sample [][]string
	for row := range slices.Chunk(t.first.texts, len(t.plan.header)) {
		sample = append(sample, row)
	}
	if _, err := abandonable(ctx, func() (*plan, error) { return t.plan, t.plan.settle(sample) }); err != nil {
		return err
	}
	if err := t.addRows(ctx, &t.first, t.parts, func(i int) int { return t.in[i] }); err != nil {
		return err
	}
	t.mem.Give(t.held)
	t.first, t.in, t.held = textBlock{}, nil, 0
	return nil
}

// ErrNoRows is the error of a text table that ends with its header.
var ErrNoRows = errors.New("has a header but no rows: give data with at least one")

// finish makes the tables of what was read.
func (t *textTables) finish(ctx context.Context) ([]*Table, error) {
	if t.split.rows == 0 {
		return nil, ErrNoRows
	}
	if err := t.split.check(); err != nil {
		return nil, err
	}
	if !t.plan.settled {
		if err := t.settle(ctx); err != nil {
			return nil, err
		}
	}
	p := t.plan
	if err := p.badCells(); err != nil {
		return nil, err
	}
	if p.width == 0 && !t.tables[0].bare {
		return nil, fmt.Errorf("has no column of numbers for features (its columns are %s): make numbers of text, or name the feature columns", list(p.header))
	}
	out, err := t.builder.finish(ctx)
	for _, table := range out {
		table.Note = p.said
	}
	if p.options.Times {
		return out, err
	}
	for _, table := range out {
		for l := range table.Levels {
			if table.Levels[l], err = wholeLabels(table.Levels[l]); err != nil {
				return nil, fmt.Errorf("column %q: %w", p.header[p.levels[l]], err)
			}
		}
		if table.Labels, err = wholeLabels(table.Labels); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.label], err)
		}
	}
	return out, err
}

// rowsOfText are the rows of a block of text.
type rowsOfText struct {
	to *textTables
	*textBlock
}

func (r rowsOfText) names(column int) ([]string, error) {
	k, n := slices.Index(r.textColumns, column), len(r.textColumns)
	all := make([]string, len(r.lines))
	for i := range all {
		all[i] = strings.TrimSpace(r.texts[i*n+k])
	}
	return all, nil
}

func (r rowsOfText) features(rows [][]int) (_ []arrowio.Vectors, err error) {
	p, n := r.to.plan, len(r.lines)
	if p.width == 0 {
		return nil, nil
	}
	if len(r.numberColumns) == p.width && len(r.odd) == 0 {
		return []arrowio.Vectors{{Data: r.numbers, Rows: n, Width: p.width}}, nil
	}
	if r.to.cells, err = extend(r.to.mem, r.to.cells[:0], n*p.width, maxElements); err != nil {
		return nil, err
	}
	used := slices.Concat(rows...)
	slices.Sort(used)
	record := r.records()
	for _, i := range used {
		if err := p.read(r.to.cells[i*p.width:][:p.width], record(i), r.to.mem); err != nil {
			return nil, err
		}
	}
	return []arrowio.Vectors{{Data: r.to.cells, Rows: n, Width: p.width}}, nil
}

// check is for the whole table: a row is told by its number there.
func (r rowsOfText) check() error { return nil }

func (r rowsOfText) tally(rows [][]int) error {
	skipped, n, at := r.to.plan.skipped, len(r.textColumns), 0
	for k := range skipped {
		s := &skipped[k]
		for r.textColumns[at] != s.at { // they have one order
			at++
		}
		for _, part := range rows {
			for _, i := range part {
				if s.tally.many {
					break
				}
				s.tally.addField(r.texts[i*n+at])
			}
		}
	}
	return nil
}
