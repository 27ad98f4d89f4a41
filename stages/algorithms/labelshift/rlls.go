package labelshift

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

const (
	rllsPenalty = 0.01 // α, what the bound on the error of the confusion matrix is multiplied by
	rllsDelta   = 0.05 // δ, the probability with which the bound may fail
)

// RLLS is regularised learning under label shift (Azizzadenesheli, Liu, Yang &
// Anandkumar 2019). With C[i][k] the share of source rows that are of class k
// and that a classifier says are i, and b[i] the difference of the shares that
// it says are i in the target and in the source, the weights are 1 + θ with
//
//	θ = argmin |C·θ − b| + α·Δ·|θ|,  θ >= −1,
//	Δ = 3·(2·ln(2K/δ)/(3n) + √(2·ln(2K/δ)/n)) for K classes and n source rows,
//
// and p_T is p_S times the weights, normalised. Arguments, warnings and errors
// are those of BBSE.
func RLLS(source blas32.General, labels []int32, target blas32.General) (*Result, error) {
	c, err := newConfusion(source, labels, target, false)
	if err != nil {
		return nil, err
	}
	bound := math.Log(2*float64(source.Cols)/rllsDelta) / float64(len(labels))
	weights, rounds, err := c.weights(3 * rllsPenalty * (2*bound/3 + math.Sqrt(2*bound)))
	if err != nil {
		return nil, err
	}
	for k, p := range c.present.Prior {
		weights[k] = p * weights[k]
	}
	dense.Normalize(weights)
	return &Result{Estimator: "rlls", Proportions: c.present.All(weights), Iterations: rounds, Converged: rounds < penaltyRounds,
		Warnings: c.present.Warnings()}, nil
}

const (
	penaltyRounds    = 2_000 // at most
	penaltyTolerance = 1e-10 // of the weights, which ends the rounds
	minNorm          = 1e-12 // below which a norm counts as this
)

// weights returns the w >= 0 for which |C·w − μ| + penalty·|w − 1| is least. A
// norm is below half its square over what it was, plus half of that, and
// touches it there; so each round solves a least squares problem, and the value
// never rises.
func (c *confusion) weights(penalty float64) (w []float64, rounds int, err error) {
	n := len(c.present.Class)
	w = make([]float64, n)
	floats.AddConst(1, w)
	var gram mat.Dense
	gram.Mul(c.joint.T(), c.joint)
	b := mat.NewVecDense(n, nil)
	b.MulVec(c.joint.T(), mat.NewVecDense(len(c.target), c.target))
	for rounds = 1; rounds <= penaltyRounds; rounds++ {
		ridge := 0.0 // none in the first round: w = 1 has no penalty
		if rounds > 1 {
			ridge = penalty * c.residual(w) / penaltyNorm(w)
		}
		next, err := ridgeWeights(&gram, b, ridge)
		if err != nil {
			return nil, 0, err
		}
		change := floats.Distance(w, next, math.Inf(1))
		if w = next; change < penaltyTolerance {
			break
		}
	}
	return w, min(rounds, penaltyRounds), nil
}

// ridgeWeights minimises |C·w − μ|² + ridge·|w − 1|² over w >= 0.
func ridgeWeights(gram *mat.Dense, b *mat.VecDense, ridge float64) ([]float64, error) {
	n := b.Len()
	g, h := mat.DenseCopyOf(gram), make([]float64, n)
	for k := range n {
		g.Set(k, k, g.At(k, k)+ridge)
		h[k] = b.AtVec(k) + ridge
	}
	return leastQuadratic(g, h, false, nil)
}

// residual returns |C·w − μ|.
func (c *confusion) residual(w []float64) float64 {
	r := mat.NewVecDense(len(c.target), nil)
	r.MulVec(c.joint, mat.NewVecDense(len(w), w))
	return max(floats.Distance(r.RawVector().Data, c.target, 2), minNorm)
}

// penaltyNorm returns |w − 1|.
func penaltyNorm(w []float64) float64 {
	sum := 0.0
	for _, v := range w {
		sum += (v - 1) * (v - 1)
	}
	return max(math.Sqrt(sum), minNorm)
}
