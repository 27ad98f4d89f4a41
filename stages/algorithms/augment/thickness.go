package augment

import "mars.dev/mars/stages/algorithms/internal/kernel"

// erosion is how far strokes are thinned where they would be thickened by 1: thin strokes
// would vanish otherwise.
const erosion = 0.7

// thickness makes what is bright in an image thicker or thinner: x + t·(max − x), or
// x + t·(min − x), where max and min are over the 3×3 pixels around each.
func (a *Augmenter) thickness(strength float64) {
	t := a.uniform(min(1, strength))
	if t < 0 {
		kernel.Scale(-1, a.x)
		a.dilate(float32(-erosion * t))
		kernel.Scale(-1, a.x)
		return
	}
	a.dilate(float32(t))
}

func (a *Augmenter) dilate(t float32) {
	p := &a.planes
	p.fill(a.x, 1)
	stride, n := p.stride(1), p.size(1)-2
	lines, sum := p.lines[:n], p.sum[:p.inner(1)]
	for c := range a.channels {
		plane := p.plane(c, 1)
		copy(lines, plane) // the maxima of three pixels of a line
		kernel.Maximum(lines, plane[1:n+1])
		kernel.Maximum(lines, plane[2:n+2])
		copy(sum, lines)
		kernel.Maximum(sum, lines[stride:stride+len(sum)])
		kernel.Maximum(sum, lines[2*stride:2*stride+len(sum)])
		p.blend(a.plane(a.y, c), a.plane(a.x, c), sum, t, 1)
	}
	a.swap()
}
