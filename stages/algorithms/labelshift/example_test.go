package labelshift_test

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/labelshift"
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
