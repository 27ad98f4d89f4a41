package shift

import (
	"math"
	"slices"
	"testing"
)

// Drawn proportions sum to 1, are the seed's, and come back from their text. Over many
// seeds a share has the mean 1/n and the variance (n − 1)/(n²(n + 1)) of the uniform
// distribution on the simplex.
func TestRandomProportions(t *testing.T) {
	const n, draws = 4, 20_000
	var sum, squares float64
	for seed := range uint64(draws) {
		p := RandomProportions(n, seed)
		back, err := ParseProportions(FormatProportions(p), []string{"a", "b", "c", "d"})
		if err != nil {
			t.Fatal(err)
		}
		for k := range p {
			if math.Abs(p[k]-back[k]) > 1e-15 || p[k] != math.Round(p[k]*decimals)/decimals {
				t.Fatalf("%v comes back as %v", p, back)
			}
		}
		sum, squares = sum+p[1], squares+(p[1]-0.25)*(p[1]-0.25)
	}
	mean, variance := sum/draws, squares/draws
	if math.Abs(mean-0.25) > 0.005 || math.Abs(variance-3.0/80) > 0.001 {
		t.Errorf("mean %g, variance %g, want 0.25 and 0.0375", mean, variance)
	}
	if !slices.Equal(RandomProportions(n, 3), RandomProportions(n, 3)) || slices.Equal(RandomProportions(n, 3), RandomProportions(n, 4)) {
		t.Error("the proportions are not those of the seed")
	}
	if p := RandomProportions(1, 7); p[0] != 1 {
		t.Errorf("the proportions of one class are %v", p)
	}
}

// At most so many rows are drawn, and all that there are if they are fewer.
func TestMaxRows(t *testing.T) {
	labels := []int32{0, 0, 0, 1, 1, -1}
	for _, test := range []struct {
		max, want   int
		proportions []float64
	}{
		{4, 4, nil}, {6, 6, nil}, {100, 6, nil}, {2, 2, []float64{.5, .5}}, {100, 5, []float64{.6, .4}}, {100, 3, []float64{.25, .75}},
	} {
		rows, err := Sample(t.Context(), labels, []string{"a", "b"}, Draw{MaxRows: test.max, Proportions: test.proportions})
		if err != nil || len(rows) != test.want {
			t.Errorf("of at most %d by %v there are %d, %v", test.max, test.proportions, len(rows), err)
		}
	}
	if _, err := Sample(t.Context(), labels, nil, Draw{MaxRows: -1}); err == nil {
		t.Error("-1 rows are drawn")
	}
}
