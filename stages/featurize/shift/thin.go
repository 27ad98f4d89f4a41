package shift

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Thin returns the indices of rows, in their order, of which each class keeps its fraction,
// rounded, drawn by the seed: as the paper subsamples the classes of Office. A class with
// rows and a fraction above 0 keeps at least one. Rows with a negative label (unknown) are
// left out. It returns ctx.Err() if ctx ends.
func Thin(ctx context.Context, labels []int32, fractions []float64, seed uint64) ([]int, error) {
	rng := rand.New(rand.NewPCG(seed, 0x7411))
	var kept []int
	for c, members := range group(labels, len(fractions)) {
		if err := Shuffle(ctx, members, rng); err != nil {
			return nil, err
		}
		n := int(math.Round(fractions[c] * float64(len(members))))
		if n == 0 && fractions[c] > 0 && len(members) > 0 {
			n = 1
		}
		kept = append(kept, members[:n]...)
	}
	slices.Sort(kept)
	return kept, nil
}
