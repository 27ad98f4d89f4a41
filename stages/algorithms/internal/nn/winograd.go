package nn

import "mars.dev/mars/stages/algorithms/internal/kernel"

// winograd computes a convolution with kernels of three or five rows by Winograd's algorithm
// along columns: four or two lines of the output at a time need six convolutions along lines
// instead of twelve or ten. There are six of everything, called points.
type winograd struct {
	*convStep
	factors [][]float32  // of the kernel's rows in each point
	byRow   []float32    // the weights by row of the kernel, in the layout of kernel.Convolution
	packed  []float32    // and by point
	taps    []kernel.Tap // by input channel and column of the kernel
	x       []float32    // points×in×width: the input's lines, transformed
	y       []float32    // points×out×fullWidth: what is transformed to the output's lines
	inLine  int          // elements of a line of the input, and of the output before pooling
	outLine int
}

// winogradChannels is how many input channels it takes for fewer products to be worth the
// transforms.
const winogradChannels = 8

// newWinograd returns nil for convolutions that are faster, or only possible, without.
func newWinograd(s *convStep) *winograd {
	n := kernel.WinogradLines(s.side)
	if n == 0 || s.fullHeight%n != 0 || s.in < winogradChannels {
		return nil
	}
	s.together = n
	w := &winograd{convStep: s, factors: kernel.WinogradWeights(s.side), inLine: s.width * kernel.Lanes, outLine: s.fullWidth * kernel.Lanes}
	size := roundUp(s.out, kernel.WeightBlock) * s.in * s.side
	w.byRow, w.packed = make([]float32, s.side*size), make([]float32, kernel.WinogradPoints*size)
	w.x, w.y = make([]float32, kernel.WinogradPoints*s.in*w.inLine), make([]float32, kernel.WinogradPoints*s.out*w.outLine)
	for channel := range s.in {
		for col := range s.side {
			w.taps = append(w.taps, kernel.Tap{Weight: int32(len(w.taps) * kernel.WeightBlock), Input: int32(channel*w.inLine + col*kernel.Lanes)})
		}
	}
	return w
}

// pack brings the weights up to date.
func (w *winograd) pack() {
	size, i := len(w.byRow)/w.side, 0
	for c := range w.out {
		for channel := range w.in {
			for row := range w.side {
				to := w.byRow[row*size+w.weightAt(c, channel):]
				for col := range w.side {
					to[col*kernel.WeightBlock] = w.w[i]
					i++
				}
			}
		}
	}
	w.weightsByPoint(w.packed, w.byRow)
}

// weightAt is the index of the first column of a kernel in a row or a point of packed weights.
func (w *winograd) weightAt(c, channel int) int {
	return (c/kernel.WeightBlock*w.in+channel)*w.side*kernel.WeightBlock + c%kernel.WeightBlock
}

// weightsByPoint sets points to G times rows.
func (w *winograd) weightsByPoint(points, rows []float32) {
	size := len(rows) / w.side
	clear(points)
	for p, factors := range w.factors {
		for row, f := range factors {
			if f != 0 {
				kernel.Axpy(f, rows[row*size:(row+1)*size], points[p*size:(p+1)*size])
			}
		}
	}
}

// gradientByRow adds to rows Gᵀ times points.
func (w *winograd) gradientByRow(rows, points []float32) {
	size := len(rows) / w.side
	for p, factors := range w.factors {
		for row, f := range factors {
			if f != 0 {
				kernel.Axpy(f, points[p*size:(p+1)*size], rows[row*size:(row+1)*size])
			}
		}
	}
}

// forwardLines computes the next lines of a group's output before pooling, from line at on.
func (w *winograd) forwardLines(x []float32, at int) {
	width := vectorWidth(w.fullWidth)
	c := kernel.Convolution{
		Channels: w.out, Taps: w.taps, Block: w.in * w.side * kernel.WeightBlock,
		Width: width, Vectors: w.outLine / width, XStep: width, YStep: width, YChannel: w.outLine,
	}
	kernel.WinogradInput(w.x, x[at*w.inLine:], kernel.Lines{Length: w.inLine, Blocks: w.in,
		DstLine: w.in * w.inLine, DstBlock: w.inLine, SrcLine: w.inLine, SrcBlock: w.height * w.inLine})
	size := len(w.packed) / kernel.WinogradPoints
	for p := range kernel.WinogradPoints {
		c.Weights = w.packed[p*size : (p+1)*size]
		c.Into(w.y[p*w.out*w.outLine:], w.x[p*w.in*w.inLine:], 0)
	}
	kernel.WinogradOutput(w.together, w.lines, w.y, kernel.Lines{Length: w.outLine, Blocks: w.out,
		DstLine: w.outLine, DstBlock: w.together * w.outLine, SrcLine: w.out * w.outLine, SrcBlock: w.outLine})
}

