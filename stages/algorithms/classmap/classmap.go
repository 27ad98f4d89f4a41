package classmap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Options of translation. The zero value is usable.
type Options struct {
	// Shrinkage is κ: the displacement of a class is shrunk towards the mean of
	// all displacements, which counts as κ·n_T rows; 0 means 0.05.
	Shrinkage float64
	// Ridge is added to the covariances within the classes, in units of the
	// source's mean variance; 0 means 0.05.
	Ridge float64
	// MaxWeight is the greatest weight p_T/p_S of source rows in their
	// covariance; 0 means 10.
	MaxWeight float64
}

func (o Options) withDefaults() Options {
	for option, value := range map[*float64]float64{&o.Shrinkage: 0.05, &o.Ridge: 0.05, &o.MaxWeight: 10} {
		if *option == 0 {
			*option = value
		}
	}
	return o
}

// emptyMass is added to the mass of each class in the target, so that an empty
// class has a mean. Shrinkage then removes its effect.
const emptyMass = 1e-9

// Map maps rows of the source to the target.
type Map struct {
	// Means holds the means of the source's classes, C×d; zero for a class
	// without rows.
	Means *mat.Dense
	// Displacement says how far each class has moved, C×d.
	Displacement *mat.Dense
	// Within is W_S^(−½)·W_T^(½), d×d. Rows of the source, minus the mean of
	// their class, are multiplied by it from the right. nil is the identity.
	Within *mat.Dense
}

// Fit learns the map. The displacement of class k is the mean of the target's
// rows under its responsibilities, minus the class' mean in the source, shrunk
// towards the mean displacement. The residuals of all classes share one map,
// from the covariance W_S within the classes of the source, weighted to the
// target's proportions, to that of the target, W_T.
//
// source is n_S×d, with a label from 0 to C−1 for each row. target is n_T×d in
// all and is read once. responsibilities is n_T×C; each row sums to 1. Fit
// keeps d×d values. It fails if a value is not finite, a label is out of range
// or the numbers of target rows differ, returns ctx.Err() if ctx ends, and
// panics if there is not one label for each source row.
func Fit(ctx context.Context, source blas32.General, labels []int32, target iter.Seq2[blas32.General, error], responsibilities blas32.General, o Options) (*Map, error) {
	o = o.withDefaults()
	f, err := newFit(ctx, source, labels, target, responsibilities, true)
	if err != nil {
		return nil, err
	}
	m := f.displace(o.Shrinkage)
	m.Within, err = f.within(ctx, m, o)
	return m, err
}

// Displace is Fit without Within, which is nil. That is enough for a classifier
// that estimates proportions.
func Displace(ctx context.Context, source blas32.General, labels []int32, target iter.Seq2[blas32.General, error], responsibilities blas32.General, o Options) (*Map, error) {
	f, err := newFit(ctx, source, labels, target, responsibilities, false)
	if err != nil {
		return nil, err
	}
	return f.displace(o.withDefaults().Shrinkage), nil
}

// Apply moves the rows of x (n×d), which have the given classes, and writes them
// to dst, which may be x. It returns ctx.Err() if ctx ends, and panics if shapes
// differ.
func (m *Map) Apply(ctx context.Context, dst, x blas32.General, labels []int32) error {
	_, d := m.Means.Dims()
	if x.Cols != d || dst.Cols != d || x.Rows != len(labels) || dst.Rows != x.Rows {
		panic("classmap: Map.Apply: the shapes do not fit")
	}
	kernel.Parallel((x.Rows+blockRows-1)/blockRows, 1, func(first, last int) {
		residuals, moved := dense.New64(blockRows, d), dense.New64(blockRows, d)
		for lo := first * blockRows; lo < min(last*blockRows, x.Rows) && ctx.Err() == nil; lo += blockRows {
			hi := min(lo+blockRows, x.Rows)
			m.block(dst, x, labels, lo, hi, residuals, moved)
		}
	})
	return ctx.Err()
}

