package nn

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// layerNormStep computes y = relu(γ (x − μ)/σ + β), with or without relu, where μ and σ²
// are the mean and the variance of a row's columns (Ba, Kiros & Hinton 2016). γ and β have
// a value a column. Its gradient is that of groupNormStep.
type layerNormStep struct {
	width         int
	relu          bool
	gamma, beta   []float32
	dgamma, dbeta []float32
	normal, y     []float32 // x̂ = (x − μ)/σ
	inverse       []float32 // 1/σ by row
}

func newLayerNorm(p *Pass, b block) *layerNormStep {
	s := &layerNormStep{width: b.layer.In, relu: b.relu}
	s.gamma, s.beta = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	s.normal, s.y = make([]float32, p.Rows*s.width), make([]float32, p.Rows*s.width)
	s.inverse = make([]float32, p.Rows)
	if p.Grads != nil {
		s.dgamma, s.dbeta = b.weight.of(p.Grads), b.bias.of(p.Grads)
	}
	return s
}

func (s *layerNormStep) forward(x []float32, rows int) []float32 {
	n := float32(s.width)
	y := s.y[:rows*s.width]
	copy(s.normal, x)
	for i := range rows {
		row := s.normal[i*s.width : (i+1)*s.width]
		kernel.Affine(row, 1, -kernel.Sum(row)/n)
		s.inverse[i] = float32(1 / math.Sqrt(float64(kernel.Dot(row, row)/n)+NormEpsilon))
		kernel.Scale(s.inverse[i], row)
		out := y[i*s.width : (i+1)*s.width]
		copy(out, row)
		kernel.Mul(out, s.gamma)
	}
	if s.relu {
		kernel.AddBiasReLU(y, rows, s.width, s.beta)
	} else {
		kernel.AddBias(y, rows, s.width, s.beta)
	}
	return y
}

func (s *layerNormStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if s.relu {
		kernel.ReLUBackward(dy, s.y[:rows*s.width])
	}
	kernel.ColumnSums(s.dbeta, dy, rows, s.width)
	n := float32(s.width)
	for i := range rows {
		d, normal := dy[i*s.width:(i+1)*s.width], s.normal[i*s.width:(i+1)*s.width]
		kernel.MulAdd(s.dgamma, d, normal)
		if !wanted {
			continue
		}
		kernel.Mul(d, s.gamma)
		sum, product := kernel.Sum(d), kernel.Dot(d, normal)
		kernel.Axpy(-product/n, normal, d)
		kernel.Affine(d, s.inverse[i], -s.inverse[i]*sum/n)
	}
	if !wanted {
		return nil
	}
	return dy
}
