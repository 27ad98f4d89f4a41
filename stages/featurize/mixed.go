package featurize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
)

// DefaultMaxCategories is how many features a category becomes at most, unless Options say
// otherwise.
const DefaultMaxCategories = 32

// MixedOptions say what becomes of columns that are no complete numbers.
type MixedOptions struct {
	encode.Options
	RefuseMissing bool      // a missing value is an error
	Explain       io.Writer // what became of each column is written here; nil: nowhere
}

// learn learns from the first table that is read, which is the source's if there is one, what
// the columns are and which are features.
func (st *recipe) learn(ctx context.Context, env stages.Env, sides []*tables.Table, domain arrowio.Domain, o Options) error {
	t, memory := sides[0], o.side(domain).Format.Memory
	name := func(j int) string { return t.Columns[j] }
	if t.Fields == nil { // lists of one number each, of one column unless others were named
		st.Columns = t.Columns
		return nil
	}
	named := o.side(domain).Format.Columns != nil
	mixed := o.Mixed.Options
	mixed.Keep, mixed.KeepConstant = named, domain == arrowio.TargetDomain
	var keys []string
	if !named {
		ids, err := identities(ctx, t, name, ofWhole(t, memory))
		if err != nil {
			return err
		}
		keys = leaveIdentities(env, t, ids)
	}
	read := make([]encode.Column, len(t.Fields)) // hashes have no values
	for j, f := range t.Fields {
		read[j].Field = f
	}
	var err error
	if st.Encoder, err = encode.Learn(ctx, t, sides, mixed); err != nil {
		return err
	}
	st.Encoder.Drop(keys, "another whole number in each row")
	if err := ctx.Err(); err != nil { // each step takes a while with a million columns
		return err
	}
	st.prune(env, t.Name, sides...)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.side(domain).Format.Categorical == nil {
		kept := tables.SetOf(st.Columns)
		st.tellUnits(env, t.Name, slices.DeleteFunc(read, func(c encode.Column) bool {
			return !kept[c.Name] || slices.ContainsFunc(c.Values, tables.IsCode)
		}), maxNamed, "are categories")
	}
	return nil
}

// isMixed reports whether a table has more than numbers.
func isMixed(t *tables.Table) bool {
	for _, f := range t.Fields {
		if f.Kind != tables.Number {
			return true
		}
	}
	for i := range t.Features.Rows {
		if slices.ContainsFunc(t.Row(i), func(v float32) bool { return v != v }) {
			return true
		}
	}
	return false
}

// prune forgets columns of which nothing is left.
func (st *recipe) prune(env stages.Env, name string, sides ...*tables.Table) {
	dropped := st.Encoder.Prune(sides...)
	st.Columns = st.Encoder.Inputs()
	st.dropped = append(st.dropped, dropped...)
	st.tellUnits(env, name, dropped, 2, "are left out")
	var columns []tables.Skipped
	for _, c := range dropped {
		columns = append(columns, tables.Skipped{Name: c.Name, Why: c.Dropped})
	}
	if len(columns) > 0 {
		env.Logger().Info(fmt.Sprintf("%s: columns left out: %s", name, nameSkipped(columns)))
	}
}

// withUnit matches a number with something beside it, such as $3.50, 12 kg, 5% or −1 with the
// minus of typesetters.
var withUnit = regexp.MustCompile(`^[(\-+]?\s?[$€£¥−]?\s?-?\d[\d., ]*([eE][-+]?\d+)?\s?(%|\)|°?[A-Za-zµ€£$]{1,4}(/[A-Za-z]{1,4})?)?$`)

// tellUnits warns of columns of text that look like numbers with something beside them, if they
// have so many values at least.
func (st *recipe) tellUnits(env stages.Env, name string, of []encode.Column, least int, what string) {
	var columns []string
	for _, c := range of {
		n := 0
		for _, value := range c.Values {
			if withUnit.MatchString(value) {
				n++
			}
		}
		if c.Kind == tables.Category && len(c.Values) >= least && 10*n >= 9*len(c.Values) {
			columns = append(columns, fmt.Sprintf("%s (such as %.20q)", c.Name, c.Values[0]))
		}
	}
	if len(columns) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns of text that %s and look like numbers with something beside them: %s: take that away if they say something of the class", name, what, nameColumns(columns)))
	}
}

