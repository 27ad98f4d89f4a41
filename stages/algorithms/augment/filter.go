package augment

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// filterSides are the sides of the kernels of filter; maxFilter is the greatest.
var filterSides = []int{1, 3, 5, 7}

const maxFilter = 7

// filterShare is the share of images that filter changes.
const filterShare = 0.75

// filter convolves an image with a random kernel from channels to channels and mixes the
// result with the image (Xu et al. 2021, "Robust and generalizable visual representation
// learning via random convolutions"). It changes texture, contrast and colours and may
// invert them, and leaves shapes. Strength is the greatest share of the filtered image.
func (a *Augmenter) filter(strength float64) {
	if a.rng.Float64() >= filterShare {
		return
	}
	side := filterSides[a.rng.IntN(len(filterSides))]
	share := float32(min(1, strength) * a.rng.Float64())
	weights := a.weights[:a.channels*a.channels*side*side]
	deviation := 1 / math.Sqrt(float64(a.channels*side*side))
	for i := range weights {
		weights[i] = float32(deviation * a.rng.NormFloat64())
	}
	p, margin := &a.planes, side/2
	p.fill(a.x, margin)
	sum := p.sum[:p.inner(margin)]
	for c := range a.channels {
		clear(sum)
		for from := range a.channels {
			plane := p.plane(from, margin)
			for k := range side * side {
				at := k/side*p.stride(margin) + k%side
				kernel.Axpy(weights[0], plane[at:at+len(sum)], sum)
				weights = weights[1:]
			}
		}
		p.blend(a.plane(a.y, c), a.plane(a.x, c), sum, share, margin)
	}
	a.swap()
}
