// Package tsne lays out rows in the plane so that near neighbours stay near: Barnes–Hut
// t-SNE (van der Maaten 2014), started from principal components (Kobak & Berens 2019).
//
// It looks for points whose similarities, by a Student t with one degree of freedom, have
// the least Kullback–Leibler divergence from those of the rows, by a Gaussian whose width
// is set for each row by the perplexity. Distances between groups, and how dense a group
// is, mean little in the result.
package tsne

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/pca"
)

// Options are the options of Fit. The zero value is usable. The defaults are those of
// scikit-learn, but for Components.
type Options struct {
	// Perplexity is about how many neighbours each row keeps near; 0 means 30, or
	// (n−1)/3 if that is less.
	Perplexity float64
	// Theta is how wide a group of points may be, in units of its distance, to push as
	// one; 0 means 0.5. A smaller one is more exact and slower.
	Theta float64
	// Iterations is the number of steps; 0 means 1,000.
	Iterations int
	// Exaggerated is the number of steps, the first ones, in which all attraction is
	// multiplied by Exaggeration; 0 means 250, or a quarter of fewer than 1,000 Iterations.
	Exaggerated int
	// Exaggeration is 12 if it is 0.
	Exaggeration float64
	// LearningRate is n/Exaggeration/4 if it is 0, but at least 50 (Belkina et al. 2019).
	LearningRate float64
	// Components is how many principal components rows with more columns are reduced
	// to first; 0 means 50, as van der Maaten has it.
	Components int
	// Seed draws what the search for principal components starts from, and the first
	// points where all rows are alike.
	Seed uint64
}

// minPerplexity is the least that has a meaning: one neighbour.
const minPerplexity = 1

// MinRows is the least number of rows that Fit takes: three neighbours each.
const MinRows = 4

func (o Options) withDefaults(n int) Options {
	setDefault(&o.Perplexity, min(30, float64(n-1)/3))
	setDefault(&o.Theta, 0.5)
	setDefault(&o.Iterations, 1000)
	setDefault(&o.Exaggerated, min(250, o.Iterations/4))
	setDefault(&o.Exaggeration, 12)
	setDefault(&o.LearningRate, max(float64(n)/o.Exaggeration/4, 50))
	setDefault(&o.Components, 50)
	return o
}

func setDefault[T int | float64](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

func (o Options) check(n int) error {
	if most := float64(n-1) / 3; !(o.Perplexity >= minPerplexity && o.Perplexity <= most) {
		return fmt.Errorf("tsne: a perplexity of %v: %d rows allow %d to %.4g", o.Perplexity, n, minPerplexity, most)
	}
	if !(o.Theta > 0 && o.Theta <= 1) {
		return fmt.Errorf("tsne: theta is %v: it must be above 0 and at most 1", o.Theta)
	}
	if min(o.Iterations, o.Exaggerated, o.Components) < 0 {
		return errors.New("tsne: a negative number of iterations or components")
	}
	if !(o.Exaggeration >= 1) || !(o.LearningRate > 0) || math.IsInf(o.Exaggeration+o.LearningRate, 0) {
		return fmt.Errorf("tsne: an exaggeration of %v and a learning rate of %v: the one must be at least 1, the other above 0",
			o.Exaggeration, o.LearningRate)
	}
	return nil
}

// Result is where the rows came to lie.
type Result struct {
	// Y is n×2, row-major, centred at the origin.
	Y []float64
	// Divergence is the Kullback–Leibler divergence that is left, as far as the tree
	// knows it.
	Divergence float64
}

// Fit lays out the rows of x (n×d), all finite. The same rows, options and seed give the
// same bytes with any number of threads. The end of ctx ends it with its error.
func Fit(ctx context.Context, x blas32.General, o Options) (*Result, error) {
	if x.Rows < MinRows || x.Cols == 0 {
		return nil, fmt.Errorf("tsne: %d rows of %d columns: it takes at least %d rows of one", x.Rows, x.Cols, MinRows)
	}
	if err := dense.CheckFinite("tsne:", x, 0); err != nil {
		return nil, err
	}
	o = o.withDefaults(x.Rows)
	if err := o.check(x.Rows); err != nil {
		return nil, err
	}
	z, err := reduce(ctx, x, o)
	if err != nil {
		return nil, err
	}
	p, err := affinities(ctx, z, o.Perplexity)
	if err != nil {
		return nil, err
	}
	d := newDescent(start(z, o.Seed), p, o)
	if err := d.run(ctx); err != nil {
		return nil, err
	}
	return &Result{Y: d.y, Divergence: d.divergence()}, nil
}

// reduce returns the rows along their principal components, the first the most telling,
// all in the unit ball: only ratios of distances matter.
func reduce(ctx context.Context, x blas32.General, o Options) (blas32.General, error) {
	p, err := pca.Project(ctx, x, max(o.Components, 2), o.Seed)
	if err != nil {
		return blas32.General{}, err
	}
	z, top := dense.New(p.Scores.Rows, p.Scores.Cols), 0.0
	for i := range z.Rows {
		norm := 0.0
		for _, v := range p.Scores.Data[i*z.Cols:][:z.Cols] {
			norm = math.Hypot(norm, v)
		}
		top = max(top, norm)
	}
	if top > 0 {
		for i, v := range p.Scores.Data {
			z.Data[i] = float32(v / top)
		}
	}
	return z, nil
}

// startDeviation is that of the first points along their first axis: so small that they
// part by attraction, not by where they started.
const startDeviation = 1e-4

// start takes the first two columns of z for the first points, n×2. Where all rows are
// alike they are random.
func start(z blas32.General, seed uint64) []float64 {
	y, squares := make([]float64, 2*z.Rows), 0.0
	for i := range z.Rows {
		for j := range min(2, z.Cols) {
			y[2*i+j] = float64(z.Data[i*z.Cols+j])
		}
		squares += y[2*i] * y[2*i]
	}
	if squares == 0 {
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range y {
			y[i] = startDeviation * rng.NormFloat64()
		}
		return y
	}
	scale := startDeviation / math.Sqrt(squares/float64(z.Rows))
	for i := range y {
		y[i] *= scale
	}
	return y
}
