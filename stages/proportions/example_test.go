package proportions_test

import (
	"context"
	"fmt"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/featurize/toy"
	"mars.dev/mars/stages/proportions"
)

// The proportions of a target in which the first class has become twice as frequent and
// all classes have moved. The rows come from a generator here; from a file they come by
// featurize.Files, or by arrowio.Open if mars-featurize has written it.
func Example() {
	env := stages.Env{Columns: arrowio.DefaultColumns()}
	rows := func(ctx context.Context, _ arrowio.Stream, out arrowio.Sink) error {
		o := toy.Options{Noise: toy.Low, Shift: 4, SourceRows: 300, TargetRows: 300, TargetProportions: []float64{0.6, 0.2, 0.2}}
		return featurize.Toy(ctx, env, o, false, out)
	}
	err := pipeline.Join(context.Background(), "toy", nil, []pipeline.Filter{rows}, func(ctx context.Context, in arrowio.Stream) error {
		report, err := proportions.Estimate(ctx, env, in, proportions.Options{Bootstrap: 20})
		if err != nil {
			return err
		}
		for k, class := range report.Classes {
			fmt.Printf("%s: near %.1f\n", class, report.Proportions.Estimated[k])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0: near 0.6
	// 1: near 0.2
	// 2: near 0.2
}
