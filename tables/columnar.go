package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
)

// records returns the next batch of a columnar input, and io.EOF after the last.
// A batch is valid until the next call.
type records func() (arrow.Record, error)

// readRecords reads the tables of Arrow batches.
func readRecords(ctx context.Context, next records, ahead forecast, p *columnPlan, o Options, mem *arrowio.Budget) ([]*Table, error) {
	if o.OnlyIDs && p.id == "" {
		return []*Table{{}}, nil
	}
	t := newColumnTables(p, o, mem)
	for _, table := range t.tables {
		table.ahead = ahead
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rec, err := next()
		if errors.Is(err, io.EOF) {
			if err := t.tables[0].pass(ctx, p, o.Each, 0); err != nil {
				return nil, err
			}
			return t.finish(ctx)
		}
		if err != nil {
			return nil, err
		}
		first := t.split.rows
		if err := t.add(ctx, rec); err != nil {
			if at := (*arrowio.RowError)(nil); errors.As(err, &at) {
				at.Row += first
				return nil, at
			}
			return nil, fmt.Errorf("batch that begins at row %d: %w", first+1, err)
		}
		if err := t.tables[0].pass(ctx, p, o.Each, blockValues); err != nil {
			return nil, err
		}
	}
}

// A columnPlan names the columns of a columnar input that are read.
type columnPlan struct {
	features          []string
	cells             *columnCells // reads them if they are mixed; nil: all are numbers or lists
	label, id, domain string       // "" if there is none or it is not needed
	image             string       // column of paths; "" if there is none
	unread            string       // the column of labels
	times             bool         // labels are times
	skipped           []Skipped
	text              []string // those of skipped that are text
	tallies           []tally  // of these
}

// planColumns plans for a schema without structs.
func planColumns(schema *arrow.Schema, o Options) (*columnPlan, error) {
	header := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		header[i] = f.Name
	}
	r, err := rolesOf(header, o)
	if err != nil {
		return nil, err
	}
	columns := o.Columns
	if o.Fields != nil {
		columns = names(o.Fields)
	}
	features, err := chosen(header, r, columns)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 && o.Image == "" {
		if features, err = usualFeatures(schema, r, o); err != nil {
			return nil, err
		}
	}
	p := &columnPlan{times: o.Times}
	used := setOf(features)
	for i, name := range header {
		f := schema.Field(i)
		if err := checkType(f, used[i], r.has(i), o.Mixed); err != nil {
			return nil, err
		}
		switch {
		case i == r.label:
			p.unread = name
			if o.Labels == "" && !o.noLabels() {
				p.label = name
			}
		case i == r.id:
			p.id = name
		case i == r.domain:
			p.domain = name
		case i != r.image && !used[i]:
			p.skip(f, len(columns) == 0 && o.Image == "" && !o.excluded(name))
		}
	}
	for _, i := range features {
		p.features = append(p.features, header[i])
	}
	p.tallies = make([]tally, len(p.text))
	if o.OnlyIDs || o.Image != "" {
		p.features, p.text, p.image = nil, nil, o.Image
		return p, nil
	}
	p.cells, err = newColumnCells(schema, p.features, o)
	return p, err
}

// fields are the columns of the Table; nil if all are numbers.
func (p *columnPlan) fields() []Field {
	if p.cells == nil {
		return nil
	}
	return p.cells.text.fields()
}

// names are those of the columns of a Table of so many; nil for the numbers of lists.
func (p *columnPlan) names(columns int) []string {
	if p.cells != nil {
		all, _ := p.cells.text.names()
		return all
	}
	if columns == len(p.features) {
		return p.features
	}
	return nil
}

// skip notes a column that is not read; open says that no features were named.
func (p *columnPlan) skip(f arrow.Field, open bool) {
	s := Skipped{Name: f.Name}
	switch {
	case slices.Contains(reserved, f.Name):
		s.Why = reservedWhy(f.Name)
	case open:
		s.Why = whyNot(f.Type)
	}
	if isText(f.Type) && (s.Why == WhyText || f.Name == "domain") {
		p.text = append(p.text, f.Name)
	}
	p.skipped = append(p.skipped, s)
}

