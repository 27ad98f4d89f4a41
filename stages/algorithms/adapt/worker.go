package adapt

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/nn"
)

// A worker computes losses and gradients on its rows [lo, hi) of each batch, n = hi−lo of
// each domain. In its matrices the source rows come first and then the target rows.
type worker struct {
	t      *trainer
	id     int
	lo, hi int
	g, h   *nn.Pass
	critic *nn.CriticPass // alignWasserstein
	domain *nn.Pass       // alignAdversarial

	x       []float32 // 2n×d features
	z       []float32 // 2n×h embeddings, as g left them
	c       []float32 // 2n coefficients of the embeddings' values
	domains []int32   // 2n domain labels
	labels  []int32   // of the source rows and then the target rows, in self-training
	sums    sums
	pcg     *rand.PCG // of dropout
	augment *augment.Augmenter
}

// sums are a worker's sums over its rows in a step.
type sums struct {
	class    float64 // Σ c_i L
	correct  int     // source rows that h labels correctly
	distance float64 // its part of Σ w v(z^s) − mean v(z^t), or of the domain loss of DANN
	penalty  float64 // its part of the mean (‖∇v‖ − 1)²
}

func newWorker(t *trainer, id int) *worker {
	lo, hi := t.pool.part(len(t.batch.source), id)
	n := hi - lo
	w := &worker{t: t, id: id, lo: lo, hi: hi, pcg: rand.NewPCG(0, 0)}
	random := rand.New(w.pcg)
	rows := n
	if t.config.Method.Aligns() {
		rows = 2 * n
	}
	w.augment = t.config.Augment.New(t.problem.shape())
	if t.config.Method.SelfTrains() {
		rows, n = n+2, n+2 // parts of two domains are rounded up
		w.c, w.labels = make([]float32, rows), make([]int32, rows)
	}
	w.g, w.h = t.g.NewPass(rows, true, random), t.h.NewPass(n, true, random)
	w.x = make([]float32, rows*t.g.Inputs)
	switch t.config.Method.align {
	case alignWasserstein:
		w.critic = t.v.NewCriticPass(3 * n)
		w.c = make([]float32, rows)
	case alignAdversarial:
		w.domain = t.v.NewPass(rows, true, random)
		w.c = make([]float32, rows)
		w.domains = make([]int32, rows)
		for i := n; i < rows; i++ {
			w.domains[i] = 1
		}
	}
	return w
}

// embed computes z = g(x) of the batch's source rows and, if aligned, of its target rows:
// n×h or 2n×h.
func (w *worker) embed(b *batch, aligned bool) {
	n, d := w.hi-w.lo, w.t.g.Inputs
	w.gather(w.x[:n*d], w.t.problem.Source, b.source[w.lo:w.hi], w.lo)
	rows := n
	if aligned {
		rows = 2 * n
		w.gather(w.x[n*d:rows*d], w.t.problem.Target, b.target[w.lo:w.hi], len(b.source)+w.lo)
	}
	w.z = w.g.Forward(w.x[:rows*d], rows)
}

// gather writes rows of x to dst, len(rows)×d, changed at random and scaled for g. Their
// places in the batch begin at place.
func (w *worker) gather(dst []float32, x blas32.General, rows []int32, place int) {
	t := w.t
	step := uint64(t.epoch*t.iterations()*(t.config.CriticSteps+1) + t.drawn)
	for i, row := range rows {
		t.input.change(dst[i*x.Cols:(i+1)*x.Cols], x.Data[int(row)*x.Stride:], func(row []float32) {
			w.augment.Apply(row, t.config.Seed, step, uint64(place+i))
		})
	}
}

// criticStep adds the gradient with respect to v of −(L_wd − L_grad), the negative of what
// Algorithm 1 maximises, on the embedded batch, 2n×h, and n interpolates. Its naive twin is
// naive.critic in twin_test.go.
func (w *worker) criticStep(b *batch) {
	w.setCoefficients(b)
	from, points := len(w.c), len(b.source)
	if w.t.config.PenaltyPoints == PenaltyAll {
		from, points = 0, 3*len(b.source)
	}
	scale := w.t.config.Gamma / float64(points)
	w.sums.distance, w.sums.penalty = w.critic.Loss(w.z, w.c, b.interpolation[w.lo:w.hi], from, scale)
	w.sums.penalty /= float64(points)
}

// setCoefficients sets c, 2n, to the coefficients of L_wd = Σ w_i v(z_i^s) − (1+β) mean
// v(z^t). Its naive twin is naive.distance.
func (w *worker) setCoefficients(b *batch) {
	n := w.hi - w.lo
	copy(w.c, b.critic[w.lo:w.hi])
	fill(w.c[n:], -float32((1+w.t.config.Method.Beta)/float64(len(b.target))))
}

// mainStep adds the gradients of g and h in Σ c_i L + λ L_wd (L_w + λ L_wd in Algorithm 1),
// and of DANN's domain classifier, on the embedded batch, 2n×h. Its naive twin is naive.main.
func (w *worker) mainStep(b *batch, aligned bool) {
	n := w.hi - w.lo
	width := w.t.g.Outputs
	dz := w.classify(b)
	if !aligned {
		w.g.Backward(dz, n, false)
		return
	}
	all := w.align(b)
	kernel.Axpy(1, dz, all[:n*width])
	w.g.Backward(all, 2*n, false)
}

// classify adds the gradients of h in the classification loss, and returns the gradient of
// the source embeddings, n×h.
func (w *worker) classify(b *batch) []float32 {
	n, classes := w.hi-w.lo, w.t.h.Outputs
	labels := b.labels[w.lo:w.hi]
	logits := w.h.Forward(w.z[:n*w.t.g.Outputs], n)
	w.sums.correct = 0
	for i, y := range labels {
		if dense.Argmax(logits[i*classes:(i+1)*classes]) == int(y) {
			w.sums.correct++
		}
	}
	w.sums.class = nn.CrossEntropy(logits, n, classes, labels, b.class[w.lo:w.hi])
	return w.h.Backward(logits, n, true)
}

// align returns the gradient of λ L_wd, or of DANN's reversed domain loss, with respect to
// the embeddings of both domains, 2n×h. Its naive twins are naive.distance and naive.domain.
func (w *worker) align(b *batch) []float32 {
	n := w.hi - w.lo
	lambda := w.t.config.Lambda
	if w.critic != nil {
		w.setCoefficients(b)
		var dz []float32
		w.sums.distance, dz = w.critic.InputGradient(w.z, w.c, lambda)
		return dz
	}
	fill(w.c, 1/float32(len(b.source)))
	logits := w.domain.Forward(w.z, 2*n)
	w.sums.distance = nn.CrossEntropy(logits, 2*n, 2, w.domains, w.c)
	dz := w.domain.Backward(logits, 2*n, true)
	kernel.Scale(-float32(lambda), dz) // gradient reversal
	return dz
}
