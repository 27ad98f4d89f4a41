package format_test

import (
	"context"
	"fmt"
	"strings"

	"mars.dev/mars/stages/featurize/format"
)

// A text table: the numbers are features, the column "label" the classes.
func ExampleRead() {
	text := "id,height,width,label\n1,2.5,3,cat\n2,1,0.5,dog\n"
	table, err := format.Read(context.Background(), strings.NewReader(text), "pets.csv", format.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Columns, table.Row(0), table.IDInts)
	classes := format.Classes(table.Labels)
	index, err := format.Index(table.Labels, classes, table.Place)
	fmt.Println(classes, index, err)

	_, err = format.Read(context.Background(), strings.NewReader("height,width\n1,\n"), "pets.csv", format.Options{})
	fmt.Println(err)
	// Output:
	// [height width] [2.5 3] [1 2]
	// [cat dog] [0 1] <nil>
	// pets.csv: line 2, column "width": the value is missing (""): fill or drop the row, or choose other feature columns
}
