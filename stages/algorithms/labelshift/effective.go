package labelshift

// EffectiveRows returns Kish's effective sample size of source rows that are
// weighted by class, (Σw)²/Σw²: how many rows of equal weight would say as much.
// weights has the weight of each class and counts its number of rows. It is
// the number of rows if the weights are equal, and 0 if all are 0.
func EffectiveRows(weights []float64, counts []int) float64 {
	sum, squares := 0.0, 0.0
	for k, w := range weights {
		n := float64(counts[k])
		sum += n * w
		squares += n * w * w
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}
