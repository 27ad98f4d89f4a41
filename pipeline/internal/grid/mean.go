package grid

import (
	"fmt"
	"math"
	"strconv"
)

// A Mean is that of a number over some runs.
type Mean struct {
	Value, Deviation float64 // of one run the deviation is 0
	Runs             int     // that have the number
}

// rounding is the relative error of a mean of equal numbers.
const rounding = 1e-12

// MeanOf is the mean of values, with their standard deviation (n−1).
func MeanOf(values []float64) (m Mean) {
	m.Runs = len(values)
	if m.Runs == 0 {
		return m
	}
	for _, v := range values {
		m.Value += v
	}
	m.Value /= float64(m.Runs)
	squares := 0.0
	for _, v := range values {
		squares += (v - m.Value) * (v - m.Value)
	}
	m.Deviation = math.Sqrt(squares / max(1, float64(m.Runs-1)))
	if m.Deviation <= rounding*math.Abs(m.Value) {
		m.Deviation = 0
	}
	return m
}

// Texts writes means that stand together with the same number of decimals.
func Texts(means []Mean) []string {
	decimals := decimalsFor(means)
	all := make([]string, len(means))
	for i, m := range means {
		switch {
		case m.Runs == 0:
		case m.Deviation > 0:
			all[i] = fmt.Sprintf("%.*f ± %.*f", decimals, m.Value, decimals, m.Deviation)
		default:
			all[i] = strconv.FormatFloat(m.Value, 'f', decimals, 64)
		}
	}
	return all
}

// OfRuns says of how many runs means are, at least and at most.
func OfRuns(least, most int) string {
	if least == most {
		return fmt.Sprintf(", mean ± standard deviation of %d runs", most)
	}
	return fmt.Sprintf(", mean ± standard deviation of %d to %d runs", least, most)
}

// minDecimals is how many decimals people give of a share.
const minDecimals = 3

// decimalsFor is 3 for numbers below 10, so many less for greater ones that four digits
// are left, and so many more that three are if all are below 0.001. Whole numbers have
// none.
func decimalsFor(means []Mean) int {
	greatest, whole := 0.0, true
	for _, m := range means {
		greatest = max(greatest, math.Abs(m.Value), m.Deviation)
		whole = whole && m.Value == math.Trunc(m.Value) && m.Deviation == 0
	}
	if whole {
		return 0
	}
	switch exponent := int(math.Floor(math.Log10(greatest))); {
	case exponent > 0:
		return max(0, minDecimals-exponent)
	case exponent < -minDecimals:
		return minDecimals - 1 - exponent
	}
	return minDecimals
}
