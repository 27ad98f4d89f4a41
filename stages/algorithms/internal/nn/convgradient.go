package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// convGradient is the backward pass of a convStep. It holds the gradient before pooling
// of a few groups at a time. Each line of it has a pixel of zeros on both sides, so that
// the gradient of two neighbouring pixels of the input can be computed at once, though
// one of them may need a pixel beyond the output.
type convGradient struct {
	*convStep
	full []float32 // groups×channels×fullHeight×(fullWidth+2), from index lead on
	lead int       // elements before the first line: a kernel's corner may lie there
	dx   []float32
	sums []float32 // out×Lanes: db by image of a group
	products
}

// products are the sums over pixels that take the time of a backward pass.
type products interface {
	// begin clears the gradient of the weights and, if that of the input is wanted,
	// brings the weights up to date.
	begin(wanted bool)
	// weights adds the gradient of the weights from n groups of rows, from group from on.
	weights(from, n int)
	// input sets dx to the gradient of n groups of rows of the input, for which weights
	// was called just before.
	input(from, n int)
	// finish adds the gradient of the weights to that of the step.
	finish()
}

// gradientGroups is the number of groups of rows that go back at once: the number of
// vectors in a tile of kernel.Convolution.
const gradientGroups = 3

// lineBytes bounds the memory of a tile's lines of the gradient, so that they stay in the
// first-level cache.
const lineBytes = 16 << 10

// A span is a range of the kernel's rows or columns.
type span struct{ lo, hi int } // [lo, hi)

func newConvGradient(s *convStep, rows int) *convGradient {
	g := &convGradient{convStep: s}
	g.lead = (s.side-1)*g.line() + s.side*kernel.Lanes
	g.full = make([]float32, g.lead+gradientGroups*g.group())
	g.sums = make([]float32, s.out*kernel.Lanes)
	if s.winograd != nil {
		g.products = newWinogradGradient(g)
	} else {
		g.products = newDirectGradient(g)
	}
	return g
}

// line, channel and group are the numbers of elements of each in full.
func (g *convGradient) line() int    { return (g.fullWidth + 2) * kernel.Lanes }
func (g *convGradient) channel() int { return g.fullHeight * g.line() }
func (g *convGradient) group() int   { return roundUp(g.out, kernel.CorrelationTile) * g.channel() }

func (g *convGradient) backward(dy []float32, groups int, wanted bool) []float32 {
	if wanted && g.dx == nil {
		g.dx = make([]float32, len(g.y)/g.outGroup()*g.inGroup())
	}
	g.begin(wanted)
	clear(g.sums)
	for from := 0; from < groups; from += gradientGroups {
		n := min(gradientGroups, groups-from)
		for i := range n {
			g.unpool(dy, from+i, g.full[g.lead+i*g.group():])
		}
		g.weights(from, n)
		if wanted {
			g.input(from, n)
		}
	}
	g.finish()
	for c := range g.db {
		for _, sum := range g.sums[c*kernel.Lanes : (c+1)*kernel.Lanes] {
			g.db[c] += sum
		}
	}
	if !wanted {
		return nil
	}
	return g.dx[:groups*g.inGroup()]
}

// unpool writes the gradient before pooling of one group to full: dy at the argmax of each
// window if the ReLU passes y.
func (g *convGradient) unpool(dy []float32, group int, full []float32) {
	line := g.fullWidth * kernel.Lanes
	for c := range g.out {
		sums := g.sums[c*kernel.Lanes : (c+1)*kernel.Lanes]
		for at := range g.outHeight {
			from, to := g.outLine(group, c, at)
			if !g.pool {
				g.spread(full[c*g.channel()+at*g.line()+kernel.Lanes:], dy[from:to], g.y[from:to], sums)
				continue
			}
			upper := full[c*g.channel()+2*at*g.line()+kernel.Lanes:]
			lower := upper[g.line():]
			kernel.MaxPoolBackward(upper[:line], lower[:line], dy[from:to], g.y[from:to], g.argmax[from:to], g.floor, sums)
		}
	}
}

// spread is unpool for one line without pooling.
func (g *convGradient) spread(full, dy, y, sums []float32) {
	full = full[:len(dy)]
	copy(full, dy)
	if g.floor == 0 {
		kernel.ReLUBackward(full, y)
	}
	kernel.PixelSums(full, (*kernel.Pixel)(sums))
}

// colSpan is the columns of the kernel through which the pixels of a vector at column at
// of the input meet the output.
func (g *convGradient) colSpan(at int) span {
	pixels := vectorWidth(g.width) / kernel.Lanes
	return span{max(0, at-g.fullWidth+1), min(g.side, at+pixels)}
}
