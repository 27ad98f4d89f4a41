package nn

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// NormEpsilon is added to variances. It is PyTorch's default.
const NormEpsilon = 1e-5

// groupNormStep computes y = relu(γ (x − μ)/σ + β), with or without relu, where μ and σ²
// are the mean and the variance of a group of channels of one image (Wu & He 2018). γ and β
// have a value a channel. Rows are interleaved. Nothing depends on other rows, so training
// and use compute the same.
//
// With x̂ = (x − μ)/σ and d = γ dy, means taken over the group:
//
//	dx = (d − mean(d) − x̂ mean(d x̂))/σ,   dγ = Σ dy x̂,   dβ = Σ dy.
type groupNormStep struct {
	channels, groups int
	plane            int     // elements of a channel of a group of rows
	floor            float32 // 0 with a ReLU, −Inf without
	gamma, beta      []float32
	dgamma, dbeta    []float32
	x, y, dx         []float32
	mean, inverse    []kernel.Pixel // μ and 1/σ by group of rows and group of channels
	products, sums   []kernel.Pixel // scratch of backward: Σ dy (x − μ) and Σ dy by channel
	// What kernel's functions read. A local variable would be allocated.
	scale, slope, offset, squares kernel.Pixel
}

func newGroupNorm(p *Pass, b block) *groupNormStep {
	s := &groupNormStep{channels: b.layer.In, groups: b.layer.Groups}
	s.plane = b.in[1] * b.in[2] * kernel.Lanes
	if !b.relu {
		s.floor = float32(math.Inf(-1))
	}
	s.gamma, s.beta = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	rows := groups(p.Rows)
	s.y = make([]float32, rows*s.channels*s.plane)
	s.mean, s.inverse = make([]kernel.Pixel, rows*s.groups), make([]kernel.Pixel, rows*s.groups)
	if p.Grads != nil {
		s.dgamma, s.dbeta = b.weight.of(p.Grads), b.bias.of(p.Grads)
		s.dx = make([]float32, len(s.y))
		s.products, s.sums = make([]kernel.Pixel, s.channels), make([]kernel.Pixel, s.channels)
	}
	return s
}

// each is the number of channels in a group.
func (s *groupNormStep) each() int { return s.channels / s.groups }

// channel is the range of channel c of a group of rows.
func (s *groupNormStep) channel(rows, c int) (lo, hi int) {
	lo = (rows*s.channels + c) * s.plane
	return lo, lo + s.plane
}

func (s *groupNormStep) forward(x []float32, rows int) []float32 {
	s.x = x
	for r := range groups(rows) {
		for k := range s.groups {
			s.forwardGroup(r, k)
		}
	}
	return s.y[:groups(rows)*s.channels*s.plane]
}

// forwardGroup computes group k of the channels of a group of rows.
func (s *groupNormStep) forwardGroup(rows, k int) {
	at := rows*s.groups + k
	s.measure(rows, k, &s.mean[at], &s.inverse[at])
	for c := k * s.each(); c < (k+1)*s.each(); c++ {
		for i, v := range s.inverse[at] {
			s.scale[i], s.offset[i] = v*s.gamma[c], s.beta[c]
		}
		lo, hi := s.channel(rows, c)
		kernel.Normalise(s.y[lo:hi], s.x[lo:hi], &s.mean[at], &s.scale, &s.offset, s.floor)
	}
}

// measure sets the mean and the inverse of the standard deviation of a group.
func (s *groupNormStep) measure(rows, k int, mean, inverse *kernel.Pixel) {
	lo, _ := s.channel(rows, k*s.each())
	x := s.x[lo : lo+s.each()*s.plane]
	*mean = kernel.Pixel{}
	kernel.PixelSums(x, mean)
	n := float32(len(x) / kernel.Lanes)
	for i := range mean {
		mean[i] /= n
	}
	s.squares = kernel.Pixel{}
	kernel.PixelSquares(x, mean, &s.squares)
	for i, v := range s.squares {
		inverse[i] = float32(1 / math.Sqrt(float64(v/n)+NormEpsilon))
	}
}

func (s *groupNormStep) backward(dy []float32, rows int, wanted bool) []float32 {
	for r := range groups(rows) {
		for k := range s.groups {
			s.backwardGroup(dy, r, k, wanted)
		}
	}
	if !wanted {
		return nil
	}
	return s.dx[:groups(rows)*s.channels*s.plane]
}

func (s *groupNormStep) backwardGroup(dy []float32, rows, k int, wanted bool) {
	at := rows*s.groups + k
	for c := k * s.each(); c < (k+1)*s.each(); c++ {
		s.sums[c], s.products[c] = kernel.Pixel{}, kernel.Pixel{}
		lo, hi := s.channel(rows, c)
		kernel.NormaliseSums(dy[lo:hi], s.y[lo:hi], s.x[lo:hi], &s.mean[at], s.floor, &s.sums[c], &s.products[c])
		for i, v := range s.inverse[at] {
			s.dgamma[c] += s.products[c][i] * v
			s.dbeta[c] += s.sums[c][i]
		}
	}
	if wanted {
		s.inputGradient(dy, rows, k)
	}
}

// inputGradient writes the gradient of a group to dx: dy·γ/σ + (x − μ)·slope + offset.
func (s *groupNormStep) inputGradient(dy []float32, rows, k int) {
	at := rows*s.groups + k
	n := float32(s.each() * s.plane / kernel.Lanes)
	for i, v := range s.inverse[at] {
		var sum, product float32 // of d and of d·(x − μ)
		for c := k * s.each(); c < (k+1)*s.each(); c++ {
			sum += s.gamma[c] * s.sums[c][i]
			product += s.gamma[c] * s.products[c][i]
		}
		s.slope[i], s.offset[i] = -v*v*v*product/n, -v*sum/n
	}
	for c := k * s.each(); c < (k+1)*s.each(); c++ {
		for i, v := range s.inverse[at] {
			s.scale[i] = v * s.gamma[c]
		}
		lo, hi := s.channel(rows, c)
		kernel.NormaliseBackward(s.dx[lo:hi], dy[lo:hi], s.x[lo:hi], &s.mean[at], &s.scale, &s.slope, &s.offset)
	}
}
