package ensemble_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/ensemble"
	"mars.dev/mars/stages/algorithms/prepare"
)

// A ring around a disc: no line separates the classes.
func Example() {
	var values []float32
	var labels []int32
	for i := range 20 {
		for j := range 20 {
			x, y := float32(i-10), float32(j-10)
			values = append(values, x, y)
			if labels = append(labels, 0); x*x+y*y > 36 {
				labels[len(labels)-1] = 1
			}
		}
	}
	source := blas32.General{Rows: 400, Cols: 2, Stride: 2, Data: values}
	target := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{0.5, 0.5, 8.5, 1.5, -7.5, -7.5}}

	ctx := context.Background()
	p, err := prepare.Fit(ctx, source, 0)
	if err != nil {
		log.Fatal(err)
	}
	rows := p.Apply(source)
	tuned, err := ensemble.Tune(ctx, rows, labels, 2, ensemble.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, err := tuned.Train(ctx, rows, labels)
	if err != nil {
		log.Fatal(err)
	}
	posteriors := model.Predict(p.Apply(target))
	for i := range 3 {
		fmt.Println("outside:", posteriors.Data[2*i+1] > 0.5)
	}
	// Output:
	// outside: false
	// outside: true
	// outside: true
}
