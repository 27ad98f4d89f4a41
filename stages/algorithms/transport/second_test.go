package transport

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// checkSecond checks that the second-best assignment is an assignment, is not the
// best, and costs margin more.
func checkSecond(t *testing.T, cost *mat.Dense, best []int, margin float64) {
	t.Helper()
	second, got, err := SecondBest(t.Context(), cost)
	if err != nil {
		t.Fatal(err)
	}
	if got != margin && !(math.Abs(got-margin) < 1e-12) {
		t.Errorf("margin %v, want %v", got, margin)
	}
	if math.IsInf(margin, 1) {
		if second != nil {
			t.Errorf("second best %v of a single assignment", second)
		}
		return
	}
	if slices.Equal(second, best) {
		t.Errorf("second best %v is the best", second)
	}
	_, cols := cost.Dims()
	seen := make([]bool, cols)
	for i, j := range second {
		if seen[j] {
			t.Errorf("row %d: column %d is taken", i, j)
		}
		seen[j] = true
	}
	excess, err := Excess(t.Context(), cost, second)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "excess of the second best", excess, margin, 1e-12)
}

// All permutations, and all choices of columns, of up to 6×6.
func TestSecondBestOfAll(t *testing.T) {
	rng := newRand(11)
	for _, shape := range [][2]int{{1, 1}, {1, 4}, {2, 2}, {3, 3}, {3, 5}, {5, 5}, {4, 6}, {6, 6}} {
		for range 20 {
			cost := randomCost(rng, shape[0], shape[1])
			columns, _, err := Assign(t.Context(), cost)
			if err != nil {
				t.Fatal(err)
			}
			best, second := bruteForce(cost)
			checkSecond(t, cost, columns, second-best)
		}
	}
}

// With too many permutations to try, forbidding each matched pair in turn and
// solving again also finds the second best.
func TestSecondBestOfManyClasses(t *testing.T) {
	cost := randomCost(newRand(12), 65, 65)
	columns, total, err := Assign(t.Context(), cost)
	if err != nil {
		t.Fatal(err)
	}
	margin := math.Inf(1)
	for i, j := range columns {
		without := mat.DenseCopyOf(cost)
		without.Set(i, j, 1e6)
		_, other, err := Assign(t.Context(), without)
		if err != nil {
			t.Fatal(err)
		}
		margin = min(margin, other-total)
	}
	checkSecond(t, cost, columns, margin)
}

// Two classes have come near each other: the best matching is monotone, and
// exchanging them is the second best.
func TestExcess(t *testing.T) {
	cost := mat.NewDense(3, 3, []float64{1, 1.25, 9, 1.5, 1, 9, 9, 9, 0})
	for want, columns := range map[float64][]int{0: {0, 1, 2}, 0.75: {1, 0, 2}} {
		excess, err := Excess(t.Context(), cost, columns)
		if err != nil || excess != want {
			t.Errorf("excess of %v: %v, %v, want %v", columns, excess, err, want)
		}
	}
	second, margin, err := SecondBest(t.Context(), cost)
	if got := fmt.Sprint(second, margin, err); got != "[1 0 2] 0.75 <nil>" {
		t.Errorf("second best %s", got)
	}
}
