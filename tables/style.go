package tables

import (
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/tables/scan"
)

// styles are the ways to write numbers, a point as decimal mark before a comma, and the plainest
// of each first.
var styles = []scan.Style{
	{}, {Thousands: ','}, {Thousands: ' '}, {Thousands: '\''},
	{Decimal: ','}, {Decimal: ',', Thousands: '.'}, {Decimal: ',', Thousands: ' '}, {Decimal: ',', Thousands: '\''},
}

// A styleSet has a bit for each of styles.
type styleSet uint8

const (
	plainStyle  styleSet = 1
	pointStyles styleSet = 0x0f
	commaStyles styleSet = 0xf0
)

// A written column is one of numbers.
type written struct {
	name    string
	example string // the first that is not plain, or not whole
	odd     bool   // it is not plain
	in      styleSet
	sure    string // marks of thousands that can be no decimal marks
}

// awaitStyle waits for the first rows to see how numbers are written, unless that is said.
func (p *plan) awaitStyle(separator rune) {
	p.separator, p.finds = separator, p.options.Decimal == 0 && p.options.Thousands == 0
	if p.finds && slices.ContainsFunc(p.cells, func(c cell) bool { return c.field.Kind == Number }) {
		p.settled = false
	}
}

// findStyle finds how the numbers of the columns are written: as one style reads all of them, where
// it does not read as others would. A comma is a decimal mark only beside another separator.
func (p *plan) findStyle(columns []int, sample [][]string) error {
	if !p.finds {
		return nil
	}
	in, all, odd := ^styleSet(0), []written(nil), []written(nil)
	for _, marked := range []bool{true, false} { // most tables have no column with marks
		for _, i := range columns {
			if isMarked(i, sample) != marked {
				continue
			}
			c := writtenIn(p.header[i], i, sample)
			if c.in == 0 {
				continue
			}
			in, all = in&c.in, append(all, c)
			if c.odd {
				odd = append(odd, c)
			}
		}
		if odd == nil {
			return nil
		}
	}
	switch comma := in&commaStyles != 0; {
	case in == 0: // columns do not agree: each is told of
		return nil
	case comma && p.separator != ';' && p.separator != '\t':
		return nil
	case comma && in&pointStyles != 0:
		return odd[0].ambiguous()
	}
	style := styles[slices.IndexFunc(styles, func(s scan.Style) bool { return in&setOfStyle(s) != 0 })]
	if mark := style.Thousands; mark == '.' || mark == ',' {
		sure := slices.ContainsFunc(all, func(c written) bool { return strings.ContainsRune(c.sure, mark) })
		grouped := slices.IndexFunc(all, func(c written) bool { return c.in&setOfStyle(scan.Style{Decimal: style.Decimal}) == 0 })
		if !sure {
			return all[grouped].ambiguous()
		}
	}
	p.decimal, p.options.Thousands = style.Decimal, style.Thousands
	p.said = fmt.Sprintf("numbers are read with %s, as %q in column %q: if that is wrong, say how they are written with --decimal and --thousands", inWords(style), odd[0].example, odd[0].name)
	return nil
}

// setOfStyle is the set of one.
func setOfStyle(s scan.Style) styleSet { return 1 << slices.Index(styles, s) }

// isMarked reports whether a value of a column has what a plain number has not and others may.
func isMarked(column int, sample [][]string) bool {
	return slices.ContainsFunc(sample, func(record []string) bool {
		value := strings.TrimSpace(record[column])
		return strings.ContainsAny(value, ", '\u00a0\u202f") || strings.Count(value, ".") > 1
	})
}

// writtenIn says which styles read all values of a column; none, if it has others than numbers.
func writtenIn(name string, column int, sample [][]string) written {
	c := written{name: name, in: ^styleSet(0)}
	some := false
	for _, record := range sample {
		value := strings.TrimSpace(record[column])
		if isMissing(value) {
			continue
		}
		some = true
		if _, err := parseFloat(value, 64); err == nil && !strings.ContainsAny(value, ".") {
			continue // a whole number, in all styles
		}
		var in styleSet
		for k, s := range styles {
			if _, err := numberIn(s, value, 64); err == nil && (s.Thousands == 0 || !beginsWithZero(value, s.Thousands)) {
				in |= 1 << k
			}
		}
		if c.in &= in; c.in == 0 {
			return c
		}
		if odd := in&plainStyle == 0; c.example == "" || odd && !c.odd {
			c.example, c.odd = value, odd
		}
		for _, mark := range ".," {
			if n := strings.Count(value, string(mark)); n > 1 || n == 1 && strings.ContainsAny(value, ".,") && strings.IndexRune(value, mark) < strings.LastIndexAny(value, ".,") {
				c.sure += string(mark)
			}
		}
	}
	if !some {
		c.in = 0
	}
	return c
}

// beginsWithZero reports whether a mark stands behind a first 0, as nobody writes thousands: 0,125.
func beginsWithZero(value string, mark rune) bool {
	return strings.HasPrefix(strings.TrimLeft(value, "-+"), "0"+string(mark))
}

func (c written) ambiguous() error {
	return fmt.Errorf("column %q: %q may have a decimal mark or one between thousands: say which with --decimal , or --thousands . (or --thousands , where a point is the decimal mark)", c.name, c.example)
}

func inWords(s scan.Style) string {
	words := []string(nil)
	if s.Decimal == ',' {
		words = append(words, "a decimal comma")
	}
	if s.Thousands != 0 {
		words = append(words, fmt.Sprintf("%q between thousands", string(s.Thousands)))
	}
	return strings.Join(words, " and ")
}
