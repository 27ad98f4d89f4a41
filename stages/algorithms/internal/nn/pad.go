package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// padStep surrounds images with zeros, so that the convolution after it keeps their size.
// Rows are interleaved.
type padStep struct {
	channels, height, width int // of the input
	margin                  int // pixels on each side
	y, dx                   []float32
}

func newPad(p *Pass, b block) *padStep {
	s := &padStep{channels: b.in[0], height: b.in[1], width: b.in[2], margin: b.layer.Side / 2}
	s.y = make([]float32, paddedRows(p)*size(s.shape()))
	if p.Grads != nil {
		s.dx = make([]float32, paddedRows(p)*size(b.in))
	}
	return s
}

// shape is that of the padded images.
func (s *padStep) shape() []int {
	return []int{s.channels, s.height + 2*s.margin, s.width + 2*s.margin}
}

// lines calls f for each line of the first n groups of images, with the ranges of the
// line in the images and in the padded images.
func (s *padStep) lines(n int, f func(lo, hi, padded int)) {
	line, paddedLine := s.width*kernel.Lanes, (s.width+2*s.margin)*kernel.Lanes
	padded := s.margin * (paddedLine + kernel.Lanes)
	lo := 0
	for range n * s.channels {
		for range s.height {
			f(lo, lo+line, padded)
			lo, padded = lo+line, padded+paddedLine
		}
		padded += 2 * s.margin * paddedLine
	}
}

// forward writes within the margins, which stay 0.
func (s *padStep) forward(x []float32, rows int) []float32 {
	s.lines(groups(rows), func(lo, hi, padded int) { copy(s.y[padded:], x[lo:hi]) })
	return s.y[:groups(rows)*kernel.Lanes*size(s.shape())]
}

func (s *padStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if !wanted {
		return nil
	}
	s.lines(groups(rows), func(lo, hi, padded int) { copy(s.dx[lo:hi], dy[padded:]) })
	return s.dx[:groups(rows)*kernel.Lanes*s.channels*s.height*s.width]
}
