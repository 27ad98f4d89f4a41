package kernel

import "unsafe"

// Lanes is the number of images in a group of interleaved images: pixel p of image i is
// element p·Lanes+i of the group. Each vector is then one pixel of eight images, so that
// a convolution needs no patches, shuffles or masks.
const Lanes = 8

// Interleave writes the rows×cols matrix src, rows ≤ Lanes, as a group of interleaved
// rows, dst of cols·Lanes elements. Missing rows are 0.
func Interleave(dst, src []float32, rows, cols int) {
	checkPart("Interleave", ": rows", len(src), rows*cols)
	checkPart("Interleave", ": group", len(dst), Lanes*cols)
	if active.products32 != nil && rows == Lanes {
		active.products32.transposePanel(dst, Lanes, view[float32]{src, cols, 1}, rows, cols)
		return
	}
	clear(dst)
	packPlain(dst, Lanes, view[float32]{src, cols, 1}, 0, rows, 0, cols)
}

// Deinterleave is the inverse of Interleave: it writes the first rows of the group src
// as the rows×cols matrix dst.
func Deinterleave(dst, src []float32, rows, cols int) {
	checkPart("Deinterleave", ": rows", len(dst), rows*cols)
	checkPart("Deinterleave", ": group", len(src), Lanes*cols)
	for i := range rows {
		row := dst[i*cols : (i+1)*cols]
		for j := range row {
			row[j] = src[j*Lanes+i]
		}
	}
}

// A Tap is one element of a convolution's kernel in one input channel.
type Tap struct {
	Weight int32 // index of its weight for the first channel of a block of weights
	Input  int32 // offset of the pixel that it multiplies; may be negative
}

// WeightBlock is the number of output channels in a block of weights: weight k of channel
// c is element (c/WeightBlock·taps + k)·WeightBlock + c%WeightBlock.
const WeightBlock = 8

// A Convolution is, for each output channel c and vector v of interleaved pixels,
//
//	y[c·YChannel + v·YStep + i] = Σ over taps of weight_c · x[v·XStep + tap.Input + i],   i < Width.
//
// Steps and offsets count elements.
type Convolution struct {
	Channels int // output channels
	Taps     []Tap
	Weights  []float32 // in blocks of WeightBlock channels
	Block    int       // from one block of weights to the next
	Vectors  int       // number of vectors
	Width    int       // elements in a vector: Lanes for one pixel, 2·Lanes for two neighbours
	XStep    int       // from one vector's pixels to the next's
	YStep    int       // from one vector of the output to the next
	YChannel int       // from one channel of the output to the next
}

// Into writes the convolution of x, taken from element at on, to y. For every tap and
// vector the elements read must lie in x; this is not checked.
func (c *Convolution) Into(y, x []float32, at int) {
	if end := (c.Channels-1)*c.YChannel + (c.Vectors-1)*c.YStep + c.Width; end > len(y) {
		panic("kernel: Convolution: the output is too short")
	}
	code := active.convolver(c.Width)
	for i := 0; i < c.Width; i += code.width {
		c.computeTiles(code, y[i:], x, at+i)
	}
}

// computeTiles computes the output tile by tile.
func (c *Convolution) computeTiles(code *convolver, y, x []float32, at int) {
	taps := (*int32)(unsafe.Pointer(&c.Taps[0]))
	for channel := 0; channel < c.Channels; {
		rows := code.height(c.Channels - channel)
		w := &c.Weights[channel/WeightBlock*c.Block+channel%WeightBlock]
		for v := 0; v < c.Vectors; {
			n := columns(c.Vectors - v)
			code.convolve[n-1](rows, taps, len(c.Taps), w, &x[at+v*c.XStep], c.XStep,
				&y[channel*c.YChannel+v*c.YStep], c.YChannel, c.YStep)
			v += n
		}
		channel += rows
	}
}

// columns is the number of vectors of the next tile when left are left: three, except
// that four are split into two and two.
func columns(left int) int {
	if left == 4 {
		return 2
	}
	return min(left, 3)
}

