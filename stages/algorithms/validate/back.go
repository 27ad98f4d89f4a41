package validate

import "slices"

// Back trains back from the labels that a classifier gave to the rows of a target, and
// returns the labels that the source's rows get in return. train gets the labels, as numbers
// of the classes that occur, and the names of these numbers (classes, in order); it returns
// what it labels the source's rows, in the same numbers. It is not called if all labels are
// one: then so are those that come back, of rows source rows.
func Back(labels []int32, rows int, train func(labels, classes []int32) ([]int32, error)) ([]int32, error) {
	present := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(present) == 1 {
		return slices.Repeat(present, rows), nil
	}
	numbers := make([]int32, len(labels))
	for i, k := range labels {
		at, _ := slices.BinarySearch(present, k)
		numbers[i] = int32(at)
	}
	found, err := train(numbers, present)
	if err != nil {
		return nil, err
	}
	back := make([]int32, len(found))
	for i, k := range found {
		back[i] = present[k]
	}
	return back, nil
}

// BalancedAccuracy is the mean, over the classes that labels have, of the share of their rows
// that found has right. It is NaN without rows. All classes are below classes.
func BalancedAccuracy(found, labels []int32, classes int) float64 {
	right, all := make([]float64, classes), make([]float64, classes)
	for i, y := range labels {
		all[y]++
		if found[i] == y {
			right[y]++
		}
	}
	sum, present := 0.0, 0.0
	for k, n := range all {
		if n > 0 {
			sum += right[k] / n
			present++
		}
	}
	return sum / present
}
