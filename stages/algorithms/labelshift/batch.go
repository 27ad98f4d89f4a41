package labelshift

import "fmt"

// BatchWeights writes to dst the weights of the rows of a source batch with
// which their weighted mean has the class balance p_T (target, C values):
//
//	dst[i] = p_T(y_i) / (rows of class y_i in the batch) / Σ p_T(y) over the classes in the batch
//
// They sum to 1. The last factor gives the mass of classes that the batch
// lacks to those that it has, in proportion; without it the weighted mean
// would shrink whenever a class is missing. Rows with a negative label have no
// class and weight 0.
//
// It fails if no class in the batch has target mass or a label is C or more,
// and panics if dst is not one a row.
func BatchWeights(dst []float32, labels []int32, target []float64) error {
	if len(dst) != len(labels) {
		panic("labelshift: BatchWeights: one weight a row is needed")
	}
	counts := make([]int, len(target))
	mass := 0.0 // of the classes in the batch
	for i, l := range labels {
		if int(l) >= len(target) {
			return fmt.Errorf("labelshift: row %d of the batch has label %d: labels go from 0 to %d", i, l, len(target)-1)
		}
		if l < 0 {
			continue
		}
		if counts[l] == 0 {
			mass += target[l]
		}
		counts[l]++
	}
	if !(mass > 0) {
		return fmt.Errorf("labelshift: no class of the batch has target mass: draw batches by class")
	}
	for i, l := range labels {
		dst[i] = 0
		if l >= 0 {
			dst[i] = float32(target[l] / float64(counts[l]) / mass)
		}
	}
	return nil
}
