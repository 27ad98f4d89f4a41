package mixture

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

func TestLikelihoodRises(t *testing.T) {
	x, _ := blobs(400, 3, 4, 0.8, 21)
	for _, form := range []Covariance{Full, Tied, Diagonal, Spherical} {
		last := math.Inf(-1)
		for iterations := 1; iterations <= 12; iterations++ {
			r, err := GMM(t.Context(), x, 4, GMMOptions{
				Covariance: form, Starts: 1, MaxIterations: iterations, Tolerance: 1e-300, Floor: -1,
				Initial: initialOf(x, 4, form),
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.LogLikelihood < last-1e-12 {
				t.Errorf("%s: log-likelihood falls from %v to %v in iteration %d", form, last, r.LogLikelihood, iterations)
			}
			if r.Converged || r.Iterations != iterations || len(r.Warnings) == 0 {
				t.Errorf("%s: converged %v after %d iterations, warnings %q", form, r.Converged, iterations, r.Warnings)
			}
			last = r.LogLikelihood
		}
	}
}

// The best of several starts is no worse than the first.
func TestStarts(t *testing.T) {
	x, _ := blobs(500, 2, 6, 2, 22)
	one, err := GMM(t.Context(), x, 6, GMMOptions{Starts: 1})
	if err != nil {
		t.Fatal(err)
	}
	ten, err := GMM(t.Context(), x, 6, GMMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ten.LogLikelihood < one.LogLikelihood {
		t.Errorf("log-likelihood of ten starts %v, of one %v", ten.LogLikelihood, one.LogLikelihood)
	}
}

func TestFloorHoldsUpConstantColumns(t *testing.T) {
	x, _ := blobs(100, 3, 2, 5, 23)
	for i := range x.Rows {
		x.Data[i*3+1] = 7
	}
	for _, form := range []Covariance{Full, Tied, Diagonal} {
		_, err := GMM(t.Context(), x, 2, GMMOptions{Covariance: form, Floor: -1})
		checkError(t, err, "mixture: component 0: the covariance is not positive definite: raise the floor")
		r, err := GMM(t.Context(), x, 2, GMMOptions{Covariance: form})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Covariances {
			if form == Diagonal {
				closeTo(t, "variance of the constant", c[1], 1e-6, 1e-12)
			} else {
				closeTo(t, "variance of the constant", c[4], 1e-6, 1e-12)
			}
		}
	}
}

func TestSmallComponentsAreReported(t *testing.T) {
	x, _ := blobs(40, 10, 2, 9, 24)
	copy(dense.Row(x, 0), make([]float32, 10))
	dense.Row(x, 0)[0] = 1e4
	r, err := GMM(t.Context(), x, 3, GMMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Smallest != 0 || r.Counts[0] != 1 {
		t.Errorf("smallest component %d of counts %v", r.Smallest, r.Counts)
	}
	if want := "[component 0 has 1 rows in 10 dimensions: the covariance floor holds it up]"; fmt.Sprint(r.Warnings) != want {
		t.Errorf("warnings %v, want %v", r.Warnings, want)
	}
}

// A full covariance of independent axes and its diagonal are one density.
func TestFormsAgree(t *testing.T) {
	x, _ := blobs(50, 2, 2, 1, 25)
	means := mat.NewDense(2, 2, []float64{0, 0, 1, 2})
	states := []Components{
		{Means: means, Weights: []float64{0.3, 0.7}, Covariances: [][]float64{{2, 0, 0, 2}, {3, 0, 0, 3}}},
		{Means: means, Weights: []float64{0.3, 0.7}, Covariances: [][]float64{{2, 2}, {3, 3}}},
		{Means: means, Weights: []float64{0.3, 0.7}, Covariances: [][]float64{{2}, {3}}},
	}
	var first *mat.Dense
	for _, state := range states {
		assigner, err := state.Assigner(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := mat.NewDense(50, 2, nil)
		if err := assigner.Responsibilities(t.Context(), got, x); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if !mat.EqualApprox(got, first, 1e-12) {
			t.Error("forms differ")
		}
	}
	// By hand: the density of row 0 under each component.
	v := dense.Row(x, 0)
	density := func(k int, variance float64) float64 {
		d0, d1 := float64(v[0])-means.At(k, 0), float64(v[1])-means.At(k, 1)
		return math.Exp(-(d0*d0+d1*d1)/(2*variance)) / (2 * math.Pi * variance)
	}
	a, b := 0.3*density(0, 2), 0.7*density(1, 3)
	closeTo(t, "responsibility", first.At(0, 0), a/(a+b), 1e-12)
}

func TestInitialIsChecked(t *testing.T) {
	x, _ := blobs(50, 2, 2, 1, 26)
	_, err := KMeans(t.Context(), x, 3, KMeansOptions{Initial: mat.NewDense(2, 2, nil)})
	checkError(t, err, "mixture: initial centres are 2×2: give 3×2")
	_, err = GMM(t.Context(), x, 2, GMMOptions{Initial: &Components{Means: mat.NewDense(2, 2, nil)}})
	checkError(t, err, "mixture: initial components have no covariances")
	_, err = GMM(t.Context(), x, 2, GMMOptions{Initial: initialOf(x, 2, Diagonal)})
	checkError(t, err, "mixture: initial covariance 0 has 2 values: give 4 for full")
}

// Rows on the mean of a component far from the others must not underflow.
func TestFarRows(t *testing.T) {
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1e-3, 1e30, 1.001e30}}
	r, err := GMM(t.Context(), x, 2, GMMOptions{Starts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Labels) != "[0 0 1 1]" || math.IsNaN(r.LogLikelihood) {
		t.Errorf("labels %v, log-likelihood %v", r.Labels, r.LogLikelihood)
	}
}

func TestParseCovariance(t *testing.T) {
	for _, c := range []Covariance{Full, Tied, Diagonal, Spherical} {
		if got, err := ParseCovariance(c.String()); err != nil || got != c {
			t.Errorf("%s is parsed as %s, %v", c, got, err)
		}
	}
	_, err := ParseCovariance("round")
	checkError(t, err, `mixture: covariance: "round" is not known: choose full, tied, diagonal or spherical`)
}

// On clear clusters all runs of k-means end in the same partition, so EM runs
// once.
func TestEqualStartsRunOnce(t *testing.T) {
	x, _ := blobs(500, 2, 4, 20, 3)
	o := GMMOptions{}.withDefaults()
	starts, err := newMaximiser(t.Context(), x, 4, o).starts(t.Context(), x, 4, o)
	if err != nil || len(starts) != 1 {
		t.Errorf("%d different starts, want 1; error %v", len(starts), err)
	}
}

// The race finds nearly the best likelihood of all starts.
func TestRaceFindsTheBest(t *testing.T) {
	for seed := range uint64(8) {
		x, _ := blobs(600, 4, 6, 1.2, 40+seed)
		o := GMMOptions{Seed: seed, MaxIterations: 200}.withDefaults()
		best, different := math.Inf(-1), 0
		starts, err := newMaximiser(t.Context(), x, 6, o).starts(t.Context(), x, 6, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range starts {
			if err := start.advance(t.Context(), x, o.MaxIterations, o); err != nil {
				t.Fatal(err)
			}
			if start.logLikelihood != best {
				different++
			}
			best = max(best, start.logLikelihood)
		}
		r, err := GMM(t.Context(), x, 6, GMMOptions{Seed: seed, MaxIterations: 200})
		if err != nil {
			t.Fatal(err)
		}
		if different < 3 {
			t.Errorf("seed %d: %d ends of starts: too easy to test anything", seed, different)
		}
		if r.LogLikelihood < best-0.02 {
			t.Errorf("seed %d: log-likelihood %.4f, of all starts run to the end %.4f", seed, r.LogLikelihood, best)
		}
	}
}

// Half of the starts are stopped after shortRun steps, half of those left after twice as many, and so on.
func TestRaceStopsHalf(t *testing.T) {
	x, _ := blobs(300, 2, 2, 1, 5)
	o := GMMOptions{Tolerance: 1e-300, MaxIterations: 40}.withDefaults()
	m := newMaximiser(t.Context(), x, 2, o)
	var starts []*expectationMaximisation
	for range 4 {
		starts = append(starts, m.start(*initialOf(x, 2, Full)))
	}
	if _, err := new(Result).race(t.Context(), x, slices.Clone(starts), o); err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, s := range starts {
		steps = append(steps, s.iterations)
	}
	if slices.Sort(steps); !slices.Equal(steps, []int{shortRun, shortRun, 2 * shortRun, o.MaxIterations}) {
		t.Errorf("the starts took %v steps", steps)
	}
}

// A start that was stopped continues when those before it fail.
func TestRaceSurvivesFailures(t *testing.T) {
	x, _ := blobs(300, 2, 2, 4, 5)
	o := GMMOptions{}.withDefaults()
	m := newMaximiser(t.Context(), x, 2, o)
	good := *initialOf(x, 2, Full)
	broken := good
	broken.Covariances = [][]float64{{1, 2, 2, 1}, {1, 0, 0, 1}}
	var r Result
	best, err := r.race(t.Context(), x, []*expectationMaximisation{m.start(broken), m.start(good)}, o)
	if err != nil || r.Failed != 1 || len(best.labels) != x.Rows {
		t.Errorf("error %v, %d failed", err, r.Failed)
	}
	// The leader of the first round fails in the second.
	leader := m.start(broken)
	leader.iterations, leader.logLikelihood = shortRun, math.Inf(1)
	r = Result{}
	best, err = r.race(t.Context(), x, []*expectationMaximisation{leader, m.start(good)}, o)
	if err != nil || r.Failed != 1 || best == leader {
		t.Errorf("error %v, %d failed", err, r.Failed)
	}
	_, err = r.race(t.Context(), x, []*expectationMaximisation{m.start(broken)}, o)
	checkError(t, err, "mixture: component 0: the covariance is not positive definite")
}

func TestInvertUpper(t *testing.T) {
	rng := newRand(1, 0)
	for _, d := range []int{1, 2, panel - 1, panel, panel + 1, 3*panel + 4} {
		upper, inverse := dense.New64(d, d), dense.New64(d, d)
		for i := range d {
			for j := range d {
				upper.Data[i*d+j] = rng.NormFloat64() / float64(d) // below the diagonal too: not to be read
			}
			upper.Data[i*d+i] = 1 + rng.Float64()
		}
		invertUpper(inverse, upper)
		for i := range d {
			for j := range d {
				sum := 0.0
				for k := i; k <= j; k++ {
					sum += upper.Data[i*d+k] * inverse.Data[k*d+j]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(sum-want) > 1e-13 {
					t.Fatalf("d = %d: element %d, %d of the product with the inverse is %g", d, i, j, sum)
				}
				if i > j && inverse.Data[i*d+j] != 0 {
					t.Fatalf("d = %d: element %d, %d below the diagonal is %g", d, i, j, inverse.Data[i*d+j])
				}
			}
		}
	}
}
