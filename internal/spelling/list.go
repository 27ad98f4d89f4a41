package spelling

import (
	"fmt"
	"slices"
	"strings"
)

// MaxNamed is how many names get a sentence each; more share one, with List.
const MaxNamed = 10

// List names the first few of many, and counts the others.
func List(names []string) string {
	const shown = 5
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// Numbers are those of classes in their order, or of more than MaxListed classes the few largest.
func Numbers(of []float64) string {
	const shown = 5
	if len(of) <= MaxListed {
		return fmt.Sprintf("%.3f", of)
	}
	largest := slices.Sorted(slices.Values(of))
	slices.Reverse(largest)
	return fmt.Sprintf("%.3f and %d smaller", largest[:shown], len(of)-shown)
}

// Count is a number with its word.
func Count[N ~int | ~int64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

// MaxListed is how many classes a table for a person lists, the largest first; the others share a
// line, Smaller.
const MaxListed = 30

// Smaller is the line of n classes that a table leaves out, with their part of the rows.
func Smaller(n int, part float64) string {
	return fmt.Sprintf("and %s, together %.1f %%", Count(n, "smaller class", "smaller classes"), 100*part)
}