// whyNot says why a column of the type is no feature.
func whyNot(t arrow.DataType) string {
	switch {
	case isText(t):
		return WhyText
	case isTime(t):
		return whyDates
	case isNumber(t):
		return "numbers beside a column of lists"
	case t.ID() == arrow.NULL:
		return "empty"
	}
	return t.String()
}

// isTime reports whether values of the type are dates, times or times that something took.
func isTime(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return true
	}
	return false
}

// isText reports whether values of the type are strings.
func isText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// skippedNow are the columns that were not read, with what the values of text say.
func (p *columnPlan) skippedNow() []Skipped {
	skipped := slices.Clone(p.skipped)
	for k, name := range p.text {
		i := slices.IndexFunc(skipped, func(s Skipped) bool { return s.Name == name })
		seen := p.tallies[k].skip(name)
		if skipped[i].Why == WhyText {
			skipped[i].Why = seen.Why
		}
		skipped[i].Values = seen.Values
	}
	return skipped
}

// uses is the set of the columns that the plan reads.
func (p *columnPlan) uses() map[string]bool {
	set := map[string]bool{p.label: true, p.id: true, p.domain: true, p.image: true}
	for _, name := range p.features {
		set[name] = true
	}
	return set
}

// usualFeatures returns the feature columns if none were named: the only column
// of lists, otherwise all columns of numbers.
func usualFeatures(schema *arrow.Schema, r roles, o Options) ([]int, error) {
	for what, patterns := range map[string][]string{"exclude": o.Exclude, "categorical": o.Categorical} {
		all := make([]string, schema.NumFields())
		for i, f := range schema.Fields() {
			all[i] = f.Name
		}
		if err := checkPatterns(what, patterns, all); err != nil {
			return nil, err
		}
	}
	var lists, numbers []int
	var listNames, names []string
	for i, f := range schema.Fields() {
		names = append(names, f.Name)
		switch {
		case r.has(i) || slices.Contains(reserved, f.Name) || o.excluded(f.Name):
		case isList(f.Type):
			lists, listNames = append(lists, i), append(listNames, f.Name)
		case isNumber(f.Type) || o.Mixed && isMixed(f.Type):
			numbers = append(numbers, i)
		}
	}
	switch {
	case len(lists) == 1:
		return lists, nil
	case len(lists) > 1:
		return nil, fmt.Errorf("has several columns of lists (%s): name the one with the features with --columns", list(listNames))
	case len(numbers) == 0:
		return nil, fmt.Errorf("has no column of numbers or lists for features (its columns are %s): make numbers of text, or name the feature columns", list(names))
	}
	return numbers, nil
}

// checkType returns an error if the type of a column does not fit its role:
// feature, or name (label or id).
func checkType(f arrow.Field, feature, name, mixed bool) error {
	if feature && !isNumber(f.Type) && !isList(f.Type) && !(mixed && isMixed(f.Type)) {
		return fmt.Errorf("column %q: has type %s: features must be numbers, or lists of numbers", f.Name, f.Type)
	}
	if name && arrow.IsNested(f.Type.ID()) {
		return fmt.Errorf("column %q: has type %s: labels and ids must be strings or whole numbers", f.Name, f.Type)
	}
	return nil
}

// isMixed reports whether values of the type are text, dates or times.
func isMixed(t arrow.DataType) bool {
	return isText(t) || isDate(t) || slices.Contains([]arrow.Type{arrow.TIME32, arrow.TIME64, arrow.DURATION}, t.ID())
}

// isNumber reports whether values of the type are numbers: true and false are 1 and 0.
func isNumber(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || arrow.IsDecimal(t.ID()) || t.ID() == arrow.BOOL
}

func isList(t arrow.DataType) bool {
	if ext, ok := t.(arrow.ExtensionType); ok {
		t = ext.StorageType()
	}
	l, ok := t.(arrow.ListLikeType)
	return ok && isNumber(l.Elem())
}

// columnTables grow batch by batch: a table a part.
type columnTables struct {
	plan   *columnPlan
	split  *splitter
	tables []*columnTable
	all    []int // 0, 1, …: the rows of a batch, where all are of one part
	widths []int // of each feature column, from the first batch with rows
}

