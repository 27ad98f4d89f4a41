package tables

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/scan"
)

// A plan says what each column of an input is for, and how it is read.
type plan struct {
	header []string
	chosen []int // the columns that the options name, in order
	roles
	options Options
	decimal byte

	separator rune   // of text
	finds     bool   // how numbers are written, by the first rows
	said      string // what people are told of that

	excluded    func(name string) bool // by the options
	categorical func(name string) bool // whatever the column holds

	settled bool
	cells   []cell
	lists   []string    // columns of lists that are features
	vectors []string    // features that are read as they are, without cells: lists, and numbers where no column is mixed
	width   int         // of a row of cells: a column of dates with times is two
	offsets [][]float64 // of vectors: what is taken off each column
	centred int         // columns in offsets
	merged  []string    // columns that would have a centre, see Options.Whole
	skipped []skippedColumn
	bad     []badCell   // of columns of numbers, one a column
	badAt   map[int]int // where a column is in bad
}

// A cell reads a column that is a feature.
type cell struct {
	at       int // in the header
	field    Field
	timed    bool // a Day that a Clock follows
	category *category
}

// plain reports whether the cell is read as a number and nothing else is done.
func (c *cell) plain() bool { return c.field.Kind == Number && c.field.Centre == 0 }

// A skippedColumn is one that is not read.
type skippedColumn struct {
	at     int
	why    string // "" if others were chosen; WhyText is found from its values
	counts bool   // its values are counted
	tally  tally
}

// badCell is the first cell of a column that is no number, and how many there are.
type badCell struct {
	at, cells int
	line      int
	err       error
}

func newPlan(header []string, o Options) (*plan, error) {
	p := &plan{header: header, options: o, decimal: o.Decimal, excluded: Matcher(o.Exclude), categorical: Matcher(o.Categorical), badAt: map[int]int{}}
	var err error
	p.roles, err = rolesOf(header, o)
	return p, err
}

// planText plans for columns of text, of which the rows say what they are.
func planText(header []string, o Options) (*plan, error) {
	p, err := newPlan(header, o)
	if err != nil {
		return nil, err
	}
	if o.Decimal == '.' {
		p.decimal = 0
	}
	if o.Fields != nil || o.Image != "" {
		used, err := p.use(o.Fields)
		p.skipRest(used)
		p.done()
		return p, err
	}
	if err := o.checkPatterns(header); err != nil {
		return nil, err
	}
	p.chosen, err = chosen(header, p.roles, o.Columns)
	return p, err
}

// planColumns plans for a schema without structs.
func planColumns(schema *arrow.Schema, o Options) (*plan, error) {
	header := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		header[i] = f.Name
	}
	p, err := newPlan(header, o)
	if err != nil {
		return nil, err
	}
	columns := o.Columns
	if o.Fields != nil {
		columns = names(o.Fields)
	}
	if p.chosen, err = chosen(header, p.roles, columns); err != nil {
		return nil, err
	}
	if len(columns) == 0 && o.Image == "" {
		if p.chosen, err = p.usualFeatures(schema); err != nil {
			return nil, err
		}
	}
	used := SetOf(p.chosen)
	for i, f := range schema.Fields() {
		if err := checkType(f, used[i], p.has(i), o.Mixed); err != nil {
			return nil, err
		}
		if !used[i] && !p.has(i) {
			s := skippedColumn{at: i}
			if len(columns) == 0 && o.Image == "" && !p.excluded(f.Name) {
				s.why = cmp.Or(p.options.left[f.Name], whyNot(f.Type))
			}
			s.counts = isText(f.Type) && !o.OnlyIDs && o.Image == "" && (s.why == WhyText && !slices.Contains(reserved, f.Name) || f.Name == "domain")
			p.skipped = append(p.skipped, s)
		}
	}
	if o.OnlyIDs || o.Image != "" {
		p.chosen, p.settled = nil, true
		return p, nil
	}
	return p, p.readAs(schema)
}

