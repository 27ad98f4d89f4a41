package accuracy

import (
	"math"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// mostCells is how many cells the rows of a prediction are divided into at most, and cellRows how
// many rows of the reference each has at least.
const (
	mostCells = 10
	cellRows  = 20
)

// A spread says how rows are spread over cells: by what is predicted, and by how sure that is.
type spread struct {
	edges  [][]float32 // of the cells of each prediction: the least confidence of all but the first
	first  []int       // the first cell of each prediction
	cells  int
	shares [][]float64 // C×cells: of the reference's rows of each class
	rows   []float64   // of the reference, by class
}

// newSpread divides the reference.
func newSpread(r Rows, labels []int32) *spread {
	classes := r.Posteriors.Cols
	confidence := make([][]float32, classes)
	for i, said := range r.Predicted {
		confidence[said] = append(confidence[said], dense.Row(r.Posteriors, i)[said])
	}
	s := &spread{edges: make([][]float32, classes), first: make([]int, classes), rows: make([]float64, classes)}
	for k, values := range confidence {
		slices.Sort(values)
		n := min(mostCells, len(values)/cellRows)
		for c := 1; c < n; c++ {
			s.edges[k] = append(s.edges[k], values[c*len(values)/n])
		}
		s.edges[k] = slices.Compact(s.edges[k])
		s.first[k] = s.cells
		s.cells += len(s.edges[k]) + 1
	}
	for range classes {
		s.shares = append(s.shares, make([]float64, s.cells))
	}
	for i, y := range labels {
		s.shares[y][s.cell(r, i)]++
		s.rows[y]++
	}
	for k, n := range s.rows {
		for c := range s.shares[k] {
			s.shares[k][c] /= max(n, 1)
		}
	}
	return s
}

// cell is that of row i.
func (s *spread) cell(r Rows, i int) int {
	said := r.Predicted[i]
	c, _ := slices.BinarySearchFunc(s.edges[said], dense.Row(r.Posteriors, i)[said], func(edge, p float32) int {
		if edge <= p {
			return -1
		}
		return 1
	})
	return s.first[said] + c
}

// of is how rows are spread.
func (s *spread) of(r Rows) []float64 {
	shares := make([]float64, s.cells)
	for i := range r.Predicted {
		shares[s.cell(r, i)] += 1 / float64(len(r.Predicted))
	}
	return shares
}

// apart is how far n rows of a window are spread from the reference's classes in some proportions, as the
// share of rows that would have to be elsewhere, without what chance alone makes, which is the other number.
func (s *spread) apart(window []float64, n int, proportions []float64) (share, chance float64) {
	total := 0.0
	for c, share := range window {
		mixed, variance := 0.0, 0.0
		for k, p := range proportions {
			q := s.shares[k][c]
			mixed += p * q
			variance += p * p * q * (1 - q) / max(s.rows[k], 1)
		}
		variance += mixed * (1 - mixed) / float64(n)
		total += math.Abs(share-mixed) / 2
		chance += math.Sqrt(variance / (2 * math.Pi))
	}
	return max(0, total-chance), chance
}
