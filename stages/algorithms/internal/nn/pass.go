package nn

import "math/rand/v2"

// A Pass runs a network on up to Rows rows, forward and then backward. It owns all scratch
// memory, so that running it allocates nothing, and its own gradients, so that passes that
// split a batch share nothing. It serves one goroutine at a time.
type Pass struct {
	Rows  int
	Grads []float32 // laid out as Network.Params; Backward adds to it; nil for inference

	net   *Network
	steps []step
	first int // the first step with parameters
}

// A step computes one block, or changes the layout of rows. Slices that it returns are its
// own, and its next pass overwrites them. Convolutions and other steps of images take and
// return interleaved rows, which a layoutStep makes.
type step interface {
	// forward returns y, rows×out, for x, rows×in, which it may keep until backward.
	forward(x []float32, rows int) []float32
	// backward takes the gradient of y, which it may change, adds the gradients of the
	// parameters to Grads, and returns the gradient of x if wanted.
	backward(dy []float32, rows int, wanted bool) []float32
}

// NewPass allocates a pass for up to rows rows; training says whether it will run
// backward too. rng draws dropout masks. It may be nil if training is false or there is
// no dropout.
func (n *Network) NewPass(rows int, training bool, rng *rand.Rand) *Pass {
	p := &Pass{Rows: rows, net: n}
	if training {
		p.Grads = make([]float32, len(n.Params))
	}
	interleaved, parameters := false, false
	taps := n.newTaps(p)
	for i, b := range n.blocks {
		if want := b.interleaved(taps); want != interleaved {
			p.steps = append(p.steps, newLayout(p, b.in, want))
			interleaved = want
		}
		if taps[i] != nil {
			taps[i].interleaved = interleaved
			p.steps = append(p.steps, taps[i])
		}
		if b.layer.Same {
			pad := newPad(p, b)
			p.steps, b.in = append(p.steps, pad), pad.shape()
		}
		if !parameters && b.weight.Size > 0 {
			p.first, parameters = len(p.steps), true
		}
		p.steps = append(p.steps, p.newStep(b, taps, rng))
	}
	if interleaved {
		p.steps = append(p.steps, newLayout(p, n.blocks[len(n.blocks)-1].out, false))
	}
	return p
}

// interleaved reports whether the block takes interleaved rows.
func (b block) interleaved(taps []*tapStep) bool {
	switch b.layer.Kind {
	case Conv, GroupNorm, AvgPool:
		return true
	case Add:
		return taps[b.from].interleaved
	}
	return false
}

// newTaps returns, for each block whose input a later block adds, the step that keeps it.
func (n *Network) newTaps(p *Pass) []*tapStep {
	taps := make([]*tapStep, len(n.blocks))
	for _, b := range n.blocks {
		if b.layer.Kind == Add && taps[b.from] == nil {
			taps[b.from] = newTap(p, b)
		}
	}
	return taps
}

func (p *Pass) newStep(b block, taps []*tapStep, rng *rand.Rand) step {
	switch b.layer.Kind {
	case Linear:
		return newLinear(p, b)
	case Conv:
		return newConv(p, b)
	case GroupNorm:
		return newGroupNorm(p, b)
	case LayerNorm:
		return newLayerNorm(p, b)
	case AvgPool:
		return newAvgPool(p, b)
	case Add:
		return newAdd(p, b, taps[b.from])
	case Dropout:
		return newDropout(p, b, rng)
	}
	return newReLU(p, b)
}

// Forward returns the outputs, rows×Outputs, of the rows×Inputs matrix x. They and
// x must stay as they are until Backward.
func (p *Pass) Forward(x []float32, rows int) []float32 {
	if rows > p.Rows || len(x) != rows*p.net.Inputs {
		panic("nn: Forward: wrong number of rows or columns")
	}
	for _, s := range p.steps {
		x = s.forward(x, rows)
	}
	return x
}

// Backward takes the gradient dy of the outputs of the last Forward, which it may
// overwrite, adds the gradients of the parameters to Grads and, if wanted, returns
// the gradient of the inputs.
func (p *Pass) Backward(dy []float32, rows int, wanted bool) []float32 {
	for i := len(p.steps) - 1; i >= 0; i-- {
		if i < p.first && !wanted {
			return nil
		}
		dy = p.steps[i].backward(dy, rows, wanted || i > p.first)
	}
	return dy
}

// SetDropout switches the dropout layers on or off. They start on if the pass is for
// training, and stay off if it is not.
func (p *Pass) SetDropout(on bool) {
	for _, s := range p.steps {
		if d, ok := s.(*dropoutStep); ok {
			d.on = on && d.mask != nil
		}
	}
}
