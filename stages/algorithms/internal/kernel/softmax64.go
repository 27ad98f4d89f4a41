package kernel

// Softmax64 replaces each group of n logarithms by probabilities that sum to 1.
func Softmax64(scores []float64, n int) {
	for lo := 0; lo < len(scores); lo += n {
		s := scores[lo : lo+n]
		top := s[0]
		for _, v := range s {
			if v > top { // a branch is faster than max, which looks for NaN
				top = v
			}
		}
		for k := range s {
			s[k] -= top
		}
	}
	Exp64(scores, scores)
	for lo := 0; lo < len(scores); lo += n {
		s := scores[lo : lo+n]
		sum := 0.0
		for _, v := range s {
			sum += v
		}
		inverse := 1 / sum
		for k := range s {
			s[k] *= inverse
		}
	}
}
