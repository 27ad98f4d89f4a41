package labelshift

import (
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
		r.wide = dense.New64(target.Rows, target.Cols)
		for i := range target.Rows {
			for k, v := range dense.Row(target, i) {
				r.wide.Data[i*target.Cols+k] = float64(v)
			}
		}
	}
	return r, nil
}

// add adds to sums each of the rows lo to hi−1 times ratios, normalised, times its weight.
func (r *EMRows) add(sums []float64, lo, hi int, weights, ratios []float64) {
	switch {
	case r.thin != nil:
		r.thin.add(sums, lo, hi, weights, ratios)
	case r.wide.Rows > 0:
		some := r.wide
		some.Rows, some.Data = hi-lo, some.Data[lo*some.Stride:hi*some.Stride]
		addWide(sums, some, weights, ratios)
	default:
		addPosteriors(sums, dense.Rows(r.x, lo, hi), weights, ratios)
	}
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
