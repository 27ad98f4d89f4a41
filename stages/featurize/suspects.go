package featurize

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

const (
	// minIdentityRows is how many rows a column needs to be taken for an identity.
	minIdentityRows = 20
	// maxRepeated is the share of rows whose value another row may have in a column of
	// identities that rise, or that are too long for float32 to tell all apart.
	maxRepeated = 0.05
	// expectedRepeats is how many repeated values whole numbers at random in a column's
	// range have to have on the average if it is to be odd that none is repeated: no
	// measurement does that in more than one column of a thousand.
	expectedRepeats = 7
	// longest is the first whole number that float64 does not tell from the next: what is
	// measured has fewer digits.
	longest = 1 << 53
	// repeatedValues is how often each value of a code is there on the average.
	repeatedValues = 5
	// glanceRows is how many rows tell most columns from a copy of the label.
	glanceRows = 256
	// maxNamed is how many columns a message names.
	maxNamed = 20
)

// identityName matches names of columns of identities.
var identityName = regexp.MustCompile(`(?i)^(id|ids|uuid|guid|key|index|idx|nr|no|row|barcode|unnamed: ?\d+|(row|cell|event|sample|case|record|patient|subject)[-_ .]?(id|nr|no|num|number|index|idx|key)|event ?#)$|[-_ .](id|uuid|idx|index|key|barcode)$|(?-i:[a-z]I[dD])$`)

// leaveIdentities returns those of the columns that are taken for identities which are left out,
// with a warning: all, unless no other is left.
func leaveIdentities(env stages.Env, t *tables.Table, ids []string) []string {
	if len(ids) == 0 || len(ids) == len(t.Columns) {
		return nil
	}
	env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because they have another whole number in each row, as identities do: %s: choose them with --columns if they are features", t.Name, nameColumns(ids)))
	return ids
}

// manyColumns are looked at between two checks of a context.
const manyColumns = 1 << 14

// identities are the names of the columns that are taken for identities.
func identities(ctx context.Context, t *tables.Table, name func(j int) string, scan func(j int) (keyScan, error)) (ids []string, err error) {
	for j := range t.Features.Cols {
		if j%manyColumns == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !isNumber(t, j) {
			continue
		}
		k, err := scan(j)
		if err != nil {
			return nil, fmt.Errorf("%s: column %s: %w", t.Name, name(j), tables.Limited(err))
		}
		if k.isIdentity(name(j)) {
			ids = append(ids, name(j))
		}
	}
	return ids, nil
}

// ofWhole scans columns of a whole table. The values of one at a time take memory of mem.
func ofWhole(t *tables.Table, mem *arrowio.Budget) func(j int) (keyScan, error) {
	return func(j int) (keyScan, error) {
		k := newKeyScan()
		if t.Features.Rows < minIdentityRows {
			return k, nil
		}
		held := mem.Part()
		defer held.Close()
		err := k.addColumn(t, j, t.Features.Rows, held)
		return k, err
	}
}

// isNumber reports whether column j holds numbers, and no categories or dates.
func isNumber(t *tables.Table, j int) bool {
	return t.Fields == nil || t.Fields[j].Kind == tables.Number
}

// warnOfNumbers warns of identities in an array, whose columns have no names by which they
// could be left out.
func warnOfNumbers(ctx context.Context, env stages.Env, t *tables.Table, mem *arrowio.Budget) error {
	if t == nil || t.Columns != nil || len(t.Shape) != 1 {
		return nil
	}
	ids, err := identities(ctx, t, func(j int) string { return strconv.Itoa(j + 1) }, ofWhole(t, mem))
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns of the array that have another whole number in each row, as identities do (counted from 1): %s: if they are, leave them out of the array", t.Name, nameColumns(ids)))
	}
	return nil
}

// A keyScan follows the values of a column to tell whether they are row numbers or keys.
type keyScan struct {
	rows         int
	other        bool // a value is no whole number, or too many are repeated
	rises, falls bool
	last         float32
	long         int // values of more digits than a measurement has
	low, high    float32
	seen         keySet
}

