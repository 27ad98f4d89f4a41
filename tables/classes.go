package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Classes returns the distinct class names among labels, without the empty one,
// in the order of their indices: by value if all are integers, otherwise by
// their bytes.
func Classes(labels []string) []string {
	seen := map[string]bool{"": true}
	var classes []string
	for _, name := range labels {
		if !seen[name] {
			seen[name] = true
			classes = append(classes, name)
		}
	}
	values := make(map[string]int64, len(classes))
	for _, name := range classes {
		v, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			slices.Sort(classes)
			return classes
		}
		values[name] = v
	}
	slices.SortFunc(classes, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b))
	})
	return classes
}

// Index returns the index of each label among classes, −1 for an empty label. It
// fails if a label is not among them; the error names the label and its row, as place does.
func Index(labels, classes []string, place func(i int) string) ([]int32, error) {
	index := make(map[string]int32, len(classes)+1)
	for i, name := range classes {
		index[name] = int32(i)
	}
	index[""] = -1
	out := make([]int32, len(labels))
	for i, name := range labels {
		k, ok := index[name]
		if !ok {
			return nil, fmt.Errorf("%s: class %q is not among the source's classes (%s): drop its rows, or select the classes that both have", place(i), name, list(classes))
		}
		out[i] = k
	}
	return out, nil
}

// Select returns the rows whose class is among keep, in their order. It fails if
// one of these classes has no rows.
func Select(labels, keep []string) ([]int, error) {
	rowsOf := make(map[string]int, len(keep))
	for _, name := range keep {
		rowsOf[name] = 0
	}
	var rows []int
	for i, name := range labels {
		if n, wanted := rowsOf[name]; wanted && name != "" {
			rowsOf[name] = n + 1
			rows = append(rows, i)
		}
	}
	for _, name := range keep {
		if rowsOf[name] == 0 {
			return nil, fmt.Errorf("class %q has no rows (the classes are %s): select classes that are there", name, list(Classes(labels)))
		}
	}
	return rows, nil
}
