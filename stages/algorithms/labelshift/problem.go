package labelshift

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"
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
// held in memory; target rows are read in passes, of which no estimator keeps
// more than C−1 values a row.
type Problem struct {
	Source  blas32.General // n_S×d
	Labels  []int32        // class of each source row, 0 to Classes−1
	Target  Blocks         // n_T×d in all
	Classes int            // C
	Names   []string       // of the classes, for warnings; nil numbers them from 0
}

// name is what warnings call a class.
func (p Problem) name(class int) string {
	if class < len(p.Names) {
		return strconv.Quote(p.Names[class])
	}
	return strconv.Itoa(class)
}

// Posterior returns the n×C class posteriors of the n rows of x.
type Posterior func(x blas32.General) (blas32.General, error)

// Classifier trains on the rows of x (n×d) with their labels and weights; nil
// weights are all 1. Labels of every class up to the greatest occur.
type Classifier func(x blas32.General, labels []int32, weights []float32) (Posterior, error)

// Shares returns p_S, the share of each class among the labels. It fails at a
// label outside 0 to classes−1 and if there are no labels.
func Shares(labels []int32, classes int) ([]float64, error) {
	counts, err := countLabels(labels, classes)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, classes)
	for k, n := range counts {
		shares[k] = float64(n) / float64(len(labels))
	}
	return shares, nil
}

func countLabels(labels []int32, classes int) ([]int, error) {
	if len(labels) == 0 {
		return nil, fmt.Errorf("labelshift: there are no source rows: give labelled rows")
	}
	counts := make([]int, classes)
	for i, l := range labels {
		if l < 0 || int(l) >= classes {
			return nil, fmt.Errorf("labelshift: source row %d has label %d: labels go from 0 to %d", i, l, classes-1)
		}
		counts[l]++
	}
	return counts, nil
}

// present renumbers the classes without the ones that have no source rows,
// of which nothing can be learned.
type present struct {
	classes int     // C, with the absent ones
	class   []int   // of each present class, its number among all
	labels  []int32 // of the source rows, among the present
	prior   []float64
}

func newPresent(labels []int32, classes int) (*present, error) {
	counts, err := countLabels(labels, classes)
	if err != nil {
		return nil, err
	}
	p := &present{classes: classes, labels: make([]int32, len(labels))}
	number := make([]int32, classes)
	for k, n := range counts {
		if n > 0 {
			number[k] = int32(len(p.class))
			p.class = append(p.class, k)
			p.prior = append(p.prior, float64(n)/float64(len(labels)))
		}
	}
	if len(p.class) < 2 {
		return nil, fmt.Errorf("labelshift: all source rows are of class %d: give rows of at least two classes", p.class[0])
	}
	for i, l := range labels {
		p.labels[i] = number[l]
	}
	return p, nil
}

// spread puts one value a present class to its place among all classes; the
// absent ones have 0.
func (p *present) spread(values []float64) []float64 {
	all := make([]float64, p.classes)
	for i, k := range p.class {
		all[k] = values[i]
	}
	return all
}

// warnings names the absent classes.
func (p *present) warnings() []string {
	var words []string
	next := 0
	for k := range p.classes {
		if next < len(p.class) && p.class[next] == k {
			next++
			continue
		}
		words = append(words, fmt.Sprintf("class %d has no source rows: its share of the target can not be estimated and is given as 0", k))
	}
	return words
}

// checkSource refuses source rows that nothing can be learned from.
func checkSource(x blas32.General, labels []int32) error {
	if x.Rows != len(labels) {
		panic("labelshift: one label a source row is needed")
	}
	if x.Cols == 0 {
		return fmt.Errorf("labelshift: source rows have no columns: give vectors of at least one value")
	}
	return checkFinite("source", x, 0)
}

// checkFinite refuses values that are not finite. first is the number of the
// first row of x among all rows of whose.
func checkFinite(whose string, x blas32.General, first int) error {
	for i := range x.Rows {
		for j, v := range row(x, i) {
			if v-v != 0 {
				return fmt.Errorf("labelshift: %s row %d, column %d is %v: remove or repair values that are not finite", whose, first+i, j, v)
			}
		}
	}
	return nil
}

// allEqual reports whether all rows of x are the same.
func allEqual(x blas32.General) bool {
	for i := range x.Rows {
		if !slices.Equal(row(x, i), row(x, 0)) {
			return false
		}
	}
	return true
}

// row returns row i of x.
func row(x blas32.General, i int) []float32 {
	return x.Data[i*x.Stride : i*x.Stride+x.Cols]
}

// newRows returns an n×d matrix of zeros.
func newRows(n, d int) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
}

// part returns rows [lo, hi) of x, sharing its memory.
func part(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride : max((hi-1)*x.Stride+x.Cols, lo*x.Stride)]}
}

// spreadRows is spread for each row of an n×(present classes) matrix.
func (p *present) spreadRows(x blas32.General) blas32.General {
	if len(p.class) == p.classes {
		return x
	}
	all := newRows(x.Rows, p.classes)
	for i := range x.Rows {
		for j, v := range row(x, i) {
			row(all, i)[p.class[j]] = v
		}
	}
	return all
}

// gather is the opposite of spread.
func (p *present) gather(all []float64) []float64 {
	values := make([]float64, len(p.class))
	for i, k := range p.class {
		values[i] = all[k]
	}
	return values
}
