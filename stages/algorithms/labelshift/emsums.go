package labelshift

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/exact"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// EMSums are what the fixed point of EM needs of the target's rows at a point p: sums
// that add up over parts of the rows, exactly, so that they do not depend on how the rows
// are divided. With the densities
//
//	g_k = (posterior_k / p_S,k) / Σ_j p_j · posterior_j / p_S,j
//
// of a row, p is EM's fixed point if the mean of g_k is 1 for classes with p_k > 0 and at most
// 1 for others (Saerens, Latinne & Decaestecker 2002: EM multiplies p_k by that mean). The
// second moments of g are the curvature of the likelihood, by which Next takes Newton's
// step and Variance says how far the fixed point is from that of endless rows.
type EMSums struct {
	Rows   int64
	First  []exact.Sum // of g_k: C
	Second []exact.Sum // of g_j·g_k, j ≤ k, in the order of SymIndex: C(C+1)/2

	densities []float64
}

// NewEMSums returns sums of no rows.
func NewEMSums(classes int) *EMSums {
	return &EMSums{First: make([]exact.Sum, classes), Second: make([]exact.Sum, classes*(classes+1)/2)}
}

// SymIndex is where EMSums.Second has j and k, j ≤ k.
func SymIndex(j, k int) int { return k*(k+1)/2 + j }

// Add adds rows of posteriors (n×C) that carry the source's proportions, at the point p. It
// fails for a row that no class of the source explains.
func (s *EMSums) Add(posteriors blas32.General, source, p []float64) error {
	if posteriors.Cols != len(s.First) || len(source) != len(s.First) || len(p) != len(s.First) {
		panic("labelshift: EMSums.Add: one share a class is needed")
	}
	if s.densities == nil {
		s.densities = make([]float64, len(p))
	}
	g := s.densities
	for i := range posteriors.Rows {
		if err := densities(g, dense.Row(posteriors, i), i, source, p); err != nil {
			return err
		}
		for k := range g {
			s.First[k].Add(g[k])
			for j := range k + 1 {
				s.Second[SymIndex(j, k)].Add(g[j] * g[k])
			}
		}
	}
	s.Rows += int64(posteriors.Rows)
	return nil
}

// densities writes g of row i, of which these are the posteriors, at the point p.
func densities(g []float64, posteriors []float32, i int, source, p []float64) error {
	total := 0.0
	for k, v := range posteriors {
		if !(v >= 0) {
			return fmt.Errorf("labelshift: row %d, class %d has the posterior %v: give numbers from 0 to 1", i, k, v)
		}
		if g[k] = 0; source[k] > 0 {
			g[k] = float64(v) / source[k]
		}
		total += p[k] * g[k]
	}
	if !(total > 0) {
		return errNoMass
	}
	for k := range g {
		g[k] /= total
	}
	return nil
}

// AddSums adds the sums of other rows, at the same point.
func (s *EMSums) AddSums(o *EMSums) {
	s.Rows += o.Rows
	for k := range s.First {
		s.First[k].AddSum(&o.First[k])
	}
	for k := range s.Second {
		s.Second[k].AddSum(&o.Second[k])
	}
}

// mean returns the means of g and of its products.
func (s *EMSums) mean() (first []float64, second *mat.Dense) {
	n := len(s.First)
	first, second = make([]float64, n), mat.NewDense(n, n, nil)
	for k := range n {
		first[k] = s.First[k].Float64() / float64(s.Rows)
		for j := range k + 1 {
			v := s.Second[SymIndex(j, k)].Float64() / float64(s.Rows)
			second.Set(j, k, v)
			second.Set(k, j, v)
		}
	}
	return first, second
}

// Next returns the proportions to which Newton's step leads from p, at which the sums were
// taken. Near the fixed point each step squares the distance from it.
func (s *EMSums) Next(p []float64) ([]float64, error) {
	if s.Rows == 0 {
		return nil, errors.New("labelshift: there are no rows")
	}
	first, second := s.mean()
	return newton(first, second, p)
}

// newton returns where Newton's step leads from p, at which the means of g and of its products
// were taken. The likelihood is about dᵀm − ½·dᵀGd for a step d, and G·p = m: so x = p + d has
// the least ½·xᵀGx − 2·mᵀx.
func newton(first []float64, second *mat.Dense, p []float64) ([]float64, error) {
	h := make([]float64, len(first))
	for k, m := range first {
		h[k] = 2 * m
	}
	next, err := leastQuadratic(second, h, true, p)
	if err != nil {
		return nil, err
	}
	for k, v := range next {
		next[k] = max(v, 0)
		if math.IsNaN(v) {
			return nil, errors.New("labelshift: the rows say nothing of the classes: their posteriors are alike")
		}
	}
	dense.Normalize(next)
	return next, nil
}

// EMStep returns where one step of EM leads from p: the mean of the responsibilities.
func (s *EMSums) EMStep(p []float64) []float64 {
	first, _ := s.mean()
	for k := range first {
		first[k] *= p[k]
	}
	dense.Normalize(first)
	return first
}

// minActive is the share below which a class counts as one that the target lacks.
const minActive = 1e-9

// Covariance returns the sampling covariance of the classes' shares at the fixed point p (C×C), by the
// curvature of the likelihood (its observed information) over the shares that are not 0.
func (s *EMSums) Covariance(p []float64) (*mat.SymDense, error) {
	all := mat.NewSymDense(len(p), nil)
	var active []int
	for k, v := range p {
		if v > minActive {
			active = append(active, k)
		}
	}
	m := len(active) - 1
	if m < 1 {
		return all, nil
	}
	_, second := s.mean()
	// Shares are those of the first m active classes; the last is 1 less their sum.
	information := mat.NewSymDense(m, nil)
	at := func(a, b int) float64 { return second.At(active[a], active[b]) }
	for a := range m {
		for b := a; b < m; b++ {
			information.SetSym(a, b, float64(s.Rows)*(at(a, b)-at(a, m)-at(b, m)+at(m, m)))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(information) {
		return nil, errors.New("labelshift: the classes cannot be told apart in these rows, so the proportions have no sampling error: leave out a class")
	}
	var covariance mat.SymDense
	if err := chol.InverseTo(&covariance); err != nil && !dense.IsCondition(err) {
		return nil, fmt.Errorf("labelshift: the sampling error: %w", err)
	}
	whole := 0.0
	for a := range m {
		row := 0.0
		for b := range m {
			all.SetSym(active[a], active[b], covariance.At(a, b))
			row += covariance.At(a, b)
		}
		all.SetSym(active[a], active[m], -row)
		whole += row
	}
	all.SetSym(active[m], active[m], whole)
	return all, nil
}