// block moves rows [lo, hi).
func (m *Map) block(dst, x blas32.General, labels []int32, lo, hi int, residuals, moved blas64.General) {
	residuals.Rows, moved.Rows = hi-lo, hi-lo
	for i := lo; i < hi; i++ {
		subtract(residuals.Data[(i-lo)*x.Cols:][:x.Cols], dense.Row(x, i), m.Means.RawRowView(int(labels[i])))
	}
	if m.Within == nil {
		moved = residuals
	} else {
		kernel.Gemm64(false, false, 1, residuals, m.Within.RawMatrix(), 0, moved)
	}
	for i := lo; i < hi; i++ {
		mean, by := m.Means.RawRowView(int(labels[i])), m.Displacement.RawRowView(int(labels[i]))
		out := dense.Row(dst, i)
		for j, v := range moved.Data[(i-lo)*x.Cols:][:x.Cols] {
			out[j] = float32(v + mean[j] + by[j])
		}
	}
}

// fit holds the moments of both domains, around the source's mean.
type fit struct {
	source    blas32.General
	labels    []int32
	origin    []float64  // d: the source's mean
	counts    []float64  // C: source rows of each class
	means     *mat.Dense // C×d: class means of the source, minus origin
	targets   float64    // n_T
	mass      []float64  // C: sums of the responsibilities
	sums      *mat.Dense // C×d: sums of target rows minus origin, by responsibility
	scatter   *mat.Dense // d×d: scatter of target rows around origin; nil if not needed
	responses blas32.General
}

func newFit(ctx context.Context, source blas32.General, labels []int32, target iter.Seq2[blas32.General, error], responsibilities blas32.General, scatter bool) (*fit, error) {
	classes, d := responsibilities.Cols, source.Cols
	f := &fit{source: source, labels: labels, origin: make([]float64, d), counts: make([]float64, classes), means: mat.NewDense(classes, d, nil),
		mass: make([]float64, classes), sums: mat.NewDense(classes, d, nil), responses: responsibilities}
	if scatter {
		f.scatter = mat.NewDense(d, d, nil)
	}
	if err := f.addSource(ctx); err != nil {
		return nil, err
	}
	for x, err := range target {
		if err != nil {
			return nil, fmt.Errorf("classmap: reading the target: %w", err)
		}
		if err := f.addTarget(ctx, x); err != nil {
			return nil, err
		}
	}
	if f.targets == 0 {
		return nil, errors.New("classmap: there are no target rows: give unlabelled rows")
	}
	if int(f.targets) != responsibilities.Rows {
		return nil, fmt.Errorf("classmap: %d target rows and %d rows of responsibilities: give both of the same rows", int(f.targets), responsibilities.Rows)
	}
	return f, nil
}

func (f *fit) addSource(ctx context.Context) error {
	if f.source.Rows != len(f.labels) {
		panic("classmap: one label a source row is needed")
	}
	if f.source.Rows == 0 {
		return errors.New("classmap: there are no source rows: give labelled rows")
	}
	for i := range f.source.Rows {
		if i%blockRows == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkFinite("source", f.source, i, 0); err != nil {
				return err
			}
		}
		k := int(f.labels[i])
		if k < 0 || k >= len(f.counts) {
			return fmt.Errorf("classmap: source row %d has label %d: labels go from 0 to %d", i, k, len(f.counts)-1)
		}
		f.counts[k]++
		mean := f.means.RawRowView(k)
		for j, v := range dense.Row(f.source, i) {
			mean[j] += float64(v)
			f.origin[j] += float64(v) / float64(f.source.Rows)
		}
	}
	for k, n := range f.counts {
		if n > 0 {
			floats.Scale(1/n, f.means.RawRowView(k))
			floats.Sub(f.means.RawRowView(k), f.origin)
		}
	}
	return nil
}

// addTarget adds the next rows of the target.
func (f *fit) addTarget(ctx context.Context, x blas32.General) error {
	if x.Rows > 0 && x.Cols != f.source.Cols {
		return fmt.Errorf("classmap: target rows have %d columns and source rows %d: give both the same features", x.Cols, f.source.Cols)
	}
	first := int(f.targets)
	if first+x.Rows > f.responses.Rows {
		return fmt.Errorf("classmap: more target rows than the %d rows of responsibilities: give both of the same rows", f.responses.Rows)
	}
	rows, shares := dense.New64(blockRows, x.Cols), dense.New64(blockRows, f.responses.Cols)
	for lo := 0; lo < x.Rows; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkFinite("target", x, lo, first); err != nil {
			return err
		}
		hi := min(lo+blockRows, x.Rows)
		rows.Rows, shares.Rows = hi-lo, hi-lo
		for i := lo; i < hi; i++ {
			subtract(rows.Data[(i-lo)*rows.Stride:][:x.Cols], dense.Row(x, i), f.origin)
			for k, r := range dense.Row(f.responses, first+i) {
				shares.Data[(i-lo)*shares.Stride+k] = float64(r)
				f.mass[k] += float64(r)
			}
		}
		kernel.Gemm64(true, false, 1, shares, rows, 1, f.sums.RawMatrix())
		if f.scatter != nil {
			kernel.Gemm64(true, false, 1, rows, rows, 1, f.scatter.RawMatrix())
		}
	}
	f.targets += float64(x.Rows)
	return nil
}

