package transport

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/eigen"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// inBackground returns the result of f, or ctx.Err() as soon as ctx ends. f then
// continues in the background until it checks ctx itself. A panic of f reaches the
// caller.
func inBackground[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var value T
	var err error
	var panics kernel.Panics
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer panics.Catch()
		value, err = f()
	}()
	select {
	case <-done:
		panics.Rethrow()
		return value, err
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
	var solved mat.EigenSym
	values, ok := eigenvalues(&solved, eigen.Symmetrised(&product), false)
	if !ok {
		return 0, errors.New("the product of two covariances has no eigenvalues: give finite covariances")
	}
	distance := mat.Trace(covariance1) + mat.Trace(covariance2)
	for _, v := range values {
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
	values, ok := eigenvalues(eigen, s, true)
	if !ok {
		return nil, errors.New("eigenvalues do not converge: scale the data")
	}
	tolerance := 1e-10 * math.Abs(values[len(values)-1])
	for i, v := range values {
		if v < -tolerance {
			return nil, fmt.Errorf("eigenvalue %v is negative: give a covariance", v)
		}
		values[i] = max(v, 0)
	}
	return values, nil
}

// eigenvalues decomposes s and returns its eigenvalues in increasing order. gonum panics
// on values that it would have to scale, so these are scaled here, by a power of two.
func eigenvalues(eigen *mat.EigenSym, s *mat.SymDense, vectors bool) ([]float64, bool) {
	exponent := extremeExponent(s)
	if exponent != 0 {
		s = timesPower(s, -exponent)
	}
	if !eigen.Factorize(s, vectors) {
		return nil, false
	}
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values, true
}

// extremeExponent is the binary exponent of the greatest value of s if that is so large
// or small that an eigendecomposition scales s, and 0 otherwise. LAPACK's own bounds are
// about 2^±485.
func extremeExponent(s *mat.SymDense) int {
	const usual = 400
	greatest := 0.0
	for i := range s.SymmetricDim() {
		for j := range i + 1 {
			greatest = max(greatest, math.Abs(s.At(i, j)))
		}
	}
	_, exponent := math.Frexp(greatest)
	if greatest-greatest != 0 || max(exponent, -exponent) <= usual {
		return 0
	}
	return exponent
}

// timesPower returns s times 2^exponent.
func timesPower(s *mat.SymDense, exponent int) *mat.SymDense {
	n := s.SymmetricDim()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, math.Ldexp(s.At(i, j), exponent))
		}
	}
	return out
}