// A Correlation sums products of the gradient dy of a convolution's output and the input
// x that its weights met: the gradient of CorrelationTile weights of CorrelationTile
// output channels. Steps count elements.
type Correlation struct {
	Step            int // from channel to channel of the result
	DYChannel       int // from channel to channel of dy
	DYLine, DYGroup int // from line to line, and from group to group, of dy
	XLine, XGroup   int // the same of x
	Cols            int // elements in a line: a multiple of Lanes
	Lines, Groups   int
}

// CorrelationTile is the number of channels, and of weights, of one Correlation.
const CorrelationTile = 4

// AddTo adds to dst[i·Step+j], for i and j < CorrelationTile, the sum over all lines of
// the products of channel i of dy and x from element offsets[j] on. The elements read must
// lie in dy and x; this is not checked.
func (c *Correlation) AddTo(dst, dy, x []float32, offsets []int32) {
	_, _ = dst[(CorrelationTile-1)*c.Step+CorrelationTile-1], offsets[CorrelationTile-1]
	width := Lanes
	if c.Cols%(2*Lanes) == 0 {
		width = 2 * Lanes
	}
	code := active.convolver(width)
	for i := 0; i < CorrelationTile; i += code.correlateRows {
		code.correlate(&dst[i*c.Step], c.Step, &dy[i*c.DYChannel], c.DYChannel, c.DYLine, c.DYGroup-c.Lines*c.DYLine,
			&x[0], &offsets[0], c.XLine, c.XGroup-c.Lines*c.XLine, c.Cols, c.Lines, c.Groups)
	}
}

// MaxPool pools two lines of interleaved pixels, upper and lower, by 2×2 windows, and
// adds a bias: y = max(bias + the window's maximum, floor), one pixel of y for two of a
// line. argmax is the index 0…3 of the maximum in its window, row by row, the first at a
// tie; NaN counts as the largest. With floor 0 a ReLU follows, with floor -Inf none.
func MaxPool(y []float32, argmax []uint8, upper, lower []float32, bias, floor float32) {
	checkMaxPool("MaxPool", y, argmax, upper, lower)
	active.maxPool(&y[0], &argmax[0], &upper[0], &lower[0], len(y)/Lanes, bias, floor)
}

// MaxPoolBackward sets upper and lower to the gradient with respect to the input of
// MaxPool from dy, that with respect to its output y: dy at the window's argmax if y >
// floor, and 0 elsewhere. To sums, of Lanes elements, it adds the same dy: the gradient
// of the bias by image.
func MaxPoolBackward(upper, lower, dy, y []float32, argmax []uint8, floor float32, sums []float32) {
	checkMaxPool("MaxPoolBackward", y, argmax, upper, lower)
	checkPart("MaxPoolBackward", ": dy", len(dy), len(y))
	checkPart("MaxPoolBackward", ": sums", len(sums), Lanes)
	active.maxPoolBackward(&y[0], &argmax[0], &upper[0], &lower[0], len(y)/Lanes, &dy[0], floor, &sums[0])
}

func checkMaxPool(name string, y []float32, argmax []uint8, upper, lower []float32) {
	if len(y) == 0 || len(y)%Lanes != 0 {
		panic("kernel: " + name + ": no whole pixels")
	}
	checkPart(name, ": argmax", len(argmax), len(y))
	checkPart(name, ": upper line", len(upper), 2*len(y))
	checkPart(name, ": lower line", len(lower), 2*len(y))
}

// convolver is the code for convolutions of one width of vectors.
type convolver struct {
	width         int   // elements in a vector
	heights       []int // numbers of channels that one call can have, in decreasing order, down to 1
	convolve      [3]convolveFunc
	correlateRows int // channels of one call of correlate
	correlate     func(dst *float32, dstStep int, dy *float32, dyRow, dyLine, dyGroup int, x *float32, offsets *int32, xLine, xGroup int, cols, lines, groups int)
	transforms    [transforms]transformFunc
}

// convolveFunc sets row r < rows, which must be one of the heights, of each vector of y to
// the sum over the count taps (a, b) of w[a+r] times the vector of x+b.
type convolveFunc = func(rows int, taps *int32, count int, w, x *float32, xStep int, y *float32, yRow, yStep int)

