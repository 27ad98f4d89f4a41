package label

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mars.dev/mars/arrowio"
)

// Of many rows so many are kept as are said, each as likely as any other; of wide ones fewer.
func TestSampleIsFairAndBounded(t *testing.T) {
	for _, test := range []struct{ width, rows, want int }{
		{1, 10, 10}, {1, mostSampled, mostSampled}, {1, 4 * mostSampled, mostSampled},
		{mostKept / 200, 1000, 200}, {mostKept, 2 * fewSampled, fewSampled},
	} {
		s := sample{rng: rand.New(rand.NewPCG(1, 2))}
		row := make([]float32, test.width)
		for i := range test.rows {
			row[0] = float32(i)
			s.add(row, int32(i%3))
		}
		if len(s.rows) != test.want || len(s.classes) != test.want {
			t.Errorf("%d rows of %d values: %d are kept, want %d", test.rows, test.width, len(s.rows), test.want)
		}
		var at []float64
		for i, r := range s.rows {
			at = append(at, float64(r[0]))
			if s.classes[i] != int32(r[0])%3 {
				t.Fatalf("row %v has the class %d", r[0], s.classes[i])
			}
		}
		slices.Sort(at)
		if len(slices.Compact(slices.Clone(at))) != test.want {
			t.Error("a row is there twice")
		}
		// The mean of a fair sample is within five of its standard errors.
		mean := 0.
		for _, x := range at {
			mean += x / float64(len(at))
		}
		n, k := float64(test.rows), float64(test.want)
		if off, allowed := math.Abs(mean-(n-1)/2), 1e-9+5*n/math.Sqrt(12*k); off > allowed {
			t.Errorf("the mean place of %d of %d rows is %v", test.want, test.rows, mean)
		}
	}
}

// Of more than eight columns those are shown in which the classes differ most, in their order.
func TestTellingColumns(t *testing.T) {
	v := &Values{samples: map[arrowio.Domain]*sample{arrowio.SourceDomain: {rng: rand.New(rand.NewPCG(1, 2))}}}
	for j := range mostShown {
		v.Names = append(v.Names, fmt.Sprint(j))
	}
	if got := v.Telling(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("of eight columns %v are shown", got)
	}
	v.Names = append(v.Names, "8", "9", "10")
	telling := map[int]float32{1: 9, 2: 2, 4: 3, 5: 1, 7: 5, 8: 4, 9: 7, 10: 6}
	for i := range 40 {
		row := make([]float32, len(v.Names))
		for j := range row {
			row[j] = float32(i / 2 % 2) // the same in each class
			if i%2 == 1 {
				row[j] += telling[j]
			}
		}
		v.samples[arrowio.SourceDomain].add(row, int32(i%2))
		v.samples[arrowio.SourceDomain].add(make([]float32, len(v.Names)), -1) // of no known class
	}
	if got := v.Telling(); !slices.Equal(got, []int{1, 2, 4, 5, 7, 8, 9, 10}) {
		t.Errorf("%v are shown", got)
	}
	// Two classes that differ by 3 and within which rows lie 1/2 from the mean.
	if got, want := v.samples[arrowio.SourceDomain].apart(4), 1.5*1.5/(.5*.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("the classes are apart by %v, want %v", got, want)
	}
	v.centres = []float64{0, 10}
	if got := v.Of([]float32{1, 2, 3}, 1); got != 12 {
		t.Errorf("the value is %v", got)
	}
	if got := v.Of([]float32{1, 2, 3}, 2); got != 3 {
		t.Errorf("the value is %v", got)
	}
}
