package nn

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/internal/kernel"
)

// convStep computes y = relu(pool(conv(x)) + b), with or without pool, b and relu,
// image by image, so that patches and unpooled images stay in cache. The bias is
// added after pooling and the ReLU taken after it: both commute with a maximum, and
// three of four values need not be touched.
//
// The convolution is one product of the weights with the patches, patch×span, whose
// row for channel c and kernel place (i, j) is the image from c·H·W + i·W + j on.
// So a row is one copy, and what it costs is that the product has as many columns
// as the input is wide: the last side−1 of each line mix pixels of two lines. They are
// dropped on the way out, and are 0 on the way back.
type convStep struct {
	in, out               int // channels
	side                  int // of the kernel
	height, width         int // of the input
	outHeight, outWidth   int // of the output after pooling
	wideHeight, wideWidth int // the same, of lines as wide as the input
	relu, pool            bool
	w, b                  []float32 // out×patch, out
	dw, db                []float32
	x, y, dx              []float32
	patches               []float32 // patch×span of one image
	full, dfull           []float32 // out×span of one image before pooling, and its gradient
	wide, dwide           []float32 // out×wideHeight×wideWidth after it; full and dfull where there is none
	argmax                []uint8   // rows×out×wideHeight×wideWidth
}

func newConv(p *Pass, b block) *convStep {
	s := &convStep{in: b.layer.In, out: b.layer.Out, side: b.layer.Side, relu: b.relu, pool: b.pool}
	s.height, s.width = b.in[1], b.in[2]
	s.outHeight, s.outWidth = b.out[1], b.out[2]
	s.wideHeight, s.wideWidth = s.outHeight, s.width
	if s.pool {
		s.wideWidth = s.width / 2
	}
	s.w, s.b = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	s.y = make([]float32, p.Rows*size(b.out))
	s.patches = make([]float32, s.patch()*s.span())
	s.full, s.wide = s.unpooled()
	if s.pool {
		s.argmax = make([]uint8, p.Rows*len(s.wide))
	}
	if p.Grads != nil {
		s.dw, s.db = b.weight.of(p.Grads), b.bias.of(p.Grads)
		s.dx = make([]float32, p.Rows*size(b.in))
		s.dfull, s.dwide = s.unpooled()
	}
	return s
}

// patch is the number of values that make an output value.
func (s *convStep) patch() int { return s.in * s.side * s.side }

// span is the number of output values of a channel before pooling, in wide lines.
func (s *convStep) span() int { return (s.height - s.side + 1) * s.width }

func (s *convStep) unpooled() (full, wide []float32) {
	full = make([]float32, s.out*s.span())
	if !s.pool {
		return full, full
	}
	return full, make([]float32, s.out*s.wideHeight*s.wideWidth)
}

func (s *convStep) forward(x []float32, rows int) []float32 {
	s.x = x
	size := s.out * s.outHeight * s.outWidth
	y := s.y[:rows*size]
	for i := range rows {
		s.forwardImage(y[i*size:(i+1)*size], i)
	}
	if s.relu {
		rectify(y)
	}
	return y
}

func (s *convStep) forwardImage(y []float32, i int) {
	s.spread(s.image(s.x, i))
	kernel.Gemm(false, false, 1, s.weights(s.w), s.patchMatrix(), 0, s.spanMatrix(s.full))
	if s.pool {
		kernel.MaxPool2x2(s.wide, s.places(i), s.full, s.out, 2*s.wideHeight, s.width)
	}
	for line := range s.out * s.outHeight {
		copy(y[line*s.outWidth:(line+1)*s.outWidth], s.wide[line*s.wideWidth:])
	}
	plane := s.outHeight * s.outWidth
	for c, bias := range s.b {
		for j := range y[c*plane : (c+1)*plane] {
			y[c*plane+j] += bias
		}
	}
}

func (s *convStep) backward(dy []float32, rows int, wanted bool) []float32 {
	size := s.out * s.outHeight * s.outWidth
	if s.relu {
		kernel.ReLUBackward(dy, s.y[:rows*size])
	}
	dx := s.dx[:rows*s.in*s.height*s.width]
	if wanted {
		clear(dx)
	}
	for i := range rows {
		s.backwardImage(dy[i*size:(i+1)*size], i, wanted)
	}
	if !wanted {
		return nil
	}
	return dx
}

// For one image, with dy spread over the unpooled image: db += sums of dy's planes,
// dW += dy patchesᵀ, dpatches = Wᵀ dy, added up to dx.
func (s *convStep) backwardImage(dy []float32, i int, wanted bool) {
	plane := s.outHeight * s.outWidth
	for c := range s.db {
		var sum float32
		for _, d := range dy[c*plane : (c+1)*plane] {
			sum += d
		}
		s.db[c] += sum
	}
	for line := range s.out * s.outHeight {
		copy(s.dwide[line*s.wideWidth:], dy[line*s.outWidth:(line+1)*s.outWidth])
	}
	if s.pool {
		kernel.MaxPool2x2Backward(s.dfull, s.dwide, s.places(i), s.out, 2*s.wideHeight, s.width)
	}
	s.spread(s.image(s.x, i))
	kernel.Gemm(false, true, 1, s.spanMatrix(s.dfull), s.patchMatrix(), 1, s.weights(s.dw))
	if wanted {
		kernel.Gemm(true, false, 1, s.weights(s.w), s.spanMatrix(s.dfull), 0, s.patchMatrix())
		s.gather(s.image(s.dx, i))
	}
}

// spread fills the patches of an image.
func (s *convStep) spread(image []float32) {
	span := s.span()
	for k := range s.patch() {
		start := s.start(k)
		copy(s.patches[k*span:(k+1)*span], image[start:])
	}
}

// gather adds the patches to the image that spread would take them from.
func (s *convStep) gather(image []float32) {
	span := s.span()
	for k := range s.patch() {
		start := s.start(k)
		n := min(span, len(image)-start)
		kernel.Axpy(1, s.patches[k*span:k*span+n], image[start:start+n])
	}
}

// start is where row k of the patches begins in the image. The last rows would end
// side−1 values after the image; they keep the zeros of their allocation, or of the
// gradient, there.
func (s *convStep) start(k int) int {
	channel, i, j := k/(s.side*s.side), k/s.side%s.side, k%s.side
	return (channel*s.height+i)*s.width + j
}

func (s *convStep) image(x []float32, i int) []float32 {
	n := s.in * s.height * s.width
	return x[i*n : (i+1)*n]
}

func (s *convStep) places(i int) []uint8 { return s.argmax[i*len(s.wide) : (i+1)*len(s.wide)] }

func (s *convStep) weights(w []float32) blas32.General { return matrix(w, s.out, s.patch()) }

func (s *convStep) patchMatrix() blas32.General { return matrix(s.patches, s.patch(), s.span()) }

func (s *convStep) spanMatrix(y []float32) blas32.General { return matrix(y, s.out, s.span()) }
