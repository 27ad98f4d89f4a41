package label

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/sheet"
)

// Sheet is rows of the target that a person has labelled.
type Sheet = sheet.Filled

// giveLabels finds the classes of the rows that a person has labelled.
func (l *Labels) giveLabels() error {
	if l.Given == nil {
		return nil
	}
	answers, err := l.Given.Answers(l.classes, nil)
	if err != nil {
		return err
	}
	l.given = map[int64]int{}
	for i, row := range answers.Labelled {
		l.given[int64(row.Row)] = answers.Class[i]
	}
	return nil
}

// give gives rows the label that a person gave them: the first of n is row l.seen of the target.
// Such a label is certain.
func (l *Labels) give(columns []arrow.Array, n int64) error {
	var rows []int64
	for row := range l.given {
		if row >= l.seen && row < l.seen+n {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return nil
	}
	classes, confidence, probability := l.at(l.in.Columns.PredictedClass), l.at(Confidence), l.at(l.in.Columns.Probability)
	names, ok := columns[classes].(*array.String)
	sure, floats := columns[confidence].(*array.Float32)
	if !ok || !floats {
		return l.in.Fail("", errors.New("predicted classes are not text, or confidence is not float32"), "run mars label anew")
	}
	texts, values, missing := make([]string, n), slices.Clone(sure.Float32Values()), map[int]bool{}
	for i := range texts {
		texts[i] = names.Value(i)
		missing[i] = names.IsNull(i) // the row has no value, and is none of those with a label
	}
	l.posteriors.Data = slices.Clone(l.posteriors.Data)
	for _, row := range rows {
		i, k := int(row-l.seen), l.given[row]
		texts[i], values[i] = l.classes[k], 1
		clear(l.posteriors.Row(i))
		l.posteriors.Row(i)[k] = 1
	}
	columns[classes], columns[confidence], columns[probability] = arrowio.NewStringsWithout(texts, missing), arrowio.NewFloatArray(values), arrowio.NewVectorArray(l.posteriors)
	return nil
}
