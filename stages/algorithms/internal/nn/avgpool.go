package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// avgPoolStep computes the mean of each channel of an image. Rows are interleaved.
type avgPoolStep struct {
	channels, plane int // plane: elements of a channel of a group of rows
	y, dx           []float32
}

func newAvgPool(p *Pass, b block) *avgPoolStep {
	s := &avgPoolStep{channels: b.in[0], plane: b.in[1] * b.in[2] * kernel.Lanes}
	s.y = make([]float32, paddedRows(p)*s.channels)
	if p.Grads != nil {
		s.dx = make([]float32, groups(p.Rows)*s.channels*s.plane)
	}
	return s
}

func (s *avgPoolStep) forward(x []float32, rows int) []float32 {
	y := s.y[:groups(rows)*s.channels*kernel.Lanes]
	clear(y)
	for c := range groups(rows) * s.channels {
		kernel.PixelSums(x[c*s.plane:(c+1)*s.plane], pixel(y, c))
	}
	kernel.Scale(float32(kernel.Lanes)/float32(s.plane), y)
	return y
}

func (s *avgPoolStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if !wanted {
		return nil
	}
	kernel.Scale(float32(kernel.Lanes)/float32(s.plane), dy)
	for c := range groups(rows) * s.channels {
		plane := s.dx[c*s.plane : (c+1)*s.plane]
		for at := 0; at < len(plane); at += kernel.Lanes {
			copy(plane[at:], pixel(dy, c)[:])
		}
	}
	return s.dx[:groups(rows)*s.channels*s.plane]
}

// pixel is pixel i of x.
func pixel(x []float32, i int) *kernel.Pixel {
	return (*kernel.Pixel)(x[i*kernel.Lanes : (i+1)*kernel.Lanes])
}
