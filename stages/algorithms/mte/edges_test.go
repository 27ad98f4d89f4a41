package mte

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// blobs are a problem of two classes far apart, in so many columns.
func blobs(columns int) Problem {
	rng := rand.New(rand.NewPCG(4, 7))
	return problem(simulate.Blobs(rng, 80, 60, columns, dense.Uniform(2), []float64{0.3, 0.7}, 3, 0.5))
}

// The end of the context ends a fit wherever it comes, also where rows are sampled and where there are many columns, and each
// of its parts.
func TestStops(t *testing.T) {
	for columns, o := range map[int]Options{3: {Steps: 3, MaxRows: 20}, maxAxes + 1: {Steps: 2}} {
		p := blobs(columns)
		contexttest.Stops(t, 8, func(ctx context.Context) error {
			_, err := Fit(ctx, p, o)
			return err
		})
	}
	m := mustFit(t, blobs(3), Options{})
	all, err := newMoments(t.Context(), m.wide, m.problem.Source, m.present.Labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, f := range map[string]func() error{
		"moments": func() error { _, err := newMoments(ended, m.wide, m.problem.Source, m.present.Labels, 2); return err },
		"axes":    func() error { _, err := all.principal(ended, 2); return err },
		"spaces":  func() error { _, _, err := spaces(ended, m.problem.Source, m.present.Labels, 2, true); return err },
		"starts":  func() error { _, _, err := displacements(ended, m.gaussians, m.target, 50, 0); return err },
		"finer": func() error {
			_, err := matchedDisplacement(ended, m.gaussians.means, []float64{0}, m.gaussians.means)
			return err
		},
		"steps":          func() error { return iterate(ended, m.runs, m.target, 1, 0) },
		"replicates":     func() error { _, err := m.Bootstrap(ended, 2, 50, 0); return err },
		"adapted":        func() error { _, err := m.Adapted(ended); return err },
		"what was found": func() error { return m.finish(ended) },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
}

// Numbers that no covariance can be had of are an error of whatever needs one.
func TestNoCovariance(t *testing.T) {
	broken := func(change func(m *MTE)) *MTE {
		m := mustFit(t, blobs(3), Options{})
		change(m)
		return m
	}
	nan := float32(math.NaN())
	for name, f := range map[string]func() error{
		"replicates": func() error {
			_, err := broken(func(m *MTE) { m.source.Data[0] = nan }).Bootstrap(t.Context(), 2, 100, 0)
			return err
		},
		"steps that adapt": func() error {
			_, err := broken(func(m *MTE) { m.target.Data[0] = nan }).Adapted(t.Context())
			return err
		},
		"steps that adapt to a sample": func() error {
			m := broken(func(m *MTE) { m.options.MaxRows = 20 })
			for i := range m.target.Data {
				m.target.Data[i] = nan
			}
			_, err := m.Adapted(t.Context())
			return err
		},
		"fit": func() error {
			return broken(func(m *MTE) { m.gaussians.covariances[1].SetSym(0, 0, math.NaN()) }).fit(t.Context())
		},
		"start": func() error {
			m := broken(func(m *MTE) { m.gaussians.covariances[1].SetSym(0, 0, math.NaN()) })
			_, err := m.run(t.Context(), m.options.movement(), m.displacements)
			return err
		},
	} {
		if err := f(); err == nil || err.Error() != "mte: the covariance of a class has no inverse: scale the features down" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	means, err := newMoments(t.Context(), unscaled(3), dense.New(4, 3), []int32{0, 1, 0, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for j := range 3 {
			means.scatter.Set(i, j, float64(1+min(i, j)))
		}
	}
	means.scatter.Set(0, 0, math.NaN())
	if _, err := means.discriminants(); err == nil || !strings.HasPrefix(err.Error(), "eigen: the eigenvalues of a covariance do not converge") {
		t.Errorf("discriminants: error %v", err)
	}
	m := broken(func(m *MTE) { m.gaussians.means.Set(0, 0, math.NaN()) })
	if _, _, err := displacements(t.Context(), m.gaussians, m.target, 60, 0); err == nil || !strings.HasPrefix(err.Error(), "mte: matching classes with clusters: ") {
		t.Errorf("a class whose mean is no number is matched: %v", err)
	}
}

// A covariance that is none gets as much of its mean variance on the diagonal as it needs, in steps of ten.
func TestJitter(t *testing.T) {
	got, logRoot, err := invert(mat.NewSymDense(2, []float64{1, 1.05, 1.05, 1}))
	if err != nil {
		t.Fatal(err)
	}
	const determinant = 1.1*1.1 - 1.05*1.05
	if math.Abs(logRoot-math.Log(determinant)/2) > 1e-9 || math.Abs(got.At(0, 0)-1.1/determinant) > 1e-9 || math.Abs(got.At(0, 1)+1.05/determinant) > 1e-9 {
		t.Errorf("the inverse is %v and the root's logarithm %v, want those with 0.1 more on the diagonal", mat.Formatted(got), logRoot)
	}
}

// A sample of the source's rows varies as little as all of them would.
func TestReplicatesOfASample(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	m := mustFit(t, problem(simulate.Blobs(rng, 1600, 60, 3, dense.Uniform(2), dense.Uniform(2), 3, 0)), Options{Steps: 2})
	for _, limit := range []int{2000, 100} {
		var shares []float64
		for range 300 {
			r, err := m.replicate(m.sourceSample(limit, 0), rng)
			if err != nil {
				t.Fatal(err)
			}
			shares = append(shares, r.source.prior[0])
		}
		if ratio := stat.Variance(shares, nil) / (0.25 / 1600); ratio < 0.7 || ratio > 1.4 {
			t.Errorf("of at most %d rows a class, a share has %.2f times the variance of 1600 rows", limit, ratio)
		}
	}
}

// So many rows as may take part all do, and in the same steps.
func TestAsManyRowsAsTakePart(t *testing.T) {
	p := blobs(3)
	want := mustFit(t, p, Options{})
	got := mustFit(t, p, Options{MaxRows: 60})
	if got.Iterations != want.Iterations || !slices.Equal(got.Proportions, want.Proportions) {
		t.Errorf("%v after %d steps, want %v after %d", got.Proportions, got.Iterations, want.Proportions, want.Iterations)
	}
}

// Columns are taken as they are up to maxAxes of them.
func TestAxesOfColumns(t *testing.T) {
	for _, columns := range []int{maxAxes, maxAxes + 1} {
		m := mustFit(t, blobs(columns), Options{Steps: 2})
		if rows, _ := m.SourceRows(); rows.Cols != maxAxes || (m.wide.Axes == nil) != (columns == maxAxes) {
			t.Errorf("%d columns become %d, along axes %v", columns, rows.Cols, m.wide.Axes != nil)
		}
	}
}

// Blocks of the target that have no rows, whatever their columns, are nothing; and none come out of it.
func TestBlocksWithoutRows(t *testing.T) {
	p := blobs(3)
	want := mustFit(t, p, Options{})
	all := p.Target
	p.Target = func(yield func(blas32.General, error) bool) {
		for x := range all {
			_ = yield(blas32.General{}, nil) && yield(x, nil) && yield(dense.New(0, 3), nil)
		}
	}
	m := mustFit(t, p, Options{})
	if !slices.Equal(m.Proportions, want.Proportions) {
		t.Errorf("proportions %v, want %v", m.Proportions, want.Proportions)
	}
	for rows, want := range map[int][]int{targetBlock: {targetBlock}, targetBlock + 1: {targetBlock, 1}, 0: nil} {
		m.problem.Target = InMemory(dense.New(rows, 3))
		var got []int
		for x, err := range m.TargetRows {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, x.Rows)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rows come in blocks of %v, want %v", rows, got, want)
		}
	}
}

// Classes are called by their names, those without one by their numbers.
func TestName(t *testing.T) {
	p := Problem{Names: []string{"a"}}
	if a, b := p.Name(0), p.Name(1); a != `"a"` || b != "1" {
		t.Errorf("they are called %s and %s", a, b)
	}
}
