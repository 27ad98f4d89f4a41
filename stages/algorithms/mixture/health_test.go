package mixture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// line is rows of one value.
func line(x ...float32) blas32.General {
	return blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// The heights of 0, 1, 10, 14 are 1, 4 and √2·11.5.
func TestHeightGap(t *testing.T) {
	h, err := Linkage(t.Context(), line(0, 1, 10, 14))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]float64{1: 0, 2: 1 - 4/(math.Sqrt2*11.5), 3: 0.75, 4: 0} {
		if got := h.Gap(k); math.Abs(got-want) > 1e-6 {
			t.Errorf("gap of %d clusters: %v, want %v", k, got, want)
		}
	}
	same, err := Linkage(t.Context(), line(3, 3, 3))
	if err != nil {
		t.Fatal(err)
	}
	if got := same.Gap(2); got != 0 {
		t.Errorf("gap of equal rows: %v", got)
	}
	r, err := Ward(t.Context(), line(0, 1, 10, 14), 2, WardOptions{})
	if err != nil || r.HeightGap != h.Gap(2) {
		t.Errorf("gap of Ward: %v, %v", r, err)
	}
}

// Ambiguity is the share of rows on the wrong side: Φ(−1) = .1587 for two
// Gaussians of deviation 1 with a distance of 2.
func TestAmbiguityIsTheErrorOfTheMixture(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewPCG(4, 4))
	x := line(make([]float32, n)...)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64()) + 2*float32(i%2)
	}
	initial := &Components{Weights: []float64{.5, .5}, Means: mat.NewDense(2, 1, []float64{0, 2}), Covariances: [][]float64{{1}, {1}}}
	r, err := GMM(t.Context(), x, 2, GMMOptions{Initial: initial, MaxRows: n})
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, l := range r.Labels {
		if int(l) != i%2 {
			wrong++
		}
	}
	if got := float64(wrong) / n; math.Abs(got-r.Ambiguity) > 0.01 || math.Abs(r.Ambiguity-0.1587) > 0.01 {
		t.Errorf("ambiguity %.4f, wrong %.4f, want .1587", r.Ambiguity, got)
	}
	if r.HardSoft() > 0.02 {
		t.Errorf("hard and soft proportions differ by %v", r.HardSoft())
	}
}

func TestTiny(t *testing.T) {
	r := &Result{Components: Components{Weights: []float64{.6, .3, .1}, Proportions: []float64{.7, .3, 0}}, Counts: []int{20, 9, 0}}
	if got := fmt.Sprint(r.Tiny()); got != "[1 2]" {
		t.Errorf("tiny components %v", got)
	}
	if got := r.HardSoft(); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("hard and soft proportions differ by %v", got)
	}
}
