package mte_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mte"
)

// Classes around 0 and 10 of which the target has one row in four and three in
// four, moved by 3.
func ExampleFit() {
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
	found, err := mte.Fit(context.Background(), mte.Problem{
		Source: line(source), Labels: labels, Target: mte.InMemory(line(target)), Classes: 2,
	}, mte.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", found.Proportions)
	// Output:
	// [0.26 0.74]
}
