package tsne

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// similarities are a sparse symmetric matrix: row i has the values
// value[first[i]:first[i+1]] in the columns of the same places, in rising order. All sum
// to 1.
type similarities struct {
	first  []int
	column []int32
	value  []float32
}

// affinities returns p_ij = (p_{j|i} + p_{i|j}) / 2n over the 3·perplexity nearest
// neighbours of each row (van der Maaten 2014, equations 6 and 7).
func affinities(ctx context.Context, z blas32.General, perplexity float64) (*similarities, error) {
	n := z.Rows
	k := min(int(3*perplexity), n-1)
	given := make([]neighbour, n*k)
	err := neighbours(ctx, z, k, func(i int, near []neighbour) {
		conditional(near, perplexity)
		row := given[i*k:][:k]
		copy(row, near)
		slices.SortFunc(row, func(a, b neighbour) int { return int(a.row - b.row) })
	})
	if err != nil {
		return nil, err
	}
	return symmetrise(given, n, k), nil
}

const (
	widthSteps     = 200  // of bisection at most
	widthTolerance = 1e-5 // of the entropy, in nats, as scikit-learn has it
)

// conditional replaces the squared distances of near by p_{j|i}: a Gaussian whose
// entropy is the logarithm of the perplexity, found by bisection. The distances rise.
func conditional(near []neighbour, perplexity float64) {
	p, d := make([]float64, len(near)), make([]float64, len(near))
	mean := 0.0
	for j, b := range near {
		d[j] = b.value - near[0].value
		mean += d[j] / float64(len(near))
	}
	// Units of the mean make the search start at the right order. If all are equally far,
	// all are equally similar.
	if mean > 0 {
		for j := range d {
			d[j] /= mean
		}
	}
	low, high, precision := 0.0, math.Inf(1), 1.0
	for range widthSteps {
		excess := gaussian(p, d, precision) - math.Log(perplexity)
		if math.Abs(excess) <= widthTolerance || mean == 0 {
			break
		}
		if excess > 0 {
			low = precision
		} else {
			high = precision
		}
		if math.IsInf(high, 1) {
			precision *= 2
		} else {
			precision = (low + high) / 2
		}
	}
	for j := range near {
		near[j].value = p[j]
	}
}

// gaussian sets p to exp(−precision·d), scaled to sum to 1, and returns its entropy in
// nats.
func gaussian(p, d []float64, precision float64) float64 {
	for j, v := range d {
		p[j] = -precision * v
	}
	kernel.Exp64(p, p)
	sum, weighted := 0.0, 0.0
	for j, v := range p {
		sum += v
		weighted += v * d[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return math.Log(sum) + precision*weighted/sum
}

// symmetrise joins the n lists of k neighbours, each in rising order of rows, with their
// transposes.
func symmetrise(given []neighbour, n, k int) *similarities {
	from := make([]int, n+1) // of each row of the transpose
	for _, b := range given {
		from[b.row+1]++
	}
	for i := range n {
		from[i+1] += from[i]
	}
	turned, at := make([]neighbour, len(given)), slices.Clone(from)
	for i := range n {
		for _, b := range given[i*k:][:k] {
			turned[at[b.row]] = neighbour{int32(i), b.value}
			at[b.row]++
		}
	}
	s := &similarities{first: make([]int, 1, n+1)}
	for i := range n {
		s.merge(given[i*k:][:k], turned[from[i]:from[i+1]], 1/float64(2*n))
		s.first = append(s.first, len(s.column))
	}
	return s
}

// merge appends the sum of two lists in rising order of rows, times scale.
func (s *similarities) merge(a, b []neighbour, scale float64) {
	for len(a) > 0 || len(b) > 0 {
		var row int32
		sum := 0.0
		inA := len(a) > 0 && (len(b) == 0 || a[0].row <= b[0].row)
		inB := len(b) > 0 && (len(a) == 0 || b[0].row <= a[0].row)
		if inA {
			row, sum, a = a[0].row, a[0].value, a[1:]
		}
		if inB {
			row, sum, b = b[0].row, sum+b[0].value, b[1:]
		}
		s.column, s.value = append(s.column, row), append(s.value, float32(sum*scale))
	}
}
