package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// layoutStep interleaves groups of kernel.Lanes rows, the layout of convolutions, or undoes
// that.
type layoutStep struct {
	width      int // of a row
	interleave bool
	y, dx      []float32
}

func newLayout(p *Pass, shape []int, interleave bool) *layoutStep {
	s := &layoutStep{width: size(shape), interleave: interleave}
	rows := groups(p.Rows) * kernel.Lanes // enough for either layout
	s.y = make([]float32, rows*s.width)
	if p.Grads != nil {
		s.dx = make([]float32, rows*s.width)
	}
	return s
}

// groups is the number of groups of interleaved rows.
func groups(rows int) int { return (rows + kernel.Lanes - 1) / kernel.Lanes }

func (s *layoutStep) forward(x []float32, rows int) []float32 {
	return s.convert(s.y, x, rows, s.interleave)
}

func (s *layoutStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if !wanted {
		return nil
	}
	return s.convert(s.dx, dy, rows, !s.interleave)
}

func (s *layoutStep) convert(to, from []float32, rows int, interleave bool) []float32 {
	group := kernel.Lanes * s.width
	for g := range groups(rows) {
		n := min(kernel.Lanes, rows-g*kernel.Lanes)
		single := g * group
		if interleave {
			kernel.Interleave(to[g*group:(g+1)*group], from[single:single+n*s.width], n, s.width)
		} else {
			kernel.Deinterleave(to[single:single+n*s.width], from[g*group:(g+1)*group], n, s.width)
		}
	}
	if interleave {
		return to[:groups(rows)*group]
	}
	return to[:rows*s.width]
}
