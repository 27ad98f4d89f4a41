package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/tables/image"
)

// A Part is those rows of an input that make a table of their own.
type Part struct {
	Name     string   // "source" or "target"
	Values   []string // of the column Options.Domain in its rows; nil: Name
	NoLabels bool     // see Options.NoLabels
	Fit      image.Fit
}

// A Count is how many rows have a value.
type Count struct {
	Value string
	Rows  int
}

// compare puts the value of most rows first.
func (c Count) compare(other Count) int {
	return cmp.Or(cmp.Compare(other.Rows, c.Rows), strings.Compare(c.Value, other.Value))
}

// parts are those of the options: without a column of domains all rows are one part.
func (o Options) parts() []Part {
	if o.Domain == "" {
		return []Part{{NoLabels: o.NoLabels, Fit: o.Fit}}
	}
	return o.Parts
}

// A splitter says which part a row is of, and counts the values of the column of domains.
type splitter struct {
	column string
	parts  []Part
	seen   map[string]*domainValue
	rows   int // seen
	mem    *arrowio.Budget
}

type domainValue struct{ part, rows int } // part is −1 for values of none

func newSplitter(o Options, mem *arrowio.Budget) *splitter {
	return &splitter{column: o.Domain, parts: o.parts(), seen: map[string]*domainValue{}, mem: mem}
}

// mostValues are as many values as a column of targets may have.
const mostValues = 1000

// Values are those of a column, as Part names them, in the order in which they come.
func Values(ctx context.Context, path string, o Options, column string) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	rows, found := 0, false
	o.ID = column // so that its whole numbers stay as they are
	err := EachWanted(ctx, path, o, func(f arrow.Field) bool { return f.Name == column }, func(rec arrow.Record) error {
		if found = rec.NumCols() == 1; !found {
			return nil
		}
		values, err := domainsOf(rec, column)
		if err != nil {
			return err
		}
		for i, value := range values {
			value = domainName(value)
			switch {
			case seen[value]:
				continue
			case value == "":
				return fmt.Errorf("column %q: row %d has no value: fill it in, or leave the row out", column, rows+i+1)
			case len(all) == mostValues:
				return fmt.Errorf("column %q: has more than %d values, and each is a target of its own: name a column of few values", column, mostValues)
			}
			value = strings.Clone(value)
			seen[value], all = true, append(all, value)
		}
		rows += len(values)
		return nil
	})
	if err != nil || found {
		return all, err
	}
	fields, _, err := Columns(ctx, path, o)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return nil, fmt.Errorf("%s: has no column %q: it has %s", path, column, list(names))
}

func (p Part) values() []string {
	if p.Values == nil {
		return []string{p.Name}
	}
	values := make([]string, len(p.Values))
	for i, value := range p.Values {
		values[i] = domainName(value)
	}
	return values
}

// part is that of the next row, −1 if it is left out.
func (s *splitter) part(value string) (int, error) {
	s.rows++
	if s.column == "" {
		return 0, nil
	}
	value = domainName(value)
	v := s.seen[value]
	if v == nil {
		if err := s.mem.Take(int64(len(value)) + 2*nameCost); err != nil {
			return 0, err
		}
		v = &domainValue{part: slices.IndexFunc(s.parts, func(p Part) bool { return slices.Contains(p.values(), value) })}
		s.seen[strings.Clone(value)] = v
	}
	v.rows++
	return v.part, nil
}

// domainName is a value of a column of domains as it is compared: pandas writes 1.0 in
// columns of whole numbers with gaps, and programs disagree on True and true.
func domainName(value string) string {
	value = strings.TrimSpace(value)
	if strings.EqualFold(value, "true") || strings.EqualFold(value, "false") {
		return strings.ToLower(value)
	}
	return canonical(value)
}

// check returns an error if there is a part without rows.
func (s *splitter) check() error {
	if s.column == "" {
		return nil
	}
	for _, part := range s.parts {
		for _, value := range part.values() {
			switch {
			case s.seen[value] != nil:
			case part.Values == nil:
				return fmt.Errorf("column %q: has the values %s: say which are of the source and which of the target, with --source-domain and --target-domain%s",
					s.column, describe(s.values()), s.example())
			default:
				return fmt.Errorf("column %q: has no value %q, which --%s-domain names: it has %s", s.column, value, part.Name, describe(s.values()))
			}
		}
	}
	return nil
}

