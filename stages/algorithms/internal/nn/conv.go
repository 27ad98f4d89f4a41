package nn

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// convStep computes y = relu(pool(conv(x)) + b), with or without pool, b and relu. Bias and
// ReLU come after pooling: they commute with a maximum, and then apply to a quarter of the
// values. Rows are interleaved, so that each vector is one pixel of kernel.Lanes images.
// Each group of rows is computed a few lines of the output at a time, so that the values
// before pooling stay in cache.
type convStep struct {
	in, out               int // channels
	side                  int // of the kernel
	height, width         int // of the input
	fullHeight, fullWidth int // of the output before pooling
	outHeight, outWidth   int // and after it
	pool                  bool
	floor                 float32   // 0 with a ReLU, −Inf without
	w, b                  []float32 // out×patch, out
	dw, db                []float32
	x, y                  []float32
	argmax                []uint8   // as y
	together              int       // lines of the output before pooling that are computed at a time
	lines                 []float32 // out×together×fullWidth
	packed                []float32 // the weights in the layout of kernel.Convolution
	taps                  []kernel.Tap
	winograd              *winograd // nil: line by line with packed and taps
	gradient              *convGradient
}

func newConv(p *Pass, b block) *convStep {
	s := &convStep{in: b.layer.In, out: b.layer.Out, side: b.layer.Side, pool: b.pool}
	s.height, s.width = b.in[1], b.in[2]
	s.fullHeight, s.fullWidth = s.height-s.side+1, s.width-s.side+1
	s.outHeight, s.outWidth = b.out[1], b.out[2]
	if !b.relu {
		s.floor = float32(math.Inf(-1))
	}
	s.w, s.b = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	if len(s.b) == 0 {
		s.b = make([]float32, s.out)
	}
	s.y = make([]float32, groups(p.Rows)*s.outGroup())
	if s.pool {
		s.argmax = make([]uint8, len(s.y))
	}
	s.together = 2
	if s.winograd = newWinograd(s); s.winograd == nil {
		s.packed = make([]float32, roundUp(s.out, kernel.WeightBlock)*s.patch())
		for k := range s.patch() {
			s.taps = append(s.taps, kernel.Tap{Weight: int32(k * kernel.WeightBlock), Input: int32(s.tapOffset(k))})
		}
	}
	s.lines = make([]float32, s.out*s.together*s.fullWidth*kernel.Lanes)
	if p.Grads != nil {
		s.dw, s.db = b.weight.of(p.Grads), b.bias.of(p.Grads)
		s.gradient = newConvGradient(s, p.Rows)
	}
	return s
}

// patch is the number of weights of an output channel: in·side².
func (s *convStep) patch() int { return s.in * s.side * s.side }

// inGroup is the number of elements in a group of interleaved rows of x.
func (s *convStep) inGroup() int { return s.in * s.height * s.width * kernel.Lanes }

// outGroup is the number of elements in a group of interleaved rows of y.
func (s *convStep) outGroup() int { return s.out * s.outHeight * s.outWidth * kernel.Lanes }

// tapOffset is the offset of the pixel that weight k of a channel multiplies, from the
// pixel at the kernel's corner.
func (s *convStep) tapOffset(k int) int {
	channel, i, j := k/(s.side*s.side), k/s.side%s.side, k%s.side
	return ((channel*s.height+i)*s.width + j) * kernel.Lanes
}

// vectorWidth is the number of elements that are computed at once on lines of the given
// number of pixels: two pixels, or one if the number is odd.
func vectorWidth(pixels int) int {
	if pixels%2 == 0 {
		return 2 * kernel.Lanes
	}
	return kernel.Lanes
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

func (s *convStep) forward(x []float32, rows int) []float32 {
	s.x = x
	if s.winograd != nil {
		s.winograd.pack()
	} else {
		s.pack()
	}
	y := s.y[:groups(rows)*s.outGroup()]
	for g := range groups(rows) {
		s.forwardGroup(g)
	}
	return y
}

// pack brings the weights up to date.
func (s *convStep) pack() {
	for c := range s.out {
		block := s.packed[c/kernel.WeightBlock*s.patch()*kernel.WeightBlock+c%kernel.WeightBlock:]
		for k, w := range s.w[c*s.patch() : (c+1)*s.patch()] {
			block[k*kernel.WeightBlock] = w
		}
	}
}

func (s *convStep) forwardGroup(g int) {
	x := s.x[g*s.inGroup() : (g+1)*s.inGroup()]
	width, line := vectorWidth(s.fullWidth), s.fullWidth*kernel.Lanes
	c := kernel.Convolution{
		Channels: s.out, Taps: s.taps, Weights: s.packed, Block: s.patch() * kernel.WeightBlock,
		Width: width, Vectors: line / width, XStep: width, YStep: width, YChannel: s.together * line,
	}
	for at := 0; at < s.fullHeight; at += s.together {
		n := min(s.together, s.fullHeight-at)
		if s.winograd != nil {
			s.winograd.forwardLines(x, at)
		} else {
			for i := range n {
				c.Into(s.lines[i*line:], x, (at+i)*s.width*kernel.Lanes)
			}
		}
		if s.pool {
			for i := 0; i < n; i += 2 {
				s.poolLines(g, at, i)
			}
		} else {
			s.biasLines(g, at, n)
		}
	}
}

// poolLines makes a line of the group's output from lines i and i+1 of those from line at on.
func (s *convStep) poolLines(g, at, i int) {
	line := s.fullWidth * kernel.Lanes
	for c, bias := range s.b {
		both := s.lines[(s.together*c+i)*line : (s.together*c+i+2)*line]
		from, to := s.outLine(g, c, (at+i)/2)
		kernel.MaxPool(s.y[from:to], s.argmax[from:to], both[:line], both[line:], bias, s.floor)
	}
}

// biasLines makes n lines of the group's output, from line at on, without pooling.
func (s *convStep) biasLines(g, at, n int) {
	var zero, one, offset kernel.Pixel
	one.Fill(1)
	line := s.fullWidth * kernel.Lanes
	for c, bias := range s.b {
		offset.Fill(bias)
		for i := range n {
			from, to := s.outLine(g, c, at+i)
			kernel.Normalise(s.y[from:to], s.lines[(s.together*c+i)*line:(s.together*c+i+1)*line], &zero, &one, &offset, s.floor)
		}
	}
}

// outLine is the range in y of line at of channel c.
func (s *convStep) outLine(g, c, at int) (from, to int) {
	from = g*s.outGroup() + (c*s.outHeight+at)*s.outWidth*kernel.Lanes
	return from, from + s.outWidth*kernel.Lanes
}

func (s *convStep) backward(dy []float32, rows int, wanted bool) []float32 {
	return s.gradient.backward(dy, groups(rows), wanted)
}
