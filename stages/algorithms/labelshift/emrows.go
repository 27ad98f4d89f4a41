package labelshift

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// EMRows are posteriors of a target's rows (n_T×C), checked and arranged once for any number of
// calls of EM. They are not changed, and several calls may run at a time.
type EMRows struct {
	x    blas32.General
	wide blas64.General // x of many classes, in float64; no rows: of few, or too large
	thin *thinRows      // x of many classes of which a row has few; nil otherwise
}

const (
	// wideClasses are so many that products of matrices and vectors are faster than loops
	// over each row's classes, and wideValues so many posteriors that they may be held twice.
	wideClasses = 17
	wideValues  = 1 << 23
	// thinClasses are so many that small posteriors, which are at most leftOut of a row, are left
	// out if no more than one in thinPart is left.
	thinClasses = 65
	leftOut     = 1e-3
	thinPart    = 4
	// usefulProducts is how many products of a posterior and a ratio Steps allows, but leastSteps: a second or
	// two of a processor.
	usefulProducts, leastSteps = 1_000_000_000, 10
)

// NewEMRows fails if a row is not a distribution.
func NewEMRows(target blas32.General) (*EMRows, error) {
	if err := checkPosteriors("target", target); err != nil {
		return nil, err
	}
	r := &EMRows{x: target}
	if r.thin = thinned(target); r.thin != nil {
		return r, nil
	}
	if target.Cols >= wideClasses && target.Rows*target.Cols <= wideValues {
		r.wide = widened(target, make([]float64, target.Rows*target.Cols))
	}
	return r, nil
}

// Steps is how many of most steps of EM end in useful time: all, but where thousands of classes
// overlap in thousands of rows.
func (r *EMRows) Steps(most int) int {
	values := r.x.Rows * r.x.Cols
	if r.thin != nil {
		values = len(r.thin.values)
	}
	return min(most, max(leastSteps, usefulProducts/max(1, values)))
}

// add adds to sums each of the rows lo to hi−1 times ratios, normalised, times its weight.
func (r *EMRows) add(sums []float64, lo, hi int, weights, ratios []float64) {
	switch {
	case r.thin != nil:
		r.thin.add(sums, lo, hi, weights, ratios)
	case r.x.Cols >= wideClasses:
		r.addWide(sums, lo, hi, weights, ratios)
	default:
		addPosteriors(sums, dense.Rows(r.x, lo, hi), weights, ratios)
	}
}

// addWide is add by products of matrices and vectors, two for each block of rows that stays in a
// processor's cache.
func (r *EMRows) addWide(sums []float64, lo, hi int, weights, ratios []float64) {
	const values = 1 << 14
	rows := max(1, values/r.x.Cols)
	totals, held := make([]float64, rows), []float64(nil)
	if r.wide.Rows == 0 {
		held = make([]float64, rows*r.x.Cols)
	}
	for first := lo; first < hi; first += rows {
		end := min(first+rows, hi)
		some, t := r.block(first, end, held), totals[:end-first]
		blas64.Gemv(blas.NoTrans, 1, some, vector(ratios), 0, vector(t))
		for i, total := range t {
			t[i] = 1 / total
			if weights != nil {
				t[i] *= weights[first-lo+i]
			}
		}
		blas64.Gemv(blas.Trans, 1, some, vector(t), 1, vector(sums))
	}
	for k, r := range ratios {
		sums[k] *= r
	}
}

// block is the rows lo to hi−1 in float64. What is not held so is written to held.
func (r *EMRows) block(lo, hi int, held []float64) blas64.General {
	if r.wide.Rows == 0 {
		return widened(dense.Rows(r.x, lo, hi), held)
	}
	some := r.wide
	some.Rows, some.Data = hi-lo, some.Data[lo*some.Stride:hi*some.Stride]
	return some
}

// widened is x in float64, held in data.
func widened(x blas32.General, data []float64) blas64.General {
	for i := range x.Rows {
		to := data[i*x.Cols:][:x.Cols] // so that no index is checked
		for k, v := range dense.Row(x, i)[:len(to)] {
			to[k] = float64(v)
		}
	}
	return blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: data}
}

// thinRows are the posteriors that count, row by row.
type thinRows struct {
	first  []int // of each row, and the end
	class  []int32
	values []float64
}

// thinned is nil unless a row has few posteriors that count.
func thinned(x blas32.General) *thinRows {
	if x.Cols < thinClasses {
		return nil
	}
	t, least := &thinRows{first: make([]int, 1, x.Rows+1)}, leftOut/float32(x.Cols)
	for i := range x.Rows {
		for k, v := range dense.Row(x, i) {
			if v >= least {
				t.class, t.values = append(t.class, int32(k)), append(t.values, float64(v))
			}
		}
		if t.first = append(t.first, len(t.class)); len(t.class) > x.Rows*x.Cols/thinPart {
			return nil
		}
	}
	return t
}

// add is EMRows.add.
func (t *thinRows) add(sums []float64, lo, hi int, weights, ratios []float64) {
	for i := lo; i < hi; i++ {
		class, values := t.class[t.first[i]:t.first[i+1]], t.values[t.first[i]:t.first[i+1]]
		total := 0.0
		for j, v := range values {
			total += v * ratios[class[j]]
		}
		inverse := 1 / total
		if weights != nil {
			inverse *= weights[i-lo]
		}
		for j, v := range values {
			sums[class[j]] += v * ratios[class[j]] * inverse
		}
	}
}
