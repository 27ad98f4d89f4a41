// Package classes counts labelled rows by class, and renumbers the classes
// that have rows.
package classes

import (
	"errors"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Count returns the number of rows of each class. It fails at a label outside 0
// to classes−1 and if there are no labels.
func Count(labels []int32, classes int) ([]int, error) {
	if len(labels) == 0 {
		return nil, errors.New("there are no source rows: give labelled rows")
	}
	counts := make([]int, classes)
	for i, l := range labels {
		if l < 0 || int(l) >= classes {
			return nil, fmt.Errorf("source row %d has label %d: labels go from 0 to %d", i, l, classes-1)
		}
		counts[l]++
	}
	return counts, nil
}

// Present numbers the classes that have source rows from 0 on. Nothing can be
// learnt of the others: their share of everything is 0.
type Present struct {
	Classes int       // C, with those that have no rows
	Class   []int     // of each present class, its number among all
	Labels  []int32   // of the source rows, among the present classes
	Prior   []float64 // share of each present class among the source rows
}

// NewPresent fails as Count does, and if fewer than two classes have rows.
func NewPresent(labels []int32, classes int) (*Present, error) {
	counts, err := Count(labels, classes)
	if err != nil {
		return nil, err
	}
	p := &Present{Classes: classes, Labels: make([]int32, len(labels))}
	number := make([]int32, classes)
	for k, n := range counts {
		if n > 0 {
			number[k] = int32(len(p.Class))
			p.Class = append(p.Class, k)
			p.Prior = append(p.Prior, float64(n)/float64(len(labels)))
		}
	}
	if len(p.Class) < 2 {
		return nil, fmt.Errorf("all source rows are of class %d: give rows of at least two classes", p.Class[0])
	}
	for i, l := range labels {
		p.Labels[i] = number[l]
	}
	return p, nil
}

// All puts one value a present class in its place among all C classes; absent
// classes have 0.
func (p *Present) All(values []float64) []float64 {
	all := make([]float64, p.Classes)
	for i, k := range p.Class {
		all[k] = values[i]
	}
	return all
}

// AllRows does what All does for each row of an n×(present classes) matrix.
func (p *Present) AllRows(x blas32.General) blas32.General {
	if len(p.Class) == p.Classes {
		return x
	}
	all := dense.New(x.Rows, p.Classes)
	for i := range x.Rows {
		row := dense.Row(all, i)
		for j, v := range dense.Row(x, i) {
			row[p.Class[j]] = v
		}
	}
	return all
}

// Of picks the values of the present classes: the inverse of All.
func (p *Present) Of(all []float64) []float64 {
	values := make([]float64, len(p.Class))
	for i, k := range p.Class {
		values[i] = all[k]
	}
	return values
}

// Warnings names the absent classes.
func (p *Present) Warnings() []string {
	var absent, words []string
	next := 0
	for k := range p.Classes {
		if next < len(p.Class) && p.Class[next] == k {
			next++
			continue
		}
		absent = append(absent, strconv.Itoa(k))
	}
	if len(absent) > spelling.MaxNamed {
		return []string{fmt.Sprintf("%d classes have no source rows: their shares of the target can not be estimated and are given as 0: %s", len(absent), spelling.List(absent))}
	}
	for _, k := range absent {
		words = append(words, fmt.Sprintf("class %s has no source rows: its share of the target can not be estimated and is given as 0", k))
	}
	return words
}

// OfRows does what Of does for each row of an n×C matrix.
func (p *Present) OfRows(all blas32.General) blas32.General {
	if len(p.Class) == p.Classes {
		return all
	}
	x := dense.New(all.Rows, len(p.Class))
	for i := range x.Rows {
		row := dense.Row(all, i)
		for j, k := range p.Class {
			dense.Row(x, i)[j] = row[k]
		}
	}
	return x
}
