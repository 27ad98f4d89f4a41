package adapt

import (
	"context"
	"math"
	"slices"
)

// movingConfusion is IW-WD's estimate (Tachet des Combes et al. 2020): weights w that
// take the classifier's soft confusion matrix on the source to its mean soft
// prediction on the target, averaged half and half with the weights before.
func (t *trainer) movingConfusion(_ context.Context, s Snapshot) ([]float64, error) {
	p := confusionProportions(s)
	for c := range p {
		p[c] = (p[c] + t.proportions[c]) / 2
	}
	return p, nil
}

// confusionProportions solves, over the simplex of target proportions q = p_S w,
//
//	min ‖A q − μ‖²,   A_kc = mean over source rows of class c of h_k,   μ_k = mean over target rows of h_k.
func confusionProportions(s Snapshot) []float64 {
	n := s.Classes
	a, mu := make([]float64, n*n), make([]float64, n)
	counts := make([]float64, n)
	source, target := s.SourcePosteriors(), s.TargetPosteriors()
	for i, y := range s.Labels {
		counts[y]++
		for k := range n {
			a[k*n+int(y)] += float64(source.Data[i*source.Stride+k])
		}
	}
	for i := range a {
		a[i] /= counts[i%n]
	}
	for i := range target.Rows {
		for k := range n {
			mu[k] += float64(target.Data[i*target.Stride+k]) / float64(target.Rows)
		}
	}
	return simplexLeastSquares(a, mu)
}

// simplexLeastSquares minimises ‖A q − μ‖² over q ≥ 0, Σ q = 1, for a row-major n×n
// matrix A, by accelerated projected gradient (Beck and Teboulle 2009).
func simplexLeastSquares(a, mu []float64) []float64 {
	const (
		iterations = 10000
		tolerance  = 1e-12 // on the change of q
	)
	n := len(mu)
	var norm float64 // ‖A‖²_F bounds the largest eigenvalue of AᵀA
	for _, v := range a {
		norm += v * v
	}
	q := slices.Repeat([]float64{1 / float64(n)}, n)
	y, next := slices.Clone(q), make([]float64, n)
	momentum := 1.0
	for range iterations {
		gradientStep(next, y, a, mu, 1/norm)
		projectSimplex(next)
		following := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		var change float64
		for c := range q {
			change = max(change, math.Abs(next[c]-q[c]))
			y[c] = next[c] + (momentum-1)/following*(next[c]-q[c])
		}
		copy(q, next)
		momentum = following
		if change < tolerance {
			break
		}
	}
	return q
}

// gradientStep sets dst = y − step·Aᵀ(A y − μ).
func gradientStep(dst, y, a, mu []float64, step float64) {
	n := len(mu)
	copy(dst, y)
	for k := range n {
		row := a[k*n : (k+1)*n]
		residual := -mu[k]
		for c, v := range row {
			residual += v * y[c]
		}
		for c, v := range row {
			dst[c] -= step * residual * v
		}
	}
}

// projectSimplex moves q to the nearest point with q ≥ 0 and Σ q = 1
// (Duchi et al. 2008).
func projectSimplex(q []float64) {
	sorted := slices.Clone(q)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, shift float64
	for i, v := range sorted {
		sum += v
		if candidate := (sum - 1) / float64(i+1); v > candidate {
			shift = candidate
		}
	}
	for c := range q {
		q[c] = max(0, q[c]-shift)
	}
}