func newKeyScan() keyScan {
	return keyScan{rises: true, falls: true, low: float32(math.Inf(1)), high: float32(math.Inf(-1))}
}

// scanCost is about the memory of a keyScan without values.
const scanCost = 160

// addColumn adds the values of column j, which are of that many rows in all; 0 if that is
// not known.
func (k *keyScan) addColumn(t *tables.Table, j, rows int, mem *arrowio.Budget) error {
	for i := range t.Features.Rows {
		if k.other {
			return nil
		}
		if err := k.add(t.Features.Data[i*t.Features.Stride+j], mem); err != nil {
			return fmt.Errorf("telling its values from row numbers: %w", err)
		}
		if rows > 0 && float64(k.repeated()) > maxRepeated*float64(rows) {
			k.other, k.seen = true, keySet{}
		}
	}
	return nil
}

func (k *keyScan) add(v float32, mem *arrowio.Budget) error {
	if v != float32(math.Trunc(float64(v))) {
		k.other, k.seen = true, keySet{}
		return nil
	}
	if k.rows > 0 {
		k.rises, k.falls = k.rises && v >= k.last, k.falls && v <= k.last
	}
	if v >= longest || v <= -longest {
		k.long++
	}
	k.low, k.high, k.last = min(k.low, v), max(k.high, v), v
	k.rows++
	return k.seen.add(v, mem)
}

// repeated is how many rows have a value that a row before has.
func (k *keyScan) repeated() int { return k.rows - k.seen.n }

// exactWhole is the first whole number that float32 does not tell from the next.
const exactWhole = 1 << 24

// A keySet holds n whole numbers: a bit for each of 64 that follow one another, as row numbers do.
type keySet struct {
	words map[uint32]uint64
	n     int
}

// wordCost is about the memory of an entry of keySet.words.
const wordCost = 40

func (s *keySet) add(v float32, mem *arrowio.Budget) error {
	at := math.Float32bits(v) // of numbers that follow one another these do
	if -exactWhole < v && v < exactWhole {
		at = uint32(int32(v) + exactWhole)
	}
	word, known := s.words[at/64]
	if !known {
		if err := mem.Take(wordCost); err != nil {
			return err
		}
	}
	if s.words == nil {
		s.words = map[uint32]uint64{}
	}
	if bit := uint64(1) << (at % 64); word&bit == 0 {
		s.words[at/64] = word | bit
		s.n++
	}
	return nil
}

// isIdentity reports whether the column is row numbers or keys, which say nothing of other
// rows: whole numbers that are all different, and which rise (or fall) from row to row, are
// called an identity, have more digits than a measurement, or lie so close together that
// numbers at random would not all be different. Counts, such as fluorescence of 18 bits,
// and wide keys in no order and without a name that says so are features.
func (k *keyScan) isIdentity(name string) bool {
	n := float64(k.rows)
	switch {
	case k.other || k.rows < minIdentityRows || float64(k.repeated()) > maxRepeated*n:
		return false
	case k.rises || k.falls || 2*k.long > k.rows:
		return true
	}
	exact := k.high < exactWhole && k.low > -exactWhole // float32 tells these apart
	all := k.repeated() == 0 || !exact
	return all && (identityName.MatchString(name) || exact && n*(n-1)/2 > expectedRepeats*(float64(k.high)-float64(k.low)+1))
}

