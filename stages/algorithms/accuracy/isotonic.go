package accuracy

import (
	"cmp"
	"slices"
	"sort"
)

// A steps function rises from value to value, linearly between its points, and is constant
// outside them.
type steps struct{ x, y []float64 }

// isotonic is the rising function of x that fits the values y, from 0 to 1, best in squares
// (pool adjacent violators: Ayer et al. 1955). Its ends are kept from 0 and 1, which no number of
// rows can show.
func isotonic(x []float32, y []float64) steps {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	type block struct{ low, high, sum, rows float64 }
	var blocks []block
	for i, at := range order {
		v := float64(x[at])
		if last := len(blocks) - 1; i > 0 && float64(x[order[i-1]]) == v && blocks[last].high == v {
			// Equal x have one value: the block is settled once the last of them is in it.
			blocks[last].sum += y[at]
			blocks[last].rows++
		} else {
			blocks = append(blocks, block{v, v, y[at], 1})
		}
		if i+1 < len(order) && float64(x[order[i+1]]) == v {
			continue
		}
		for n := len(blocks); n > 1 && blocks[n-2].sum*blocks[n-1].rows >= blocks[n-1].sum*blocks[n-2].rows; n = len(blocks) {
			last := blocks[n-1]
			blocks = blocks[:n-1]
			b := &blocks[n-2]
			b.high, b.sum, b.rows = last.high, b.sum+last.sum, b.rows+last.rows
		}
	}
	var s steps
	least := 0.5 / (float64(len(x)) + 1)
	for _, b := range blocks {
		v := min(max(b.sum/b.rows, least), 1-least)
		s.add(b.low, v)
		if b.high > b.low {
			s.add(b.high, v)
		}
	}
	return s
}

func (s *steps) add(x, y float64) { s.x, s.y = append(s.x, x), append(s.y, y) }

// at is the value at x.
func (s *steps) at(x float64) float64 {
	i := sort.SearchFloat64s(s.x, x)
	switch {
	case i == len(s.x):
		return s.y[i-1]
	case i == 0 || s.x[i] == x:
		return s.y[i]
	}
	part := (x - s.x[i-1]) / (s.x[i] - s.x[i-1])
	return s.y[i-1] + part*(s.y[i]-s.y[i-1])
}
