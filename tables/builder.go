package tables

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
)

// A builder makes the tables of an input, a table a part, of its rows, which come block by
// block.
type builder struct {
	plan   *plan
	split  *splitter
	each   func(*Table) error // see Options.Each
	tables []*partTable
	all    []int // 0, 1, …: the rows of a block, where all are of one part
	lines  bool  // see origin
	finite bool  // blocks check their features
	mem    *arrowio.Budget
}

// A block is some rows of an input.
type block interface {
	// features are those of the rows of each part, as columns side by side, which have room
	// for the other rows of the block too.
	features(rows [][]int) ([]arrowio.Vectors, error)
	// names are the values of a column, of all rows of the block.
	names(column int) ([]string, error)
	// tally counts the values of columns that are not read, in the rows of each part.
	tally(rows [][]int) error
	// check returns an error if a feature is neither finite nor missing where it may be. It is
	// asked when one is not finite.
	check() error
}

// blockRows are what is read of a block.
type blockRows struct {
	features                    []arrowio.Vectors
	check                       func() error // of the block, once
	labels, ids, paths, batches []string     // nil if they are not read
	levels                      [][]string
}

func newBuilder(p *plan, o Options, mem *arrowio.Budget, ahead forecast) *builder {
	b := &builder{plan: p, split: newSplitter(o, mem), each: o.Each, mem: mem}
	known, named := map[string]string{}, o.Each == nil || o.EachNames
	if o.Each != nil {
		ahead = nil // blocks are passed on long before the whole is there
	}
	for _, part := range b.split.parts {
		b.tables = append(b.tables, &partTable{
			mem: mem, ahead: ahead, known: known,
			labelled: p.wanted(p.label) >= 0 && !part.NoLabels && named && !o.OnlyIDs, named: p.id >= 0 && named,
			bare: o.OnlyIDs || o.Image != "", divided: o.Domain != "",
		})
		if t := b.tables[len(b.tables)-1]; t.labelled && o.Each == nil {
			t.levels = make([][]string, len(p.levels))
		}
	}
	return b
}

// divide returns the rows of each part in the next n rows, and whether some are in none.
func (b *builder) divide(n int, block block) (rows [][]int, left bool, err error) {
	if b.plan.domain < 0 {
		for len(b.all) < n {
			b.all = append(b.all, len(b.all))
		}
		b.split.rows += n
		return [][]int{b.all[:n]}, false, nil
	}
	values, err := block.names(b.plan.domain)
	if err != nil {
		return nil, false, err
	}
	rows = make([][]int, len(b.tables))
	for i, value := range values {
		k, err := b.split.part(value)
		if err != nil {
			return nil, false, err
		}
		if k < 0 {
			left = true
			continue
		}
		rows[k] = append(rows[k], i)
	}
	return rows, left, nil
}

// read reads the rows of each part.
func (b *builder) read(block block, rows [][]int) (read blockRows, err error) {
	if !slices.ContainsFunc(rows, func(r []int) bool { return len(r) > 0 }) {
		return read, nil
	}
	if read.features, err = block.features(rows); err != nil {
		return read, err
	}
	read.check = sync.OnceValue(block.check)
	for _, c := range []struct {
		column int
		names  *[]string
	}{{b.plan.wanted(b.plan.label), &read.labels}, {b.plan.id, &read.ids}, {b.plan.image, &read.paths}, {b.plan.batch, &read.batches}} {
		if c.column < 0 {
			continue
		}
		if *c.names, err = block.names(c.column); err != nil {
			return read, err
		}
	}
	if b.plan.wanted(b.plan.label) >= 0 {
		for _, column := range b.plan.levels {
			names, err := block.names(column)
			if err != nil {
				return read, err
			}
			read.levels = append(read.levels, names)
		}
	}
	return read, block.tally(rows)
}

