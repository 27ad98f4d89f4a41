package ppi

import (
	"math"
	"slices"
	"testing"
)

// Two classes are one statement, and three are three.
func TestBonferroni(t *testing.T) {
	for classes, want := range map[int]float64{1: 0.9, 2: 0.9, 3: 1 - 0.1/3} {
		if got := Bonferroni(0.9, classes); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d classes: %v, want %v", classes, got, want)
		}
	}
}

// A row that rounding has left out is drawn after all: the last one that may be.
func TestSystematicAfterRounding(t *testing.T) {
	p := slices.Repeat([]float64{0.1}, 10) // which add up to a little less than 1
	p = append(p, 0)
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	if got := systematic(p, order, math.Nextafter(1, 0)); !slices.Equal(got, []int{9}) {
		t.Errorf("drawn are %v, want the last one of 10", got)
	}
}

// No sizes have no floor.
func TestFlooredNothing(t *testing.T) {
	if got := floored(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Bounds that no shares are within are left aside.
func TestProjectWithoutRoom(t *testing.T) {
	for name, bounds := range map[string][]Interval{"too great": {{0.8, 1}, {0.7, 1}}, "too small": {{0, 0.1}, {0, 0.2}}} {
		if got := Project([]float64{0.6, 0.2}, bounds); math.Abs(got[0]-0.7) > 1e-9 || math.Abs(got[1]-0.3) > 1e-9 {
			t.Errorf("%s: %v, want the nearest shares, 0.7 and 0.3", name, got)
		}
	}
}

// All rows are advised where fewer will not do, however few there are.
func TestDrawsOfAll(t *testing.T) {
	for _, n := range []int{1, leastBudget - 1, leastBudget, leastBudget + 1, 3 * leastBudget} {
		f := Forecast{Accuracy: math.NaN(), Level: 0.9, Class: -1}
		for range n {
			f.Posteriors, f.Sizes = append(f.Posteriors, []float32{0.5, 0.5}), append(f.Sizes, 0.7)
		}
		if got := f.Draws(-1); got != n {
			t.Errorf("of %d rows %d are advised for a width that nothing has", n, got)
		}
		if got := f.Draws(1); got != min(n, leastBudget) {
			t.Errorf("of %d rows %d are advised for any width", n, got)
		}
	}
}
