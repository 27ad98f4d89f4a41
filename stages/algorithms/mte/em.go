package mte

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// movement says how the classes may move and change in EM.
type movement struct {
	density density
	// shrinkage is κ: means are shrunk to the shared map with κ·n rows.
	shrinkage float64
	// affine says whether the class means share an affine map, or else a
	// displacement. ridge is ρ, which holds the map near the identity, in units
	// of the mean variance of the means.
	affine bool
	ridge  float64
	// scalePower is the power of the ratio of variances by which each axis is
	// scaled, for all classes alike.
	scalePower float64
	// adapt, if positive, lets each class change its covariance, shrunk to
	// that of the source with adapt·n rows; scalePower is not used then.
	adapt float64
}

// em is the state of EM from one starting displacement.
type em struct {
	movement
	source      *gaussians
	sums        *mat.Dense // C×sums of monomials, weighted; set by the E-step
	mass        []float64  // C sums of responsibilities; set by the E-step
	rows        float64    // n, or the sum of weights
	weights     []float64  // of the rows; nil means 1
	proportions []float64  // C
	means       *mat.Dense // C×q
	precisions  []*mat.SymDense
	logRoots    []float64
	factors     []float64 // q; what each axis has been scaled by
	steps       int       // that have been taken
	before      *em       // the state at the last E-step
}

// minPrior is the least proportion EM begins with.
const minPrior = 1e-3

// emptyMass is added to sums of responsibilities, so that an empty class has a
// mean and a proportion above zero.
const emptyMass = 1e-9

// newEM begins at the source's classes, all moved by displacement.
func newEM(how movement, g *gaussians, displacement []float64) (*em, error) {
	classes, q := g.means.Dims()
	r := &em{movement: how, source: g, proportions: make([]float64, classes), means: mat.DenseCopyOf(g.means),
		precisions: make([]*mat.SymDense, classes), logRoots: make([]float64, classes), factors: make([]float64, q)}
	for k := range classes {
		r.proportions[k] = max(g.prior[k], minPrior)
		floats.Add(r.means.RawRowView(k), displacement)
	}
	dense.Normalize(r.proportions)
	for j := range r.factors {
		r.factors[j] = 1
	}
	return r, r.invert(g.covariances)
}

func (r *em) invert(covariances []*mat.SymDense) (err error) {
	for k, s := range covariances {
		if r.precisions[k], r.logRoots[k], err = invert(s); err != nil {
			return err
		}
	}
	return nil
}

// resume begins where another run has ended: its class means have gone the same
// way from the source's.
func (r *em) resume(ended *em) {
	copy(r.proportions, ended.proportions)
	copy(r.factors, ended.factors)
	var gone mat.Dense
	gone.Sub(ended.means, ended.source.means)
	r.means.Add(r.source.means, &gone)
}

// weight returns that of a row.
func (r *em) weight(i int) float64 {
	if r.weights == nil {
		return 1
	}
	return r.weights[i]
}

// total returns the weight of n rows.
func (r *em) total(n int) float64 {
	if r.weights == nil {
		return float64(n)
	}
	return floats.Sum(r.weights)
}

// precision returns the inverse covariance of a class, its axes scaled, and
// the logarithm of the root of the covariance's determinant.
func (r *em) precision(k int) (*mat.SymDense, float64) {
	q := len(r.factors)
	scaled, logRoot := mat.NewSymDense(q, nil), r.logRoots[k]
	for a, f := range r.factors {
		logRoot += math.Log(f)
		for b := a; b < q; b++ {
			scaled.SetSym(a, b, r.precisions[k].At(a, b)/(f*r.factors[b]))
		}
	}
	return scaled, logRoot
}

// collect takes run number i's part of the sums of the chunks.
func (r *em) collect(chunks []*chunk, i int) {
	classes := len(r.proportions)
	_, sums := chunks[0].sums.Dims()
	r.sums, r.mass = mat.NewDense(classes, sums, nil), make([]float64, classes)
	for _, c := range chunks {
		r.sums.Add(r.sums, c.sums.Slice(i*classes, (i+1)*classes, 0, sums))
		floats.Add(r.mass, c.mass[i*classes:][:classes])
	}
}

// maximise is the M-step.
func (r *em) maximise() error {
	for k, m := range r.mass {
		r.proportions[k] = (m + emptyMass) / r.rows
	}
	r.move()
	if r.adapt > 0 {
		return r.adaptCovariances()
	}
	if r.scalePower > 0 {
		r.rescale()
	}
	return nil
}

// move places each class mean between the mean of its rows and where a map
// that all classes share takes the source's mean, the latter with κ·n rows.
func (r *em) move() {
	classes, q := r.means.Dims()
	strength := r.shrinkage * r.rows
	own, weights := mat.NewDense(classes, q, nil), make([]float64, classes)
	for k := range classes {
		s, mean := r.sums.RawRowView(k), own.RawRowView(k)
		n := s[0] + emptyMass
		weights[k] = n * strength / (n + strength)
		for j := range mean {
			mean[j] = s[1+j] / n
		}
	}
	dense.Normalize(weights)
	shared := sharedMap(r.source.means, own, weights, r.affine, r.ridge)
	for k := range classes {
		n := r.sums.At(k, 0) + emptyMass
		mean := r.means.RawRowView(k)
		for j := range mean {
			mean[j] = (n*own.At(k, j) + strength*shared.At(k, j)) / (n + strength)
		}
	}
}

