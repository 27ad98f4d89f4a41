package mixture

import (
	"fmt"
	"math"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// TestBoundsKeepTheScores compares scores by bounds with all scores: those that are
// not negligible are the same to the last bit, and the others are −Inf. Of components
// far apart nearly all are left out, of overlapping ones none.
func TestBoundsKeepTheScores(t *testing.T) {
	for _, c := range []struct {
		spread          float64
		least, greatest float64 // of the share of scores that are left out
	}{{3, 0.74, 0.75}, {0.05, 0, 0}, {0.5, 0.05, 0.7}} {
		t.Run(fmt.Sprint("spread=", c.spread), func(t *testing.T) {
			const n, d, k = 2000, wide + 7, 4
			x, labels := blobs(n, d, k, c.spread, 3)
			m := newMaximiser(t.Context(), x, k, GMMOptions{Floor: 1}.withDefaults())
			model, err := m.partitioned(t.Context(), x, labels)
			if err != nil {
				t.Fatal(err)
			}
			g, err := newGaussians(t.Context(), &model)
			if err != nil {
				t.Fatal(err)
			}
			got, want := dense.New64(n, k), dense.New64(n, k)
			if err := g.score(t.Context(), got, x); err != nil {
				t.Fatal(err)
			}
			for lo := 0; lo < n; lo += blockRows {
				hi := min(lo+blockRows, n)
				g.scoreAll(t.Context(), view(want, lo, hi, 0, k), x, lo, hi)
			}
			left := 0
			for i := range n {
				row := want.Data[i*k:][:k]
				top := row[dense.Argmax(row)]
				for j, score := range row {
					switch s := got.Data[i*k+j]; {
					case math.IsInf(s, -1) && score < top+hopeless:
						left++
					case s != score:
						t.Fatalf("row %d, component %d: score %v, want %v (the row's greatest is %v)", i, j, s, score, top)
					}
				}
			}
			if share := float64(left) / (n * k); share < c.least || share > c.greatest {
				t.Errorf("%.3f of the scores are left out, want %v to %v", share, c.least, c.greatest)
			}
		})
	}
}
