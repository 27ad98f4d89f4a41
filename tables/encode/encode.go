// Package encode makes numbers of the columns of a mixed table: categories become columns
// of 0 and 1, dates become numbers and cycles, and missing values are filled in. What is done
// to a column is learnt from the source's rows, without labels, and done alike to all others.
//
// A category has a column for each value, as in scikit-learn's OneHotEncoder; values of few
// rows, and those that the source lacks, share one. A category of more values than that is
// hashed. A missing number becomes the median and a missing category the most frequent one
// (SimpleImputer); where many are missing, a column says which.
package encode

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mars.dev/mars/stages/algorithms/selection"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/image"
)

// An Encoder is what is done to each column. Its JSON is kept with models.
type Encoder struct {
	Columns []Column `json:"columns"`
}

// A Column says what becomes of a column as it was read (tables.Field).
type Column struct {
	tables.Field
	Fill    float32 `json:"fill"`              // instead of a missing value
	Gaps    bool    `json:"gaps,omitempty"`    // a column says which were missing
	Levels  []int   `json:"levels,omitempty"`  // the values of a category with a column of their own
	Other   bool    `json:"other,omitempty"`   // a column is for the other values
	Parts   []part  `json:"parts,omitempty"`   // of numbers, dates and times
	Origin  float32 `json:"origin,omitempty"`  // the day that is 0
	Dropped string  `json:"dropped,omitempty"` // why nothing is left of it, until Prune
}

// A part of a number, date or time is one column, or a sine and a cosine.
type part string

const (
	plain   part = "number"
	days    part = "days"
	seconds part = "seconds"
	week    part = "week"
	year    part = "year"
	clock   part = "day"
)

// cycles are the lengths of the parts that come back, in days or seconds.
var cycles = map[part]float64{week: 7, year: 365.2425, clock: 86400}

// Options of learning.
type Options struct {
	MaxCategories int     // a category of more values is hashed to so many columns
	Indicator     float64 // with more missing values than this share a column says which are
	Keep          bool    // columns that say nothing are kept: they were named
	KeepConstant  bool    // columns that are constant or copies are kept: there is no source
}

// Learn learns from the rows of the source what to do with its columns, and gives its
// categories, and those of the other parts of its file, the order that the encoder has.
func Learn(ctx context.Context, t *tables.Table, parts []*tables.Table, o Options) (*Encoder, error) {
	e, err := learnAll(ctx, t, parts, o)
	if err == nil && e.Width() == 0 { // nothing that is learnt from constants is wrong
		o.KeepConstant = true
		e, err = learnAll(ctx, t, parts, o)
	}
	if err == nil && e.Width() == 0 {
		for _, c := range e.Columns {
			if c.Dropped == pictures {
				return nil, fmt.Errorf("%s: column %q has the paths of images, and no other says anything: give --image-column %s to read them", t.Name, c.Name, c.Name)
			}
		}
		err = fmt.Errorf("%s: no column says anything: all are empty, or text that is another in each row%s: name others with --columns", t.Name, e.example())
	}
	return e, err
}

// example is a value of text, for a message; "" if there is none.
func (e *Encoder) example() string {
	for _, c := range e.Columns {
		if len(c.Values) > 0 {
			return fmt.Sprintf(" (%s has %.20q)", c.Name, c.Values[0])
		}
	}
	return ""
}

func learnAll(ctx context.Context, t *tables.Table, parts []*tables.Table, o Options) (*Encoder, error) {
	e := &Encoder{Columns: make([]Column, len(t.Fields))}
	l := learner{table: t, parts: parts, options: o, seen: map[uint64]int{}, encoder: e}
	for j := range e.Columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e.Columns[j].Field = t.Fields[j]
		l.learn(j)
	}
	for _, part := range parts {
		part.Fields = e.Fields()
	}
	return e, nil
}

// Prune takes the columns of which nothing is left out of the encoder, and of tables that it
// would apply to, and returns them.
func (e *Encoder) Prune(sides ...*tables.Table) (dropped []Column) {
	var left []int
	for j := range e.Columns {
		if e.Columns[j].Dropped == "" {
			left = append(left, j)
		}
	}
	// A million columns are copied once, into room of their number.
	columns := make([]Column, 0, len(left))
	dropped = make([]Column, 0, len(e.Columns)-len(left))
	for j := range e.Columns {
		if e.Columns[j].Dropped == "" {
			columns = append(columns, e.Columns[j])
		} else {
			dropped = append(dropped, e.Columns[j])
		}
	}
	e.Columns = columns
	for _, t := range sides {
		*t = *t.Pick(left)
	}
	return dropped
}