// displace returns the displacements of the classes.
func (f *fit) displace(shrinkage float64) *Map {
	classes, d := f.means.Dims()
	m := &Map{Means: mat.NewDense(classes, d, nil), Displacement: mat.NewDense(classes, d, nil)}
	strength, total := shrinkage*f.targets, 0.0
	shared := make([]float64, d)
	for k, mass := range f.mass {
		mass += emptyMass
		own := m.Displacement.RawRowView(k)
		floats.AddScaledTo(own, own, 1/mass, f.sums.RawRowView(k))
		floats.Sub(own, f.means.RawRowView(k))
		w := mass * strength / (mass + strength)
		floats.AddScaled(shared, w, own)
		total += w
		if f.counts[k] > 0 {
			floats.AddTo(m.Means.RawRowView(k), f.means.RawRowView(k), f.origin)
		}
	}
	floats.Scale(1/total, shared)
	for k, mass := range f.mass {
		mass += emptyMass
		own := m.Displacement.RawRowView(k)
		for j := range own {
			own[j] = (mass*own[j] + strength*shared[j]) / (mass + strength)
		}
	}
	return m
}

// within returns the map of residuals.
func (f *fit) within(ctx context.Context, m *Map, o Options) (*mat.Dense, error) {
	source, err := f.sourceWithin(ctx, m, o.MaxWeight)
	if err != nil {
		return nil, err
	}
	target, err := f.targetWithin(ctx, m)
	if err != nil {
		return nil, err
	}
	d := source.SymmetricDim()
	ridge := o.Ridge * mat.Trace(source) / float64(d)
	for j := range d {
		source.SetSym(j, j, source.At(j, j)+ridge)
		target.SetSym(j, j, target.At(j, j)+ridge)
	}
	return between(ctx, source, target)
}

// sourceWithin returns W_S, with rows weighted by p_T/p_S.
func (f *fit) sourceWithin(ctx context.Context, m *Map, maxWeight float64) (*mat.SymDense, error) {
	weights, total := make([]float64, len(f.mass)), 0.0
	for k, n := range f.counts {
		if n > 0 {
			weights[k] = min(f.mass[k]/f.targets/(n/float64(len(f.labels))), maxWeight)
		}
		total += weights[k] * n
	}
	if !(total > 0) {
		return nil, errors.New("classmap: no class of the source has responsibilities: give labelled rows of the target's classes")
	}
	d := f.source.Cols
	sum, block := mat.NewDense(d, d, nil), dense.New64(blockRows, d)
	for lo := 0; lo < f.source.Rows; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+blockRows, f.source.Rows)
		block.Rows = hi - lo
		for i := lo; i < hi; i++ {
			k, r := int(f.labels[i]), block.Data[(i-lo)*d:][:d]
			subtract(r, dense.Row(f.source, i), m.Means.RawRowView(k))
			floats.Scale(math.Sqrt(weights[k]/total), r)
		}
		kernel.Gemm64(true, false, 1, block, block, 1, sum.RawMatrix())
	}
	return eigen.Symmetrised(sum), nil
}

// targetWithin returns W_T, the covariance of target rows around the moved class
// means under their responsibilities. The moments are enough for it, because the
// responsibilities of a row sum to 1.
func (f *fit) targetWithin(ctx context.Context, m *Map) (*mat.SymDense, error) {
	sum := mat.DenseCopyOf(f.scatter)
	d := f.source.Cols
	for k, mass := range f.mass {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mean := make([]float64, d) // minus origin
		floats.AddTo(mean, f.means.RawRowView(k), m.Displacement.RawRowView(k))
		at, s := mat.NewVecDense(d, mean), mat.NewVecDense(d, f.sums.RawRowView(k))
		sum.RankOne(sum, -1, s, at)
		sum.RankOne(sum, -1, at, s)
		sum.RankOne(sum, mass, at, at)
	}
	sum.Scale(1/f.targets, sum)
	return eigen.Symmetrised(sum), nil
}
