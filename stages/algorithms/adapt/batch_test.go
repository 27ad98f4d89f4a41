package adapt

import (
	"math"
	"math/rand/v2"
	"testing"
)

// unevenLabels has classes of 1 to 300 rows.
func unevenLabels() []int32 {
	var labels []int32
	for c, n := range []int{300, 1, 40, 7, 152} {
		for range n {
			labels = append(labels, int32(c))
		}
	}
	return labels
}

func sumOf(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return sum
}

func TestNoMassIsLostInABatch(t *testing.T) {
	labels := unevenLabels()
	mass := []float64{0.1, 0.4, 0.2, 0.25, 0.05}
	for _, rows := range []int{5, 8, 50} {
		s, b := newSampler(labels, 5, 100, true), newBatch(rows, rows, 5)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			s.draw(b, rng)
			b.weigh(b.critic, mass, false)
			byClass := make([]float64, 5)
			for i, y := range b.labels {
				if y != labels[b.source[i]] {
					t.Fatal("a row's label is another's")
				}
				byClass[y] += float64(b.critic[i])
			}
			for c, got := range byClass {
				if math.Abs(got-mass[c]) > 1e-6 {
					t.Fatalf("batch of %d: class %d has mass %g, not %g", rows, c, got, mass[c])
				}
			}
		}
	}
}

// If a batch cannot have every class, its weights still sum to 1, except in the published
// way.
func TestWeightsSumToOneWithoutEveryClass(t *testing.T) {
	mass := []float64{0.1, 0.4, 0.2, 0.25, 0.05}
	for _, stratified := range []bool{true, false} {
		s, b := newSampler(unevenLabels(), 5, 100, stratified), newBatch(3, 3, 5)
		rng := rand.New(rand.NewPCG(1, 2))
		lost := false
		for range 100 {
			s.draw(b, rng)
			b.weigh(b.critic, mass, true)
			if sum := sumOf(b.critic); math.Abs(sum-1) > 1e-6 {
				t.Fatalf("weights sum to %g", sum)
			}
			b.weigh(b.critic, mass, false)
			lost = lost || sumOf(b.critic) < 0.99
		}
		if !lost {
			t.Error("the published weights never lost mass: the test shows nothing")
		}
	}
}

// The number of rows of a class is unbiased, if the class is large enough to get one
// without help.
func TestStratifiedSharesAreUnbiased(t *testing.T) {
	labels := unevenLabels()
	s := newSampler(labels, 5, 10, true)
	rng := rand.New(rand.NewPCG(3, 4))
	counts := make([]float64, 5)
	const batches, rows = 4000, 100
	for range batches {
		s.apportion(rows, rng.Float64())
		total := 0
		for c, n := range s.quota {
			counts[c] += float64(n) / batches
			total += n
			if math.Abs(float64(n)-s.share[c]*rows) > 2 {
				t.Fatalf("class %d has %d rows of %d for a share of %g", c, n, rows, s.share[c])
			}
		}
		if total != rows {
			t.Fatalf("%d rows, not %d", total, rows)
		}
	}
	for _, c := range []int{2, 3, 4} {
		if math.Abs(counts[c]-s.share[c]*rows) > 0.1 {
			t.Errorf("class %d has %.2f rows on average for %.2f", c, counts[c], s.share[c]*rows)
		}
	}
}

// Every row is drawn once before any is drawn again.
func TestPermutationDrawsEveryRow(t *testing.T) {
	s, b := newSampler(unevenLabels(), 5, 60, false), newBatch(50, 20, 5)
	rng := rand.New(rand.NewPCG(1, 1))
	s.restart(rng)
	source, target := map[int32]int{}, map[int32]int{}
	for range 30 {
		s.draw(b, rng)
		for _, row := range b.source {
			source[row]++
		}
		for _, row := range b.target {
			target[row]++
		}
	}
	for row, n := range source {
		if n != 3 {
			t.Fatalf("source row %d was drawn %d times in three rounds", row, n)
		}
	}
	if len(source) != 500 || len(target) != 60 || target[0] != 10 {
		t.Errorf("%d source and %d target rows drawn", len(source), len(target))
	}
}
