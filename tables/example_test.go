package tables_test

import (
	"context"
	"fmt"
	"strings"

	"mars.dev/mars/tables"
)

// A text table: the numbers are features, the column "label" the classes.
func ExampleRead() {
	text := "id,height,width,label\n1,2.5,3,cat\n2,1,0.5,dog\n"
	table, err := tables.Read(context.Background(), strings.NewReader(text), "pets.csv", tables.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Columns, table.Row(0), table.IDInts)
	classes := tables.Classes(table.Labels)
	index, err := tables.Index(table.Labels, classes, table.Place)
	fmt.Println(classes, index, err)

	_, err = tables.Read(context.Background(), strings.NewReader("height,width\n1,\n"), "pets.csv", tables.Options{})
	fmt.Println(err)
	// Output:
	// [height width] [2.5 3] [1 2]
	// [cat dog] [0 1] <nil>
	// pets.csv: line 2, column "width": the value is missing (""): fill or drop the row, or choose other feature columns
}
