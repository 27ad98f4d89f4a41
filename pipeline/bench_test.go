package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkExpand expands files of stages that each read the one before: the time
// a stage does not depend on their number.
func BenchmarkExpand(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var text strings.Builder
			text.WriteString("[[stage]]\nrun = \"make\"\n")
			for i := range n - 1 {
				fmt.Fprintf(&text, "[[stage]]\nrun = \"map\"\nlambda = %d\n", i)
			}
			f, err := Parse("bench.toml", text.String(), testCatalogue())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := f.Expand(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/stage")
		})
	}
}
