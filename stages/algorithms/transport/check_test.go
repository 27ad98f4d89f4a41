package transport

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// moments returns the moments of classes with one row each, at the given places.
func moments(places [][]float64) Moments {
	m := Moments{Means: denseOf(places), Counts: make([]int, len(places))}
	for k := range places {
		m.Counts[k] = 1
	}
	return m
}

// check matches by means and checks.
func check(t *testing.T, classes, components Moments) (*Matching, *Check) {
	t.Helper()
	m, err := MatchPrototypes(t.Context(), classes.Means, classes.Counts, components.Means, dense.Uniform(len(components.Counts)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCheck(t.Context(), m, classes, components, Means)
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// If all classes have moved by the same displacement, the separation is 1.
func TestSeparationOfATranslation(t *testing.T) {
	for _, by := range []float64{0, 0.5, 100} {
		classes := moments([][]float64{{0, 0}, {1, 0}, {0, 3}})
		components := moments([][]float64{{0 + by, 3}, {0 + by, 0}, {1 + by, 0}})
		m, c := check(t, classes, components)
		if fmt.Sprint(m.ComponentOf, c.Exchanged) != "[1 2 0] [0 1]" {
			t.Errorf("moved by %v: components %v, exchanged %v", by, m.ComponentOf, c.Exchanged)
		}
		closeTo(t, "separation", c.Separation, 1, 1e-9)
		closeTo(t, "cost", c.Cost, by*by, 1e-9)
		closeTo(t, "second cost", c.Second, by*by+2.0/3, 1e-9)
		if near := c.Nearest == 3; near != (by < 1) || !c.Monotone[Means] {
			t.Errorf("moved by %v: %d classes have their nearest component, monotone %v", by, c.Nearest, c.Monotone)
		}
	}
}

// Squared and plain distances can rank two matchings differently.
func TestMonotoneUnderOneDistanceAlone(t *testing.T) {
	m, c := check(t, moments([][]float64{{0, 0}, {1, 0}}), moments([][]float64{{1, 0}, {1.5, 1}}))
	if got := fmt.Sprint(m.ComponentOf, c.Monotone); got != "[0 1] map[distances:false means:true]" {
		t.Errorf("components and monotonicity %s", got)
	}
	closeTo(t, "separation", c.Separation, 0.5, 1e-12)
}

// Monotone agrees with a search through all permutations.
func TestMonotoneAsAllPermutationsSay(t *testing.T) {
	rng := newRand(31)
	found := map[bool]int{}
	for range 200 {
		n := 2 + rng.IntN(4)
		classes, components := moments(places(rng, n)), moments(places(rng, n))
		m, c := check(t, classes, components)
		all, err := distances(t.Context(), classes, components)
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range all {
			total := 0.0
			for i, j := range m.ComponentOf {
				total += d.At(i, j)
			}
			best, _ := bruteForce(d)
			if c.Monotone[name] != (total <= best+1e-9) {
				t.Errorf("%s: monotone %v with a cost of %v, and the least is %v", name, c.Monotone[name], total, best)
			}
			found[c.Monotone[name]]++
		}
		best, second := bruteForce(all[Means])
		closeTo(t, "cost", c.Cost*float64(n), best, 1e-9)
		closeTo(t, "second cost", c.Second*float64(n), second, 1e-9)
	}
	if found[false] < 10 {
		t.Errorf("only %v were seen", found)
	}
}

func places(rng *rand.Rand, n int) [][]float64 {
	at := make([][]float64, n)
	for k := range at {
		at[k] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	return at
}

// Classes without rows are ignored; unequal numbers cannot be checked; classes
// that coincide have no separation.
func TestCheckOfFewerClasses(t *testing.T) {
	classes := moments([][]float64{{0, 0}, {9, 9}, {4, 0}})
	classes.Counts[1] = 0
	_, c := check(t, classes, moments([][]float64{{4, 0}, {0, 0}}))
	if c.Classes != 2 || fmt.Sprint(c.Exchanged) != "[0 2]" || math.Abs(c.Separation-1) > 1e-12 {
		t.Errorf("check %+v", c)
	}
	if _, c = check(t, classes, moments([][]float64{{4, 0}, {0, 0}, {5, 5}})); c != nil {
		t.Errorf("three components for two classes: %+v", c)
	}
	if _, c = check(t, moments([][]float64{{1, 1}, {1, 1}}), moments([][]float64{{0, 0}, {3, 0}})); c.Separation != 0 {
		t.Errorf("classes that coincide: %+v", c)
	}
}

// Under the Bures distance, with covariances, all three distances are checked.
func TestCheckOfBures(t *testing.T) {
	classes, components := moments([][]float64{{0}, {0}}), moments([][]float64{{1}, {1}})
	for _, v := range []float64{1, 9} {
		classes.Covariances = append(classes.Covariances, mat.NewSymDense(1, []float64{v}))
		components.Covariances = append(components.Covariances, mat.NewSymDense(1, []float64{10 - v}))
	}
	cost, err := BuresCost(t.Context(), classes, components)
	if err != nil {
		t.Fatal(err)
	}
	m, err := MatchCost(t.Context(), cost, classes.Counts, dense.Uniform(2))
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCheck(t.Context(), m, classes, components, Bures)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m.ComponentOf, c.Monotone); got != "[1 0] map[bures:true distances:true means:true]" {
		t.Errorf("components and monotonicity %s", got)
	}
	closeTo(t, "separation", c.Separation, 1, 1e-9)
	closeTo(t, "second cost", c.Second, 1+4, 1e-9) // deviations 1 and 3
}

// Covariances of any size that float64 holds have a distance that scales with them.
func TestBuresOfExtremeCovariances(t *testing.T) {
	of := func(scale float64, values ...float64) Moments {
		for i := range values {
			values[i] *= scale
		}
		return Moments{Means: mat.NewDense(1, 3, nil), Counts: []int{1},
			Covariances: []*mat.SymDense{mat.NewSymDense(3, values)}}
	}
	distance := func(a, b float64) float64 {
		one, other := of(a, 2, 1, 0, 1, 3, 0, 0, 0, 1), of(b, 1, 0, 0, 0, 5, 1, 0, 1, 2)
		cost, err := one.bures(t.Context(), other)
		if err != nil {
			t.Fatal(a, b, err)
		}
		return cost.At(0, 0)
	}
	want := distance(1, 1)
	for _, scale := range []float64{1e-150, 1e-84, 1e-20, 1e20, 1e77, 1e100} {
		if got := distance(scale, scale) / scale; math.Abs(got-want) > 1e-9*want {
			t.Errorf("covariances times %g: distance %v, want %v", scale, got, want)
		}
		if got, trace := distance(1, 1e-300*scale), 6.0; math.Abs(got-trace) > 1e-6 {
			t.Errorf("a covariance that is next to nothing: %v, want %v", got, trace)
		}
	}
}