// winogradGradient is the backward pass of winograd. It holds the transformed lines of a few
// groups at a time, as convGradient holds theirs.
type winogradGradient struct {
	*convGradient
	tiles   int       // of lines of the output that are computed together
	lead    int       // elements of dy before the first line
	dy      []float32 // points×groups×channels×tiles×(fullWidth+2), from index lead on
	x       []float32 // points×groups×in×tiles×width; then its gradient
	offsets []int32   // of each input channel and column of the kernel in x
	dw      []float32 // by point, padded to whole tiles
	byRow   []float32 // and by row of the kernel
	byInput []float32 // the weights by row and input channel, in the layout of kernel.Convolution
	packed  []float32 // and by point
	taps    map[span][]kernel.Tap
}

func newWinogradGradient(g *convGradient) *winogradGradient {
	w := &winogradGradient{convGradient: g, tiles: g.fullHeight / g.together, lead: g.side * kernel.Lanes}
	w.dy = make([]float32, w.lead+kernel.WinogradPoints*gradientGroups*w.dyGroup())
	w.x = make([]float32, kernel.WinogradPoints*gradientGroups*w.xGroup())
	w.offsets = make([]int32, w.stride())
	for channel := range g.in {
		for col := range g.side {
			w.offsets[channel*g.side+col] = int32(channel*w.tiles*g.width*kernel.Lanes + col*kernel.Lanes)
		}
	}
	size := roundUp(g.out, kernel.CorrelationTile) * w.stride()
	w.dw, w.byRow = make([]float32, kernel.WinogradPoints*size), make([]float32, g.side*size)
	return w
}

func (w *winogradGradient) dyChannel() int { return w.tiles * w.line() }
func (w *winogradGradient) dyGroup() int {
	return roundUp(w.out, kernel.CorrelationTile) * w.dyChannel()
}
func (w *winogradGradient) xLine() int  { return w.width * kernel.Lanes }
func (w *winogradGradient) xGroup() int { return w.in * w.tiles * w.xLine() }

// stride is the number of elements of a row of dw.
func (w *winogradGradient) stride() int { return roundUp(w.in*w.side, kernel.CorrelationTile) }

func (w *winogradGradient) begin(wanted bool) {
	clear(w.dw)
	if wanted {
		w.pack()
	}
}

func (w *winogradGradient) weights(from, n int) {
	kernel.WinogradOutputBack(w.together, w.dy[w.lead:], w.full[w.convGradient.lead:], kernel.Lines{Length: w.line(), Blocks: n * w.dyGroup() / w.line(),
		DstLine: gradientGroups * w.dyGroup(), DstBlock: w.line(), SrcLine: w.line(), SrcBlock: w.together * w.line()})
	w.eachTile(from, n, func(x, lines []float32, steps kernel.Lines) {
		steps.DstLine, steps.SrcLine = steps.SrcLine, steps.DstLine
		steps.DstBlock, steps.SrcBlock = steps.SrcBlock, steps.DstBlock
		kernel.WinogradInput(lines, x, steps)
	}, w.convStep.x)
	lines := max(1, lineBytes/4/(kernel.CorrelationTile*w.line()))
	c := kernel.Correlation{
		Step: w.stride(), DYChannel: w.dyChannel(), DYLine: w.line(), DYGroup: w.dyGroup(),
		XLine: w.xLine(), XGroup: w.xGroup(), Cols: w.fullWidth * kernel.Lanes, Groups: n,
	}
	size := len(w.dw) / kernel.WinogradPoints
	for p := range kernel.WinogradPoints {
		for at := 0; at < w.tiles; at += lines {
			c.Lines = min(lines, w.tiles-at)
			x := w.x[p*gradientGroups*w.xGroup()+at*c.XLine:]
			for channel := 0; channel < w.out; channel += kernel.CorrelationTile {
				dy := w.dy[w.lead+p*gradientGroups*w.dyGroup()+channel*w.dyChannel()+at*w.line()+kernel.Lanes:]
				for k := 0; k < w.stride(); k += kernel.CorrelationTile {
					c.AddTo(w.dw[p*size+channel*w.stride()+k:], dy, x, w.offsets[k:])
				}
			}
		}
	}
}