// tellColumns says which columns are not read, and why: a warning where text looks as if
// it said something.
func (st *recipe) tellColumns(env stages.Env, source, target *tables.Table, o Options) {
	known := make(map[string]bool, len(st.dropped)) // of the target
	for j := range st.dropped {
		known[st.dropped[j].Name] = true
	}
	if source != nil {
		for _, s := range source.Skipped {
			known[s.Name] = true
		}
	}
	var unread []string // labels of coarser levels
	for _, t := range []*tables.Table{source, target} {
		if t == nil || t == target && source != nil && source.Name == target.Name {
			continue
		}
		var categories []string
		var rest []tables.Skipped
		for _, s := range t.Skipped {
			switch {
			case t == target && slices.Contains(o.Source.Format.Levels, s.Name):
				unread = append(unread, s.Name)
			case t == target && known[s.Name]:
			case s.Values != nil && s.Why == tables.WhyText && o.side(arrowio.SourceDomain).Format.Columns == nil && t == source:
				categories = append(categories, fmt.Sprintf("%s (%s)", s.Name, nameValues(s.Values)))
			case t == target && source != nil && s.Why == "":
				rest = append(rest, tables.Skipped{Name: s.Name, Why: "no feature of " + source.Name})
			default:
				rest = append(rest, s)
			}
		}
		if len(categories) > 0 {
			env.Logger().Warn(fmt.Sprintf("%s: columns of text that are not used: %s: if they say something of the class, make numbers of them, such as a column of 0 and 1 for each value", t.Name, nameColumns(categories)))
		}
		if len(rest) > 0 {
			line := fmt.Sprintf("%s: columns not used: %s", t.Name, nameSkipped(rest))
			if o.Load == "" && o.Prepared == "" && !t.Pictures { // else the columns are chosen already
				line += "; choose with --columns"
			}
			env.Logger().Info(line)
		}
	}
	if target != nil && target.Unread != "" && o.Prepared == "" && !o.Truth {
		env.Logger().Info(fmt.Sprintf("%s: the labels in column %s are not used: --truth compares with them", target.Name, target.Unread))
	}
	if len(unread) > 0 {
		env.Logger().Info(fmt.Sprintf("%s: the labels in columns of other levels are not used: %s", target.Name, nameColumns(unread)))
	}
	tellIdentity(env, cmp.Or(target, source), o)
	warnOfOneFile(env, source, target, o)
}

// nameSkipped lists columns that are not read, those together that have one reason.
func nameSkipped(columns []tables.Skipped) string {
	type group struct {
		names []string // the first, of so many
		all   int
	}
	var reasons []string
	groups := map[string]*group{}
	for _, s := range columns {
		g := groups[s.Why]
		if g == nil {
			g = &group{}
			reasons, groups[s.Why] = append(reasons, s.Why), g
		}
		if g.all++; g.all <= maxNamed { // there may be a million
			g.names = append(g.names, tables.Skipped{Name: s.Name}.String())
		}
	}
	all := len(reasons)
	reasons = reasons[:min(all, maxNamed)]
	for i, why := range reasons {
		reasons[i] = nameFirst(groups[why].names, groups[why].all)
		if why != "" {
			reasons[i] += " (" + why + ")"
		}
	}
	if all > maxNamed { // copies of many columns
		reasons = append(reasons, fmt.Sprintf("… (%d reasons in all)", all))
	}
	return strings.Join(reasons, "; ")
}

// tellIdentity says how to keep a column that is called an identity: labels that have only
// row numbers are hard to join to their rows.
func tellIdentity(env stages.Env, t *tables.Table, o Options) {
	if o.Nameless || o.Target.Format.ID != "" {
		return
	}
	for _, s := range t.Skipped {
		if s.Why != tables.WhyIndex && identityName.MatchString(s.Name) {
			env.Logger().Info(fmt.Sprintf("%s: to have column %q as the id of the rows, give --id %s", t.Name, s.Name, shell([]string{s.Name})))
			return
		}
	}
}

// warnOfOneFile warns if all rows are source and target at once.
func warnOfOneFile(env stages.Env, source, target *tables.Table, o Options) {
	if source == nil || target == nil || !o.oneFile() || o.Source.drawn() || o.Target.drawn() {
		return
	}
	say := "if a column says which domain a row is of, name it with --domain-column"
	for name, values := range categories(source) {
		say = fmt.Sprintf("if a column says which domain a row is of, name it, as in --domain-column %s (whose values are %s)", shell([]string{name}), nameValues(values))
		break
	}
	env.Logger().Warn(fmt.Sprintf("%s is source and target, so each of its %d rows is both: %s", source.Name, source.Features.Rows, say))
}

