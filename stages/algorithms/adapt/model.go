package adapt

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/nn"
)

// A Model is a trained g and h and, if the method has one, v. Its methods do not change
// it and may be called from several goroutines.
type Model struct {
	Classes []string // names, in the order of the columns of probabilities
	Method  string   // the method that trained it
	Seed    uint64   // the seed of training
	Epoch   int      // the epoch at whose end the weights were, from 0; −1 for initial weights
	Use
	// Prior is the class proportions that the posteriors assume, nil if unknown.
	Prior []float64
	// Proportions is the last estimate of p_T, nil if the method makes none.
	Proportions []float64
	// CriticDistance is Σ w v(z^s) − mean v(z^t) over the last epoch of the training
	// that made the model; nil if there was no critic, and for a model from a file.
	CriticDistance *float64
	// FirstLabels are the figures of the first pseudo-labels of the training that made the
	// model; nil if it had none, and for a model from a file.
	FirstLabels *LabelFigures

	networks
	input   input
	scratch sync.Pool // *inference
}

// Arch returns the name of the model's architecture, "auto" resolved.
func (m *Model) Arch() string { return m.arch.Name }

// Shape returns the shape of a row of features: C, H, W of an image, or one number.
func (m *Model) Shape() []int { return slices.Clone(m.arch.Input) }

// Width returns the number d of features of a row.
func (m *Model) Width() int { return m.g.Inputs }

// EmbeddingWidth returns the number h of values of an embedding.
func (m *Model) EmbeddingWidth() int { return m.g.Outputs }

// Embed returns the n×h embeddings g(x) of the rows of x, n×d.
// It panics if d is not Width.
func (m *Model) Embed(x blas32.General) blas32.General {
	z := dense.New(x.Rows, m.EmbeddingWidth())
	m.EmbedInto(z, x)
	return z
}

// Predict returns the n×C class probabilities, the softmax of h(g(x)), of the rows of x,
// n×d. It panics if d is not Width.
func (m *Model) Predict(x blas32.General) blas32.General {
	p := dense.New(x.Rows, m.h.Outputs)
	m.PredictInto(p, x)
	return p
}

// PredictAugmented returns the class probabilities of the rows of x as Predict does, after
// random changes (see package augment).
func (m *Model) PredictAugmented(x blas32.General, changes augment.Policy, seed uint64) blas32.General {
	p := dense.New(x.Rows, m.h.Outputs)
	m.check(p, x, m.h.Outputs)
	m.run(p, x.Rows, func(s *inference, out []float32, lo, hi int) {
		a := changes.New(m.arch.Input)
		for i := lo; i < hi; i++ {
			m.input.change(s.row(i-lo), x.Data[i*x.Stride:], func(row []float32) { a.Apply(row, seed, 0, uint64(i)) })
		}
		s.probabilities(out, s.g.Forward(s.x[:(hi-lo)*s.width], hi-lo), hi-lo)
	})
	return p
}

// EmbedInto writes the embeddings of the rows of x, n×d, to dst, n×h, for callers that
// process batch after batch in constant memory.
func (m *Model) EmbedInto(dst, x blas32.General) {
	m.check(dst, x, m.g.Outputs)
	m.run(dst, x.Rows, func(s *inference, out []float32, lo, hi int) {
		copy(out, s.embed(m.input, x, lo, hi))
	})
}

// PredictInto writes the class probabilities of the rows of x, n×d, to dst, n×C.
func (m *Model) PredictInto(dst, x blas32.General) {
	m.check(dst, x, m.h.Outputs)
	m.run(dst, x.Rows, func(s *inference, out []float32, lo, hi int) {
		s.probabilities(out, s.embed(m.input, x, lo, hi), hi-lo)
	})
}

// classifyInto writes the class probabilities of the embeddings z, n×h, to dst, n×C.
func (m *Model) classifyInto(dst, z blas32.General) {
	m.run(dst, z.Rows, func(s *inference, out []float32, lo, hi int) {
		s.probabilities(out, z.Data[lo*z.Stride:hi*z.Stride], hi-lo)
	})
}

func (m *Model) check(dst, x blas32.General, outputs int) {
	if x.Cols != m.Width() {
		panic("adapt: model and rows differ in width")
	}
	if dst.Rows != x.Rows || dst.Cols != outputs || dst.Stride != outputs {
		panic("adapt: destination of another shape than the outputs")
	}
}

// inferenceRows is the number of rows that go through the networks at once: enough for the
// products to run at full speed, and few enough to stay in cache.
const inferenceRows = 128

// run splits the rows into blocks and these over threads, and calls f for each block to
// write out, the rows [lo, hi) of dst.
func (m *Model) run(dst blas32.General, rows int, f func(s *inference, out []float32, lo, hi int)) {
	blocks := (rows + inferenceRows - 1) / inferenceRows
	kernel.Parallel(blocks, 1, func(first, end int) {
		s, _ := m.scratch.Get().(*inference)
		if s == nil {
			s = newInference(m.networks)
		}
		defer m.scratch.Put(s)
		for b := first; b < end; b++ {
			lo, hi := b*inferenceRows, min(rows, (b+1)*inferenceRows)
			f(s, dst.Data[lo*dst.Cols:hi*dst.Cols], lo, hi)
		}
	})
}

// inference is the scratch memory of one thread.
type inference struct {
	g, h    *nn.Pass
	classes int
	width   int
	x       []float32
}

func newInference(n networks) *inference {
	return &inference{
		g: n.g.NewPass(inferenceRows, false, nil), h: n.h.NewPass(inferenceRows, false, nil),
		classes: n.h.Outputs, width: n.g.Inputs, x: make([]float32, inferenceRows*n.g.Inputs),
	}
}

func (s *inference) embed(in input, x blas32.General, lo, hi int) []float32 {
	for i := lo; i < hi; i++ {
		in.apply(s.row(i-lo), x.Data[i*x.Stride:])
	}
	return s.g.Forward(s.x[:(hi-lo)*s.width], hi-lo)
}

func (s *inference) row(i int) []float32 { return s.x[i*s.width : (i+1)*s.width] }

func (s *inference) probabilities(out, z []float32, rows int) {
	kernel.Softmax(out, s.h.Forward(z, rows), rows, s.classes)
}

// Argmax returns the column of the largest value in each row of p, n×C; the first of equal
// ones.
func Argmax(p blas32.General) []int32 { return dense.ArgmaxRows(p) }
