package mte

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Blocks goes through the rows of the target block by block, each n×d with the
// same d. A block is valid until the next. It can be gone through any number
// of times, always in the same order; an error ends it.
type Blocks = iter.Seq2[blas32.General, error]

// InMemory returns the rows of x as one block.
func InMemory(x blas32.General) Blocks {
	return func(yield func(blas32.General, error) bool) { yield(x, nil) }
}

// Problem is labelled source rows and unlabelled target rows. Source rows are
// held in memory; target rows are read in passes, of which no more than C−1
// values a row are kept.
type Problem struct {
	Source  blas32.General // n_S×d
	Labels  []int32        // class of each source row, 0 to Classes−1
	Target  Blocks         // n_T×d in all
	Classes int            // C
	Names   []string       // of the classes, for warnings; nil numbers them from 0
}

// Name is what warnings call a class.
func (p Problem) Name(class int) string {
	if class < len(p.Names) {
		return strconv.Quote(p.Names[class])
	}
	return strconv.Itoa(class)
}

// checkSource refuses source rows that nothing can be learnt from.
func (p Problem) checkSource() error {
	if p.Source.Rows != len(p.Labels) {
		panic("mte: one label a source row is needed")
	}
	if p.Source.Cols == 0 {
		return errors.New("mte: source rows have no columns: give vectors of at least one value")
	}
	if err := dense.CheckFinite("source", p.Source, 0); err != nil {
		return fmt.Errorf("mte: %w", err)
	}
	return nil
}

// eachBlock calls f for each block of the target.
func (p Problem) eachBlock(f func(x blas32.General) error) error {
	for x, err := range p.Target {
		if err != nil {
			return fmt.Errorf("mte: reading the target: %w", err)
		}
		if x.Rows > 0 && x.Cols != p.Source.Cols {
			return fmt.Errorf("mte: target rows have %d columns and source rows %d: give both the same features", x.Cols, p.Source.Cols)
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// allEqual reports whether all rows of x are the same.
func allEqual(x blas32.General) bool {
	for i := range x.Rows {
		if !slices.Equal(dense.Row(x, i), dense.Row(x, 0)) {
			return false
		}
	}
	return true
}