// categories are the columns of a table, as it was read, whose values are few.
func categories(t *tables.Table) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, s := range t.Skipped {
			if len(s.Values) > 0 && !yield(s.Name, s.Values) {
				return
			}
		}
		for _, f := range t.Fields {
			if n := len(f.Values); n > 1 && n <= maxNamed && !yield(f.Name, f.Values) {
				return
			}
		}
	}
}

// maxLikely is how many columns a message proposes as labels.
const maxLikely = 5

// likelyLabels are columns of few values, which may be the label: those that a table without
// labels, of which other are the columns, lacks, or else all.
func likelyLabels(t *tables.Table, other []string) string {
	var all []string
	for name := range categories(t) {
		all = append(all, name)
	}
	for j, f := range t.Fields {
		if f.Kind == tables.Number && isCode(t, j) {
			all = append(all, f.Name)
		}
	}
	if absent := without(all, other); len(absent) > 0 && other != nil {
		all = absent
	}
	if len(all) == 0 || len(all) > maxLikely {
		return ""
	}
	return ", perhaps " + strings.Join(all, " or ")
}

// isCode reports whether a column of numbers is one of few whole numbers.
func isCode(t *tables.Table, j int) bool {
	seen := map[float32]bool{}
	for i := range t.Features.Rows {
		v := t.Row(i)[j]
		if v != float32(math.Trunc(float64(v))) {
			return false
		}
		if seen[v] = true; len(seen) > maxNamed {
			return false
		}
	}
	return len(seen) > 1
}

// otherColumns are the names of the columns of the other domain's table; nil if they are
// not known.
func (o *Options) otherColumns(ctx context.Context, domain arrowio.Domain) (names []string) {
	if domain != arrowio.SourceDomain || o.Target.Path == "" || o.Target.Stream != nil || !tables.HasBlocks(ctx, o.Target.Path, o.Target.Format) {
		return nil
	}
	fields, _, err := tables.Columns(ctx, o.Target.Path, o.Target.Format)
	if err != nil {
		return nil
	}
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// drawn reports whether only some rows of the file are drawn.
func (o SideOptions) drawn() bool {
	return o.Rows > 0 || o.MaxRows > 0 || o.Proportions != "" || o.Fractions != ""
}

// warnOfCopies warns of columns that tell the source's classes apart by themselves, as a
// copy of the label does.
func warnOfCopies(ctx context.Context, env stages.Env, source *tables.Table, mem *arrowio.Budget) error {
	if !tellable(source) {
		return nil
	}
	var copies []string
	for j, name := range source.Columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if source.Labels == nil {
			continue
		}
		copied, err := separates(source, j, mem)
		if err != nil {
			return fmt.Errorf("%s: column %q: telling it from a copy of the label: %w", source.Name, name, tables.Limited(err))
		}
		if copied {
			copies = append(copies, name)
		}
	}
	if text := ofEach(copies, "tells all classes of the source apart by itself: if it is a copy of the label, leave it out with --columns",
		"tell all classes of the source apart, each by itself: if they are copies of the label, leave them out with --columns"); text != "" {
		env.Logger().Warn(text)
	}
	return nil
}

// doubtsOfSides are the doubts about columns of tables that have the same, found in memory of mem.
func doubtsOfSides(source, target *tables.Table, mem *arrowio.Budget) ([]string, error) {
	if !tellable(source) || target == nil || !slices.Equal(target.Columns, source.Columns) {
		return nil, nil
	}
	held := mem.Part()
	defer held.Close()
	own, err := ownSpreads(source, held)
	if err != nil {
		return nil, err
	}
	others, err := ownSpreads(target, held)
	if err != nil {
		return nil, err
	}
	return doubtsOfSpreads(source.Columns, own, others), nil
}

