// Package wasserstein measures the distance of a target from a source whose
// classes are weighted to the target's proportions: the Wasserstein-1 distance
// of the paper's Theorem 1, WD_1(p_S̃, p_T) of equation (4), in any space of the
// rows.
//
// The distance of two samples is greater than that of the distributions they
// were drawn from, more so in more dimensions. So a Reference also holds the
// distance of two samples of the target from each other. This floor is the
// distance to expect if nothing separates the domains.
package wasserstein

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/transport"
)

// Options of a measurement. The zero value is usable.
type Options struct {
	// Rows is the greatest number of rows of each domain that are compared; 0
	// means 200. Time is about O(Rows³).
	Rows int
	// Seed is the seed of the samples.
	Seed uint64
	// Space maps rows (n×d) to the space in which they are compared, such as a
	// representation. It may change them in place. nil leaves them as they are.
	Space func(blas32.General) (blas32.General, error)
}

// A Distance is the distance of a source from a target, in units of the data.
type Distance struct {
	// Value is the Wasserstein-1 distance, exact for the rows compared, with
	// the Euclidean distance as the cost.
	Value float64
	// Floor is the same distance between two samples of the target, each of
	// Rows rows.
	Floor float64
	// Rows is the number of target rows that were compared.
	Rows int
}

// Ratio returns Value divided by Floor: about 1 if nothing separates source and
// target. It is +Inf if only the floor is 0.
func (d Distance) Ratio() float64 {
	if d.Value == d.Floor {
		return 1
	}
	return d.Value / d.Floor
}

// A Reference is a sample of the target that sources are compared with.
type Reference struct {
	rows  blas32.General // m×h
	floor float64
	o     Options
}

// NewReference draws two disjoint samples from the rows of the target (n×d) and
// compares them. Each has Options.Rows rows, or n/2 if that is less. It fails if
// there are fewer than two rows or a value is not finite, and returns an error
// that wraps ctx.Err() if ctx ends.
func NewReference(ctx context.Context, target blas32.General, o Options) (*Reference, error) {
	if o.Rows == 0 {
		o.Rows = 200
	}
	if o.Space == nil {
		o.Space = func(x blas32.General) (blas32.General, error) { return x, nil }
	}
	m := min(o.Rows, target.Rows/2)
	if m < 1 {
		return nil, fmt.Errorf("wasserstein: %d target rows: give at least two", target.Rows)
	}
	order := rand.New(rand.NewPCG(o.Seed, streamTarget)).Perm(target.Rows)
	r := &Reference{o: o}
	var err error
	if r.rows, err = o.Space(dense.Gather(target, order[:m])); err != nil {
		return nil, err
	}
	r.floor, err = r.distance(ctx, dense.Gather(target, order[m:2*m]), dense.Uniform(m))
	return r, err
}

// Streams of random numbers of a seed.
const (
	streamTarget = 1
	streamSource = 2
)

// To returns the distance of a source whose rows (n×d) have labels from 0 to
// C−1. Class k has the mass proportions[k]. It compares as many rows of the
// source as of the target, at least one of each class with a proportion. A
// class without rows is left out, with its mass. It fails if no class is left or
// a value is not finite, returns an error that wraps ctx.Err() if ctx ends, and
// panics if shapes differ.
func (r *Reference) To(ctx context.Context, source blas32.General, labels []int32, proportions []float64) (Distance, error) {
	if source.Rows != len(labels) {
		panic("wasserstein: Reference.To: the shapes do not fit")
	}
	rows, masses := r.stratify(labels, proportions)
	if len(rows) == 0 {
		return Distance{}, errors.New("wasserstein: no class of the source has a share of the target: give labelled rows of the target's classes")
	}
	value, err := r.distance(ctx, dense.Gather(source, rows), masses)
	return Distance{Value: value, Floor: r.floor, Rows: r.rows.Rows}, err
}

// stratify draws rows of each class by its proportion, and divides the
// proportion equally among them.
func (r *Reference) stratify(labels []int32, proportions []float64) (rows []int, masses []float64) {
	members := make([][]int, len(proportions))
	rng := rand.New(rand.NewPCG(r.o.Seed, streamSource))
	for _, i := range rng.Perm(len(labels)) {
		members[labels[i]] = append(members[labels[i]], i)
	}
	total := 0.0
	for k, p := range proportions {
		if len(members[k]) == 0 || p <= 0 {
			continue
		}
		n := min(len(members[k]), max(1, int(math.Round(p*float64(r.rows.Rows)))))
		for _, i := range members[k][:n] {
			rows, masses = append(rows, i), append(masses, p/float64(n))
		}
		total += p
	}
	for i := range masses {
		masses[i] /= total
	}
	return rows, masses
}

// distance returns the distance of rows with masses from the reference's rows,
// which have equal masses.
func (r *Reference) distance(ctx context.Context, x blas32.General, masses []float64) (float64, error) {
	x, err := r.o.Space(x)
	if err != nil {
		return 0, err
	}
	if x.Cols != r.rows.Cols {
		panic("wasserstein: the domains differ in width")
	}
	cost := mat.NewDense(x.Rows, r.rows.Rows, nil)
	kernel.Parallel(x.Rows, 16, func(lo, hi int) {
		squares := make([]float32, r.rows.Rows)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			kernel.SquaredDistances(squares, x.Data[i*x.Cols:][:x.Cols], r.rows.Data, r.rows.Rows, x.Cols)
			for j, s := range squares {
				cost.Set(i, j, math.Sqrt(float64(s)))
			}
		}
	})
	plan, err := transport.Exact(ctx, masses, dense.Uniform(r.rows.Rows), cost)
	if err != nil {
		return 0, fmt.Errorf("wasserstein: %w", err)
	}
	return plan.Cost, nil
}
