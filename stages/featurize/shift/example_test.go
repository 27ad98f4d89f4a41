package shift_test

import (
	"context"
	"fmt"

	"mars.dev/mars/stages/featurize/shift"
)

// Ten rows in equal parts become six with two thirds in the first class.
func ExampleSample() {
	classes := []string{"cat", "dog"}
	labels := []int32{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}
	proportions, err := shift.ParseProportions("cat=2/3,dog=1/3", classes)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := shift.Sample(context.Background(), labels, classes, shift.Draw{Proportions: proportions, Rows: 6})
	counts := make([]int, len(classes))
	for _, i := range rows {
		counts[labels[i]]++
	}
	fmt.Println(counts, err)

	_, err = shift.Sample(context.Background(), labels, classes, shift.Draw{Proportions: proportions, Rows: 9})
	fmt.Println(err)
	// Output:
	// [4 2] <nil>
	// class "cat" has 5 rows, 6 are needed for 9 rows with proportion 0.6667: ask for at most 8 rows
}