// doubtsOfSpreads are about columns that tell the domains apart by themselves, and about columns
// that are stuck at one value in the target.
func doubtsOfSpreads(columns []string, source, target []spread) (doubts []string) {
	var sides, stuck []string
	for j, name := range columns {
		switch {
		case target[j].isStuck(&source[j]):
			stuck = append(stuck, name)
		case apart(&source[j], &target[j]):
			sides = append(sides, name)
		}
	}
	remedy := " --exclude " + shell(stuck)
	doubts = append(doubts, ofEach(stuck, "has many values in the source and one value in the target, as of a sensor that has died or a stain that was forgotten: leave it out with"+remedy,
		"have many values in the source and each one value in the target, as of sensors that have died or stains that were forgotten: leave them out with"+remedy),
		ofEach(sides, "has no value of the target within its values of the source: if it says which file a row is from, leave it out with --columns",
			"have no value of the target within their values of the source: if they say which file a row is from, leave them out with --columns"))
	return slices.DeleteFunc(doubts, func(text string) bool { return text == "" })
}

// tellable reports whether columns of a table can be told from copies of the label.
func tellable(t *tables.Table) bool {
	return t != nil && t.Features.Rows >= minIdentityRows && len(t.Columns) == t.Features.Cols
}

// ofEach says something of columns; "" if there are none.
func ofEach(columns []string, one, several string) string {
	switch len(columns) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("column %q %s", columns[0], one)
	}
	return fmt.Sprintf("columns %s %s", nameColumns(columns), several)
}

// separates reports whether column j tells the classes apart: their values are apart, or it is a
// code, each of whose values is of one class.
func separates(t *tables.Table, j int, mem *arrowio.Budget) (bool, error) {
	n := t.Features.Rows
	if (n <= 2*glanceRows || sideBySide(t, j, glanceRows)) && sideBySide(t, j, n) { // some are, if all are
		return true, nil
	}
	return codesClasses(t, j, mem)
}

// sideBySide reports whether the classes of so many rows, from all of t, are apart in column j: no
// value of one lies among those of another. Of all rows there have to be several classes.
func sideBySide(t *tables.Table, j, rows int) bool {
	type reach struct{ low, high float32 }
	classes := map[string]*reach{}
	for k := range rows {
		i := k * t.Features.Rows / rows
		v := t.Features.Data[i*t.Features.Stride+j]
		if v != v { // those that are missing are a value before all others
			v = float32(math.Inf(-1))
		}
		if c := classes[t.Labels[i]]; c != nil {
			c.low, c.high = min(c.low, v), max(c.high, v)
		} else {
			classes[t.Labels[i]] = &reach{v, v}
		}
	}
	sorted := slices.SortedFunc(maps.Values(classes), func(a, b *reach) int { return cmp.Compare(a.low, b.low) })
	for k := 1; k < len(sorted); k++ {
		if sorted[k].low <= sorted[k-1].high {
			return false
		}
	}
	return len(sorted) > 1 || rows < t.Features.Rows
}

// codesClasses reports whether all rows of one value of column j are of one class, there are several
// classes, and the values are repeated.
func codesClasses(t *tables.Table, j int, mem *arrowio.Budget) (bool, error) {
	held := mem.Part()
	defer held.Close()
	class, several := map[float32]string{}, false
	for i, now := range t.Labels {
		several = several || now != t.Labels[0]
		v := t.Features.Data[i*t.Features.Stride+j]
		of, known := class[v]
		if known && of != now || !known && (len(class)+1)*repeatedValues > len(t.Labels) {
			return false, nil
		}
		if known {
			continue
		}
		if err := held.Take(codeCost); err != nil {
			return false, err
		}
		class[v] = now
	}
	return several, nil
}

// codeCost is about the memory of a value and its class.
const codeCost = 56

// A spread is where the values of a column are.
type spread struct {
	rows      int // with a value
	low, high float32
	values    []valueRows // in order, until there are more values than glanceRows
	counted   int         // rows of all of them
}

// valueRows is a value, and how many rows have it.
type valueRows struct {
	value float32
	rows  int32
}

func newSpreads(columns int) []spread {
	spreads := make([]spread, columns)
	for j := range spreads {
		spreads[j] = spread{low: float32(math.Inf(1)), high: float32(math.Inf(-1))}
	}
	return spreads
}

