package mixture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// counted is a context that ends after a number of questions.
type counted struct {
	context.Context
	asked, most atomic.Int64
}

func (c *counted) Err() error {
	if c.asked.Add(1) > c.most.Load() {
		return context.Canceled
	}
	return nil
}

// A context that ends at the last of a method's questions ends it.
func TestStopsAtTheLastQuestion(t *testing.T) {
	x, _ := blobs(300, 3, 3, 4, 6)
	for name, fit := range methods {
		for _, maxRows := range []int{0, 100} {
			all := &counted{Context: t.Context()}
			all.most.Store(math.MaxInt64)
			if _, err := fit(all, x, 3, maxRows); err != nil {
				t.Fatal(err)
			}
			last := &counted{Context: t.Context()}
			last.most.Store(all.asked.Load() - 1)
			if _, err := fit(last, x, 3, maxRows); !errors.Is(err, context.Canceled) {
				t.Errorf("%s of at most %d rows: error %v at question %d", name, maxRows, err, all.asked.Load())
			}
		}
	}
}

// Each part of a fit returns the error of its context.
func TestPartsStop(t *testing.T) {
	x, labels := blobs(300, wide, 2, 1, 3)
	o := GMMOptions{Floor: 1}.withDefaults()
	model, err := newMaximiser(t.Context(), x, 2, o).partitioned(t.Context(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGaussians(t.Context(), &model)
	if err != nil {
		t.Fatal(err)
	}
	scores := dense.New64(300, 2)
	contexttest.Stops(t, 4, func(ctx context.Context) error { return g.score(ctx, scores, x) })
	assigner, err := model.Assigner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	centres := &Result{Components: Components{Means: model.Means}}
	sample, some := []int{0}, []int32{0}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, f := range map[string]func() error{
		"starts":           func() error { _, err := newMaximiser(ended, x, 2, o).starts(ended, x, 2, o); return err },
		"partition":        func() error { _, err := newMaximiser(ended, x, 2, o).partitioned(ended, x, labels); return err },
		"ambiguity":        func() error { _, err := assigner.assignAmbiguous(ended, make([]int32, 300), x); return err },
		"variance":         func() error { _, err := meanVariance(ended, x); return err },
		"lloyd":            func() error { _, err := runLloyd(ended, x, model.Means, KMeansOptions{}.withDefaults()); return err },
		"inertia":          func() error { _, err := inertia(ended, x, labels, model.Means); return err },
		"nearest centres":  func() error { return centres.finish(ended, x, sample, some, false) },
		"likeliest":        func() error { return (&Result{Components: model}).finish(ended, x, sample, some, false) },
		"a step":           func() error { return newMaximiser(ended, x, 2, o).start(model).advance(ended, x, 1, o) },
		"linkage":          func() error { _, err := Linkage(ended, x); return err },
		"responsibilities": func() error { return assigner.Responsibilities(ended, mat.NewDense(300, 2, nil), x) },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
}

// A tree is made of numbers alone, and initial means fit in number.
func TestRefused(t *testing.T) {
	_, err := Linkage(t.Context(), line(0, float32(math.NaN())))
	checkError(t, err, "mixture: row 1, column 0 is NaN")
	x, _ := blobs(50, 2, 2, 1, 26)
	_, err = GMM(t.Context(), x, 3, GMMOptions{Initial: &Components{Means: mat.NewDense(2, 2, nil)}})
	checkError(t, err, "mixture: initial centres are 2×2: give 3×2")
	if got := fmt.Sprint(Covariance(-1), Covariance(4), Covariance(3)); got != "Covariance(-1) Covariance(4) spherical" {
		t.Errorf("forms are called %s", got)
	}
}

// A component of so many rows is not tiny.
func TestFewestRows(t *testing.T) {
	if got := (&Result{Counts: []int{fewRows, fewRows - 1}}).Tiny(); !slices.Equal(got, []int{1}) {
		t.Errorf("tiny are %v", got)
	}
}

// K-means takes as many steps as it may, and says that they were not enough.
func TestMostIterations(t *testing.T) {
	x, _ := blobs(300, 3, 4, 1, 6)
	for _, most := range []int{1, 2} {
		r, err := KMeans(t.Context(), x, 4, KMeansOptions{MaxIterations: most, Tolerance: 1e-300, Starts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Iterations != most || r.Converged {
			t.Errorf("at most %d iterations: %d were taken, converged %v", most, r.Iterations, r.Converged)
		}
	}
}

// A mean without rows takes over the farthest one that does not leave another mean without.
func TestNoOtherMeanIsLeftEmpty(t *testing.T) {
	got := moveCentres(line(0, 1, 100), []int32{0, 0, 1}, mat.NewDense(3, 1, []float64{0, 50, 7}), 3)
	if want := []float64{0, 100, 1}; !slices.Equal(got.RawMatrix().Data, want) {
		t.Errorf("means %v, want %v", got.RawMatrix().Data, want)
	}
}

// What other programs are given to evaluate gives the assigner's responsibilities, in each form.
func TestDensity(t *testing.T) {
	x, _ := blobs(20, 2, 2, 1, 5)
	for name, covariances := range map[string][][]float64{"full": {{4, 1, 1, 9}, {1, 0, 0, 1}}, "diagonal": {{4, 9}, {1, 2}}, "spherical": {{4}, {1}}} {
		c := Components{Means: mat.NewDense(2, 2, []float64{0, 1, 2, 3}), Weights: []float64{.3, .7}, Covariances: covariances}
		a, err := c.Assigner(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewDense(x.Rows, 2, nil)
		if err := a.Responsibilities(t.Context(), want, x); err != nil {
			t.Fatal(err)
		}
		density := a.Density()
		for i := range x.Rows {
			scores := make([]float64, 2)
			for k := range scores {
				scores[k] = density.Constants[k]
				for j := range 2 {
					white := 0.0
					for l, v := range dense.Row(x, i) {
						white += (float64(v) - density.Means[k][l]) * density.Whiten[k][2*l+j]
					}
					scores[k] -= white * white / 2
				}
			}
			normalize(scores)
			for k, v := range scores {
				closeTo(t, fmt.Sprint(name, " row ", i), v, want.At(i, k), 1e-12)
			}
		}
	}
}
