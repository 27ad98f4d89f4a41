package toy_test

import (
	"context"
	"fmt"

	"mars.dev/mars/stages/featurize/toy"
)

// The paper's setting 4 at imbalance 5, and what a perfect method could reach.
func ExampleSetting() {
	o, err := toy.Setting(4, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	source, target, err := toy.Generate(context.Background(), o)
	fmt.Println(source.X.Rows, target.X.Rows, o.TargetProportions, err)

	accuracy, err := toy.Bayes(context.Background(), o, 0)
	fmt.Printf("possible %.2f, source's rule %.2f, %v\n", accuracy.Possible, accuracy.SourceRule, err)
	// Output:
	// 3000 3000 [0.66 0.17 0.17] <nil>
	// possible 0.99, source's rule 0.74, <nil>
}