// readAs says how the chosen columns of a schema are read: mixed ones cell by cell. What a
// column of text holds is settled by the first batch.
func (p *plan) readAs(schema *arrow.Schema) (err error) {
	for _, i := range p.chosen {
		if isList(schema.Field(i).Type) {
			p.lists = append(p.lists, p.header[i])
		}
	}
	switch {
	case !p.options.Mixed || p.lists != nil:
		for _, i := range p.chosen {
			p.vectors = append(p.vectors, p.header[i])
		}
		p.settled = true
	case p.options.Fields != nil:
		_, err = p.use(p.options.Fields)
		p.done()
	default:
		for _, i := range p.chosen {
			p.cells = append(p.cells, cell{at: i, field: Field{Name: p.header[i]}})
		}
	}
	return err
}

// checkPatterns returns an error if a name or pattern of columns is of none.
func (o Options) checkPatterns(header []string) error {
	for what, patterns := range map[string][]string{"exclude": o.Exclude, "categorical": o.Categorical} {
		if err := checkPatterns(what, patterns, header); err != nil {
			return err
		}
	}
	return nil
}

// open reports whether no features were named.
func (p *plan) open() bool {
	return len(p.options.Columns) == 0 && p.options.Fields == nil && p.options.Image == ""
}

// needs are the names of the columns that are read.
func (p *plan) needs() map[string]bool {
	set := map[string]bool{}
	for _, i := range slices.Concat([]int{p.wanted(p.label), p.id, p.domain, p.image, p.batch}, p.levels, p.chosen) {
		if i >= 0 {
			set[p.header[i]] = true
		}
	}
	return set
}

// counted are the names of the columns that are not read whose values are counted.
func (p *plan) counted() map[string]bool {
	set := map[string]bool{}
	for _, s := range p.skipped {
		if s.counts {
			set[p.header[s.at]] = true
		}
	}
	return set
}

// wanted is the column of labels, −1 if no table is to have any of this input.
func (p *plan) wanted(label int) int {
	if p.options.Labels != "" || p.options.noLabels() {
		return -1
	}
	return label
}

// use reads the columns as the fields say, and returns which they are.
func (p *plan) use(fields []Field) (used map[int]bool, err error) {
	at, err := chosen(p.header, p.roles, names(fields))
	if err != nil {
		return nil, err
	}
	p.cells = slices.Grow(p.cells, len(at))
	column := -1
	for k, f := range fields {
		if k == 0 || fields[k-1].Name != f.Name { // as names has them
			column++
		}
		if f.Kind == Clock && k > 0 && fields[k-1].Name == f.Name && fields[k-1].Kind == Day {
			p.cells[len(p.cells)-1].timed = true
			continue
		}
		c := cell{at: at[column], field: f}
		if f.Kind == Category {
			c.category = newCategory(f, p.options.growing)
		}
		p.cells = append(p.cells, c)
	}
	return SetOf(at), nil
}

// skipRest notes the columns of text that are neither used nor noted.
func (p *plan) skipRest(used map[int]bool) {
	for i, name := range p.header {
		if used[i] || p.has(i) {
			continue
		}
		s := skippedColumn{at: i, counts: true}
		if p.open() && !p.excluded(name) {
			s.why = WhyText
		}
		p.skipped = append(p.skipped, s)
	}
}

// names are those of the fields, each once.
func names(fields []Field) []string {
	var all []string
	for k, f := range fields {
		if k == 0 || fields[k-1].Name != f.Name {
			all = append(all, f.Name)
		}
	}
	return all
}

// done notes that the cells are known.
func (p *plan) done() {
	p.settled = true
	for _, c := range p.cells {
		p.width += len(c.fields())
	}
}

// settleRows is by how many rows it is decided what columns of mixed tables are.
const settleRows = 4096