// height is the number of channels of the next call when left are left.
func (c *convolver) height(left int) int {
	for _, h := range c.heights {
		if h <= left {
			return h
		}
	}
	return 1
}

// convolver returns the code for vectors of width elements. Code for single pixels can
// do pairs too, but not the other way round.
func (l *loops) convolver(width int) *convolver {
	if width == Lanes {
		return l.pixels
	}
	return l.pairs
}

var convolverGo = convolver{
	width: Lanes, heights: []int{1},
	convolve:      [3]convolveFunc{convolveGo(1), convolveGo(2), convolveGo(3)},
	correlateRows: 1, correlate: correlateGo,
	transforms: [transforms]transformFunc{
		winogradInput: transformGo(winogradB, false, false), winogradInputBack: transformGo(winogradB, true, true),
		winogradTwo: transformGo(winogradA[2], false, false), winogradTwoBack: transformGo(winogradA[2], true, false),
		winogradFour: transformGo(winogradA[4], false, false), winogradFourBack: transformGo(winogradA[4], true, false),
	},
}

// convolveGo returns the tile of one row and the given number of vectors.
func convolveGo(vectors int) convolveFunc {
	return func(_ int, taps *int32, count int, w, x *float32, xStep int, y *float32, _, yStep int) {
		for v := range vectors {
			sum := (*[Lanes]float32)(unsafe.Pointer(elementOf(y, v*yStep)))
			*sum = [Lanes]float32{}
			for _, t := range unsafe.Slice((*Tap)(unsafe.Pointer(taps)), count) {
				weight := *elementOf(w, int(t.Weight))
				pixel := (*[Lanes]float32)(unsafe.Pointer(elementOf(x, v*xStep+int(t.Input))))
				for i, p := range pixel {
					sum[i] += weight * p
				}
			}
		}
	}
}

// correlateGo computes one row of a tile.
func correlateGo(dst *float32, _ int, dy *float32, _, dyLine, dyGroup int, x *float32, offsets *int32, xLine, xGroup int, cols, lines, groups int) {
	for j, offset := range unsafe.Slice(offsets, CorrelationTile) {
		var sum float32
		dyAt, xAt := 0, int(offset)
		for range groups {
			for range lines {
				sum += dotGo(line(dy, dyAt, cols), line(x, xAt, cols))
				dyAt, xAt = dyAt+dyLine, xAt+xLine
			}
			dyAt, xAt = dyAt+dyGroup, xAt+xGroup
		}
		*elementOf(dst, j) += sum
	}
}

// elementOf is element at of the array at p.
func elementOf(p *float32, at int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*at)) }

// line is the elements [at, at+n) of the array at p.
func line(p *float32, at, n int) []float32 { return unsafe.Slice(elementOf(p, at), n) }

func maxPoolGo(y *float32, argmax *uint8, upper, lower *float32, pixels int, bias, floor float32) {
	indices := unsafe.Slice(argmax, pixels*Lanes)
	for i := range indices {
		window := windowOf(upper, lower, i)
		best, index := *window[0], 0
		for k, p := range window[1:] {
			if v := *p; best == best && !(v <= best) {
				best, index = v, k+1
			}
		}
		best += bias
		if best <= floor {
			best = floor
		}
		*elementOf(y, i), indices[i] = best, uint8(index)
	}
}

func maxPoolBackwardGo(y *float32, argmax *uint8, upper, lower *float32, pixels int, dy *float32, floor float32, sums *float32) {
	for i, index := range unsafe.Slice(argmax, pixels*Lanes) {
		d := *elementOf(dy, i)
		if *elementOf(y, i) <= floor {
			d = 0
		}
		*elementOf(sums, i%Lanes) += d
		window := windowOf(upper, lower, i)
		for _, p := range window {
			*p = 0
		}
		*window[index] = d
	}
}

// windowOf is the four elements that element i of the pooled line is the maximum of.
func windowOf(upper, lower *float32, i int) [4]*float32 {
	at := i/Lanes*2*Lanes + i%Lanes
	return [4]*float32{elementOf(upper, at), elementOf(upper, at+Lanes), elementOf(lower, at), elementOf(lower, at+Lanes)}
}
