package transport

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/internal/kernel"
)

// SquaredBures returns the squared Wasserstein-2 distance of two Gaussians of
// d dimensions, in squared units of the data:
//
//	|m₁ − m₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁^½ Σ₂ Σ₁^½)^½)
//
// (Dowson & Landau 1982). Covariances (d×d) may be singular. It fails if one has
// a negative eigenvalue or a value is not finite, and panics if shapes differ.
//
// When ctx ends it returns ctx.Err() at once. The eigendecompositions take
// O(d³) time and cannot be stopped, so one may go on in the background.
func SquaredBures(ctx context.Context, mean1 []float64, covariance1 *mat.SymDense, mean2 []float64, covariance2 *mat.SymDense) (float64, error) {
	d := len(mean1)
	if len(mean2) != d || covariance1.SymmetricDim() != d || covariance2.SymmetricDim() != d {
		panic("transport: SquaredBures: dimensions differ")
	}
	distance, err := inBackground(ctx, func() (float64, error) { return bothCovariances(ctx, covariance1, covariance2) })
	if err != nil {
		return 0, err
	}
	for i, m := range mean1 {
		distance += (m - mean2[i]) * (m - mean2[i])
	}
	if distance-distance != 0 {
		return 0, fmt.Errorf("transport: distance is %v: give finite means", distance)
	}
	return distance, nil
}

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

// bothCovariances is squaredBures with checks of both covariances.
func bothCovariances(ctx context.Context, covariance1, covariance2 *mat.SymDense) (float64, error) {
	root, err := squareRoot(covariance1)
	if err != nil {
		return 0, fmt.Errorf("transport: first covariance: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if _, err := eigenvalues(covariance2); err != nil {
		return 0, fmt.Errorf("transport: second covariance: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	distance, err := squaredBures(covariance1, root, covariance2)
	if err != nil {
		return 0, fmt.Errorf("transport: %w", err)
	}
	return distance, nil
}

// squaredBures returns the part of SquaredBures that depends on the
// covariances. root is the square root of the first one.
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
		distance -= 2 * math.Sqrt(max(v, 0)) // only rounding can make it negative
	}
	return max(distance, 0), nil
}

// BuresCost returns the C×K squared Bures–Wasserstein distances (see
// SquaredBures) between the Gaussians with the moments of the classes and of
// the components, divided by the greatest distance. Rows of classes without
// source rows are zero. It takes one eigendecomposition (d×d) for each pair. It
// fails if a value is not finite, and panics if the widths differ or there are
// no covariances.
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

// factorize returns the eigenvalues of s in increasing order. Those that
// rounding has made negative are set to 0.
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
