package kernelridge

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// What Choose tries: γ in units of 1 / the median squared distance of rows, and λ.
var (
	gammas  = []float64{0.5, 2, 8}
	lambdas = []float64{0.01, 0.1, 1, 5}
)

// chooseRows is how many rows at most the hyper-parameters are chosen on: time
// grows with their cube.
const chooseRows = 1_000

// Chosen are the hyper-parameters of least squared leave-one-out error.
type Chosen struct {
	Hyper
	// Rows are those of x that were looked at, and LeftOut their scores by the
	// model without them (len(Rows)×C).
	Rows    []int
	LeftOut blas32.General
}

// Choose tries a grid of hyper-parameters on the rows of x (n×d) with labels from 0
// to classes−1; of many rows, on a sample in which each class has its share. It fails if there are no rows or a
// value is not finite, and panics if there is not one label a row. The end of ctx
// ends it.
func Choose(ctx context.Context, x blas32.General, labels []int32, classes int, seed uint64) (*Chosen, error) {
	if err := check(x, labels); err != nil {
		return nil, err
	}
	index := landmarks(labels, chooseRows, seed)
	part, own := dense.Gather(x, index), make([]int32, len(index))
	for i, row := range index {
		own[i] = labels[row]
	}
	y, mean := targets(own, classes, slices.Repeat([]float64{1}, len(own)))
	t := newTrials(part, medianDistance(part, seed))
	if err := t.run(ctx, y); err != nil {
		return nil, err
	}
	best := t.best()
	return &Chosen{Hyper: t.hyper[best], Rows: index, LeftOut: predictions(y, t.residuals[best], mean)}, nil
}

// trials are all pairs of γ and λ.
type trials struct {
	hyper     []Hyper
	kernels   []blas64.General // n×n, one for each γ, without λ
	residuals []blas64.General // n×C, one for each pair
}

func newTrials(x blas32.General, median float64) *trials {
	t := &trials{}
	for _, g := range gammas {
		t.kernels = append(t.kernels, Gram(x, x, g/median))
		for _, lambda := range lambdas {
			t.hyper = append(t.hyper, Hyper{Gamma: g / median, Lambda: lambda})
		}
	}
	t.residuals = make([]blas64.General, len(t.hyper))
	return t
}

// run computes the residuals of all pairs, several at a time.
func (t *trials) run(ctx context.Context, y blas64.General) error {
	errs := make([]error, len(t.hyper))
	kernel.Parallel(len(t.hyper), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if errs[i] = ctx.Err(); errs[i] == nil {
				t.residuals[i], errs[i] = leftOut(t.kernels[i/len(lambdas)], y, t.hyper[i].Lambda)
			}
		}
	})
	return cmp.Or(errs...)
}

// best is the pair of least squared residuals.
func (t *trials) best() int {
	best, least := 0, math.Inf(1)
	for i, r := range t.residuals {
		if sum := dot(r.Data, r.Data); sum < least {
			best, least = i, sum
		}
	}
	return best
}

// medianDistance is the median squared distance of rows of x, or of a sample of them.
func medianDistance(x blas32.General, seed uint64) float64 {
	const rows = 300
	index := dense.Sample(x.Rows, rows, func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) })
	part := dense.Gather(x, index)
	all := SquaredDistances(part, part)
	var values []float64
	for i := range all.Rows {
		values = append(values, all.Data[i*all.Stride:][:i]...)
	}
	if len(values) == 0 {
		return 1
	}
	if m := dense.Median(values); m > 0 {
		return m
	}
	return 1
}

// leftOut returns y less the scores of each row by the model without it, n×C:
// with A = (K + λ)⁻¹ they are (A·Y)_i / A_ii (Rifkin & Lippert 2007).
func leftOut(k, y blas64.General, lambda float64) (blas64.General, error) {
	n := k.Rows
	m := lower(k)
	for i := range n {
		m.Data[i*n+i] += lambda
	}
	if !invertFactor(m, outerBlock) {
		return y, singular(lambda)
	}
	residuals := timesInverse(m, y)
	for i, v := range columnSquares(m) {
		scale(residuals.Data[i*y.Cols:][:y.Cols], 1/v)
	}
	return residuals, nil
}

// columnSquares are the squared lengths of the columns of a lower triangle.
func columnSquares(m blas64.General) []float64 {
	sums := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Data[i*m.Stride:][:i+1] {
			sums[j] += v * v
		}
	}
	return sums
}

// predictions are y less the residuals, with the mean added back.
func predictions(y, residuals blas64.General, mean []float32) blas32.General {
	p := dense.New(y.Rows, y.Cols)
	for i, v := range y.Data {
		p.Data[i] = float32(v-residuals.Data[i]) + mean[i%y.Cols]
	}
	return p
}