// sharedMap returns where the rows of from go by the displacement or, if affine
// is set, the affine map that takes them to the rows of to by weighted least
// squares, with a ridge towards the identity.
func sharedMap(from, to *mat.Dense, weights []float64, affine bool, ridge float64) *mat.Dense {
	classes, q := from.Dims()
	fromMean, toMean := weightedMean(from, weights), weightedMean(to, weights)
	a, b := centred(from, fromMean), centred(to, toMean)
	if affine {
		scaled := mat.DenseCopyOf(a)
		for k, w := range weights {
			floats.Scale(w, scaled.RawRowView(k))
		}
		if m := ridgeMap(scaled, a, b, ridge); m != nil {
			a.Mul(a, m)
		}
	}
	for k := range classes {
		floats.Add(a.RawRowView(k), toMean[:q])
	}
	return a
}

// ridgeMap returns (AᵀWA + r)⁻¹·(AᵀWB + r), or nil if there is none because all
// rows of A are equal; r is ridge times the mean eigenvalue of AᵀWA.
func ridgeMap(wa, a, b *mat.Dense, ridge float64) *mat.Dense {
	_, q := a.Dims()
	var left, right, m mat.Dense
	left.Mul(wa.T(), a)
	right.Mul(wa.T(), b)
	r := ridge * mat.Trace(&left) / float64(q)
	for j := range q {
		left.Set(j, j, left.At(j, j)+r)
		right.Set(j, j, right.At(j, j)+r)
	}
	if err := m.Solve(&left, &right); err != nil && !dense.IsCondition(err) {
		return nil
	}
	return &m
}

func weightedMean(x *mat.Dense, weights []float64) []float64 {
	_, q := x.Dims()
	mean := make([]float64, q)
	for k, w := range weights {
		floats.AddScaled(mean, w, x.RawRowView(k))
	}
	return mean
}

func centred(x *mat.Dense, mean []float64) *mat.Dense {
	c := mat.DenseCopyOf(x)
	rows, _ := c.Dims()
	for k := range rows {
		floats.Sub(c.RawRowView(k), mean)
	}
	return c
}

// rescale scales each axis of all classes by a power of the ratio of the
// variance that their rows have to that of the source's classes.
func (r *em) rescale() {
	q := monomials(len(r.factors))
	for a := range r.factors {
		found, expected := 0.0, 0.0
		for k, mass := range r.mass {
			found += q.squares(r.sums.RawRowView(k), r.means.RawRowView(k), a)
			expected += mass * r.source.covariances[k].At(a, a)
		}
		if found > 0 { // it is not if all rows are equal, or by rounding
			r.factors[a] = math.Pow(found/expected, r.scalePower/2)
		}
	}
}

// adaptCovariances lets each class have the covariance of its rows, shrunk to
// the source's.
func (r *em) adaptCovariances() error {
	q, strength := monomials(len(r.factors)), r.adapt*r.rows
	covariances := make([]*mat.SymDense, len(r.mass))
	for k, mass := range r.mass {
		s := q.scatter(r.sums.RawRowView(k), r.means.RawRowView(k))
		var prior mat.SymDense
		prior.ScaleSym(strength, r.source.covariances[k])
		s.AddSym(s, &prior)
		s.ScaleSym(1/(mass+strength), s)
		covariances[k] = s
	}
	return r.invert(covariances)
}

// snapshot returns what responsibilities are computed from, as it is now.
func (r *em) snapshot() *em {
	c := *r
	c.proportions = append([]float64(nil), r.proportions...)
	c.means = mat.DenseCopyOf(r.means)
	c.precisions = append([]*mat.SymDense(nil), r.precisions...)
	c.logRoots = append([]float64(nil), r.logRoots...)
	c.factors = append([]float64(nil), r.factors...)
	c.before = nil
	return &c
}

// iterate takes at most steps steps over the rows of x, and ends when the
// proportions of every run change by less than tolerance. What each run was
// before its last M-step, whose responsibilities are the estimate, is kept.
func iterate(ctx context.Context, runs []*em, x blas32.General, steps int, tolerance float64) error {
	how := runs[0].movement
	e := newEStep(x, how.density, len(runs), len(runs[0].proportions), how.adapt > 0)
	for _, r := range runs {
		r.rows = r.total(x.Rows)
	}
	for range steps {
		if err := e.expect(ctx, runs); err != nil {
			return err
		}
		change := 0.0
		for _, r := range runs {
			r.before = r.snapshot()
			if err := r.maximise(); err != nil {
				return err
			}
			r.steps++
			change = max(change, dense.L1(r.proportions, r.before.proportions))
		}
		if change < tolerance {
			break
		}
	}
	return nil
}