// add appends rows of a block to the table of each part, and passes on what is enough. in is
// the row of the input that a row is.
func (b *builder) add(ctx context.Context, read blockRows, rows [][]int, in func(i int) int) error {
	if err := ctx.Err(); err != nil { // a block has few rows
		return err
	}
	width := 0
	for _, v := range read.features {
		width += v.Width
	}
	for k, t := range b.tables {
		for rest := rows[k]; len(rest) > 0; {
			n := len(rest)
			if b.each != nil && width > 0 {
				n = min(max((blockValues-len(t.data))/width, 1), maxBlockRows-(t.rows-t.passed), n)
			}
			if err := t.add(read, width, rest[:n], in); err != nil {
				return err
			}
			if err := t.pass(ctx, b, width, blockValues); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}

// check returns an error if a value of a table of the part is not finite. There are rows before it.
func (b *builder) check(ctx context.Context, part *partTable, t *Table, before int) error {
	if b.finite || !part.odd {
		return ctx.Err()
	}
	return t.checkFinite(ctx, before)
}

// finish makes the tables of what was read.
func (b *builder) finish(ctx context.Context) ([]*Table, error) {
	if err := b.split.check(); err != nil {
		return nil, err
	}
	for _, t := range b.tables {
		if t.rows > t.passed && len(t.data) > 0 {
			if err := t.pass(ctx, b, len(t.data)/(t.rows-t.passed), 0); err != nil {
				return nil, err
			}
		}
	}
	out := make([]*Table, len(b.tables))
	for k, t := range b.tables {
		var err error
		if out[k], err = t.finish(ctx, b); err != nil {
			return nil, err
		}
		out[k].others = b.split.others()
	}
	return out, nil
}

// A partTable is the rows of a part.
type partTable struct {
	mem      *arrowio.Budget
	labelled bool // labels are kept
	named    bool // identities are kept
	bare     bool // without features
	divided  bool // the input has other rows too
	data     []float32
	odd      bool     // a value in data is not finite
	ahead    forecast // of data
	rows     int
	passed   int // rows that are not in data any more
	labels   []string
	paths    []string // of pictures
	batches  []string
	levels   [][]string // of rows whose labels are kept
	ids      identities
	known    map[string]string // lets equal labels, batches and levels share memory
	origin
}

// add appends rows of a block, with its feature columns side by side.
func (t *partTable) add(read blockRows, width int, rows []int, in func(i int) int) (err error) {
	at := len(t.data)
	if t.data, err = extendAhead(t.mem, t.data, len(rows)*width, t.ahead); err != nil {
		return err
	}
	if width > 0 && !fillRows(t.data[at:], read.features, rows, width) {
		t.odd = true
		if err := read.check(); err != nil {
			return err
		}
	}
	t.rows += len(rows)
	if !t.labelled && !t.named && !t.divided && read.paths == nil && read.batches == nil {
		return nil
	}
	for _, i := range rows {
		if t.labelled {
			t.labels, err = t.push(t.labels, read.labels[i])
			for l := range t.levels {
				if err == nil {
					t.levels[l], err = t.push(t.levels[l], read.levels[l][i])
				}
			}
		}
		if err == nil && read.paths != nil {
			t.paths, err = pushName(t.mem, t.paths, read.paths[i])
		}
		if err == nil && read.batches != nil {
			t.batches, err = t.push(t.batches, read.batches[i])
		}
		if err == nil && t.named {
			err = t.ids.add(t.mem, read.ids[i])
		}
		if err == nil && t.divided {
			t.at, err = push(t.mem, t.at, in(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// push appends a label or a batch, which need not stay as it is.
func (t *partTable) push(names []string, name string) ([]string, error) {
	known, ok := t.known[name]
	if !ok {
		if err := t.mem.Take(int64(len(name)) + nameCost); err != nil {
			return nil, err
		}
		known = strings.Clone(name)
		t.known[known] = known
	}
	return push(t.mem, names, known)
}

// maxBlockRows is how many rows of few columns are passed on at least: a row has names beside its
// values.
const maxBlockRows = 1 << 15

// pass gives the rows to each if one more would be more than that many values, or they are many, and
// forgets them.
func (t *partTable) pass(ctx context.Context, b *builder, cols, values int) error {
	if b.each == nil || len(t.data) == 0 || len(t.data)+cols <= values && t.rows-t.passed < maxBlockRows {
		return nil
	}
	block := newBlock(t.data, b.plan.fields(), cols)
	if err := b.check(ctx, t, block, t.passed); err != nil {
		return err
	}
	block.Columns, block.Lists, block.Skipped, block.Centres = b.plan.columns(cols), b.plan.lists, b.plan.unread(), b.plan.centres()
	block.origin = origin{before: t.passed, lines: b.lines}
	t.odd = false
	t.passed, t.data = t.rows, make([]float32, 0, cap(t.data)) // the block may be kept
	t.giveNames(block)
	return b.each(block)
}

// giveNames gives a block the labels and identities that were kept since the last, and their
// memory back.
func (t *partTable) giveNames(block *Table) {
	block.Labels, block.IDInts, block.IDNames = t.labels, t.ids.ints, t.ids.names
	size := int64(cap(t.labels)+cap(t.ids.names))*sizeOf[string]() + int64(cap(t.ids.ints))*sizeOf[int64]()
	for _, name := range t.ids.names { // those of labels are shared
		size += int64(len(name))
	}
	t.mem.Give(size)
	t.labels, t.ids = nil, identities{}
}

func (t *partTable) finish(ctx context.Context, b *builder) (*Table, error) {
	p := b.plan
	width := len(p.vectors)
	if p.vectors == nil {
		width = p.width
	}
	out := &Table{Features: blas32.General{Rows: t.rows, Cols: width}, mem: t.mem}
	if !t.bare && t.passed == 0 {
		width = len(t.data) / t.rows
		var err error
		if out, err = newMixedTable(t.data, p.fields(), t.rows, width, []int{width}, t.mem); err != nil {
			return nil, err
		}
		if err := b.check(ctx, t, out, 0); err != nil {
			return nil, err
		}
	}
	out.origin, out.paths, out.Fields = t.origin, t.paths, p.fields()
	out.lines = b.lines
	out.Columns, out.Lists, out.Skipped, out.Centres = p.columns(width), p.lists, p.unread(), p.centres()
	out.Doubt = doubtOf(p.merged)
	if p.label >= 0 && !t.labelled {
		out.Unread = p.header[p.label]
	}
	if t.passed > 0 {
		return out, nil
	}
	out.Labels, out.Batches, out.Levels = t.labels, t.batches, t.levels
	if t.named {
		if err := out.setIDs(ctx, t.ids); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.id], err)
		}
	}
	return out, nil
}
