package nn

import (
	"math/rand/v2"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// dropoutStep sets each value to 0 with probability rate and divides the others by
// 1−rate (Srivastava et al. 2014, inverted). When it is off it changes nothing.
type dropoutStep struct {
	width   int
	keep    float64
	rng     *rand.Rand
	on      bool
	mask, y []float32
}

func newDropout(p *Pass, b block, rng *rand.Rand) *dropoutStep {
	s := &dropoutStep{width: size(b.in), keep: 1 - b.layer.Rate, rng: rng}
	if p.Grads != nil && b.layer.Rate > 0 {
		s.on = true
		s.mask = make([]float32, p.Rows*s.width)
		s.y = make([]float32, p.Rows*s.width)
	}
	return s
}

func (s *dropoutStep) forward(x []float32, rows int) []float32 {
	if !s.on {
		return x
	}
	mask, y := s.mask[:rows*s.width], s.y[:rows*s.width]
	scale := float32(1 / s.keep)
	for i := range mask {
		mask[i] = 0
		if s.rng.Float64() < s.keep {
			mask[i] = scale
		}
	}
	copy(y, x)
	kernel.Mul(y, mask)
	return y
}

func (s *dropoutStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if s.on && wanted {
		kernel.Mul(dy, s.mask[:rows*s.width])
	}
	return dy
}
