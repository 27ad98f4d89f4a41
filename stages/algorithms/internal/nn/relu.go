package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// reluStep computes y = max(x, 0). Only a ReLU that is not part of another layer's block
// needs it.
type reluStep struct {
	width int
	y     []float32
}

func newReLU(p *Pass, b block) *reluStep {
	return &reluStep{width: size(b.in), y: make([]float32, p.Rows*size(b.in))}
}

func (s *reluStep) forward(x []float32, rows int) []float32 {
	y := s.y[:rows*s.width]
	copy(y, x)
	rectify(y)
	return y
}

func (s *reluStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if wanted {
		kernel.ReLUBackward(dy, s.y[:rows*s.width])
	}
	return dy
}

// rectify replaces negative values by 0. The values are their own ReLU mask.
func rectify(y []float32) { kernel.ReLUBackward(y, y) }
