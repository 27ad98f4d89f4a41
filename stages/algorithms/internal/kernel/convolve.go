package kernel

import "unsafe"

// Lanes is the number of images that are interleaved: pixel p of image i of a group
// of eight is element p·Lanes+i. Each vector is then one pixel of eight images, so
// that a convolution needs no patches, no shuffles and no masks.
const Lanes = 8

// Interleave writes rows ≤ Lanes rows of cols numbers as a group, dst of cols·Lanes.
// Rows that are missing are 0.
func Interleave(dst, src []float32, rows, cols int) {
	samePart("Interleave", ": rows", len(src), rows*cols)
	samePart("Interleave", ": group", len(dst), Lanes*cols)
	if active.products32 != nil && rows == Lanes {
		active.products32.transposePanel(dst, Lanes, view[float32]{src, cols, 1}, rows, cols)
		return
	}
	clear(dst)
	packPlain(dst, Lanes, view[float32]{src, cols, 1}, 0, rows, 0, cols)
}

// Separate is the way back of Interleave.
func Separate(dst, src []float32, rows, cols int) {
	samePart("Separate", ": rows", len(dst), rows*cols)
	samePart("Separate", ": group", len(src), Lanes*cols)
	for i := range rows {
		row := dst[i*cols : (i+1)*cols]
		for j := range row {
			row[j] = src[j*Lanes+i]
		}
	}
}

// A Tap is one place of a convolution's kernel in one channel.
type Tap struct {
	Weight int32 // index of the weight of a block's first channel
	Input  int32 // where the pixel lies, from that of the kernel's corner; may be negative
}

// WeightBlock is the number of output channels whose weights lie together: weight k of
// channel c is element (c/WeightBlock·taps + k)·WeightBlock + c%WeightBlock.
const WeightBlock = 8

// A Convolution is Σ over taps of weight times pixel, for some output channels at some
// vectors. What it says of places and steps is in elements.
type Convolution struct {
	Channels int
	Taps     []Tap
	Weights  []float32 // in blocks of WeightBlock channels
	Block    int       // from one block of weights to the next
	Vectors  int       // how many
	Width    int       // numbers in a vector: Lanes for one pixel, 2·Lanes for two neighbours
	XStep    int       // from one vector's pixels to the next's
	YStep    int       // from one vector of the output to the next
	YChannel int       // from one channel of the output to the next
}

// Into computes the convolution of the pixels that begin at x[at], and writes it to y.
// Every tap that is used must fall into x for every vector: the caller answers for that.
func (c *Convolution) Into(y, x []float32, at int) {
	if end := (c.Channels-1)*c.YChannel + (c.Vectors-1)*c.YStep + c.Width; end > len(y) {
		panic("kernel: Convolution: the output is too short")
	}
	code := active.convolver(c.Width)
	for i := 0; i < c.Width; i += code.width {
		c.sweep(code, y[i:], x, at+i)
	}
}