// eachTile calls f with the lines of all channels, from those of a tile of lines on, of n
// groups of rows from group from on: of the input, or its gradient, and of x. The steps are
// those of a transform to the input.
func (w *winogradGradient) eachTile(from, n int, f func(input, lines []float32, steps kernel.Lines), input []float32) {
	steps := kernel.Lines{Length: w.xLine(), Blocks: w.in,
		DstLine: w.xLine(), DstBlock: w.height * w.xLine(), SrcLine: gradientGroups * w.xGroup(), SrcBlock: w.tiles * w.xLine()}
	for i := range n {
		for tile := range w.tiles {
			f(input[(from+i)*w.inGroup()+w.together*tile*w.xLine():], w.x[i*w.xGroup()+tile*w.xLine():], steps)
		}
	}
}

func (w *winogradGradient) finish() {
	clear(w.byRow)
	w.winograd.gradientByRow(w.byRow, w.dw)
	size, i := len(w.byRow)/w.side, 0
	for c := range w.out {
		for channel := range w.in {
			for row := range w.side {
				from := w.byRow[row*size+c*w.stride()+channel*w.side:]
				for col := range w.side {
					w.convStep.dw[i] += from[col]
					i++
				}
			}
		}
	}
}

// pack packs the weights for the gradient of the input in the order of its taps:
// by output channel and column of the kernel.
func (w *winogradGradient) pack() {
	size := roundUp(w.in, kernel.WeightBlock) * w.out * w.side
	if w.packed == nil {
		w.packed = make([]float32, kernel.WinogradPoints*size)
		w.byInput = make([]float32, w.side*size)
		w.taps = map[span][]kernel.Tap{}
		for at := 0; at < w.width; at += vectorWidth(w.width) / kernel.Lanes {
			if cols := w.colSpan(at); w.taps[cols] == nil {
				w.taps[cols] = w.inputTaps(cols)
			}
		}
	}
	i := 0
	for c := range w.out {
		for channel := range w.in {
			at := ((channel/kernel.WeightBlock*w.out+c)*w.side)*kernel.WeightBlock + channel%kernel.WeightBlock
			for row := range w.side {
				to := w.byInput[row*size+at:]
				for col := range w.side {
					to[col*kernel.WeightBlock] = w.w[i]
					i++
				}
			}
		}
	}
	w.winograd.weightsByPoint(w.packed, w.byInput)
}

// inputTaps lists the columns of the kernel in the given range, by output channel. Offsets
// count from the first pixel of the output that any tap reads.
func (w *winogradGradient) inputTaps(cols span) []kernel.Tap {
	var taps []kernel.Tap
	for c := range w.out {
		for col := cols.lo; col < cols.hi; col++ {
			taps = append(taps, kernel.Tap{
				Weight: int32((c*w.side + col) * kernel.WeightBlock),
				Input:  int32(c*w.dyChannel() + (w.side-1-col)*kernel.Lanes),
			})
		}
	}
	return taps
}

func (w *winogradGradient) input(from, n int) {
	width := vectorWidth(w.width)
	c := kernel.Convolution{
		Channels: w.in, Block: w.out * w.side * kernel.WeightBlock,
		Vectors: n, Width: width, XStep: w.dyGroup(), YStep: w.xGroup(), YChannel: w.tiles * w.xLine(),
	}
	size := len(w.packed) / kernel.WinogradPoints
	for p := range kernel.WinogradPoints {
		c.Weights = w.packed[p*size : (p+1)*size]
		dy, dx := w.lead+p*gradientGroups*w.dyGroup(), w.x[p*gradientGroups*w.xGroup():]
		for tile := range w.tiles {
			for at := 0; at < w.width; at += width / kernel.Lanes {
				c.Taps = w.taps[w.colSpan(at)]
				corner := dy + tile*w.line() + (at+2-w.side)*kernel.Lanes
				c.Into(dx[(tile*w.width+at)*kernel.Lanes:], w.dy, corner)
			}
		}
	}
	clear(w.dx[from*w.inGroup() : (from+n)*w.inGroup()])
	w.eachTile(from, n, kernel.WinogradInputBack, w.dx)
}
