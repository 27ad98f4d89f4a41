package augment

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// cells are the sides of the cells of a texture in pixels.
var cells = []int{1, 2, 4, 7, 14}

// grid is a coarse texture and what enlarges it to an image.
type grid struct {
	shared, own []float32 // normal numbers of all channels, and of one
	wide        []float32 // own with lines as long as the image's
	line        []float32
}

func newGrid(channels, height, width int) grid {
	n := height * width
	return grid{make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, width)}
}

// texture adds smooth noise: normal numbers on a coarse grid, enlarged bilinearly, times up
// to strength times the image's standard deviation. In colour most of it is common to the
// channels.
func (a *Augmenter) texture(strength float64) {
	cell := cells[a.rng.IntN(len(cells))]
	height, width := max(2, a.height/cell), max(2, a.width/cell)
	amplitude := float32(strength*a.rng.Float64()) * deviation(a.x)
	own, shared := a.grid.own[:height*width], a.grid.shared[:height*width]
	if a.channels > 1 {
		a.normal(shared, 1)
	}
	for c := range a.channels {
		if a.channels == 1 {
			a.normal(own, 1)
		} else {
			a.normal(own, 1/math.Sqrt(5))
			kernel.Axpy(float32(2/math.Sqrt(5)), shared, own)
		}
		a.grid.enlarge(a.plane(a.x, c), height, width, a.height, a.width, amplitude)
	}
}

// normal draws normal numbers.
func (a *Augmenter) normal(x []float32, deviation float64) {
	for i := range x {
		x[i] = float32(deviation * a.rng.NormFloat64())
	}
}

// enlarge adds amplitude times the height×width grid own, enlarged, to a plane.
func (g *grid) enlarge(plane []float32, height, width, toHeight, toWidth int, amplitude float32) {
	if height == toHeight && width == toWidth {
		kernel.Axpy(amplitude, g.own[:len(plane)], plane)
		return
	}
	for c := range toWidth {
		column, way := between(source(c, width, toWidth), float32(width-1))
		for r := range height {
			two := g.own[r*width+column : r*width+column+2]
			g.wide[r*toWidth+c] = two[0] + way*(two[1]-two[0])
		}
	}
	for r := range toHeight {
		line, way := between(source(r, height, toHeight), float32(height-1))
		upper := g.wide[line*toWidth : (line+1)*toWidth]
		lower := g.wide[(line+1)*toWidth : (line+2)*toWidth]
		kernel.Lerp(g.line, upper, lower, way)
		kernel.Axpy(amplitude, g.line, plane[r*toWidth:(r+1)*toWidth])
	}
}

// source is where pixel i of n enlarged ones lies among the few it is made of.
func source(i, few, n int) float32 { return (float32(i)+0.5)*float32(few)/float32(n) - 0.5 }

// deviation is the standard deviation of x.
func deviation(x []float32) float32 {
	n := float32(len(x))
	mean := kernel.Sum(x) / n
	return float32(math.Sqrt(float64(max(0, kernel.Dot(x, x)/n-mean*mean))))
}
