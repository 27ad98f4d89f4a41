package hedge

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// New proportions of classes that overlap can explain nearly every target whose rows were chosen
// by their columns, and are far off then. But something is left: a linear function of the
// columns tells the target's rows from the source's in these proportions.
const (
	// Where classes overlap, the view that nothing has changed takes part of the trust from the
	// first Stays.Linear on, and all of it from the last.
	firstLinear, lastLinear = 1.5, 2.5
	// leastSame is the part that the view has there at least: with few rows nothing may be left.
	leastSame = 0.15

	linearRows  = 1_500 // of each side, at most
	linearFolds = 4
	linearRidge = 0.05
)

// linear is Stays.Linear of the proportions by the view "balance". A ridge regression on
// three quarters of the rows scores the others, and the area under the ROC curve of all scores is
// compared with that of chance.
func (f *fit) linear(balance []float64) (float64, error) {
	source := dense.Sample(f.distinct, linearRows, f.random(streamLinear))
	target := dense.Sample(f.target.Rows, linearRows, f.random(streamLinear))
	weights, sum, squares := make([]float64, len(source)), 0.0, 0.0
	for i, row := range source {
		y := f.labels[row]
		weights[i] = balance[y] / f.prior[y]
		sum += weights[i]
		squares += weights[i] * weights[i]
	}
	if sum == 0 {
		return 0, nil
	}
	rng := f.random(streamLinear)()
	sides := [2]*linearSide{newLinearSide(dense.Gather(f.source, source), weights, rng), newLinearSide(dense.Gather(f.target, target), nil, rng)}
	area, err := areaBetween(sides)
	if err != nil {
		return 0, err
	}
	distinct := float64(len(target)) * float64(f.stays.rows) / float64(f.target.Rows)
	deviation := math.Sqrt((squares/(sum*sum) + 1/distinct) / 12)
	return min(maxDeviations, max(-maxDeviations, (area-0.5)/deviation)), nil
}

// linearSide has weighted rows, of which each is in a fold.
type linearSide struct {
	rows    blas32.General
	weights []float64 // that sum to 1
	folds   []int
	scores  []float64
}

// newLinearSide weighs rows alike without weights.
func newLinearSide(rows blas32.General, weights []float64, rng *rand.Rand) *linearSide {
	s := &linearSide{rows, make([]float64, rows.Rows), rng.Perm(rows.Rows), make([]float64, rows.Rows)}
	sum := 0.0
	for i := range s.weights {
		s.folds[i] %= linearFolds
		s.weights[i] = 1
		if weights != nil {
			s.weights[i] = weights[i]
		}
		sum += s.weights[i]
	}
	for i := range s.weights {
		s.weights[i] /= sum
	}
	return s
}

// areaBetween is the area under the ROC curve of the second side's scores against the first's.
func areaBetween(sides [2]*linearSide) (float64, error) {
	for fold := range linearFolds {
		slope, err := slopeWithout(sides, fold)
		if err != nil {
			return 0, err
		}
		mean, sum := 0.0, 0.0
		for _, s := range sides {
			for i, g := range s.folds {
				if g == fold {
					s.scores[i] = dot(dense.Row(s.rows, i), slope)
					mean += s.weights[i] * s.scores[i]
					sum += s.weights[i]
				}
			}
		}
		for _, s := range sides {
			for i, g := range s.folds {
				if g == fold {
					s.scores[i] -= mean / max(sum, math.SmallestNonzeroFloat32)
				}
			}
		}
	}
	return weightedArea(sides), nil
}

// slopeWithout is the ridge regression of the side on the columns, without the rows of a fold.
func slopeWithout(sides [2]*linearSide, fold int) ([]float64, error) {
	d := sides[0].rows.Cols
	means, mean, sums := [2][]float64{make([]float64, d), make([]float64, d)}, make([]float64, d), [2]float64{}
	for k, s := range sides {
		for i, g := range s.folds {
			if g != fold {
				sums[k] += s.weights[i]
				for j, v := range dense.Row(s.rows, i) {
					means[k][j] += s.weights[i] * float64(v)
				}
			}
		}
	}
	total := sums[0] + sums[1]
	between := mat.NewVecDense(d, nil)
	for j := range mean {
		mean[j] = (means[0][j] + means[1][j]) / total
		for k, sign := range []float64{-1, 1} {
			between.SetVec(j, between.AtVec(j)+sign*(means[k][j]-sums[k]*mean[j])/total)
		}
	}
	var rows []float64
	n := 0
	for _, s := range sides {
		for i, g := range s.folds {
			if w := math.Sqrt(s.weights[i] / total); g != fold && w > 0 {
				for j, v := range dense.Row(s.rows, i) {
					rows = append(rows, w*(float64(v)-mean[j]))
				}
				n++
			}
		}
	}
	covariance, ridge := mat.NewSymDense(d, nil), 0.0
	covariance.SymOuterK(1, mat.NewDense(n, d, rows).T())
	for j := range d {
		ridge += linearRidge * covariance.At(j, j) / float64(d)
	}
	for j := range d {
		covariance.SetSym(j, j, covariance.At(j, j)+ridge+math.SmallestNonzeroFloat32)
	}
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		return make([]float64, d), nil // no column varies
	}
	var slope mat.VecDense
	if err := factor.SolveVecTo(&slope, between); err != nil {
		return nil, err
	}
	return slope.RawVector().Data, nil
}

func dot(x []float32, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v) * y[j]
	}
	return sum
}

// weightedArea is the share of pairs, by weight, in which the row of the second side has the greater score.
// Equal scores count half.
func weightedArea(sides [2]*linearSide) float64 {
	type scored struct {
		score, weight float64
		side          int
	}
	var all []scored
	for k, s := range sides {
		for i, v := range s.scores {
			all = append(all, scored{v, s.weights[i], k})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	area, below := 0.0, 0.0
	for i := 0; i < len(all); {
		var equal [2]float64
		j := i
		for ; j < len(all) && all[j].score == all[i].score; j++ {
			equal[all[j].side] += all[j].weight
		}
		area += equal[1] * (below + equal[0]/2)
		below += equal[0]
		i = j
	}
	return area
}
