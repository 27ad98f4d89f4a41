package classmap_test

import (
	"context"
	"fmt"
	"iter"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/classmap"
)

// Two classes on the line have moved by 1 and 2, and their rows follow.
func ExampleFit() {
	line := func(x ...float32) blas32.General {
		return blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
	}
	source, labels := line(-1, 1, 9, 11), []int32{0, 0, 1, 1}
	target := line(0, 2, 11, 13)
	responsibilities := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0, 1, 0, 0, 1, 0, 1}}
	var blocks iter.Seq2[blas32.General, error] = func(yield func(blas32.General, error) bool) { yield(target, nil) }

	m, err := classmap.Fit(context.Background(), source, labels, blocks, responsibilities, classmap.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Apply(context.Background(), source, source, labels); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", source.Data)
	// Output:
	// [0.0 2.0 11.0 13.0]
}
