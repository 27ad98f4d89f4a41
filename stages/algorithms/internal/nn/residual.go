package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// tapStep keeps its input for a later addStep, and in the backward pass adds the gradient
// that comes from there. It changes nothing else.
type tapStep struct {
	interleaved bool
	x, dx       []float32 // its input, and the gradient from all addSteps of this pass
	pending     bool      // whether there is a gradient in dx
}

func newTap(p *Pass, b block) *tapStep {
	t := &tapStep{}
	if p.Grads != nil {
		t.dx = make([]float32, paddedRows(p)*size(b.in))
	}
	return t
}

// paddedRows is the number of rows of a pass in whole groups, enough for either layout.
func paddedRows(p *Pass) int { return groups(p.Rows) * kernel.Lanes }

func (t *tapStep) forward(x []float32, _ int) []float32 {
	t.x, t.pending = x, false
	return x
}

// take adds a gradient that comes from an addStep.
func (t *tapStep) take(dy []float32) {
	if !t.pending {
		copy(t.dx, dy)
		t.pending = true
		return
	}
	kernel.Axpy(1, dy, t.dx[:len(dy)])
}

func (t *tapStep) backward(dy []float32, _ int, wanted bool) []float32 {
	if !wanted {
		return nil
	}
	kernel.Axpy(1, t.dx[:len(dy)], dy)
	t.pending = false
	return dy
}

// addStep computes y = relu(x + t), with or without relu, where t is what a tapStep has
// kept: the connection of a residual network (He et al. 2016).
type addStep struct {
	tap  *tapStep
	relu bool
	y    []float32
}

func newAdd(p *Pass, b block, tap *tapStep) *addStep {
	return &addStep{tap: tap, relu: b.relu, y: make([]float32, paddedRows(p)*size(b.in))}
}

func (s *addStep) forward(x []float32, _ int) []float32 {
	y := s.y[:len(x)]
	copy(y, x)
	kernel.Axpy(1, s.tap.x, y)
	if s.relu {
		rectify(y)
	}
	return y
}

func (s *addStep) backward(dy []float32, _ int, wanted bool) []float32 {
	if !wanted {
		return nil
	}
	if s.relu {
		kernel.ReLUBackward(dy, s.y[:len(dy)])
	}
	s.tap.take(dy)
	return dy
}
