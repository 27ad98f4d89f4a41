package transport

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// SquaredBures returns the squared Wasserstein-2 distance of two Gaussians of
// d dimensions, in squared units of the data:
//
//	|m₁ − m₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁^½ Σ₂ Σ₁^½)^½)
//
// (Dowson & Landau 1982). Covariances may be singular. It fails if one has a
// negative eigenvalue or a value is not finite, and panics if shapes differ.
func SquaredBures(mean1 []float64, covariance1 *mat.SymDense, mean2 []float64, covariance2 *mat.SymDense) (float64, error) {
	d := len(mean1)
	if len(mean2) != d || covariance1.SymmetricDim() != d || covariance2.SymmetricDim() != d {
		panic("transport: SquaredBures: dimensions differ")
	}
	root, err := squareRoot(covariance1)
	if err != nil {
		return 0, fmt.Errorf("transport: first covariance: %w", err)
	}
	if _, err := eigenvalues(covariance2); err != nil {
		return 0, fmt.Errorf("transport: second covariance: %w", err)
	}
	distance, err := squaredBures(covariance1, root, covariance2)
	if err != nil {
		return 0, fmt.Errorf("transport: %w", err)
	}
	for i, m := range mean1 {
		distance += (m - mean2[i]) * (m - mean2[i])
	}
	if distance-distance != 0 {
		return 0, fmt.Errorf("transport: distance is %v: give finite means", distance)
	}
	return distance, nil
}

// squaredBures returns the part of SquaredBures that is of the covariances;
// root is the square root of the first.
func squaredBures(covariance1 *mat.SymDense, root *mat.Dense, covariance2 *mat.SymDense) (float64, error) {
	var product mat.Dense
	product.Mul(root, covariance2)
	product.Mul(&product, root)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(&product), false) {
		return 0, fmt.Errorf("the product of two covariances has no eigenvalues: give finite covariances")
	}
	distance := mat.Trace(covariance1) + mat.Trace(covariance2)
	for _, v := range eigen.Values(nil) {
		distance -= 2 * math.Sqrt(max(v, 0)) // none is negative but by rounding
	}
	return max(distance, 0), nil
}

// squareRoot returns the symmetric square root of s.
func squareRoot(s *mat.SymDense) (*mat.Dense, error) {
	var eigen mat.EigenSym
	values, err := factorize(&eigen, s, true)
	if err != nil {
		return nil, err
	}
	var vectors, scaled, root mat.Dense
	eigen.VectorsTo(&vectors)
	scaled.CloneFrom(&vectors)
	for i := range values {
		values[i] = math.Sqrt(values[i])
	}
	scaled.Mul(&scaled, mat.NewDiagDense(len(values), values))
	root.Mul(&scaled, vectors.T())
	return &root, nil
}

// eigenvalues returns the eigenvalues of s.
func eigenvalues(s *mat.SymDense) ([]float64, error) {
	var eigen mat.EigenSym
	return factorize(&eigen, s, false)
}

// factorize returns the eigenvalues of s, those that rounding has made
// negative being set to 0.
func factorize(eigen *mat.EigenSym, s *mat.SymDense, vectors bool) ([]float64, error) {
	for i := range s.SymmetricDim() {
		for j := range i + 1 {
			if v := s.At(i, j); v-v != 0 {
				return nil, fmt.Errorf("value %d, %d is %v: give finite covariances", i, j, v)
			}
		}
	}
	if !eigen.Factorize(s, vectors) {
		return nil, fmt.Errorf("eigenvalues do not converge: scale the data")
	}
	values := eigen.Values(nil)
	tolerance := 1e-10 * math.Abs(values[len(values)-1]) // they rise
	for i, v := range values {
		if v < -tolerance {
			return nil, fmt.Errorf("eigenvalue %v is negative: give a covariance", v)
		}
		values[i] = max(v, 0)
	}
	return values, nil
}

// symmetrised returns the symmetric part of m.
func symmetrised(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}