// spreadsOf are those of the columns of a table, in memory of mem.
func spreadsOf(t *tables.Table, mem *arrowio.Budget) ([]spread, error) {
	if err := mem.Take(int64(t.Features.Cols) * int64(unsafe.Sizeof(spread{}))); err != nil {
		return nil, tables.Limited(fmt.Errorf("%d columns: %w", t.Features.Cols, err))
	}
	spreads := newSpreads(t.Features.Cols)
	return spreads, addRows(spreads, t, mem)
}

// ownSpreads are spreadsOf, whose error says which table.
func ownSpreads(t *tables.Table, mem *arrowio.Budget) ([]spread, error) {
	spreads, err := spreadsOf(t, mem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return spreads, nil
}

// addRows adds the rows of a table to the spreads of its columns, in memory of mem.
func addRows(spreads []spread, t *tables.Table, mem *arrowio.Budget) error {
	for j := range spreads {
		s := &spreads[j]
		had := cap(s.values)
		s.addColumn(t, j)
		if err := mem.Take(int64(cap(s.values)-had) * int64(unsafe.Sizeof(valueRows{}))); err != nil {
			return tables.Limited(fmt.Errorf("%d columns: %w", len(spreads), err))
		}
	}
	return nil
}

// addColumn adds the values of column j.
func (s *spread) addColumn(t *tables.Table, j int) {
	for i := range t.Features.Rows {
		s.add(t.Features.Data[i*t.Features.Stride+j])
	}
}

func (s *spread) add(v float32) {
	if v != v { // missing
		return
	}
	s.rows++
	s.low, s.high = min(s.low, v), max(s.high, v)
	if len(s.values) > glanceRows {
		return
	}
	s.counted++
	i, known := s.find(v)
	if !known {
		s.values = slices.Insert(s.values, i, valueRows{value: v})
	}
	s.values[i].rows++
}

// find returns where a value is among those of the column, or would be.
func (s *spread) find(v float32) (i int, known bool) {
	return slices.BinarySearchFunc(s.values, v, func(a valueRows, v float32) int { return cmp.Compare(a.value, v) })
}

// rowsOf are how many of the rows that were counted have a value.
func (s *spread) rowsOf(v float32) int {
	if i, known := s.find(v); known {
		return int(s.values[i].rows)
	}
	return 0
}

// manyValues is how many values a column has at least that is no code.
const manyValues = 11

// isStuck reports whether a column has one value in enough rows, and in others many, of which
// that is not the usual one, as 0 is of sparse counts.
func (s *spread) isStuck(others *spread) bool {
	return s.rows >= minIdentityRows && s.low == s.high && len(others.values) >= manyValues && 2*others.rowsOf(s.low) <= others.counted
}

// codesClasses reports whether the column has few values, each repeated.
func (s *spread) codesClasses() bool { return len(s.values) <= min(s.rows/repeatedValues, glanceRows) }

// apart reports whether a column tells two tables apart: its ranges in them do not
// overlap, or it is a code whose values in one are none of the other.
func apart(a, b *spread) bool {
	if len(a.values) == 0 || len(b.values) == 0 {
		return false // all are missing
	}
	if a.low > b.high || b.low > a.high {
		return true
	}
	if !a.codesClasses() || !b.codesClasses() {
		return false
	}
	for _, v := range a.values {
		if b.rowsOf(v.value) > 0 {
			return false
		}
	}
	return true
}

// nameColumns says which columns are features.
func nameColumns(columns []string) string { return nameFirst(columns, len(columns)) }

// nameFirst is nameColumns of n columns, of which these are the first maxNamed at least.
func nameFirst(columns []string, n int) string {
	switch {
	case n == 0:
		return "none"
	case n <= maxNamed:
		return strings.Join(columns, ", ")
	}
	return fmt.Sprintf("%s … (%d in all)", strings.Join(columns[:maxNamed], ", "), n)
}

// nameValues lists the values of a category.
func nameValues(values []string) string {
	const most = 5
	if len(values) <= most {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s … %d values", strings.Join(values[:most], ", "), len(values))
}