func newColumnTables(p *columnPlan, o Options, mem *arrowio.Budget) *columnTables {
	t := &columnTables{plan: p, split: newSplitter(o, mem)}
	for _, part := range t.split.parts {
		t.tables = append(t.tables, &columnTable{mem: mem, labelled: p.label != "" && !part.NoLabels && (o.Each == nil || o.EachNames) && !o.OnlyIDs, named: p.id != "" && (o.Each == nil || o.EachNames), bare: o.OnlyIDs || o.Image != ""})
	}
	return t
}

func (t *columnTables) add(ctx context.Context, rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	first := t.split.rows
	rows, left, err := t.divide(rec)
	if err != nil {
		return err
	}
	err = t.addRows(ctx, rec, rows, first)
	if err == nil || !left || ctx.Err() != nil {
		return err
	}
	// Rows that are left out may hold what cannot be read: read the others alone.
	for k, all := range rows {
		for _, i := range all {
			one := rec.NewSlice(int64(i), int64(i)+1)
			only := make([][]int, len(rows))
			only[k] = []int{0}
			err := t.addRows(ctx, one, only, first+i)
			one.Release()
			if err != nil {
				if at := (*arrowio.RowError)(nil); errors.As(err, &at) {
					at.Row += i
				}
				return err
			}
		}
	}
	return nil
}

