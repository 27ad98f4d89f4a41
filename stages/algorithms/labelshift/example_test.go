package labelshift_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/labelshift"
)

// A balanced source and a target with three quarters of class 1.
func ExampleWeights() {
	weights, err := labelshift.Weights([]float64{0.25, 0.75}, []float64{0.5, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(weights)
	// Output:
	// [0.5 1.5]
}

// Classes around 0 and 10 of which the target has one row in four and three in
// four, moved by 3.
func ExampleMTE() {
	line := func(x []float32) blas32.General {
		return blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
	}
	var source, target []float32
	var labels []int32
	for i := range 40 {
		noise := float32(i*7%40)/20 - 1
		source = append(source, noise, 10+noise)
		labels = append(labels, 0, 1)
		target = append(target, 13+noise)
		if i%3 == 0 {
			target = append(target, 3+noise)
		}
	}
	estimate, err := labelshift.MTE(labelshift.Problem{
		Source: line(source), Labels: labels, Target: labelshift.InMemory(line(target)), Classes: 2,
	}, labelshift.MTEOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", estimate.Proportions)
	// Output:
	// [0.26 0.74]
}
