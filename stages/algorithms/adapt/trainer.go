package adapt

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// trainer is a training in progress.
type trainer struct {
	problem Problem
	config  Config
	input   input
	networks

	learners []*learner // of g, h and v, in this order
	workers  []*worker
	pool     *pool
	sampler  *sampler
	batch    *batch
	// drawBatch draws a batch's interpolation and, if asked, its rows: sample, but tests
	// replace it.
	drawBatch func(rows bool)
	pcg       *rand.PCG // seeded every epoch: what is drawn depends on the seed and the epoch alone
	rng       *rand.Rand

	epoch       int
	iteration   int // within the epoch
	drawn       int // batches drawn in the epoch
	pseudo      *PseudoLabels
	firstLabels *LabelFigures
	proportions []float64 // p_T in use
	source      []float64 // p_S
	z           struct{ source, target blas32.General }
	firstLoss   float64 // class loss of the first epoch, at least 1
	// criticDistance is that of the last epoch; nil if no critic was trained in it.
	criticDistance *float64
	run            string // fingerprint, once computed

	// What the phases of a step read.
	aligned  bool
	fresh    bool       // whether the batch is new and its embeddings must be computed
	updating []*learner // the networks to update
	phases   phases
}

// phases are what the pool runs in a step. They are method values made once: one made
// at each call would allocate.
type phases struct{ critic, main, update func(worker int) }

// Streams of random numbers by purpose. The epoch is added to all but the first, to which
// the network's index is added.
const (
	streamInit    = 0
	streamBatches = 1 << 32
	streamDropout = 1 << 33
	streamExtract = 1 << 62
)

// newTrainer allocates everything that a step needs. The configuration must have been
// checked.
func newTrainer(ctx context.Context, p Problem, c Config, arch nn.Arch) (*trainer, error) {
	t := &trainer{problem: p, config: c}
	var err error
	if t.input, err = newInput(ctx, c.Input, p.Source); err != nil {
		return nil, err
	}
	if t.networks, err = newNetworks(arch, c.Method.align); err != nil {
		return nil, err
	}
	if err := t.setInitial(); err != nil {
		return nil, err
	}
	rows, targets := min(c.Batch, p.Source.Rows), 0
	if c.Method.Aligns() {
		rows = min(rows, p.Target.Rows)
		targets = rows
	}
	if c.Method.SelfTrains() {
		rows, targets = c.Batch, 0
	}
	t.batch = newBatch(rows, targets, len(p.Classes))
	t.sampler = newSampler(p.Labels, len(p.Classes), p.Target.Rows, c.Sampling == SamplingStratified || c.Sampling == SamplingBalanced)
	if c.Sampling == SamplingBalanced {
		t.sampler.share = t.sampler.balanced
	}
	t.drawBatch = t.sample
	t.pcg = rand.NewPCG(0, 0)
	t.rng = rand.New(t.pcg)
	t.source = proportions(p.Labels, len(p.Classes))
	t.proportions = t.source
	if c.StartProportions != nil {
		t.proportions = c.StartProportions
	}
	t.startWorkers(min(cmp.Or(c.Jobs, runtime.GOMAXPROCS(0)), rows))
	return t, nil
}

// setInitial sets the weights that training starts from.
func (t *trainer) setInitial() error {
	t.initialise(t.config.Seed)
	if t.config.Initial == nil {
		return nil
	}
	t.input = t.config.Initial.input
	return t.networks.copyFrom(t.config.Initial.networks)
}

// startWorkers makes the workers, the learners, the pool and its phases.
func (t *trainer) startWorkers(jobs int) {
	t.pool = newPool(jobs)
	for worker := range jobs {
		t.workers = append(t.workers, newWorker(t, worker))
	}
	for i, net := range t.all() {
		l := &learner{net: net, critic: i == 2, optimiser: t.config.optimiser(i == 2), decay: t.config.AverageDecay}
		l.optimiser.Allocate(len(net.Params))
		for _, w := range t.workers {
			l.grads = append(l.grads, w.gradients(i))
		}
		t.learners = append(t.learners, l)
	}
	t.phases = phases{critic: t.criticPhase, main: t.mainPhase, update: t.updatePhase}
}

func (t *trainer) criticPhase(worker int) {
	w := t.workers[worker]
	if t.fresh {
		w.embed(t.batch, true)
	}
	w.criticStep(t.batch)
}

func (t *trainer) mainPhase(worker int) {
	w := t.workers[worker]
	if t.config.Method.SelfTrains() {
		w.labelStep(t.batch)
		return
	}
	if t.fresh {
		w.embed(t.batch, t.aligned)
	}
	w.mainStep(t.batch, t.aligned)
}

func (t *trainer) updatePhase(worker int) {
	for _, l := range t.updating {
		n := len(l.net.Params)
		blocks := (n + updateBlock - 1) / updateBlock // workers get whole blocks: no vector crosses a cache line
		lo, hi := t.pool.part(blocks, worker)
		l.update(lo*updateBlock, min(hi*updateBlock, n), t.rate(l))
	}
}

// gradients returns the worker's gradients of network i of g, h, v.
func (w *worker) gradients(i int) []float32 {
	switch {
	case i == 0:
		return w.g.Grads
	case i == 1:
		return w.h.Grads
	case w.critic != nil:
		return w.critic.Grads
	}
	return w.domain.Grads
}

func (c Config) optimiser(critic bool) nn.Optimiser {
	o := nn.Optimiser{Adam: c.Optimiser == Adam, Momentum: c.Momentum, Beta1: c.Beta1, Beta2: c.Beta2}
	if !critic {
		o.WeightDecay = c.WeightDecay
	}
	return o
}
