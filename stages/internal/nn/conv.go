package nn

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/internal/kernel"
)

// convStep computes y = relu(pool(conv(x)) + b), with or without pool, b and relu,
// image by image, so that the patches and the image before pooling stay in cache.
// The bias is added after pooling and the ReLU taken after it: both commute with a
// maximum, and three of four values need not be touched.
type convStep struct {
	geometry    kernel.Conv
	out         int // channels
	relu, pool  bool
	size        int       // values of an output row
	w, b        []float32 // out×patch, out
	dw, db      []float32
	x, y, dx    []float32
	argmax      []uint8
	patches     []float32 // patch×pixels of one image
	full, dfull []float32 // out×pixels of one image before pooling, and its gradient
}

func newConv(p *Pass, b block) *convStep {
	s := &convStep{out: b.layer.Out, relu: b.relu, pool: b.pool, size: size(b.out)}
	s.geometry = kernel.Conv{Channels: b.in[0], Height: b.in[1], Width: b.in[2], Kernel: b.layer.Side, Stride: 1}
	s.w, s.b = b.weight.of(p.net.Params), b.bias.of(p.net.Params)
	s.y = make([]float32, p.Rows*s.size)
	s.patches = make([]float32, s.geometry.PatchSize()*s.geometry.Pixels())
	s.full = make([]float32, s.out*s.geometry.Pixels())
	if s.pool {
		s.argmax = make([]uint8, p.Rows*s.size)
	}
	if p.Grads != nil {
		s.dw, s.db = b.weight.of(p.Grads), b.bias.of(p.Grads)
		s.dx = make([]float32, p.Rows*s.geometry.ImageSize())
		s.dfull = make([]float32, len(s.full))
	}
	return s
}

func (s *convStep) forward(x []float32, rows int) []float32 {
	s.x = x
	for i := range rows {
		s.forwardImage(i)
	}
	y := s.y[:rows*s.size]
	if s.relu {
		rectify(y)
	}
	return y
}

func (s *convStep) forwardImage(i int) {
	y := s.y[i*s.size : (i+1)*s.size]
	product := y
	if s.pool {
		product = s.full
	}
	kernel.Im2Col(s.patches, s.image(s.x, i), s.geometry)
	kernel.Gemm(false, false, 1, s.weights(s.w), s.patchMatrix(), 0, s.pixelMatrix(product))
	if s.pool {
		kernel.MaxPool2x2(y, s.argmax[i*s.size:(i+1)*s.size], product, s.out, s.geometry.OutHeight(), s.geometry.OutWidth())
	}
	s.addBias(y)
}

// addBias adds each channel's bias to its plane.
func (s *convStep) addBias(y []float32) {
	plane := len(y) / s.out
	for c, bias := range s.b {
		for j := range y[c*plane : (c+1)*plane] {
			y[c*plane+j] += bias
		}
	}
}

func (s *convStep) backward(dy []float32, rows int, wanted bool) []float32 {
	if s.relu {
		kernel.ReLUBackward(dy, s.y[:rows*s.size])
	}
	dx := s.dx[:rows*s.geometry.ImageSize()]
	if wanted {
		clear(dx)
	}
	for i := range rows {
		s.backwardImage(dy[i*s.size:(i+1)*s.size], i, wanted)
	}
	if !wanted {
		return nil
	}
	return dx
}

// For one image, with dy spread back over the pooled windows:
// dW += dy patchesᵀ, db += sums of dy's planes, dpatches = Wᵀ dy, added up to dx.
func (s *convStep) backwardImage(dy []float32, i int, wanted bool) {
	s.addBiasGradient(dy)
	if s.pool {
		kernel.MaxPool2x2Backward(s.dfull, dy, s.argmax[i*s.size:(i+1)*s.size], s.out, s.geometry.OutHeight(), s.geometry.OutWidth())
		dy = s.dfull
	}
	kernel.Im2Col(s.patches, s.image(s.x, i), s.geometry)
	kernel.Gemm(false, true, 1, s.pixelMatrix(dy), s.patchMatrix(), 1, s.weights(s.dw))
	if wanted {
		kernel.Gemm(true, false, 1, s.weights(s.w), s.pixelMatrix(dy), 0, s.patchMatrix())
		kernel.Col2Im(s.image(s.dx, i), s.patches, s.geometry)
	}
}

func (s *convStep) addBiasGradient(dy []float32) {
	plane := len(dy) / s.out
	for c := range s.db {
		var sum float32
		for _, d := range dy[c*plane : (c+1)*plane] {
			sum += d
		}
		s.db[c] += sum
	}
}

func (s *convStep) image(x []float32, i int) []float32 {
	n := s.geometry.ImageSize()
	return x[i*n : (i+1)*n]
}

func (s *convStep) weights(w []float32) blas32.General {
	return matrix(w, s.out, s.geometry.PatchSize())
}

func (s *convStep) patchMatrix() blas32.General {
	return matrix(s.patches, s.geometry.PatchSize(), s.geometry.Pixels())
}

func (s *convStep) pixelMatrix(y []float32) blas32.General {
	return matrix(y, s.out, s.geometry.Pixels())
}
