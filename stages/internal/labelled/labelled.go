// Package labelled holds what stages do alike with the labels that a person gave some target
// rows: find the rows, weigh what a model assumes by them, and add the classes that the source
// lacks.
package labelled

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/stream"
)

// Options are the labels. The zero value is none.
type Options struct {
	Sheet *sheet.Filled
	New   []string // names of classes that the source lacks, though they are like one of its own
}

// Rows are the labelled rows of a target.
type Rows struct {
	*sheet.Answers
	Vectors blas32.General // n×d, in the order of Answers.Labelled
	Known   []int          // the number of each among the target's rows that have a value
	Missing int            // rows of the target that have none
	Total   int            // rows of the target
}

// Find finds the labelled rows in a stream that can be rewound, and their vectors of a column.
// Classes are the source's.
func (o Options) Find(ctx context.Context, r *stream.Rows, classes []string, column string) (*Rows, error) {
	answers, err := o.Sheet.Answers(classes, o.New)
	if err != nil {
		return nil, err
	}
	tree, err := levels.OfSchema(r.Schema(), classes)
	if err != nil {
		return nil, r.Fail("", err, "")
	}
	for _, level := range tree.Coarser() {
		for _, name := range answers.Fresh() {
			if slices.Contains(level.Classes, name) {
				return nil, fmt.Errorf("%s: %q is a class of level %q, and labels are of level %q: give each row its finest class, or leave the cell empty", answers.Path, name, level.Name, tree.Last().Name)
			}
		}
	}
	located, err := o.Sheet.Locate(ctx, r, column)
	if err != nil {
		return nil, err
	}
	rows := &Rows{Answers: answers, Missing: located.Missing, Total: located.Rows}
	for _, row := range answers.Labelled {
		stream.AppendRow(&rows.Vectors, located.Vectors[row.Row])
		rows.Known = append(rows.Known, located.Known[row.Row])
	}
	rows.tell(r)
	return rows, r.Rewind()
}

// tell says what was found.
func (rows *Rows) tell(r *stream.Rows) {
	log := r.Logger()
	for _, text := range rows.Told {
		log.Info(rows.Path + ": " + text)
	}
	if fresh := rows.Fresh(); len(fresh) > 0 {
		log.Info(fmt.Sprintf("%s: the source has no class %s: it is added", rows.Path, strings.Join(fresh, ", ")))
	}
	if len(rows.Gaps) > 0 {
		log.Warn(fmt.Sprintf("%s: %s, and rows after it do: rows that somebody left out are no fair sample of the others. %s", rows.Path, gaps(rows.Gaps), gapsMean))
	}
}

// gapsMean says what is made of gaps.
const gapsMean = "The interval that holds whatever has shifted counts them as any class; all else is as if they had not been drawn"

// gaps names the rows without a label before the last one with one.
func gaps(orders []int) string {
	const most = 8
	var names []string
	for _, order := range orders[:min(len(orders), most)] {
		names = append(names, fmt.Sprint(order))
	}
	if len(orders) > most {
		names = append(names, fmt.Sprintf("… (%d in all)", len(orders)))
	}
	if len(orders) == 1 {
		return "the row with order " + names[0] + " has no label"
	}
	return "the rows with order " + strings.Join(names, ", ") + " have no label"
}
