package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// An Optimiser updates the parameters of one network as PyTorch does: weight decay is
// added to the gradient, and momentum has no dampening.
type Optimiser struct {
	Adam         bool // Adam; otherwise SGD
	Momentum     float64
	Beta1, Beta2 float64
	WeightDecay  float64

	Step   int       // updates so far
	First  []float32 // SGD's velocity or Adam's first moment; empty if there is none
	Second []float32 // Adam's second moment
}

// adamEpsilon keeps Adam's step finite if a gradient has always been 0. It is PyTorch's
// default.
const adamEpsilon = 1e-8

// Allocate makes the state for n parameters.
func (o *Optimiser) Allocate(n int) {
	if o.Adam || o.Momentum != 0 {
		o.First = make([]float32, n)
	}
	if o.Adam {
		o.Second = make([]float32, n)
	}
}

// Update updates the parameters [lo, hi) of params by their gradients grads. The caller
// increments Step before, once for all ranges of a step.
func (o *Optimiser) Update(params, grads []float32, lo, hi int, rate float64) {
	if lo == hi {
		return
	}
	w, g := params[lo:hi], grads[lo:hi]
	if o.Adam {
		kernel.Adam(w, g, o.First[lo:hi], o.Second[lo:hi],
			float32(rate), float32(o.Beta1), float32(o.Beta2), adamEpsilon, float32(o.WeightDecay), o.Step)
		return
	}
	var velocity []float32
	if o.Momentum != 0 {
		velocity = o.First[lo:hi]
	}
	kernel.SGD(w, g, velocity, float32(rate), float32(o.Momentum), float32(o.WeightDecay))
}
