package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// convGradient is the backward pass of a convStep. It holds the gradient before pooling
// of a few groups at a time. Each line of it has a pixel of zeros on both sides, so that
// the gradient of two neighbouring pixels of the input can be computed at once, though
// one of them may need a pixel beyond the output.
type convGradient struct {
	*convStep
	full    []float32 // groups×channels×fullHeight×(fullWidth+2), from index lead on
	lead    int       // elements before the first line: a kernel's corner may lie there
	dx      []float32
	sums    []float32 // out×Lanes: db by image of a group
	dw      []float32 // padded to whole tiles of channels and weights
	offsets []int32   // tapOffset of each weight, padded likewise
	packed  []float32 // the weights by input channel, in the layout of kernel.Convolution
	taps    map[span][]kernel.Tap
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
	g.dw = make([]float32, roundUp(s.out, kernel.CorrelationTile)*g.stride())
	g.offsets = make([]int32, g.stride())
	for k := range s.patch() {
		g.offsets[k] = int32(s.tapOffset(k))
	}
	return g
}

// line, channel and group are the numbers of elements of each in full.
func (g *convGradient) line() int    { return (g.fullWidth + 2) * kernel.Lanes }
func (g *convGradient) channel() int { return g.fullHeight * g.line() }
func (g *convGradient) group() int   { return roundUp(g.out, kernel.CorrelationTile) * g.channel() }

// stride is the number of elements of a row of dw.
func (g *convGradient) stride() int { return roundUp(g.patch(), kernel.CorrelationTile) }

func (g *convGradient) backward(dy []float32, groups int, wanted bool) []float32 {
	if wanted {
		g.prepareInput()
	}
	clear(g.dw)
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
	for c := range g.out {
		kernel.Axpy(1, g.dw[c*g.stride():c*g.stride()+g.patch()], g.convStep.dw[c*g.patch():(c+1)*g.patch()])
	}
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
	for i, d := range dy {
		if y[i] <= g.floor {
			d = 0
		}
		full[i] = d
		sums[i%kernel.Lanes] += d
	}
}

// weights adds the gradient of the weights from n groups of rows, from group from on.
func (g *convGradient) weights(from, n int) {
	lines := max(1, lineBytes/4/(kernel.CorrelationTile*g.line()))
	c := kernel.Correlation{
		Step: g.stride(), DYChannel: g.channel(), DYLine: g.line(), DYGroup: g.group(),
		XLine: g.width * kernel.Lanes, XGroup: g.inGroup(), Cols: g.fullWidth * kernel.Lanes, Groups: n,
	}
	for at := 0; at < g.fullHeight; at += lines {
		c.Lines = min(lines, g.fullHeight-at)
		x := g.x[from*g.inGroup()+at*c.XLine:]
		for channel := 0; channel < g.out; channel += kernel.CorrelationTile {
			dy := g.full[g.lead+channel*g.channel()+at*g.line()+kernel.Lanes:]
			for k := 0; k < g.stride(); k += kernel.CorrelationTile {
				c.AddTo(g.dw[channel*g.stride()+k:], dy, x, g.offsets[k:])
			}
		}
	}
}

// prepareInput packs the weights for the gradient of the input in the order of its taps:
// by row of the kernel, output channel and column of the kernel.
func (g *convGradient) prepareInput() {
	if g.dx == nil {
		g.dx = make([]float32, len(g.y)/g.outGroup()*g.inGroup())
		g.packed = make([]float32, roundUp(g.in, kernel.WeightBlock)*g.out*g.side*g.side)
		g.taps = map[span][]kernel.Tap{}
		for at := 0; at < g.width; at += vectorWidth(g.width) / kernel.Lanes {
			if cols := g.colSpan(at); g.taps[cols] == nil {
				g.taps[cols] = g.inputTaps(cols)
			}
		}
	}
	block := g.out * g.side * g.side * kernel.WeightBlock
	i := 0
	for c := range g.out {
		for channel := range g.in {
			to := g.packed[channel/kernel.WeightBlock*block+channel%kernel.WeightBlock:]
			for row := range g.side {
				for col := range g.side {
					to[((row*g.out+c)*g.side+col)*kernel.WeightBlock] = g.w[i]
					i++
				}
			}
		}
	}
}

// inputTaps lists the elements of the kernel in the given columns. Pixel (i, j) of the
// input meets pixel (i−row, j−col) of the output. Offsets count from the first pixel of the
// output that any tap reads.
func (g *convGradient) inputTaps(cols span) []kernel.Tap {
	var taps []kernel.Tap
	for row := range g.side {
		for c := range g.out {
			for col := cols.lo; col < cols.hi; col++ {
				taps = append(taps, kernel.Tap{
					Weight: int32(((row*g.out+c)*g.side + col) * kernel.WeightBlock),
					Input:  int32(c*g.channel() + (g.side-1-row)*g.line() + (g.side-1-col)*kernel.Lanes),
				})
			}
		}
	}
	return taps
}

// colSpan is the columns of the kernel through which the pixels of a vector at column at
// of the input meet the output.
func (g *convGradient) colSpan(at int) span {
	pixels := vectorWidth(g.width) / kernel.Lanes
	return span{max(0, at-g.fullWidth+1), min(g.side, at+pixels)}
}

// input computes the gradient of n groups of rows of the input, from group from on.
func (g *convGradient) input(from, n int) {
	width := vectorWidth(g.width)
	c := kernel.Convolution{
		Channels: g.in, Weights: g.packed, Block: g.out * g.side * g.side * kernel.WeightBlock,
		Vectors: n, Width: width, XStep: g.group(), YStep: g.inGroup(), YChannel: g.height * g.width * kernel.Lanes,
	}
	dx := g.dx[from*g.inGroup() : (from+n)*g.inGroup()]
	for line := range g.height {
		rows := span{max(0, line-g.fullHeight+1), min(g.side, line+1)}
		for at := 0; at < g.width; at += width / kernel.Lanes {
			cols := g.colSpan(at)
			each := g.out * (cols.hi - cols.lo) // taps in a row of the kernel
			c.Taps = g.taps[cols][rows.lo*each : rows.hi*each]
			corner := g.lead + (line-g.side+1)*g.line() + (at+2-g.side)*kernel.Lanes
			c.Into(dx[(line*g.width+at)*kernel.Lanes:], g.full, corner)
		}
	}
}