// divide returns the rows of each part in a batch, and whether some are in none.
func (t *columnTables) divide(rec arrow.Record) (rows [][]int, left bool, err error) {
	if t.plan.domain == "" {
		for len(t.all) < int(rec.NumRows()) {
			t.all = append(t.all, len(t.all))
		}
		t.split.rows += int(rec.NumRows())
		return [][]int{t.all[:rec.NumRows()]}, false, nil
	}
	values, err := domainsOf(rec, t.plan.domain)
	if err != nil {
		return nil, false, err
	}
	rows = make([][]int, len(t.tables))
	for i, value := range values {
		k, err := t.split.part(value)
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

// addRows appends rows of a batch, which begins at row first of the input, to each table.
func (t *columnTables) addRows(ctx context.Context, rec arrow.Record, rows [][]int, first int) error {
	if !slices.ContainsFunc(rows, func(r []int) bool { return len(r) > 0 }) {
		return nil
	}
	parts, err := t.features(rec)
	if err != nil {
		return err
	}
	var labels, ids, paths []string
	if t.plan.label != "" {
		read := namesOf
		if t.plan.times {
			read = domainsOf
		}
		if labels, err = read(rec, t.plan.label); err != nil {
			return err
		}
	}
	if t.plan.id != "" {
		if ids, err = namesOf(rec, t.plan.id); err != nil {
			return err
		}
	}
	if t.plan.image != "" {
		if paths, err = namesOf(rec, t.plan.image); err != nil {
			return err
		}
	}
	if err := t.tally(rec); err != nil {
		return err
	}
	for k, table := range t.tables {
		if err := table.add(ctx, parts, labels, ids, rows[k]); err != nil {
			return err
		}
		if paths != nil {
			if table.paths, err = table.keep(table.paths, paths, rows[k]); err != nil {
				return err
			}
		}
		if t.split.column == "" {
			continue
		}
		for _, i := range rows[k] {
			if table.at, err = push(table.mem, table.at, first+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// tally counts the values of columns of text that are not read.
func (t *columnTables) tally(rec arrow.Record) error {
	for k, name := range t.plan.text {
		tally := &t.plan.tallies[k]
		if at := rec.Schema().FieldIndices(name); tally.many || len(at) != 1 {
			continue // Parquet's are looked at by themselves
		}
		text, err := arrowio.StringColumn(rec, name)
		if err != nil {
			return err
		}
		for _, value := range text.Values {
			tally.add(value)
		}
	}
	return nil
}

// features are the feature columns of a batch.
func (t *columnTables) features(rec arrow.Record) ([]arrowio.Vectors, error) {
	if t.plan.cells != nil {
		return t.plan.cells.read(rec, t.split.mem)
	}
	parts := make([]arrowio.Vectors, len(t.plan.features))
	for k, name := range t.plan.features {
		v, err := vectorsOf(rec, name)
		if err != nil {
			return nil, err
		}
		if len(t.widths) == k {
			t.widths = append(t.widths, v.Width)
		}
		if v.Width != t.widths[k] {
			return nil, fmt.Errorf("column %q: has lists of %d numbers, earlier rows have %d: all rows need one length", name, v.Width, t.widths[k])
		}
		parts[k] = v
	}
	return parts, nil
}

// A columnTable is the rows of a part.
type columnTable struct {
	mem      *arrowio.Budget
	labelled bool
	named    bool // identities are kept
	bare     bool // without features
	data     []float32
	ahead    forecast // of data
	rows     int
	passed   int // rows that are not in data any more
	labels   []string
	paths    []string // of pictures
	ids      identities
	origin
}

// add appends rows of a batch, with its feature columns side by side.
func (t *columnTable) add(ctx context.Context, parts []arrowio.Vectors, labels, ids []string, rows []int) (err error) {
	width := 0
	for _, v := range parts {
		width += v.Width
	}
	at := len(t.data)
	if t.data, err = extendAhead(t.mem, t.data, len(rows)*width, t.ahead); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // a batch has few rows
		return err
	}
	for some := range slices.Chunk(rows, cachedRows) {
		column := at
		for _, v := range parts {
			fill(t.data[column:], v, some, width)
			column += v.Width
		}
		at += len(some) * width
	}
	t.rows += len(rows)
	if t.labelled {
		if t.labels, err = t.keep(t.labels, labels, rows); err != nil {
			return err
		}
	}
	if t.named {
		for _, i := range rows {
			if err := t.ids.add(t.mem, ids[i]); err != nil {
				return err
			}
		}
	}
	return err
}

// cachedRows is how many rows are filled at a time, so that they stay in a processor's cache.
const cachedRows = 256

// fill copies rows of a column to the beginnings of rows of that width: column by column is
// several times as fast as row by row.
func fill(data []float32, v arrowio.Vectors, rows []int, width int) {
	if v.Width == 1 {
		for k, i := range rows {
			data[k*width] = v.Data[i]
		}
		return
	}
	for k, i := range rows {
		copy(data[k*width:], v.Row(i))
	}
}

// pass gives the rows to each if they have that many values, and forgets them.
func (t *columnTable) pass(ctx context.Context, p *columnPlan, each func(*Table) error, values int) error {
	if each == nil || len(t.data) < max(values, 1) {
		return nil
	}
	cols := len(t.data) / (t.rows - t.passed)
	block, err := newBlock(ctx, t.data, p.fields(), cols, t.passed)
	if err != nil {
		return err
	}
	block.Skipped, block.Columns = p.skipped, p.names(cols)
	block.origin = origin{before: t.passed, lines: t.lines}
	block.takeNames(t.mem, &t.labels, &t.ids)
	t.passed, t.data = t.rows, make([]float32, 0, cap(t.data)) // the block may be kept
	return each(block)
}

// takeNames gives a block the labels and identities that were kept since the last, and their
// memory back.
func (t *Table) takeNames(mem *arrowio.Budget, labels *[]string, ids *identities) {
	t.Labels, t.IDInts, t.IDNames = *labels, ids.ints, ids.names
	size := int64(cap(*labels)+cap(ids.names))*sizeOf[string]() + int64(cap(ids.ints))*sizeOf[int64]()
	for _, names := range [][]string{*labels, ids.names} {
		for _, name := range names {
			size += int64(len(name))
		}
	}
	mem.Give(size)
	*labels, *ids = nil, identities{}
}

// keep appends the names of rows, which the batch does not share.
func (t *columnTable) keep(all, names []string, rows []int) ([]string, error) {
	var size int64
	for _, i := range rows {
		size += int64(len(names[i]))
	}
	if err := t.mem.Take(size); err != nil {
		return nil, err
	}
	at := len(all)
	all, err := extend(t.mem, all, len(rows), maxElements)
	if err != nil {
		return nil, err
	}
	for k, i := range rows {
		all[at+k] = names[i]
	}
	return all, nil
}

// vectorsOf reads a column of lists, or of numbers, each as a list of one.
func vectorsOf(rec arrow.Record, name string) (arrowio.Vectors, error) {
	if i := rec.Schema().FieldIndices(name); len(i) == 1 && isNumber(rec.Column(i[0]).DataType()) {
		data, err := arrowio.FloatColumn(rec, name)
		return arrowio.Vectors{Data: data, Rows: len(data), Width: 1}, err
	}
	return arrowio.VectorColumn(rec, name)
}

// namesOf reads a column of strings or whole numbers as strings, "" for null.
func namesOf(rec arrow.Record, name string) ([]string, error) {
	i := rec.Schema().FieldIndices(name)
	if len(i) == 1 {
		if at := namer(rec.Column(i[0])); at != nil {
			return wholeNames(rec.Column(i[0]), name, at)
		}
	}
	s, err := arrowio.StringColumn(rec, name)
	return s.Values, err
}

// domainsOf reads a column that says which domain a row is of, or its time, as strings:
// numbers as they are.
func domainsOf(rec arrow.Record, name string) ([]string, error) {
	i := rec.Schema().FieldIndices(name)
	if len(i) != 1 {
		return namesOf(rec, name)
	}
	col := rec.Column(i[0])
	if col.DataType().ID() != arrow.BOOL && !arrow.IsFloating(col.DataType().ID()) {
		return namesOf(rec, name)
	}
	names := make([]string, col.Len())
	for k := range names {
		if !col.IsNull(k) {
			names[k] = col.ValueStr(k)
		}
	}
	return names, nil
}

// namer returns a function that gives the value of a row as a name. It returns
// nil for a column of strings or of an unknown type.
func namer(col arrow.Array) func(i int) (string, error) {
	switch c := col.(type) {
	case *array.Boolean:
		return func(i int) (string, error) { return strconv.Itoa(b2i(c.Value(i))), nil }
	case *array.Uint64:
		return func(i int) (string, error) { return strconv.FormatUint(c.Value(i), 10), nil }
	case *array.Int64:
		return func(i int) (string, error) { return strconv.FormatInt(c.Value(i), 10), nil }
	case *array.Int32:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Int16:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Int8:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint32:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint16:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint8:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Float64:
		return func(i int) (string, error) { return floatLabel(c.Value(i)) }
	case *array.Float32:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i))) }
	case *array.Float16:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i).Float32())) }
	case *array.Dictionary:
		return dictionaryNamer(c)
	}
	return nil
}