// example is how the flags may be, if there are two domains.
func (s *splitter) example() string {
	values := s.values()
	if len(values) != 2 || values[0].Value == "" || values[1].Value == "" {
		return ""
	}
	return fmt.Sprintf(", as in --source-domain %s --target-domain %s", quoted(values[0].Value), quoted(values[1].Value))
}

func quoted(value string) string {
	if strings.ContainsAny(value, " \t'\"$`\\&|;<>()*?[]#~,") {
		return strconv.Quote(value)
	}
	return value
}

// others are the values of no part.
func (s *splitter) others() []Count {
	return slices.DeleteFunc(s.values(), func(c Count) bool { return s.seen[c.Value].part >= 0 })
}

// values are all that were seen, those of most rows first.
func (s *splitter) values() []Count {
	var all []Count
	for value, v := range s.seen {
		all = append(all, Count{value, v.rows})
	}
	slices.SortFunc(all, Count.compare)
	return all
}

// describe lists counts for a message.
func describe(counts []Count) string {
	names := make([]string, len(counts))
	for i, c := range counts {
		names[i] = fmt.Sprintf("%s (%s)", cmp.Or(c.Value, "(empty)"), spelling.Count(c.Rows, "row", "rows"))
	}
	return list(names)
}

// Others says which rows of the input are in no part, "" if all are in one.
func (t *Table) Others() string {
	if len(t.others) == 0 {
		return ""
	}
	n := 0
	for _, c := range t.others {
		n += c.Rows
	}
	return fmt.Sprintf("%s left out: %s", spelling.Count(n, "row of another domain is", "rows of other domains are"), describe(t.others))
}

// split makes tables of the rows of t by their domains.
func (t *Table) split(ctx context.Context, domains []string, o Options) ([]*Table, error) {
	s := newSplitter(o, t.mem)
	rows := make([][]int, len(s.parts))
	for i, domain := range domains {
		k, err := s.part(domain)
		if err != nil {
			return nil, err
		}
		if k >= 0 {
			rows[k] = append(rows[k], i)
		}
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	tables := make([]*Table, len(rows))
	for k, part := range s.parts {
		var err error
		if tables[k], err = t.Gather(ctx, rows[k]); err != nil {
			return nil, err
		}
		if part.NoLabels {
			tables[k].Labels = nil
		}
		tables[k].others = s.others()
	}
	if !slices.Contains(tables, t) {
		give[float32](t.mem, cap(t.Features.Data))
	}
	return tables, nil
}

// An origin is where the rows of a table were in the input.
type origin struct {
	at     []int  // the row of the input, from 0, of each row; nil: the same
	before int    // rows of the input before the first, where at is nil
	lines  bool   // row i of the input is on line i+2, as in a text table where no record has several lines
	spans  []span // of several files; nil: there is one
}

// In is the row of the input that row i was, from 0.
func (w origin) In(i int) int {
	if w.at == nil {
		return w.before + i
	}
	return w.at[i]
}

// InFile is the row of its file that row i is, from 0.
func (w origin) InFile(i int) int {
	if s := w.span(i); s != nil {
		return w.In(i) - s.first
	}
	return w.In(i)
}

// span is that of row i, nil if there is one file.
func (w origin) span(i int) *span {
	in := w.In(i)
	for k := len(w.spans) - 1; k >= 0; k-- {
		if w.spans[k].first <= in {
			return &w.spans[k]
		}
	}
	return nil
}

// Place names row i for a message, as people count: from 1.
func (w origin) Place(i int) string {
	in, lines, file := w.InFile(i), w.lines, ""
	if s := w.span(i); s != nil {
		lines, file = s.lines, s.file+", "
	}
	if lines {
		return fmt.Sprintf("%sline %d", file, in+2)
	}
	return fmt.Sprintf("%srow %d", file, in+1)
}
