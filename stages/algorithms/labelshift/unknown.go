package labelshift

import "math"

// Unknown is the mean L1 distance, 0 to 2, of shares p from shares that are drawn uniformly from
// all that there are: the error to expect of an estimate where nothing is known. Each share of C
// has a Beta(1, C − 1) distribution then, which gives 2/C·Σ(1 − p_k)^C.
func Unknown(p []float64) float64 {
	n, sum := float64(len(p)), 0.0
	for _, share := range p {
		sum += math.Pow(1-share, n)
	}
	return 2 * sum / n
}

// MissingError is the error to expect, in L1, of shares of rows of which a part has no value at
// all, where off is that of the others: the rest may be of any class.
func MissingError(off, missing float64) float64 {
	return min(2, (1-missing)*off+2*missing)
}

// Widen makes room in the bounds of shares for a part of the rows that may be of any class.
func Widen(lower, upper []float64, part float64) {
	for k := range lower {
		lower[k], upper[k] = (1-part)*lower[k], (1-part)*upper[k]+part
	}
}