// settle decides by the first rows what the columns are, and which are features if none were
// named. What a later value may be follows from that: a column is not dropped in silence.
func (p *plan) settle(sample [][]string) error {
	if p.options.Fields != nil {
		var numbers []int
		for _, c := range p.cells {
			if c.field.Kind == Number {
				numbers = append(numbers, c.at)
			}
		}
		p.settled = true
		return p.findStyle(numbers, sample)
	}
	features := p.chosen
	if p.open() {
		features = nil
		for i, name := range p.header {
			if !p.has(i) && !slices.Contains(reserved, name) && !p.excluded(name) {
				features = append(features, i)
			}
		}
	}
	if err := p.findStyle(features, sample); err != nil {
		return err
	}
	used := SetOf(features)
	p.cells = slices.Grow(p.cells, len(features))
	for _, i := range features {
		values := make([]string, len(sample))
		for k, record := range sample {
			values[k] = strings.TrimSpace(record[i])
		}
		cell, why, err := p.cellOf(len(p.cells), i, values)
		if err != nil {
			return err
		}
		if why == "" {
			p.cells = append(p.cells, cell)
		} else {
			p.skipped = append(p.skipped, skippedColumn{at: i, why: why, counts: true})
		}
	}
	p.skipRest(used)
	slices.SortFunc(p.skipped, func(a, b skippedColumn) int { return a.at - b.at })
	p.done()
	return nil
}

// cellOf says what the values of column i, which would be feature k, are: why it cannot be one,
// or how to read it.
func (p *plan) cellOf(k, i int, values []string) (c cell, why string, err error) {
	name := p.header[i]
	c = cell{at: i, field: Field{Name: name}}
	var numbers []float64
	left := values[:0:0]
	for _, value := range values {
		if v, err := p.number(value, 64); err == nil {
			numbers = append(numbers, v)
		} else if !isMissing(value) {
			left = append(left, value)
		}
	}
	categorical := p.categorical(name) || slices.ContainsFunc(values, isWholeCode)
	switch {
	case !categorical && len(numbers) >= mostNumbers*len(left): // none is left, or few
		c.field.Centre = p.centreOf(k, c.field.Name, func() []float64 { return numbers })
		return c, "", nil
	case !slices.ContainsFunc(left, func(v string) bool { return p.otherDecimal(name, v) == nil }) && len(left) > 0:
		return c, "", p.otherDecimal(name, left[0])
	case !p.options.Mixed && p.open():
		return c, WhyText, nil
	case !p.options.Mixed: // it was named
		return c, "", nil
	}
	if layout, dated, timed, several, ok := layoutOf(left); ok && len(numbers) == 0 && !categorical {
		switch {
		case several:
			return c, "dates that may be day and month or month and day: write them as 2006-12-31", nil
		case dated:
			c.field.Kind, c.field.Layout, c.timed = Day, layout, timed
		default:
			c.field.Kind = Clock
		}
		return c, "", nil
	}
	c.field.Kind = Category
	c.category = newCategory(c.field, true)
	return c, "", nil
}

// mostNumbers is how many numbers a column has for each other word if the words are taken
// for mistakes: with fewer numbers it is a category.
const mostNumbers = 9

// fields are the columns of the Table that the cell fills.
func (c *cell) fields() []Field {
	if c.category != nil {
		c.field.Values = c.category.values
	}
	if c.timed {
		return []Field{c.field, {Name: c.field.Name, Kind: Clock, Layout: c.field.Layout}}
	}
	return []Field{c.field}
}

// fields are the columns of the Table; nil if all are numbers.
func (p *plan) fields() (all []Field) {
	if !p.options.Mixed || p.vectors != nil {
		return nil
	}
	all = make([]Field, 0, p.width)
	for k := range p.cells {
		all = append(all, p.cells[k].fields()...)
	}
	return all
}

// columns are the names of the columns of a Table of so many; nil for the numbers of lists.
func (p *plan) columns(width int) (all []string) {
	if p.vectors != nil {
		if width == len(p.vectors) {
			return p.vectors
		}
		return nil
	}
	all = slices.Grow(all, p.width)
	for k := range p.cells {
		for _, f := range p.cells[k].fields() {
			all = append(all, f.Name)
		}
	}
	return all
}

