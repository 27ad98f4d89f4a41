package tables

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

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
var isText = arrowio.IsText

// usualFeatures returns the feature columns if none were named: the only column
// of lists, otherwise all columns of numbers.
func (p *plan) usualFeatures(schema *arrow.Schema) ([]int, error) {
	if err := p.options.checkPatterns(p.header); err != nil {
		return nil, err
	}
	var lists, numbers []int
	var listNames []string
	for i, f := range schema.Fields() {
		switch {
		case p.has(i) || slices.Contains(reserved, f.Name) || p.options.left[f.Name] != "" || p.excluded(f.Name):
		case isList(f.Type):
			lists, listNames = append(lists, i), append(listNames, f.Name)
		case isNumber(f.Type) || p.options.Mixed && isMixed(f.Type):
			numbers = append(numbers, i)
		}
	}
	switch {
	case len(lists) == 1:
		return lists, nil
	case len(lists) > 1:
		return nil, fmt.Errorf("has several columns of lists (%s): name the one with the features with --columns", list(listNames))
	case len(numbers) == 0:
		return nil, fmt.Errorf("has no column of numbers or lists for features (its columns are %s): make numbers of text, or name the feature columns", list(p.header))
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

// isMixed reports whether values of the type are text, dates or times, or if there are none at all.
func isMixed(t arrow.DataType) bool {
	return isText(t) || isDate(t) || slices.Contains([]arrow.Type{arrow.TIME32, arrow.TIME64, arrow.DURATION, arrow.NULL}, t.ID())
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
