package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A class of two Gaussians has two parts, a class of one has one.
func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	z, labels := dense.New(0, 3), []int32(nil)
	for i := range 400 {
		y := int32(i % 2)
		at := 0.0
		if y == 1 && i%4 == 1 {
			at = 8
		}
		dense.Append(&z, []float32{float32(at + rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())})
		labels = append(labels, y)
	}
	c, err := divide(t.Context(), z, labels, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.class, []int{0, 1, 1}) {
		t.Fatalf("parts of classes %v, want 0 1 1", c.class)
	}
	for i, part := range c.labels {
		if c.class[part] != int(labels[i]) {
			t.Fatalf("row %d of class %d is in a part of class %d", i, labels[i], c.class[part])
		}
		if labels[i] == 1 && (part == c.labels[1]) != (i%4 == 1) {
			t.Errorf("row %d is in the wrong part", i)
		}
	}
}

// A sample of the source keeps proportions, but rare classes whole.
func TestSourceSample(t *testing.T) {
	p := Problem{Labels: make([]int32, 100_000), Source: dense.New(100_000, 1), Classes: []string{"a", "b"}}
	for i := range p.Labels {
		p.Source.Data[i] = float32(i)
	}
	for i := range 70 {
		p.Labels[i*1000] = 1
	}
	index := sourceSample(p, []int{0}, 0)
	rare, drawn := 0, map[int]bool{}
	for _, row := range index {
		if drawn[row] {
			t.Fatalf("row %d was drawn twice", row)
		}
		if drawn[row] = true; p.Labels[row] == 1 {
			rare++
		}
	}
	if rare != 70 || len(index) < MaxRows-100 || len(index) > MaxRows+100 {
		t.Errorf("%d rows, %d of the rare class", len(index), rare)
	}
}

// The mean of the least values is that of the sorted ones.
func TestMeanOfLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for range 200 {
		values := make([]float64, 1+rng.IntN(12))
		for i := range values {
			values[i] = float64(rng.IntN(5))
		}
		sorted := slices.Sorted(slices.Values(values))
		want, n := 0.0, min(neighbours, len(sorted))
		for _, v := range sorted[:n] {
			want += v / float64(n)
		}
		if got := meanOfLeast(append(values, math.Inf(1))); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, want %v", values, got, want)
		}
	}
}

// Intervals of two levels are as wide, one beside the other, as the table of the normal
// distribution says.
func TestIntervalLevels(t *testing.T) {
	p := newProblem(60, even, even, nowhere)
	var half [2][]float64
	for i, level := range []float64{0.5, 0.8} {
		m, _ := fitted(t, p, Options{Classifiers: []string{"logistic"}, Interval: &IntervalOptions{Level: level, Replicates: 10}})
		for k, share := range m.Proportions {
			half[i] = append(half[i], m.Interval.Upper[k]-share)
			if down := share - m.Interval.Lower[k]; math.Abs(down-half[i][k]) > 1e-12 {
				t.Errorf("class %d: the interval is not even: %v and %v", k, down, half[i][k])
			}
		}
	}
	for k := range half[0] {
		if got := half[1][k] / half[0][k]; math.Abs(got-1.28155/0.67449) > 1e-3 {
			t.Errorf("class %d: intervals of 80 %% are %v times as wide as those of 50 %%", k, got)
		}
	}
}
