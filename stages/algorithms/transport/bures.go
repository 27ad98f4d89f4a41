package transport

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/internal/kernel"
)

// inBackground returns the result of f, or ctx.Err() as soon as ctx ends. f then
// continues in the background until it checks ctx itself.
func inBackground[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// squaredBures returns the part of the squared Bures–Wasserstein distance that
// depends on the covariances. root is the square root of the first one.
func squaredBures(covariance1 *mat.SymDense, root *mat.Dense, covariance2 *mat.SymDense) (float64, error) {
	var product mat.Dense
	product.Mul(root, covariance2)
	product.Mul(&product, root)
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetrised(&product), false) {
		return 0, errors.New("the product of two covariances has no eigenvalues: give finite covariances")
	}
	distance := mat.Trace(covariance1) + mat.Trace(covariance2)
	for _, v := range eigen.Values(nil) {
		distance -= 2 * math.Sqrt(max(v, 0)) // only rounding can make it negative
	}
	return max(distance, 0), nil
}

// BuresCost returns the C×K squared Wasserstein-2 distances between the Gaussians
// with the moments of the classes and of the components,
//
//	|m₁ − m₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁^½ Σ₂ Σ₁^½)^½)
//
// (Dowson & Landau 1982), divided by the greatest of them. Rows of classes without
// source rows are zero. Covariances may be singular. It takes one eigendecomposition
// (d×d) for each pair. It fails if a value is not finite or a covariance of a class
// has a negative eigenvalue, and panics if the widths differ or there are no
// covariances.
//
// When ctx ends it returns ctx.Err() at once. The decompositions take O(d³) time
// and cannot be stopped, so those that are running go on in the background.
func BuresCost(ctx context.Context, classes, components Moments) (*mat.Dense, error) {
	cost, err := classes.bures(ctx, components)
	if err != nil {
		return nil, err
	}
	return scaled(cost)
}

// bures is BuresCost before the division.
func (m Moments) bures(ctx context.Context, other Moments) (*mat.Dense, error) {
	if m.Covariances == nil || other.Covariances == nil {
		panic("transport: the Bures distance takes covariances")
	}
	cost, err := m.squares(ctx, other)
	if err != nil {
		return nil, err
	}
	return inBackground(ctx, func() (*mat.Dense, error) { return m.addCovariances(ctx, cost, other) })
}

// addCovariances adds the part of the covariances to the squared distances of
// the means.
func (m Moments) addCovariances(ctx context.Context, cost *mat.Dense, other Moments) (*mat.Dense, error) {
	errs := make([]error, len(m.Counts))
	kernel.Parallel(len(errs), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if m.Counts[i] > 0 {
				errs[i] = addBures(ctx, cost.RawRowView(i), m.Covariances[i], other.Covariances)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("transport: covariances of class %d and the components: %w", i, err)
		}
	}
	return cost, nil
}

// addBures adds the part of the covariances to the distances of one class.
func addBures(ctx context.Context, distances []float64, covariance *mat.SymDense, others []*mat.SymDense) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := squareRoot(covariance)
	if err != nil {
		return err
	}
	for j, other := range others {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := squaredBures(covariance, root, other)
		if err != nil {
			return err
		}
		distances[j] += d
	}
	return nil
}

// squareRoot returns the symmetric square root of s.
func squareRoot(s *mat.SymDense) (*mat.Dense, error) {
	var eigen mat.EigenSym
	values, err := factorize(&eigen, s)
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

// factorize decomposes s and returns its eigenvalues in increasing order. Those that
// rounding has made negative are set to 0.
func factorize(eigen *mat.EigenSym, s *mat.SymDense) ([]float64, error) {
	for i := range s.SymmetricDim() {
		for j := range i + 1 {
			if v := s.At(i, j); v-v != 0 {
				return nil, fmt.Errorf("value %d, %d is %v: give finite covariances", i, j, v)
			}
		}
	}
	if !eigen.Factorize(s, true) {
		return nil, errors.New("eigenvalues do not converge: scale the data")
	}
	values := eigen.Values(nil)
	tolerance := 1e-10 * math.Abs(values[len(values)-1])
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
