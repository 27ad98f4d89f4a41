package tables

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// A Seen is a column of a Look.
type Seen struct {
	Name    string
	Type    string // number, text, date … of text tables, which have none of their own; otherwise that of Arrow
	Missing int    // rows without a value

	Numbers         bool
	Low, Mean, High float64 // of numbers

	// Values are the different ones of text and of whole numbers that are few, the most frequent
	// first.
	Values []Count
}

// typeName is the name of a type as people write it: lists by what they hold.
func typeName(t arrow.DataType) string {
	switch l := t.(type) {
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("%d × %s", l.Len(), typeName(l.Elem()))
	case arrow.ListLikeType:
		return "list of " + typeName(l.Elem())
	}
	return t.String()
}

// typeOf is what people call what a column of text holds.
func typeOf(c cell, why string) string {
	switch {
	case why != "" || c.field.Kind == Category:
		return "text"
	case c.timed:
		return "date and time"
	case c.field.Kind == Day:
		return "date"
	case c.field.Kind == Clock:
		return "time"
	}
	return "number"
}

// Numbers of which there are so few, each so often, look like classes: they are counted too.
const (
	mostCodes = 10
	repeats   = 4
)

// sum counts the values of the column. Words in a column of numbers are values that are no
// numbers.
func (s *Seen) sum(cells []string, number func(string) (float64, error)) {
	count, codes, numbers := map[string]int{}, map[string]int{}, 0
	s.Low, s.High = math.Inf(1), math.Inf(-1)
	for _, text := range cells {
		v, err := number(text)
		switch {
		case isMissing(text) || isMissingText(text):
			s.Missing++
		case !s.Numbers || err != nil:
			count[text]++
		case !math.IsNaN(v):
			if numbers++; len(codes) <= mostCodes {
				codes[text]++
			}
			s.Low, s.High, s.Mean = min(s.Low, v), max(s.High, v), s.Mean+(v-s.Mean)/float64(numbers)
		}
	}
	few := len(codes) <= mostCodes && numbers >= repeats*len(codes)
	if s.Numbers = numbers > 0 && !few; few {
		maps.Copy(count, codes)
	}
	for value, rows := range count {
		s.Values = append(s.Values, Count{Value: value, Rows: rows})
	}
	slices.SortFunc(s.Values, Count.compare)
}
