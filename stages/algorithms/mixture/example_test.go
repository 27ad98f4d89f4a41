package mixture_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mixture"
)

// Six rows on the line, four of them near 0 and two near 10.
var line = blas32.General{Rows: 6, Cols: 1, Stride: 1, Data: []float32{0, 10, 0.5, 1, 11, 0.5}}

func ExampleWard() {
	r, err := mixture.Ward(context.Background(), line, 2, mixture.WardOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("labels", r.Labels)
	fmt.Println("means", r.Means.RawMatrix().Data)
	fmt.Printf("proportions %.3f\n", r.Proportions)
	// Output:
	// labels [0 1 0 0 1 0]
	// means [0.5 10.5]
	// proportions [0.667 0.333]
}

// A fitted mixture assigns new rows.
func ExampleComponents_Assigner() {
	r, err := mixture.GMM(context.Background(), line, 2, mixture.GMMOptions{Covariance: mixture.Spherical})
	if err != nil {
		fmt.Println(err)
		return
	}
	assigner, err := r.Assigner(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	labels := make([]int32, 2)
	rows := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{12, -1}}
	if err := assigner.Assign(context.Background(), labels, rows); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(labels)
	// Output:
	// [1 0]
}