// sweep goes over the output tile by tile.
func (c *Convolution) sweep(code *convolver, y, x []float32, at int) {
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

// columns is how many vectors the next tile takes: three, but for a rest of four.
func columns(left int) int {
	if left == 4 {
		return 2
	}
	return min(left, 3)
}

// A Correlation is the products of the gradients of a convolution's output with the
// pixels that its weights met: the gradient of four weights of four channels at once.
// Steps are in elements.
type Correlation struct {
	Step            int // of the result, from channel to channel
	DYChannel       int
	DYLine, DYGroup int // from line to line, and from group to group
	XLine, XGroup   int
	Cols            int // numbers in a line: a multiple of Lanes
	Lines, Groups   int
}

// CorrelationTile is the number of channels, and of weights, of one Correlation.
const CorrelationTile = 4

// AddTo adds to dst[i·Step+j], i and j < CorrelationTile, the sum of products of channel i of dy
// and the pixels places[j] on of x. Every line must lie in dy and x: the caller
// answers for that.
func (c *Correlation) AddTo(dst, dy, x []float32, places []int32) {
	_, _ = dst[(CorrelationTile-1)*c.Step+CorrelationTile-1], places[CorrelationTile-1]
	width := Lanes
	if c.Cols%(2*Lanes) == 0 {
		width = 2 * Lanes
	}
	code := active.convolver(width)
	for i := 0; i < CorrelationTile; i += code.correlated {
		code.correlate(&dst[i*c.Step], c.Step, &dy[i*c.DYChannel], c.DYChannel, c.DYLine, c.DYGroup-c.Lines*c.DYLine,
			&x[0], &places[0], c.XLine, c.XGroup-c.Lines*c.XLine, c.Cols, c.Lines, c.Groups)
	}
}

// PoolPixels pools two lines of interleaved pixels by 2×2: y, of as many pixels as half
// a line, is the larger of floor and bias plus the maximum, and argmax its place 0…3,
// the first at a tie; NaN counts as the largest. A floor of 0 is a ReLU, one of -Inf
// is none.
func PoolPixels(y []float32, argmax []uint8, upper, lower []float32, bias, floor float32) {
	checkPixels("PoolPixels", y, argmax, upper, lower)
	active.poolPixels(&y[0], &argmax[0], &upper[0], &lower[0], len(y)/Lanes, bias, floor)
}

// UnpoolPixels is the way back of PoolPixels: it sets upper and lower to the gradient of
// its input from dy, that of its output y, and adds dy, where it passes, to sums, which
// has Lanes elements.
func UnpoolPixels(upper, lower, dy, y []float32, argmax []uint8, floor float32, sums []float32) {
	checkPixels("UnpoolPixels", y, argmax, upper, lower)
	samePart("UnpoolPixels", ": dy", len(dy), len(y))
	samePart("UnpoolPixels", ": sums", len(sums), Lanes)
	active.unpoolPixels(&y[0], &argmax[0], &upper[0], &lower[0], len(y)/Lanes, &dy[0], floor, &sums[0])
}

func checkPixels(name string, y []float32, argmax []uint8, upper, lower []float32) {
	if len(y) == 0 || len(y)%Lanes != 0 {
		panic("kernel: " + name + ": no whole pixels")
	}
	samePart(name, ": argmax", len(argmax), len(y))
	samePart(name, ": upper line", len(upper), 2*len(y))
	samePart(name, ": lower line", len(lower), 2*len(y))
}

// convolver is the code for convolutions of one width of vectors.
type convolver struct {
	width      int   // numbers in a vector
	heights    []int // channels that one call can have, the most first, down to 1
	convolve   [3]convolveFunc
	correlated int // channels of one call of correlate
	correlate  func(dst *float32, dstStep int, dy *float32, dyRow, dyLine, dyGroup int, x *float32, places *int32, xLine, xGroup int, cols, lines, groups int)
}

// convolveFunc sets row r < rows, which must be one of the heights, of each vector of y to
// the sum over the count taps (a, b) of w[a+r] times the vector of x+b.
type convolveFunc = func(rows int, taps *int32, count int, w, x *float32, xStep int, y *float32, yRow, yStep int)

// height is the number of channels of the next call if so many are left.
func (c *convolver) height(left int) int {
	for _, h := range c.heights {
		if h <= left {
			return h
		}
	}
	return 1
}

// convolver returns the code for vectors of width numbers: what handles pairs of pixels
// at once cannot handle one.
func (l *loops) convolver(width int) *convolver {
	if width == Lanes {
		return l.pixels
	}
	return l.pairs
}

var convolverGo = convolver{
	width: Lanes, heights: []int{1},
	convolve:   [3]convolveFunc{convolveGo(1), convolveGo(2), convolveGo(3)},
	correlated: 1, correlate: correlateGo,
}

// convolveGo returns the tile of one row of so many vectors.
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

// correlateGo is the row of a tile.
func correlateGo(dst *float32, _ int, dy *float32, _, dyLine, dyGroup int, x *float32, places *int32, xLine, xGroup int, cols, lines, groups int) {
	for j, place := range unsafe.Slice(places, CorrelationTile) {
		var sum float32
		dyAt, xAt := 0, int(place)
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

func poolPixelsGo(y *float32, argmax *uint8, upper, lower *float32, pixels int, bias, floor float32) {
	places := unsafe.Slice(argmax, pixels*Lanes)
	for i := range places {
		window := windowOf(upper, lower, i)
		best, place := *window[0], 0
		for k, p := range window[1:] {
			if v := *p; best == best && !(v <= best) {
				best, place = v, k+1
			}
		}
		best += bias
		if best <= floor {
			best = floor
		}
		*elementOf(y, i), places[i] = best, uint8(place)
	}
}

func unpoolPixelsGo(y *float32, argmax *uint8, upper, lower *float32, pixels int, dy *float32, floor float32, sums *float32) {
	for i, place := range unsafe.Slice(argmax, pixels*Lanes) {
		value := *elementOf(dy, i)
		if *elementOf(y, i) <= floor {
			value = 0
		}
		*elementOf(sums, i%Lanes) += value
		window := windowOf(upper, lower, i)
		for _, p := range window {
			*p = 0
		}
		*window[place] = value
	}
}

// windowOf is the four numbers that element i of the pooled line is the largest of.
func windowOf(upper, lower *float32, i int) [4]*float32 {
	at := i/Lanes*2*Lanes + i%Lanes
	return [4]*float32{elementOf(upper, at), elementOf(upper, at+Lanes), elementOf(lower, at), elementOf(lower, at+Lanes)}
}