// Fields are the columns to read.
func (e *Encoder) Fields() []tables.Field {
	fields := make([]tables.Field, len(e.Columns))
	for j, c := range e.Columns {
		fields[j] = c.Field
	}
	return fields
}

// Plain reports whether the encoder does nothing but fill in numbers.
func (e *Encoder) Plain() bool {
	return !slices.ContainsFunc(e.Columns, func(c Column) bool {
		return c.Kind != tables.Number || c.Gaps || c.Dropped != ""
	})
}

// Width is the number of features.
func (e *Encoder) Width() (n int) {
	for j := range e.Columns {
		n += e.Columns[j].Width()
	}
	return n
}

// Inputs are the names of the columns that are read.
func (e *Encoder) Inputs() (names []string) {
	for j, c := range e.Columns {
		if j == 0 || e.Columns[j-1].Name != c.Name {
			names = append(names, c.Name)
		}
	}
	return names
}

// Names are those of the features: a value of the category color is color=red.
func (e *Encoder) Names() (names []string) {
	for j := range e.Columns {
		names = append(names, e.Columns[j].names()...)
	}
	return names
}

// Drop takes away the columns with these names, for a reason that people are told.
func (e *Encoder) Drop(names []string, why string) {
	drop := make(map[string]bool, len(names))
	for _, name := range names {
		drop[name] = true
	}
	for j := range e.Columns {
		if c := &e.Columns[j]; drop[c.Name] && c.Dropped == "" {
			c.drop(why)
		}
	}
}

func (c *Column) drop(why string) {
	c.Dropped, c.Levels, c.Parts, c.Gaps, c.Other, c.Buckets = why, nil, nil, false, false, 0
}

// Width is the number of features of the column.
func (c *Column) Width() (n int) {
	n = len(c.Levels) + c.Buckets
	if c.Other {
		n++
	}
	if c.Gaps {
		n++
	}
	for _, p := range c.Parts {
		n++
		if cycles[p] > 0 {
			n++
		}
	}
	return n
}

func (c *Column) names() (names []string) {
	for _, p := range c.Parts {
		switch {
		case p == plain:
			names = append(names, c.Name)
		case cycles[p] > 0:
			names = append(names, fmt.Sprintf("%s:%s-sin", c.Name, p), fmt.Sprintf("%s:%s-cos", c.Name, p))
		default:
			names = append(names, fmt.Sprintf("%s:%s", c.Name, p))
		}
	}
	for _, k := range c.Levels {
		names = append(names, c.Name+"="+c.Values[k])
	}
	for k := range c.Buckets {
		names = append(names, fmt.Sprintf("%s#%d", c.Name, k+1))
	}
	if c.Other {
		names = append(names, c.Name+"=(other)")
	}
	if c.Gaps {
		names = append(names, c.Name+"=(missing)")
	}
	return names
}

// Apply returns the table with the features that its columns become, each as in Names. A row
// without any value stays so: all its features are NaN.
func (e *Encoder) Apply(ctx context.Context, t *tables.Table) (*tables.Table, error) {
	if len(t.Fields) != len(e.Columns) {
		return nil, fmt.Errorf("%s: has %d columns, and %d were learnt from", t.Name, len(t.Fields), len(e.Columns))
	}
	if e.Plain() {
		fill := make([]float32, len(e.Columns))
		for j, c := range e.Columns {
			fill[j] = c.Fill
		}
		t.Fill(fill)
		return t, nil
	}
	return t.Map(ctx, e.Names(), e.encode)
}

// encode makes the features of a row.
func (e *Encoder) encode(row, features []float32) {
	if tables.IsMissing(row) {
		for k := range features {
			features[k] = float32(math.NaN())
		}
		return
	}
	for j := range e.Columns {
		n := e.Columns[j].encode(row[j], features)
		features = features[n:]
	}
}

