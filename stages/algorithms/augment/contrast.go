package augment

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// The greatest changes of contrast at strength 1: by a factor for the whole image, by
// another for each channel, and a shift in standard deviations.
const (
	maxContrast   = 2
	maxCast       = 1.2
	maxBrightness = 0.5
)

// contrast changes contrast and brightness, and in colour the balance of the channels.
func (a *Augmenter) contrast(strength float64) {
	factor := a.uniform(strength * math.Log(maxContrast))
	shift := a.uniform(strength*maxBrightness) * float64(deviation(a.x))
	mean := float64(kernel.Sum(a.x)) / float64(len(a.x))
	for c := range a.channels {
		f := math.Exp(factor + a.uniform(strength*math.Log(maxCast)))
		kernel.Affine(a.plane(a.x, c), float32(f), float32(mean*(1-f)+shift))
	}
}

// sign makes the bright dark, about the mean, with a probability of half the strength.
func (a *Augmenter) sign(strength float64) {
	if a.rng.Float64() >= strength/2 {
		return
	}
	mean := kernel.Sum(a.x) / float32(len(a.x))
	kernel.Affine(a.x, -1, 2*mean)
}

// maxNoise is the greatest standard deviation of noise at strength 1, in those of the
// columns, which are standardised.
const maxNoise = 0.5

// noise adds normal numbers to plain columns, of a deviation drawn for each row.
func (a *Augmenter) noise(strength float64) {
	deviation := maxNoise * strength * a.rng.Float64()
	for i := range a.x {
		a.x[i] += float32(deviation * a.rng.NormFloat64())
	}
}
