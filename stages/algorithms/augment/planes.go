package augment

import "mars.dev/mars/stages/algorithms/internal/kernel"

// planes are the channels of an image, each surrounded by a margin in which it goes on as
// at its border. A neighbour of every pixel at once is then a slice.
type planes struct {
	channels, height, width int
	padded                  []float32
	sum, lines              []float32 // scratch of a plane's size
}

// maxMargin is the margin that the largest filter needs.
const maxMargin = maxFilter / 2

func newPlanes(channels, height, width int) planes {
	p := planes{channels: channels, height: height, width: width}
	p.padded = make([]float32, channels*p.size(maxMargin))
	p.sum, p.lines = make([]float32, p.size(maxMargin)), make([]float32, p.size(maxMargin))
	return p
}

func (p *planes) stride(margin int) int { return p.width + 2*margin }

// size is the number of elements of a padded plane.
func (p *planes) size(margin int) int { return (p.height + 2*margin) * p.stride(margin) }

// plane is padded channel c.
func (p *planes) plane(c, margin int) []float32 {
	n := p.size(margin)
	return p.padded[c*n : (c+1)*n]
}

// fill pads the image x.
func (p *planes) fill(x []float32, margin int) {
	for c := range p.channels {
		p.fillPlane(p.plane(c, margin), x[c*p.height*p.width:(c+1)*p.height*p.width], margin)
	}
}

func (p *planes) fillPlane(padded, x []float32, margin int) {
	stride := p.stride(margin)
	for r := range p.height {
		line := padded[(r+margin)*stride : (r+margin+1)*stride]
		copy(line[margin:], x[r*p.width:(r+1)*p.width])
		first, last := line[margin], line[margin+p.width-1]
		for i := range margin {
			line[i], line[margin+p.width+i] = first, last
		}
	}
	upper, lower := padded[margin*stride:(margin+1)*stride], padded[(margin+p.height-1)*stride:(margin+p.height)*stride]
	for r := range margin {
		copy(padded[r*stride:], upper)
		copy(padded[(margin+p.height+r)*stride:], lower)
	}
}

// inner is the number of elements from a plane's first pixel to its last, if lines are as
// long as padded ones.
func (p *planes) inner(margin int) int { return (p.height-1)*p.stride(margin) + p.width }

// blend writes to y, line by line, (1−t)·x + t·new, where new has padded lines.
func (p *planes) blend(y, x, new []float32, t float32, margin int) {
	stride := p.stride(margin)
	for r := range p.height {
		lo, hi := r*p.width, (r+1)*p.width
		kernel.Lerp(y[lo:hi], x[lo:hi], new[r*stride:r*stride+p.width], t)
	}
}