// encode writes the features of a value, and returns how many there are.
func (c *Column) encode(v float32, features []float32) int {
	missing := v != v
	if missing {
		v = c.Fill
	}
	k := 0
	for _, p := range c.Parts {
		if length := cycles[p]; length > 0 {
			sin, cos := math.Sincos(2 * math.Pi * math.Mod(float64(v), length) / length)
			features[k], features[k+1] = float32(sin), float32(cos)
			k += 2
			continue
		}
		features[k] = v - c.Origin
		k++
	}
	n := c.Width()
	clear(features[k:n])
	if missing && c.Gaps {
		features[n-1] = 1
	}
	if c.Kind != tables.Category || n == k {
		return n
	}
	switch level, own := slices.BinarySearch(c.Levels, int(v)); {
	case c.Buckets > 0:
		features[k+int(v)] = 1
	case own:
		features[k+level] = 1
	case c.Other:
		features[k+len(c.Levels)] = 1
	}
	return n
}

// A learner learns column by column.
type learner struct {
	table   *tables.Table
	parts   []*tables.Table // table is one of them
	options Options
	encoder *Encoder
	seen    map[uint64]int // columns by their values
}

func (l *learner) value(i, j int) float32 {
	return l.table.Features.Data[i*l.table.Features.Stride+j]
}

func (l *learner) learn(j int) {
	c := &l.encoder.Columns[j]
	n := l.table.Features.Rows
	values := make([]float32, 0, n)
	for i := range n {
		if v := l.value(i, j); v == v {
			values = append(values, v)
		}
	}
	gaps := float64(n-len(values)) / float64(n)
	first := j == 0 || l.encoder.Columns[j-1].Name != c.Name // of a date and its time
	c.Gaps = first && len(values) < n && gaps > l.options.Indicator
	if len(values) == 0 {
		c.drop("empty")
		return
	}
	switch c.Kind {
	case tables.Category:
		l.learnCategory(j, values)
	case tables.Number:
		c.Parts, c.Fill = []part{plain}, median(values)
	case tables.Day:
		learnDays(c, values)
	case tables.Clock:
		c.Parts, c.Fill = []part{seconds, clock}, median(values)
	}
	if c.Dropped != "" || l.options.Keep || l.options.KeepConstant {
		return
	}
	if constant(values) {
		if c.Levels, c.Parts, c.Other = nil, nil, false; !c.Gaps {
			c.drop("everywhere the same")
			return
		}
	}
	l.dropCopy(j)
}

func constant(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return v != values[0] })
}

// dropCopy drops a column that is the same as one before.
func (l *learner) dropCopy(j int) {
	c := &l.encoder.Columns[j]
	const offset, prime = 14695981039346656037, 1099511628211 // of FNV-1a, by cells
	key := uint64(offset)
	for i := range l.table.Features.Rows {
		key = (key ^ uint64(math.Float32bits(l.value(i, j)))) * prime
	}
	first, there := l.seen[key]
	if !there {
		l.seen[key] = j
		return
	}
	f := l.encoder.Columns[first]
	for i := range l.table.Features.Rows {
		if a, b := l.value(i, first), l.value(i, j); a != b && (a == a || b == b) {
			return
		}
	}
	if f.Kind == c.Kind && slices.Equal(f.Values, c.Values) {
		c.drop("a copy of " + f.Name)
	}
}

// median is the middle of the values; of two, their mean. It changes their order: the median of
// millions of rows does not wait for all to be sorted.
func median(values []float32) float32 {
	n := len(values)
	upper := selection.Nth(values, n/2)
	if n%2 == 1 {
		return upper
	}
	return float32((float64(slices.Max(values[:n/2])) + float64(upper)) / 2)
}

// Spans in days from which a cycle is seen: two weeks, and a year.
const (
	weeks = 14
	years = 365
)

func learnDays(c *Column, values []float32) {
	c.Fill = float32(math.Floor(float64(median(values))))
	c.Origin = c.Fill
	c.Parts = []part{days}
	span := slices.Max(values) - slices.Min(values)
	if span >= weeks {
		c.Parts = append(c.Parts, week)
	}
	if span >= years {
		c.Parts = append(c.Parts, year)
	}
}

// rare is the number of rows below which a value of a category has no column of its own.
func rare(rows int) int { return max(2, min(5, rows/100)) }

// distinct is the largest share of rows with different values in a column of text that says
// something of other rows.
const distinct = 0.5

// pictures is why the paths of images are dropped.
const pictures = "paths of images, which --image-column reads"

