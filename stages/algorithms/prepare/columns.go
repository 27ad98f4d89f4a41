package prepare

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// varying are the columns that have more than one value, up to rounding.
func varying(x blas32.General) []int {
	least, greatest := make([]float32, x.Cols), make([]float32, x.Cols)
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			if i == 0 {
				least[j], greatest[j] = v, v
			}
			least[j], greatest[j] = min(least[j], v), max(greatest[j], v)
		}
	}
	var kept []int
	for j := range least {
		size := math.Max(math.Abs(float64(least[j])), math.Abs(float64(greatest[j])))
		if float64(greatest[j])-float64(least[j]) > minDeviation*size {
			kept = append(kept, j)
		}
	}
	return kept
}

// distinct are those of the columns that are not one before them but for scale and offset. Only
// columns of few values are looked at, in tables that do not become principal components.
func distinct(x blas32.General, columns []int) []int {
	if len(columns) > maxAxes {
		return columns
	}
	first := dense.Rows(x, 0, min(x.Rows, countedRows))
	seen := map[string]bool{}
	return slices.DeleteFunc(columns, func(j int) bool {
		if !dense.HasAtMost(fewValues, first, j) {
			return false
		}
		pattern, few := patternOf(x, j)
		again := few && seen[pattern]
		seen[pattern] = seen[pattern] || few
		return again
	})
}

// patternOf is the same text for columns that differ in scale and offset alone. few is false for
// a column of more than fewValues values.
func patternOf(x blas32.General, j int) (pattern string, few bool) {
	least, greatest := extent(x, j)
	begin := float64(x.Data[j])
	if begin-least > greatest-begin { // of the two directions that in which the first row is low
		least, greatest = greatest, least
	}
	codes, text := map[int32]byte{}, make([]byte, x.Rows)
	for i := range text {
		at := int32(math.Round((float64(x.Data[i*x.Stride+j]) - least) / (greatest - least) / alike))
		code, known := codes[at]
		if !known {
			if code = byte(len(codes)); code == fewValues {
				return "", false
			}
			codes[at] = code
		}
		text[i] = code
	}
	places := slices.Sorted(maps.Keys(codes))
	for _, at := range places {
		text = binary.LittleEndian.AppendUint32(append(text, codes[at]), uint32(at))
	}
	return string(text), true
}

// sparse reports whether the kept columns are sparse counts.
func sparse(x blas32.General, kept []int) bool {
	if len(kept) <= sparseWidth {
		return false
	}
	zeros := 0
	for i := range x.Rows {
		row := dense.Row(x, i)
		for _, j := range kept {
			if row[j] < 0 {
				return false
			}
			if row[j] == 0 {
				zeros++
			}
		}
	}
	return zeros > x.Rows*len(kept)/2
}

// pick takes the kept columns, and the logarithms of counts.
func (p *Map) pick(x blas32.General) blas32.General {
	y := dense.New(x.Rows, len(p.Kept))
	for i := range x.Rows {
		row, out := dense.Row(x, i), dense.Row(y, i)
		for k, j := range p.Kept {
			out[k] = row[j]
		}
		if p.Counts {
			logarithms(out)
		}
	}
	return y
}

// logarithms replaces counts by log(1 + count), and gives the row length 1.
func logarithms(row []float32) {
	sum := 0.0
	for k, v := range row {
		l := math.Log1p(math.Max(float64(v), 0))
		row[k] = float32(l)
		sum += l * l
	}
	if sum == 0 {
		return
	}
	for k, v := range row {
		row[k] = float32(float64(v) / math.Sqrt(sum))
	}
}

// widen raises the deviations of columns of few values, as the first rows have them.
func widen(deviations []float64, x blas32.General) {
	first := dense.Rows(x, 0, min(x.Rows, countedRows))
	for j := range deviations {
		if dense.HasAtMost(fewValues, first, j) {
			least, greatest := extent(x, j)
			deviations[j] = max(deviations[j], (greatest-least)/3)
		}
	}
}

// extent returns the least and the greatest value of column j.
func extent(x blas32.General, j int) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for i := range x.Rows {
		v := float64(x.Data[i*x.Stride+j])
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

const (
	// minComponents is how many columns are taken for principal components at least: of
	// fewer the deviations may fall by chance.
	minComponents = 8
	// minFall is how many times the mean deviation of the first quarter of the columns is
	// that of the last at least.
	minFall = 2
	// maxRank is the greatest rank correlation (Spearman) of a deviation with its place.
	// It is −1 for components of the source, and near it for those of both domains.
	maxRank = -0.9
)

// fall reports whether columns with these deviations are principal components in their
// usual order.
func fall(deviations []float64) bool {
	n := len(deviations)
	if n < minComponents || dense.Sum(deviations[:n/4]) < minFall*dense.Sum(deviations[n-n/4:]) {
		return false
	}
	order := make([]int, n)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(deviations[a], deviations[b]) })
	squares := 0.0
	for rank, j := range order {
		squares += float64((rank - j) * (rank - j))
	}
	return 1-6*squares/float64(n*(n*n-1)) <= maxRank
}

// share replaces deviations by their mean.
func share(deviations []float64) {
	mean := 0.0
	for _, d := range deviations {
		mean += d / float64(len(deviations))
	}
	for j := range deviations {
		deviations[j] = mean
	}
}
