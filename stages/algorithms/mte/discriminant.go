package mte

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/affine"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
)

const (
	// discriminantRidge is added to the within-class covariance, in units of
	// its mean eigenvalue.
	discriminantRidge = 1e-2
	// minVariance is added to pooled variances of standardised columns.
	minVariance = 1e-6
)

// moments are the first and second moments of labelled rows.
type moments struct {
	n          float64
	mean       []float64  // d
	counts     []float64  // C
	classMeans *mat.Dense // C×d
	scatter    *mat.Dense // d×d, around mean
}

// newMoments sums up the standardised rows of x.
func newMoments(ctx context.Context, s *affine.Map, x blas32.General, labels []int32, classes int) (*moments, error) {
	d := x.Cols
	m := &moments{n: float64(x.Rows), mean: make([]float64, d), counts: make([]float64, classes),
		classMeans: mat.NewDense(classes, d, nil), scatter: mat.NewDense(d, d, nil)}
	block := dense.New64(mapRows, d)
	for lo := 0; lo < x.Rows; lo += mapRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+mapRows, x.Rows)
		block.Rows = hi - lo
		s.Standardise(block, dense.Rows(x, lo, hi))
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, block, block, 1, m.scatter.RawMatrix())
		for i, l := range labels[lo:hi] {
			m.counts[l]++
			sums := m.classMeans.RawRowView(int(l))
			for j, v := range block.Data[i*d:][:d] {
				sums[j] += v
			}
		}
	}
	m.finish()
	return m, nil
}

// finish turns sums into means and centres the scatter.
func (m *moments) finish() {
	for k, n := range m.counts {
		sums := m.classMeans.RawRowView(k)
		for j := range sums {
			m.mean[j] += sums[j] / m.n
			sums[j] /= n
		}
	}
	mean := mat.NewVecDense(len(m.mean), m.mean)
	m.scatter.RankOne(m.scatter, -m.n, mean, mean)
}

func (m *moments) trace() float64 { return mat.Trace(m.scatter) / m.n }

// project returns the moments of the rows times axes (d×q).
func (m *moments) project(axes *mat.Dense) *moments {
	_, q := axes.Dims()
	p := &moments{n: m.n, counts: m.counts, mean: make([]float64, q), classMeans: new(mat.Dense), scatter: new(mat.Dense)}
	mat.NewVecDense(q, p.mean).MulVec(axes.T(), mat.NewVecDense(len(m.mean), m.mean))
	p.classMeans.Mul(m.classMeans, axes)
	p.scatter.Product(axes.T(), m.scatter, axes)
	return p
}

// meanDeviation returns the mean over the columns of their standard deviations.
func (m *moments) meanDeviation() float64 {
	sum := 0.0
	for j := range m.mean {
		sum += math.Sqrt(max(m.scatter.At(j, j), 0) / m.n)
	}
	return sum / float64(len(m.mean))
}

// within returns the pooled covariance within the classes.
func (m *moments) within() *mat.SymDense {
	d, c := len(m.mean), len(m.counts)
	w := mat.NewSymDense(d, nil)
	for a := range d {
		for b := a; b < d; b++ {
			v := m.scatter.At(a, b)
			for k, n := range m.counts {
				v -= n * (m.classMeans.At(k, a) - m.mean[a]) * (m.classMeans.At(k, b) - m.mean[b])
			}
			w.SetSym(a, b, v/max(m.n-float64(c), 1))
		}
		w.SetSym(a, a, w.At(a, a)+minVariance)
	}
	return w
}

// leastVariance is the variance along an axis, in units of the greatest, that is rounding:
// n rows have n−1 axes. Standardised it would be noise in the source, and anything in the
// target.
const leastVariance = 1e-10

// principal returns the axes of greatest variance, d×q or fewer, in units of the mean
// standard deviation along them.
func (m *moments) principal(ctx context.Context, q int) (*mat.Dense, error) {
	axes, err := eigen.Leading(ctx, m.scatter, q)
	if err != nil {
		return nil, err
	}
	scatter, real := m.project(axes).scatter, 1
	for d, found := axes.Dims(); real < found; real++ {
		if scatter.At(real, real) <= leastVariance*scatter.At(0, 0) {
			axes = mat.DenseCopyOf(axes.Slice(0, d, 0, real))
			break
		}
	}
	axes.Scale(1/m.project(axes).meanDeviation(), axes)
	return axes, nil
}

// discriminants returns the axes of linear discriminant analysis, at most C−1
// of them (d×q), in units of the mean standard deviation along them: the
// principal axes of the class means after the covariance within the classes,
// with a ridge, has been made the identity.
func (m *moments) discriminants() (*mat.Dense, error) {
	whiten, err := whitening(m.within())
	if err != nil {
		return nil, err
	}
	c, d := m.classMeans.Dims()
	mean := make([]float64, d)
	for k := range c {
		floats.AddScaled(mean, 1/float64(c), m.classMeans.RawRowView(k))
	}
	var white, axes mat.Dense
	white.Mul(centred(m.classMeans, mean), whiten)
	var svd mat.SVD
	if !svd.Factorize(&white, mat.SVDThin) {
		return nil, errors.New("mte: the class means have no principal axes: scale the features down")
	}
	var right mat.Dense
	svd.VTo(&right)
	axes.Mul(whiten, right.Slice(0, d, 0, min(c-1, d)))
	eigen.FixSigns(&axes)
	deviation := m.project(&axes).meanDeviation()
	if svd.Values(nil)[0] < minDeviation || !(deviation > 0) {
		return nil, errors.New("mte: all classes have the same mean: give features that tell the classes apart")
	}
	axes.Scale(1/deviation, &axes)
	return &axes, nil
}

// whitening returns (w + ridge)^(−1/2).
func whitening(w *mat.SymDense) (*mat.Dense, error) {
	d := w.SymmetricDim()
	ridge := discriminantRidge * mat.Trace(w) / float64(d)
	for j := range d {
		w.SetSym(j, j, w.At(j, j)+ridge)
	}
	values, vectors, err := eigen.Symmetric(mat.DenseCopyOf(w))
	if err != nil {
		return nil, err
	}
	var scaled, root mat.Dense
	scaled.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[j]) }, vectors)
	root.Mul(&scaled, vectors.T())
	return &root, nil
}