func (l *learner) learnCategory(j int, values []float32) {
	c := &l.encoder.Columns[j]
	counts := make([]int, len(c.Values))
	for _, v := range values {
		counts[int(v)]++
	}
	used := 0
	for _, n := range counts {
		if n > 0 {
			used++
		}
	}
	spread := used > 1 && float64(used) > distinct*float64(len(values)) && !l.options.Keep
	if (spread || used == tables.MaxValues) && image.IsPicture(c.Values[0]) {
		c.drop(pictures)
		return
	}
	if used == tables.MaxValues {
		c.drop(fmt.Sprintf("text: %d different values, and maybe more", used))
		return
	}
	if spread {
		c.drop(fmt.Sprintf("text: %d different values in %d rows", used, len(values)))
		return
	}
	counts = l.sort(j, counts)
	level, frequent := 0, []int(nil)
	for k, n := range counts {
		if n > counts[level] {
			level = k
		}
		if n >= rare(len(values)) {
			frequent = append(frequent, k)
		}
	}
	c.Fill = float32(level)
	if len(frequent) > l.options.MaxCategories {
		l.hash(j, level)
		return
	}
	c.Levels, c.Other = frequent, len(frequent) < len(counts)
}

// sort gives the values that are there the order of their names, so that the encoder does
// not depend on that of the rows, and returns their counts.
func (l *learner) sort(j int, counts []int) []int {
	c := &l.encoder.Columns[j]
	var order []int
	for k, n := range counts {
		if n > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.Values[a], c.Values[b]) })
	codes := make([]float32, len(c.Values))
	for k := range codes {
		codes[k] = float32(len(order)) // of rows of other domains
	}
	names, sorted := make([]string, len(order)), make([]int, len(order))
	for k, old := range order {
		codes[old], names[k], sorted[k] = float32(k), c.Values[old], counts[old]
	}
	c.Values = names
	l.recode(j, codes)
	return sorted
}

func (l *learner) recode(j int, codes []float32) {
	for _, t := range l.parts {
		for i := range t.Features.Rows {
			if v := &t.Row(i)[j]; *v == *v && int(*v) < len(codes) { // others are of no value of the source
				*v = codes[int(*v)]
			}
		}
	}
}

// hash gives each value one of a few columns.
func (l *learner) hash(j, level int) {
	c := &l.encoder.Columns[j]
	c.Buckets = l.options.MaxCategories
	codes := make([]float32, len(c.Values))
	for k, name := range c.Values {
		codes[k] = float32(tables.Bucket(name, c.Buckets))
	}
	c.Fill = codes[level]
	l.recode(j, codes)
	c.Values = []string{}
}

// DropDays leaves the number of days of column j out.
func (e *Encoder) DropDays(j int) {
	c := &e.Columns[j]
	if c.Parts = slices.DeleteFunc(slices.Clone(c.Parts), func(p part) bool { return p == days }); c.Width() == 0 {
		c.drop("all dates of the target are outside those of the source")
	}
}

// Becomes says in few words which features the column becomes.
func (c *Column) Becomes() string {
	names := c.names()
	const most = 4
	switch {
	case len(names) == 1 && names[0] == c.Name:
		return "itself"
	case c.Buckets > 0:
		return fmt.Sprintf("%d features, by a hash of its values", len(names))
	case len(names) > most:
		return fmt.Sprintf("%s … %d features", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(names, ", ")
}

// Filled says what a missing value becomes.
func (c *Column) Filled() string {
	switch {
	case c.Kind == tables.Category && c.Buckets > 0:
		return "the most frequent value"
	case c.Kind == tables.Category:
		return c.Values[int(c.Fill)]
	case c.Kind == tables.Number && c.Centre != 0:
		return fmt.Sprintf("%.12g", float64(c.Fill)+c.Centre)
	case c.Kind == tables.Number:
		return fmt.Sprintf("%g", c.Fill)
	}
	return "the median"
}

// Centres are what was taken off the number that each feature is; nil: nothing was.
func (e *Encoder) Centres() []float64 {
	all, some := make([]float64, e.Width()), false
	k := 0
	for j := range e.Columns {
		c := &e.Columns[j]
		if slices.Contains(c.Parts, plain) && c.Centre != 0 {
			all[k], some = c.Centre, true
		}
		k += c.Width()
	}
	if !some {
		return nil
	}
	return all
}

// Numbers are the indices of the features that are the numbers of a column, and no parts of
// dates, values of categories or missing cells.
func (e *Encoder) Numbers() (at []int) {
	k := 0
	for j := range e.Columns {
		c := &e.Columns[j]
		if slices.Contains(c.Parts, plain) { // which is the first
			at = append(at, k)
		}
		k += c.Width()
	}
	return at
}