// dictionaryNamer is namer for a dictionary.
func dictionaryNamer(c *array.Dictionary) func(i int) (string, error) {
	at := namer(c.Dictionary())
	if at == nil {
		return nil
	}
	return func(i int) (string, error) { return at(c.GetValueIndex(i)) }
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wholeNames(col arrow.Array, name string, at func(i int) (string, error)) ([]string, error) {
	names := make([]string, col.Len())
	for i := range names {
		if col.IsNull(i) {
			continue
		}
		var err error
		if names[i], err = at(i); err != nil {
			return nil, &arrowio.RowError{Column: name, Row: i, Err: err}
		}
	}
	return names, nil
}

var errNoRows = errors.New("has no rows: give data with at least one")

func (t *columnTables) finish(ctx context.Context) ([]*Table, error) {
	if t.split.rows == 0 {
		return nil, errNoRows
	}
	if err := t.split.check(); err != nil {
		return nil, err
	}
	out := make([]*Table, len(t.tables))
	for k, table := range t.tables {
		var err error
		if out[k], err = table.finish(ctx, t.plan); err != nil {
			return nil, err
		}
		out[k].others = t.split.others()
	}
	return out, nil
}

func (t *columnTable) finish(ctx context.Context, p *columnPlan) (*Table, error) {
	out := &Table{Features: blas32.General{Rows: t.rows, Cols: len(p.features)}, mem: t.mem}
	width := len(p.features)
	if !t.bare && t.passed == 0 {
		width = len(t.data) / t.rows
		var err error
		if out, err = newMixedTable(ctx, t.data, p.fields(), t.rows, width, []int{width}, t.mem); err != nil {
			return nil, err
		}
	}
	out.origin, out.paths, out.Fields = t.origin, t.paths, p.fields()
	out.Columns = p.names(width)
	out.Labels, out.Skipped = t.labels, p.skippedNow()
	if !t.labelled {
		out.Unread = p.unread
	}
	if t.named && t.passed == 0 {
		if err := out.setIDs(ctx, t.ids); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.id, err)
		}
	}
	return out, nil
}
