package nn

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// linearStep computes y = relu(x W + b), with or without b and relu.
type linearStep struct {
	in, out        int
	relu           bool
	w, b           []float32 // in×out, out
	dw, db         []float32
	x, y, dx       []float32
	weights, dgrad blas32.General
}

func newLinear(p *Pass, b block) *linearStep {
	s := &linearStep{in: b.layer.In, out: b.layer.Out, relu: b.relu}
	s.w, s.b = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	s.weights = matrix(s.w, s.in, s.out)
	s.y = make([]float32, p.Rows*s.out)
	if p.Grads != nil {
		s.dw, s.db = b.weight.of(p.Grads), b.bias.of(p.Grads)
		s.dgrad = matrix(s.dw, s.in, s.out)
		s.dx = make([]float32, p.Rows*s.in)
	}
	return s
}

func (s *linearStep) forward(x []float32, rows int) []float32 {
	s.x = x
	y := s.y[:rows*s.out]
	kernel.Gemm(false, false, 1, matrix(x, rows, s.in), s.weights, 0, matrix(y, rows, s.out))
	switch {
	case s.relu && len(s.b) > 0:
		kernel.AddBiasReLU(y, rows, s.out, s.b)
	case s.relu:
		rectify(y)
	case len(s.b) > 0:
		kernel.AddBias(y, rows, s.out, s.b)
	}
	return y
}

// backward masks dy by the ReLU. Then dW += xᵀ dy, db += column sums of dy, dx = dy Wᵀ.
func (s *linearStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if s.relu {
		kernel.ReLUBackward(dy, s.y[:rows*s.out])
	}
	dyMatrix := matrix(dy, rows, s.out)
	kernel.Gemm(true, false, 1, matrix(s.x, rows, s.in), dyMatrix, 1, s.dgrad)
	if len(s.b) > 0 {
		kernel.ColumnSums(s.db, dy, rows, s.out)
	}
	if !wanted {
		return nil
	}
	dx := s.dx[:rows*s.in]
	kernel.Gemm(false, true, 1, dyMatrix, s.weights, 0, matrix(dx, rows, s.in))
	return dx
}

// matrix views the values as rows×cols.
func matrix(values []float32, rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: values}
}