// unread are the columns that are not read, with what their values say.
func (p *plan) unread() (all []Skipped) {
	for k := range p.skipped {
		s := &p.skipped[k]
		name := p.header[s.at]
		switch {
		case slices.Contains(reserved, name):
			all = append(all, Skipped{Name: name, Why: reservedWhy(name), Values: s.tally.category()})
		case s.why == WhyText && s.counts:
			all = append(all, s.tally.skip(name))
		default:
			all = append(all, Skipped{Name: name, Why: s.why})
		}
	}
	return all
}

// uses are the columns that are read as numbers, in their order, and those that are read as
// they are.
func (p *plan) uses() (numbers, texts []int) {
	for _, c := range p.cells {
		if c.plain() {
			numbers = append(numbers, c.at)
		} else {
			texts = append(texts, c.at)
		}
	}
	for _, s := range p.skipped {
		texts = append(texts, s.at)
	}
	for _, i := range append([]int{p.label, p.id, p.domain, p.image, p.batch}, p.levels...) {
		if i >= 0 && !slices.Contains(texts, i) {
			texts = append(texts, i)
		}
	}
	return numbers, texts
}

// read fills row with the cells of a record.
func (p *plan) read(row []float32, record *textRecord, mem *arrowio.Budget) error {
	if len(record.numbers) == len(row) && !record.odd { // all are numbers
		copy(row, record.numbers)
		return nil
	}
	k, numbers := 0, record.numbers
	for i := range p.cells {
		c := &p.cells[i]
		if c.plain() && len(numbers) > 0 {
			row[k], numbers = numbers[0], numbers[1:]
			if row[k] == row[k] {
				k++
				continue
			}
		}
		text := strings.TrimSpace(record.fields[c.at])
		var err error
		switch c.field.Kind {
		case Number:
			if row[k], err = p.value(text, c.field.Centre); err != nil {
				err = p.note(badCell{c.at, 1, record.line, err})
			}
		case Category:
			row[k], err = c.category.code(text, mem)
		default:
			if err = c.readMoment(row[k:], text); err != nil {
				err = p.at(c.at, record.line, err)
			}
			if c.timed {
				k++
			}
		}
		if err != nil {
			return err
		}
		k++
	}
	return nil
}

func (c *cell) readMoment(row []float32, text string) error {
	row[0] = missingCell()
	if c.timed {
		row[1] = missingCell()
	}
	if isMissing(text) {
		return nil
	}
	m, ok := parseMoment(text, c.field.Layout)
	if !ok || !m.dated && c.field.Kind == Day || !m.timed && c.field.Kind == Clock {
		return fmt.Errorf("%q is no date or time as those of the rows before, or of the source: write it as there, or drop the row", text)
	}
	if row[0] = m.day; c.field.Kind == Clock {
		row[0] = m.clock
	}
	if c.timed {
		row[1] = m.clock
	}
	return nil
}

func (p *plan) at(column, line int, err error) error {
	return fmt.Errorf("line %d, column %q: %w", line, p.header[column], err)
}

// note notes a bad cell. It is an error at once if rows are passed on as they are read;
// otherwise it is known at the end how many there are.
func (p *plan) note(b badCell) error {
	if limit := (*arrowio.LimitError)(nil); p.options.Each != nil || errors.As(b.err, &limit) {
		return p.at(b.at, b.line, b.err)
	}
	i, known := p.badAt[b.at]
	if !known {
		p.badAt[b.at] = len(p.bad)
		p.bad = append(p.bad, b)
		return nil
	}
	p.bad[i].cells++
	return nil
}

// badCells is the error of the cells that were noted.
func (p *plan) badCells() error {
	if len(p.bad) == 0 {
		return nil
	}
	b := p.bad[0]
	for _, other := range p.bad[1:] {
		if other.line < b.line {
			b = other
		}
	}
	err := p.at(b.at, b.line, b.err)
	var more []string
	if b.cells > 1 {
		more = append(more, fmt.Sprintf("%d cells of the column are like that", b.cells))
	}
	switch n := len(p.bad) - 1; {
	case n == 1:
		more = append(more, "another column has such cells too")
	case n > 1:
		more = append(more, fmt.Sprintf("%d other columns have such cells too", n))
	}
	if more == nil {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(more, "; "))
}

