package labelshift

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/mte"
)

func mustConsult(t *testing.T, p mte.Problem) *Panel {
	t.Helper()
	panel, err := Consult(t.Context(), p, linear, mte.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return panel
}

func TestPanel(t *testing.T) {
	p, truth := task()
	share, _ := Shares(truth, 4)
	panel := mustConsult(t, p)
	for i, name := range []string{"mte", "adapt", "refit", "cc"} {
		e := panel.Members[i]
		if e.Estimator != name || e.Responsibilities.Rows != 600 || e.Responsibilities.Cols != 4 {
			t.Errorf("member %d is %q with %d×%d responsibilities", i, e.Estimator, e.Responsibilities.Rows, e.Responsibilities.Cols)
		}
		if d := dense.L1(e.Proportions, share); name != "cc" && d > 0.1 {
			t.Errorf("%s: %.3f, want %.3f", name, e.Proportions, share)
		}
	}
	d := 0.0
	for _, e := range panel.Members[1:3] {
		d += dense.L1(e.Proportions, panel.Proportions()) / 2
	}
	if math.Abs(d-panel.Disagreement) > 1e-12 {
		t.Errorf("disagreement %v, want %v", panel.Disagreement, d)
	}
	if panel.Aligned.Estimator != "aligned" || panel.Alignment > 0.1 {
		t.Errorf("%s is %v away", panel.Aligned.Estimator, panel.Alignment)
	}
	refit, err := Refit(t.Context(), p, linear, mte.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "refit", refit.Proportions, panel.Members[2].Proportions, 0)
}

// A target that has nothing to do with the source makes the members disagree.
func TestPanelWarns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	p := problem(simulate.Blobs(rng, 400, 200, 4, dense.Uniform(3), dense.Uniform(3), 1, 0))
	noise := simulate.Blobs(rng, 10, 100, 4, dense.Uniform(3), dense.Uniform(3), 4, 6)
	p.Target = mte.InMemory(noise.Target)
	panel := mustConsult(t, p)
	v, err := panel.Interval(t.Context(), IntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(append(v.Warnings(), panel.Warnings...), "\n")
	for _, want := range []string{"the proportions are expected to be off by", "there are only 100 target rows"} {
		if !strings.Contains(words, want) {
			t.Errorf("warnings %q lack %q", words, want)
		}
	}
}

func TestPanelErrors(t *testing.T) {
	p, _ := task()
	fails := func(context.Context, blas32.General, []int32) (Posterior, error) { return nil, errors.New("no memory") }
	if _, err := Consult(t.Context(), p, fails, mte.Options{}); err == nil || !strings.Contains(err.Error(), "labelshift: training a classifier: no memory") {
		t.Errorf("error %v", err)
	}
}

func TestInterval(t *testing.T) {
	p, truth := task()
	share, _ := Shares(truth, 4)
	panel := mustConsult(t, p)
	narrow, err := panel.Interval(t.Context(), IntervalOptions{Level: 0.5, Replicates: 40})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := panel.Interval(t.Context(), IntervalOptions{Level: 0.99, Replicates: 40})
	if err != nil {
		t.Fatal(err)
	}
	for k, q := range share {
		if !(wide.Lower[k] <= q && q <= wide.Upper[k]) {
			t.Errorf("class %d: %v is not in [%v, %v]", k, q, wide.Lower[k], wide.Upper[k])
		}
		if !(wide.Lower[k] <= narrow.Lower[k] && narrow.Upper[k] < wide.Upper[k]) {
			t.Errorf("class %d: the interval of 50 %% is not inside that of 99 %%", k)
		}
		// The bootstrap's deviation is a few times a share's sampling error.
		if s := math.Sqrt(q * (1 - q) / 600); wide.Bootstrap[k] < s/2 || wide.Bootstrap[k] > 5*s {
			t.Errorf("class %d: bootstrap %v, sampling error %v", k, wide.Bootstrap[k], s)
		}
	}
	if !wide.Region.Contains(share) || !wide.Region.Contains(panel.Proportions()) || wide.Region.Contains([]float64{0.1, 0.1, 0.1, 0.7}) {
		t.Error("the region does not hold the truth and the estimate, or holds what is far away")
	}
	again, _ := panel.Interval(t.Context(), IntervalOptions{Level: 0.99, Replicates: 40})
	compare(t, "lower bounds of the same seed", again.Lower, wide.Lower, 0)
}

// Fewer rows with less variable weights have the deviation of all rows.
func TestIntervalOfSample(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations take long under the race detector")
	}
	rng := rand.New(rand.NewPCG(2, 2))
	p := problem(simulate.Blobs(rng, 3000, 4000, 4, dense.Uniform(3), []float64{0.6, 0.3, 0.1}, 1.5, 0.5))
	panel := mustConsult(t, p)
	all, err := panel.Interval(t.Context(), IntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := panel.Interval(t.Context(), IntervalOptions{Rows: 800})
	if err != nil {
		t.Fatal(err)
	}
	for k, d := range all.Bootstrap {
		if r := sample.Bootstrap[k] / d; r < 0.7 || r > 1.4 {
			t.Errorf("class %d: deviation %v of a sample, %v of all rows", k, sample.Bootstrap[k], d)
		}
	}
}

func TestIntervalErrors(t *testing.T) {
	p, _ := task()
	panel := mustConsult(t, p)
	for want, o := range map[string]IntervalOptions{
		"labelshift: the level of intervals is 90: give a number between 0 and 1": {Level: 90},
		"labelshift: 1 replicates of 5000 rows: give at least two":                {Replicates: 1},
	} {
		if _, err := panel.Interval(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
