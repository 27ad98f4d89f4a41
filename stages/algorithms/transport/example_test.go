package transport_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/transport"
)

// Classes at 0 and 10, and components near 11 with a quarter of the rows and
// near 1 with the rest.
func ExampleMatchPrototypes() {
	classes := mat.NewDense(2, 1, []float64{0, 10})
	components := mat.NewDense(2, 1, []float64{11, 1})
	m, err := transport.MatchPrototypes(context.Background(), classes, []int{50, 50}, components, []float64{0.25, 0.75})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("class of each component:", m.ClassOf)
	fmt.Println("proportions of the classes:", m.Proportions)
	// Output:
	// class of each component: [1 0]
	// proportions of the classes: [0.75 0.25]
}

func ExampleExact() {
	cost := mat.NewDense(2, 3, []float64{
		0, 1, 4,
		4, 1, 0,
	})
	plan, err := transport.Exact(context.Background(), []float64{0.5, 0.5}, []float64{0.25, 0.25, 0.5}, cost)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(plan.Mass))
	fmt.Println("cost", plan.Cost)
	// Output:
	// ⎡0.25  0.25     0⎤
	// ⎣   0     0   0.5⎦
	// cost 0.25
}