// maxStrange is the share of target rows whose value of a category may be none of the
// source's.
const maxStrange = 0.5

// A strangeness counts cells of the target that the source's do not explain, by column.
type strangeness struct {
	rows, empty  int // empty rows have no value at all
	unseen, gaps []int
	days         []spread // of columns of days
}

func newStrangeness(columns int) *strangeness {
	return &strangeness{unseen: make([]int, columns), gaps: make([]int, columns), days: newSpreads(columns)}
}

// add adds rows of the target, as they were read.
func (s *strangeness) add(t *tables.Table, e *encode.Encoder) {
	s.rows += t.Features.Rows
	for i := range t.Features.Rows {
		if tables.IsMissing(t.Row(i)) {
			s.empty++
		}
	}
	for j, c := range e.Columns {
		if c.Kind == tables.Day {
			s.days[j].addColumn(t, j)
		}
		for i := range t.Features.Rows {
			switch v := t.Row(i)[j]; {
			case v != v:
				s.gaps[j]++
			case c.Kind == tables.Category && c.Buckets == 0 && int(v) >= len(c.Values):
				s.unseen[j]++
			}
		}
	}
}

// dropStrangers leaves columns out that give the domains away and say nothing else: categories
// whose values the target does not share, and the number of days where one domain is older
// than the other.
func (st *recipe) dropStrangers(env stages.Env, s *strangeness, target string, source *tables.Table, others ...*tables.Table) {
	e := st.Encoder
	own := newSpreads(len(e.Columns))
	var strange, apart []string
	for j := range e.Columns {
		c := &e.Columns[j]
		if c.Kind == tables.Day {
			own[j].addColumn(source, j)
		}
		switch {
		case c.Kind == tables.Category && float64(s.unseen[j]) > maxStrange*float64(s.rows):
			strange = append(strange, c.Name)
		case c.Kind == tables.Day && (s.days[j].low > own[j].high || s.days[j].high < own[j].low):
			apart = append(apart, c.Name)
			e.DropDays(j)
		}
	}
	e.Drop(strange, "most values of the target are none of the source's")
	if len(strange) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because most of their values are none of %s: %s", target, source.Name, nameColumns(strange)))
	}
	if len(apart) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: all dates are outside those of %s, so how many days they are apart is left out: %s", target, source.Name, nameColumns(apart)))
	}
	st.prune(env, source.Name, append(others, source)...)
}

// dropAbsent leaves columns of text and dates out that the target lacks, with a warning. Other
// columns are not left out: reports whether there are none.
func (st *recipe) dropAbsent(env stages.Env, source *tables.Table, lacking *tables.MissingColumns, target string) bool {
	if source == nil || st.Encoder == nil {
		return false
	}
	absent := tables.SetOf(lacking.Absent)
	for _, c := range st.Encoder.Columns {
		if c.Kind == tables.Number && absent[c.Name] {
			return false
		}
	}
	st.Encoder.Drop(lacking.Absent, "not in "+target)
	what := "column %s, which %s has: it is left out"
	if len(lacking.Absent) > 1 {
		what = "columns %s, which %s has: they are left out"
	}
	env.Logger().Warn(fmt.Sprintf("%s has no "+what, target, lacking.Names(), source.Name))
	st.prune(env, source.Name, source)
	return true
}

