package drift

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A sample keeps so many rows, of equal keys the first, each with its values; and then wants none of greater keys.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		keys, kept []uint64
		limit      uint64
	}{
		{[]uint64{5, 3}, []uint64{5, 3}, 0},
		{[]uint64{8, 3, 9, 1}, []uint64{3, 1}, 3},
		{[]uint64{4, 9, 1, 4}, []uint64{4, 1}, 4},
		{[]uint64{2, 2, 2}, []uint64{2, 2}, 2},
	} {
		s := Sample{Width: 2, Most: 2, Keys: slices.Clone(c.keys)}
		for i, k := range c.keys {
			s.Values = append(s.Values, float32(k), float32(i))
		}
		s.Settle()
		if !slices.Equal(s.Keys, c.kept) || s.Limit != c.limit || len(s.Values) != 4 {
			t.Errorf("of keys %v these are kept: %v, up to %d, want %v up to %d", c.keys, s.Keys, s.Limit, c.kept, c.limit)
		}
		for i, k := range s.Keys {
			if s.Values[2*i] != float32(k) || c.keys[int(s.Values[2*i+1])] != k {
				t.Errorf("of keys %v the values are %v", c.keys, s.Values)
			}
		}
		if below, at := s.Wants(1), s.Wants(4); !below || at != (c.limit == 0) {
			t.Errorf("of keys %v it wants 1: %v, and 4: %v", c.keys, below, at)
		}
	}
}

// What was read from a file has as many rows, and bins, as there may be, and no more.
func TestFits(t *testing.T) {
	const most = 3
	for rows, want := range map[int]bool{0: true, 2 * most: true, 2*most + 1: false} {
		s := &Sample{Width: 1, Most: most, Keys: make([]uint64, rows), Values: make([]float32, rows), Rows: 100}
		if s.Fits(1, most) != want {
			t.Errorf("a sample of %d rows fits: %v", rows, !want)
		}
	}
	for edges, want := range map[int]bool{0: true, maxBins - 1: true, maxBins: false} {
		test := &Test{Scores: 1, Weights: make([]float64, 1), Bins: []Bins{{Edges: make([]float32, edges), Counts: make([]int64, edges+1)}}, Wealth: []wealth{make(wealth, len(bets))}}
		if test.Fits(1) != want {
			t.Errorf("a test of %d edges fits: %v", edges, !want)
		}
	}
}

// Both zeros are one value, and no values have one bin.
func TestOddValues(t *testing.T) {
	if a, b := ordered(0), ordered(float32(math.Copysign(0, -1))); a != b {
		t.Errorf("zeros are %d and %d", a, b)
	}
	if b := newBins(nil); len(b.Edges) != 0 || len(b.Counts) != 1 {
		t.Errorf("bins of nothing: %s", fmt.Sprint(b))
	}
}