// missing are the words that programs write for a missing value.
var missing = []string{"", "na", "n/a", "nan", "null", "none", "?", "-", "<na>", "#n/a"}

func isMissing(field string) bool {
	return len(field) <= 4 && slices.Contains(missing, strings.ToLower(field))
}

// value reads a field of a feature column, off which a centre is taken.
func (p *plan) value(field string, centre float64) (float32, error) {
	bits := 32
	if centre != 0 {
		bits = 64
	}
	v, err := p.number(field, bits)
	if err == nil && math.Abs(v) > math.MaxFloat32 {
		v, err = math.Inf(1), strconv.ErrRange
	}
	switch {
	case err == nil && v-v == 0: // finite
		return centred(v, centre), nil
	case isMissing(field) && p.options.Mixed:
		return missingCell(), nil
	case isMissing(field):
		return 0, fmt.Errorf("the value is missing (%q): fill or drop the row, or choose other feature columns", field)
	case errors.Is(err, strconv.ErrRange) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is infinite, or too large for float32: mend or drop the row", field)
	case err != nil && p.decimal == 0 && isCommaDecimal(field):
		return 0, fmt.Errorf("%q looks like a number with a decimal comma: give --decimal , (or --thousands , if it is none)", field)
	case err != nil && p.options.Learnt:
		return 0, fmt.Errorf("%.40q is not a number: mend or drop the row", field)
	case err != nil && p.options.Mixed:
		return 0, fmt.Errorf("%.40q is not a number, and nearly all of the column are: mend it, leave the column out with --exclude, or say with --categorical that its numbers are names", field)
	case err != nil:
		return 0, fmt.Errorf("%.40q is not a number: mend it, or choose other feature columns", field)
	}
	return float32(v), nil // NaN is found when all are read
}

// style is how numbers are written.
func (p *plan) style() scan.Style {
	return scan.Style{Decimal: p.decimal, Thousands: p.options.Thousands}
}

// number reads a feature: a decimal number, or true or false as 1 and 0.
func (p *plan) number(field string, bits int) (float64, error) {
	return numberIn(p.style(), field, bits)
}

// numberIn reads a number that is written in a style.
func numberIn(s scan.Style, field string, bits int) (float64, error) {
	if s.Thousands != 0 {
		field = s.Ungroup(field)
	}
	switch {
	case len(field) == 4 && strings.EqualFold(field, "true"):
		return 1, nil
	case len(field) == 5 && strings.EqualFold(field, "false"):
		return 0, nil
	case s.Decimal == ',' && strings.Contains(field, "."):
		return 0, strconv.ErrSyntax
	case s.Decimal == ',':
		field = strings.Replace(field, ",", ".", 1)
	}
	return parseFloat(field, bits)
}

// isCommaDecimal reports whether a field is a number with a decimal comma.
var isCommaDecimal = regexp.MustCompile(`^[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?$`).MatchString

// otherDecimal returns an error if a field that is not a number is one with the other
// decimal mark: its column is not to be left out in silence.
func (p *plan) otherDecimal(column, field string) error {
	switch {
	case p.decimal == 0 && isCommaDecimal(field):
		return fmt.Errorf("column %q: %q looks like a number with a decimal comma: give --decimal , (or --thousands , if it is none), or leave the column out with --exclude", column, field)
	case p.decimal == ',':
		if _, err := parseFloat(field, 64); err == nil || isCommaDecimal(field) {
			return fmt.Errorf("column %q: %q has a point, and --decimal says that a comma is the decimal mark: give --thousands . too if points are between thousands, or leave --decimal out", column, field)
		}
	}
	return nil
}

// longestNumber is more characters than any number has. strconv copies what it refuses.
const longestNumber = 1 << 12

// parseFloat reads a decimal number. strconv reads Go's 0x1p4 and 1_000 too, which
// are numbers in no table.
func parseFloat(field string, bits int) (float64, error) {
	if len(field) > longestNumber {
		return 0, strconv.ErrSyntax
	}
	for i := range len(field) { // strings.ContainsAny takes half as long as the parsing
		switch field[i] {
		case '_', 'x', 'X':
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseFloat(field, bits)
}