// encodeBoth makes features of the rows of both domains.
func (st *recipe) encodeBoth(ctx context.Context, env stages.Env, sides map[arrowio.Domain]*tables.Table) error {
	e := st.Encoder
	if e == nil {
		return nil
	}
	source, target := sides[arrowio.SourceDomain], sides[arrowio.TargetDomain]
	for _, t := range sides {
		switch {
		case t.Columns == nil && t.Lists != nil:
			return fmt.Errorf("%s: column %s has lists of numbers, and the other rows have one value each in %s: give it one number a row, as there, or leave it out (--exclude %s)", t.Name, nameColumns(t.Lists), nameColumns(e.Inputs()), strings.Join(t.Lists, ","))
		case t.Columns == nil:
			return fmt.Errorf("%s: its rows are %d numbers without names, and the other rows are of a table with text, dates or gaps: give it as a table with the columns %s", t.Name, t.Features.Cols, nameColumns(e.Inputs()))
		}
	}
	var counted *strangeness // of the target, with the columns that are left
	if source != nil && target != nil {
		columns := len(e.Columns)
		counted = newStrangeness(columns)
		counted.add(target, e)
		if st.dropStrangers(env, counted, target.Name, source, target); len(e.Columns) < columns {
			counted = nil
		}
	}
	for _, domain := range domains {
		t := sides[domain]
		if t == nil {
			continue
		}
		s := counted
		if t != target || s == nil {
			s = newStrangeness(len(e.Columns))
			s.add(t, e)
		}
		if sides[arrowio.SourceDomain] == nil {
			st.doubtSilent(env, t.Name, s)
		}
		if err := st.encode(ctx, env, t, domain, s); err != nil {
			return err
		}
	}
	if e.Width() == 0 {
		return errors.New("no column is left that says anything: name others with --columns")
	}
	return nil
}

func (st *recipe) encode(ctx context.Context, env stages.Env, t *tables.Table, domain arrowio.Domain, s *strangeness) error {
	if err := st.checkEmpty(t.Name, s); err != nil {
		return err
	}
	st.tellGaps(env, t.Name, domain, s)
	encoded, err := st.Encoder.Apply(ctx, t)
	if err != nil {
		return err
	}
	*t = *encoded
	return nil
}

// refuseMissing returns an error if a value is missing.
func refuseMissing(t *tables.Table) error {
	for i := range t.Features.Rows {
		for j, v := range t.Row(i) {
			if v != v {
				return fmt.Errorf("%s, column %q: the value is missing: fill or drop the row, leave the column out with --exclude, or give --missing impute", t.Place(i), t.Columns[j])
			}
		}
	}
	return nil
}

// checkEmpty refuses rows of which none has a value.
func (st *recipe) checkEmpty(name string, s *strangeness) error {
	if s.rows == 0 || s.empty < s.rows {
		return nil
	}
	return fmt.Errorf("%s: no row has a value in %s: check what wrote the file, or name other columns with --columns", name, nameColumns(st.Encoder.Inputs()))
}

// doubtSilent warns of columns of a target that is prepared as earlier rows were, in which no row has a value, or most have
// one that those rows lack. Where both are learnt from together, such columns are left out, or warned of.
func (st *recipe) doubtSilent(env stages.Env, name string, s *strangeness) {
	var silent []string
	for j, c := range st.Encoder.Columns {
		again := j > 0 && st.Encoder.Columns[j-1].Name == c.Name
		switch {
		case again || s.empty == s.rows:
		case s.gaps[j] == s.rows:
			silent = append(silent, c.Name+" (no row has a value)")
		case float64(s.unseen[j]) > maxStrange*float64(s.rows):
			silent = append(silent, fmt.Sprintf("%s (%s, have a value that the rows lack that were learnt on)", c.Name, ofRows(s.unseen[j], s.rows)))
		}
	}
	if silent != nil {
		env.Logger().Warn(fmt.Sprintf("%s: columns say nothing that was learnt: %s: write them as they were written there, or learn without them", name, nameColumns(silent)))
	}
}

