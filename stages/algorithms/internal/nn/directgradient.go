package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// directGradient computes the sums of a backward pass as they are defined.
type directGradient struct {
	*convGradient
	dw      []float32 // padded to whole tiles of channels and weights
	offsets []int32   // tapOffset of each weight, padded likewise
	packed  []float32 // the weights by input channel, in the layout of kernel.Convolution
	taps    map[span][]kernel.Tap
}

func newDirectGradient(c *convGradient) *directGradient {
	g := &directGradient{convGradient: c}
	g.dw = make([]float32, roundUp(g.out, kernel.CorrelationTile)*g.stride())
	g.offsets = make([]int32, g.stride())
	for k := range g.patch() {
		g.offsets[k] = int32(g.tapOffset(k))
	}
	return g
}

// stride is the number of elements of a row of dw.
func (g *directGradient) stride() int { return roundUp(g.patch(), kernel.CorrelationTile) }

func (g *directGradient) begin(wanted bool) {
	clear(g.dw)
	if wanted {
		g.pack()
	}
}

func (g *directGradient) weights(from, n int) {
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

func (g *directGradient) finish() {
	for c := range g.out {
		kernel.Axpy(1, g.dw[c*g.stride():c*g.stride()+g.patch()], g.convStep.dw[c*g.patch():(c+1)*g.patch()])
	}
}

// pack packs the weights for the gradient of the input in the order of its taps:
// by row of the kernel, output channel and column of the kernel.
func (g *directGradient) pack() {
	if g.packed == nil {
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
func (g *directGradient) inputTaps(cols span) []kernel.Tap {
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

func (g *directGradient) input(from, n int) {
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
