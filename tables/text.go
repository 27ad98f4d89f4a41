package tables

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"mars.dev/mars/arrowio"
)

var textFormat = &format{
	name: "a text table", short: "CSV, TSV", extensions: []string{".csv", ".tsv"}, // what else text is, is told after this
	read: readText, rows: textBatches, labels: readTextLabels,
}

// readText reads a text table: a header, then one line for each row. Fields may
// be quoted as in RFC 4180.
func readText(ctx context.Context, in *input, o Options) ([]*Table, error) {
	r, err := newTextReader(in, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	p, err := planned(&o, func(o Options) (*textPlan, error) { return planText(r.header, o) })
	if err != nil {
		return nil, r.explain(err)
	}
	if o.OnlyIDs {
		if p.id < 0 {
			return []*Table{{}}, nil
		}
		p.cells, p.width, p.settled = nil, 0, true
	}
	split := newSplitter(o, in.mem)
	t := &textTables{plan: p, split: split, tables: newTextTables(p, split.parts, o, in.mem), lines: true, mem: in.mem}
	if err := t.addAll(ctx, r); err != nil {
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

// textTables are the tables of an input, a table a part. The first rows wait until it is
// settled what the columns are.
type textTables struct {
	plan   *textPlan
	split  *splitter
	tables []*textTable
	first  []textRow
	held   int64 // memory of first
	lines  bool  // the rows are a line each
	mem    *arrowio.Budget
}

// A textRow is a record, its part and which row of the input it was.
type textRow struct {
	*textRecord
	part, row int
}

// addAll adds the records of r. Once it is settled what the columns are, several threads
// read them.
func (t *textTables) addAll(ctx context.Context, r *recordReader) error {
	for !t.plan.settled {
		record, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.add(ctx, record); err != nil {
			return err
		}
	}
	numbers, texts := t.plan.uses()
	for _, table := range t.tables {
		table.ahead = r.ahead
	}
	return r.each(ctx, numbers, texts, t.plan.style(), func(record *textRecord) error { return t.add(ctx, record) })
}

// add adds the next record, which need not stay as it is.
func (t *textTables) add(ctx context.Context, record *textRecord) error {
	domain := ""
	if i := t.plan.domain; i >= 0 {
		domain = record.fields[i]
	}
	row := t.split.rows
	k, err := t.split.part(domain)
	if err != nil {
		return err
	}
	t.lines = t.lines && record.line == row+2
	if k < 0 {
		return nil
	}
	if t.plan.settled {
		return t.addRow(ctx, textRow{record, k, row})
	}
	kept, size := record.clone()
	if err := t.mem.Take(size); err != nil {
		return err
	}
	t.held += size
	t.first = append(t.first, textRow{kept, k, row})
	if len(t.first) < settleRows && t.plan.options.Mixed {
		return nil
	}
	return t.settle(ctx)
}

// settle settles what the columns are, and adds the rows that wait.
func (t *textTables) settle(ctx context.Context) error {
	sample := make([][]string, len(t.first))
	for i, row := range t.first {
		sample[i] = row.fields
	}
	if err := t.plan.settle(sample); err != nil {
		return err
	}
	for _, row := range t.first {
		if err := t.addRow(ctx, row); err != nil {
			return err
		}
	}
	t.mem.Give(t.held)
	t.first, t.held = nil, 0
	return nil
}

func (t *textTables) addRow(ctx context.Context, row textRow) error {
	table := t.tables[row.part]
	if err := table.add(row); err != nil {
		return err
	}
	table.lines = t.lines
	return table.pass(ctx, t.plan.options.Each, blockValues)
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
	if err := t.plan.badCells(); err != nil {
		return nil, err
	}
	t.tables[0].lines = t.lines
	if err := t.tables[0].pass(ctx, t.plan.options.Each, 0); err != nil {
		return nil, err
	}
	out := make([]*Table, len(t.tables))
	for k, table := range t.tables {
		table.lines = t.lines
		var err error
		if out[k], err = table.finish(ctx); err != nil {
			return nil, err
		}
		out[k].others = t.split.others()
	}
	return out, nil
}

// A textTable grows row by row. The tables of an input share their plan and the names.
type textTable struct {
	plan   *textPlan
	mem    *arrowio.Budget
	labels bool // to be kept
	ids    bool // to be kept
	bare   bool // without features
	divide bool // the input has other rows too
	data   []float32
	ahead  forecast // of data
	rows   int
	passed int // rows that are not in data any more
	origin
	names []string // labels
	paths []string // of pictures
	named identities
	known map[string]string // lets equal labels share memory
}

func newTextTables(p *textPlan, parts []Part, o Options, mem *arrowio.Budget) []*textTable {
	known := map[string]string{}
	tables := make([]*textTable, len(parts))
	for k, part := range parts {
		tables[k] = &textTable{plan: p, mem: mem, known: known, bare: o.OnlyIDs || o.Image != "", divide: o.Domain != "", ids: p.id >= 0 && (o.Each == nil || o.EachNames), labels: p.label >= 0 && o.Labels == "" && !part.NoLabels && (o.Each == nil || o.EachNames) && !o.OnlyIDs}
	}
	return tables
}

// add appends a row.
func (t *textTable) add(row textRow) (err error) {
	at, record := len(t.data), row.fields
	if t.data, err = extendAhead(t.mem, t.data, t.plan.width, t.ahead); err != nil {
		return err
	}
	if err := t.plan.read(t.data[at:], row.textRecord, t.mem); err != nil {
		return err
	}
	for k := range t.plan.skipped {
		if s := &t.plan.skipped[k]; !s.tally.many {
			s.tally.add(strings.TrimSpace(record[s.at]))
		}
	}
	t.rows++
	if t.divide {
		if t.at, err = push(t.mem, t.at, row.row); err != nil {
			return err
		}
	}
	if t.labels {
		name, err := t.intern(strings.TrimSpace(record[t.plan.label]))
		if err != nil {
			return err
		}
		if t.names, err = push(t.mem, t.names, name); err != nil {
			return err
		}
	}
	if i := t.plan.image; i >= 0 && t.bare {
		if t.paths, err = pushName(t.mem, t.paths, strings.TrimSpace(record[i])); err != nil {
			return err
		}
	}
	if !t.ids {
		return nil
	}
	return t.named.add(t.mem, strings.TrimSpace(record[t.plan.id]))
}

// pass gives the rows to each if they have that many values, and forgets them.
func (t *textTable) pass(ctx context.Context, each func(*Table) error, values int) error {
	cols := t.plan.width
	if each == nil || len(t.data) == 0 || len(t.data)+cols <= values {
		return nil
	}
	block, err := newBlock(ctx, t.data, t.plan.fields(), cols, t.passed)
	if err != nil {
		return err
	}
	block.Columns, block.Skipped = t.plan.names()
	block.origin = origin{before: t.passed, lines: t.lines}
	labels := t.names
	t.names = nil // whose texts are shared
	block.takeNames(t.mem, &t.names, &t.named)
	give[string](t.mem, cap(labels))
	block.Labels = labels
	t.passed, t.data = t.rows, make([]float32, 0, cap(t.data)) // the block may be kept
	return each(block)
}

func (t *textTable) intern(name string) (string, error) {
	known, ok := t.known[name]
	if !ok {
		if err := t.mem.Take(int64(len(name)) + nameCost); err != nil {
			return "", err
		}
		known = strings.Clone(name)
		t.known[known] = known
	}
	return known, nil
}

func (t *textTable) finish(ctx context.Context) (*Table, error) {
	p := t.plan
	if p.width == 0 && !t.bare {
		return nil, fmt.Errorf("has no column of numbers for features (its columns are %s): make numbers of text, or name the feature columns", list(p.header))
	}
	out := &Table{Features: blas32.General{Rows: t.rows, Cols: p.width}, Fields: p.fields(), mem: t.mem}
	if !t.bare && t.passed == 0 {
		var err error
		if out, err = newMixedTable(ctx, t.data, p.fields(), t.rows, p.width, []int{p.width}, t.mem); err != nil {
			return nil, err
		}
	}
	out.origin, out.paths = t.origin, t.paths
	if p.label >= 0 && !t.labels {
		out.Unread = p.header[p.label]
	}
	out.Columns, out.Skipped = p.names()
	var err error
	if t.labels && t.passed == 0 && p.options.Times {
		out.Labels = t.names
	} else if t.labels && t.passed == 0 {
		if out.Labels, err = wholeLabels(t.names); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.label], err)
		}
	}
	if t.ids && t.passed == 0 {
		if err := out.setIDs(ctx, t.named); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.id], err)
		}
	}
	return out, nil
}
