package adapt_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
)

// Two classes on a line. In the target they are shifted and have other proportions.
func Example() {
	source := blas32.General{Rows: 40, Cols: 2, Stride: 2}
	target := source
	var labels []int32
	for i := range 40 {
		y := i % 2
		jitter := 0.01 * float32(i)
		source.Data = append(source.Data, float32(y), jitter)
		target.Data = append(target.Data, float32(min(1, i%4))+0.2, jitter)
		labels = append(labels, int32(y))
	}
	problem := adapt.Problem{Source: source, Labels: labels, Target: target, Classes: []string{"left", "right"}}

	config, err := adapt.Recipe("mlp:2-16-8", []int{2}, adapt.ScheduleDefault)
	if err != nil {
		fmt.Println(err)
		return
	}
	config.Method, _ = adapt.ParseMethod("marsc", 0)
	config.Batch, config.LearningRate, config.CriticLearningRate = 8, 0.01, 0.01
	config.Estimate = func(context.Context, adapt.Snapshot) ([]float64, error) {
		return []float64{0.25, 0.75}, nil // a real one clusters and matches
	}
	model, err := adapt.Train(context.Background(), problem, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0.2, 0.1, 1.2, 0.3}}
	for _, y := range adapt.Argmax(model.Predict(rows)) {
		fmt.Println(model.Classes[y])
	}
	// Output:
	// left
	// right
}