// tellGaps says which values were missing, and how many values of categories are new.
func (st *recipe) tellGaps(env stages.Env, name string, domain arrowio.Domain, s *strangeness) {
	var gaps, unseen []string
	for j, c := range st.Encoder.Columns {
		if n := s.gaps[j] - s.empty; n > 0 { // of rows that are looked at
			gaps = append(gaps, fmt.Sprintf("%s (%s)", c.Name, ofRows(n, s.rows)))
		}
		if s.unseen[j] > 0 {
			unseen = append(unseen, fmt.Sprintf("%s (%s)", c.Name, ofRows(s.unseen[j], s.rows)))
		}
	}
	if s.empty > 0 {
		env.Logger().Warn(emptyRows(name, domain, s.empty, s.rows))
	}
	if len(gaps) > 0 {
		env.Logger().Info(fmt.Sprintf("%s: missing values are filled in: %s", name, nameColumns(gaps)))
	}
	if len(unseen) > 0 && domain == arrowio.TargetDomain {
		env.Logger().Info(fmt.Sprintf("%s: values that the source lacks: %s", name, nameColumns(unseen)))
	}
}

// emptyRows says what becomes of rows without any value.
func emptyRows(name string, domain arrowio.Domain, n, rows int) string {
	text := fmt.Sprintf("%s: %s, have no value in any column: ", name, ofRows(n, rows))
	if n == 1 {
		text = fmt.Sprintf("%s: %s, has no value in any column: ", name, ofRows(n, rows))
	}
	if domain == arrowio.SourceDomain {
		return text + "nothing is learnt from such rows"
	}
	return text + "nothing is estimated from such rows, and they get no label: take them out if they are no rows"
}

// ofRows is a number of rows and their share.
func ofRows(n, rows int) string {
	share := fmt.Sprintf("%.1f %%", 100*float64(n)/float64(rows))
	if n == rows {
		share = "all rows"
	}
	return fmt.Sprintf("%s, %s", spelling.Count(n, "row", "rows"), share)
}

// tellEncoder says what became of columns that are no numbers.
func (st *recipe) tellEncoder(env stages.Env) {
	if st.Encoder == nil {
		return
	}
	what := map[string][]string{}
	for j, c := range st.Encoder.Columns {
		switch c.Kind {
		case tables.Category:
			what["categories"] = append(what["categories"], fmt.Sprintf("%s (%s)", c.Name, spelling.Count(c.Width(), "feature", "features")))
		case tables.Day, tables.Clock:
			if j == 0 || st.Encoder.Columns[j-1].Name != c.Name { // a date and its time
				what["dates and times"] = append(what["dates and times"], c.Name)
			}
		}
	}
	for _, kind := range []string{"categories", "dates and times"} {
		if len(what[kind]) > 0 {
			env.Logger().Info(fmt.Sprintf("%s: %s", kind, nameColumns(what[kind])))
		}
	}
}

// explain writes a table of what became of each column.
func (st *recipe) explain(w io.Writer, sides ...*tables.Table) error {
	if w == nil || st.Encoder == nil && st.Columns == nil {
		return nil
	}
	var table strings.Builder
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "column\tis\tbecomes\tmissing values become")
	if st.Encoder == nil {
		for _, name := range st.Columns {
			fmt.Fprintf(tw, "%s\tnumber\titself\t\n", safetext.Escape(name))
		}
	} else {
		for j := range st.Encoder.Columns {
			c := &st.Encoder.Columns[j]
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", safetext.Escape(c.Name), cmp.Or(string(c.Kind), "number"), safetext.Escape(c.Becomes()), safetext.Escape(c.Filled()))
		}
	}
	for _, c := range st.dropped {
		fmt.Fprintf(tw, "%s\t%s\tnothing: %s\t\n", safetext.Escape(c.Name), cmp.Or(string(c.Kind), "number"), safetext.Escape(c.Dropped))
	}
	told := tables.SetOf(st.Columns)
	for _, t := range sides {
		if t == nil {
			continue
		}
		for _, s := range t.Skipped {
			if !told[s.Name] {
				told[s.Name] = true
				fmt.Fprintf(tw, "%s\tnot used\tnothing%s\t\n", safetext.Escape(cmp.Or(s.Name, "(no name)")), safetext.Escape(orWhy(s.Why)))
			}
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func orWhy(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
