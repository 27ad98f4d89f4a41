package proportions

import (
	"fmt"
	"strings"
	"testing"
)

// Up to twelve classes are columns of a table of opinions; more are lines.
func TestOpinionsOfManyClasses(t *testing.T) {
	for _, n := range []int{2, mostColumns, mostColumns + 1} {
		r := &Report{}
		shares := make([]float64, n)
		for k := range shares {
			r.Classes = append(r.Classes, fmt.Sprintf("c%d", k))
			shares[k] = float64(k+1) / float64(n*(n+1)/2)
		}
		r.Proportions.Estimated = shares
		var text strings.Builder
		if err := r.writeAll(&text, "opinion\t", []opinion{{"one\t", "one", shares}, {"two\t", "two", shares}}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		last := strings.Fields(lines[len(lines)-1])
		switch {
		case n <= mostColumns && (len(lines) != 3 || len(last) != n+1 || last[0] != "two" || last[n] != fmt.Sprintf("%.4f", shares[n-1])):
			t.Errorf("%d classes:\n%s", n, text.String())
		case n > mostColumns && (len(lines) < n+4 || len(last) != 3 || last[0][0] != 'c' || last[1] != last[2]):
			t.Errorf("%d classes:\n%s", n, text.String())
		}
	}
}
