package adapt

import (
	"context"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/internal/nn"
)

// trainer is a training in progress.
type trainer struct {
	problem Problem
	config  Config
	input   input
	networks

	learners []*learner // of g, h and v, in that order
	workers  []*worker
	crew     *crew
	sampler  *sampler
	batch    *batch
	deal     func(rows bool) // draws a batch's interpolates and, if asked, its rows
	pcg      *rand.PCG       // reseeded every epoch: what is drawn depends on the seed and the epoch alone
	rng      *rand.Rand

	epoch       int
	proportions []float64 // p_T in use
	source      []float64 // p_S
	z           struct{ source, target blas32.General }
	firstLoss   float64 // class loss of the first epoch, at least 1
	run         string  // fingerprint, once computed

	// What the phases of a step work with.
	aligned  bool
	fresh    bool // embeddings have yet to be computed for the batch
	updating []*learner
	phases   struct{ critic, main, update func(member int) }
}

// Streams of random numbers, by purpose; epochs are added to the last two.
const (
	streamInit    = 0
	streamBatches = 1 << 32
	streamDropout = 1 << 33
)

// newTrainer allocates all that a step needs for the networks of arch. The
// configuration has been checked.
func newTrainer(p Problem, c Config, arch nn.Arch) (*trainer, error) {
	t := &trainer{problem: p, config: c, input: newInput(c.Input, p.Source)}
	var err error
	if t.networks, err = newNetworks(arch, c.Method.align); err != nil {
		return nil, err
	}
	if err := t.start(); err != nil {
		return nil, err
	}
	rows, targets := min(c.Batch, p.Source.Rows), 0
	if c.Method.Aligns() {
		rows = min(rows, p.Target.Rows)
		targets = rows
	}
	t.batch = newBatch(rows, targets, len(p.Classes))
	t.sampler = newSampler(p.Labels, len(p.Classes), p.Target.Rows, c.Sampling == SamplingStratified)
	t.deal = t.sample
	t.pcg = rand.NewPCG(0, 0)
	t.rng = rand.New(t.pcg)
	t.source = proportions(p.Labels, len(p.Classes))
	t.proportions = t.source
	if c.StartProportions != nil {
		t.proportions = c.StartProportions
	}
	t.employ(min(c.Jobs, rows))
	return t, nil
}

// start sets the weights that training starts from.
func (t *trainer) start() error {
	t.initialise(t.config.Seed)
	if t.config.Initial == nil {
		return nil
	}
	t.input = t.config.Initial.input
	return t.networks.copyFrom(t.config.Initial.networks)
}

// employ makes the workers, the learners and the crew.
func (t *trainer) employ(jobs int) {
	t.crew = newCrew(jobs)
	for member := range jobs {
		lo, hi := t.crew.share(len(t.batch.source), member)
		t.workers = append(t.workers, newWorker(t, lo, hi))
	}
	for i, net := range t.all() {
		l := &learner{net: net, critic: i == 2, optimiser: t.config.optimiser(i == 2)}
		l.optimiser.Allocate(len(net.Params))
		for _, w := range t.workers {
			l.grads = append(l.grads, w.gradients(i))
		}
		t.learners = append(t.learners, l)
	}
	t.phases.critic = func(member int) {
		w := t.workers[member]
		if t.fresh {
			w.embed(t.batch, true)
		}
		w.criticStep(t.batch)
	}
	t.phases.main = func(member int) {
		w := t.workers[member]
		if t.fresh {
			w.embed(t.batch, t.aligned)
		}
		w.mainStep(t.batch, t.aligned)
	}
	t.phases.update = func(member int) {
		for _, l := range t.updating {
			lo, hi := t.crew.share(len(l.net.Params), member)
			l.update(lo, hi, t.rate(l))
		}
	}
}

// gradients are the worker's of network i of g, h, v.
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

// rate is the learning rate of a network in this epoch.
func (t *trainer) rate(l *learner) float64 {
	c := t.config
	rate := c.LearningRate
	if l.critic {
		rate = c.CriticLearningRate
	}
	if t.epoch < c.DecayFrom {
		return rate
	}
	fallen := float64(t.epoch-c.DecayFrom+1) / float64(c.Epochs-c.DecayFrom)
	return rate * (1 - (1-c.Decay)*fallen)
}

// runEpoch trains one epoch and returns its figures.
func (t *trainer) runEpoch(ctx context.Context) (EpochMetrics, error) {
	began := time.Now()
	t.beginEpoch()
	m := EpochMetrics{Epoch: t.epoch, Epochs: t.config.Epochs, Aligned: t.aligned, LearningRate: t.rate(t.learners[0])}
	if t.estimationDue() {
		if err := t.reestimate(ctx); err != nil {
			return m, err
		}
		m.Reestimated, m.EstimateTime = true, time.Since(began)
	}
	iterations := t.iterations()
	var total sums
	for range iterations {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		total.add(t.iterate())
		if !total.finite() {
			break
		}
	}
	m.ClassLoss = total.class / float64(iterations)
	m.CriticDistance = total.distance / float64(iterations)
	m.GradientPenalty = total.penalty / float64(iterations)
	m.SourceAccuracy = float64(total.correct) / float64(iterations*len(t.batch.source))
	m.Proportions = append([]float64(nil), t.proportions...)
	m.Model = func() *Model { return t.model(t.epoch) }
	m.Duration = time.Since(began)
	return m, nil
}

// iterations is the number of steps of g in an epoch.
func (t *trainer) iterations() int { return max(1, t.problem.Source.Rows/len(t.batch.source)) }

// beginEpoch restarts everything random from the seed and the epoch, so that an
// interrupted training goes on to the same bits.
func (t *trainer) beginEpoch() {
	epoch := uint64(t.epoch)
	t.pcg.Seed(t.config.Seed, streamBatches+epoch)
	t.sampler.restart(t.rng)
	t.aligned = t.config.Method.Aligns() && t.epoch >= t.config.StartAlign
	dropout := !(t.config.DropoutUntilAligned && t.aligned)
	for i, w := range t.workers {
		w.random.Seed(t.config.Seed, streamDropout*uint64(i+1)+epoch)
		w.h.SetDropout(dropout)
	}
	if t.epoch < t.config.AverageFrom {
		return
	}
	for _, l := range t.learners[:2] {
		if l.average == nil {
			l.average = make([]float32, len(l.net.Params))
		}
	}
}

// iterate takes the steps of one iteration: those of the critic, where the method has
// one, and one of g and h.
func (t *trainer) iterate() sums {
	var critic sums
	steps := 0
	if t.aligned && t.config.Method.align == alignWasserstein {
		steps = t.config.CriticSteps
	}
	for k := range steps {
		t.draw(k > 0)
		t.crew.run(t.phases.critic)
		critic = t.collect()
		t.update(t.learners[2:])
	}
	t.draw(steps > 0)
	t.crew.run(t.phases.main)
	main := t.collect()
	updating := t.learners[:2]
	if t.aligned && t.config.Method.align == alignAdversarial {
		updating = t.learners
	}
	t.countAverages()
	t.update(updating)
	main.penalty = critic.penalty
	return main
}

// draw makes the next batch, or keeps the iteration's where batches are shared.
func (t *trainer) draw(drawn bool) {
	t.fresh = !(drawn && t.config.Batches == BatchesShared)
	t.deal(t.fresh)
	if t.fresh {
		t.weigh()
	}
}

// sample is the deal of an ordinary training.
func (t *trainer) sample(rows bool) {
	if rows {
		t.sampler.draw(t.batch, t.rng)
	}
	t.batch.interpolate(t.rng)
}

// weigh sets the coefficients of the batch's losses.
func (t *trainer) weigh() {
	b, keep := t.batch, t.config.Sampling != SamplingPublished
	uniform := t.config.Method.weights == weightsUniform
	if uniform {
		fill(b.critic, 1/float32(len(b.critic)))
	} else {
		b.weigh(b.critic, t.proportions, keep)
	}
	switch {
	case t.config.ClassLoss == ClassLossBalanced:
		b.weigh(b.class, t.sampler.balanced, true)
	case t.config.ClassLoss == ClassLossPlain || uniform:
		fill(b.class, 1/float32(len(b.class)))
	default:
		b.weigh(b.class, t.proportions, keep)
	}
}

// collect adds up what the workers saw, in their order.
func (t *trainer) collect() sums {
	var total sums
	for _, w := range t.workers {
		total.add(w.sums)
	}
	return total
}

func (s *sums) add(o sums) {
	s.class += o.class
	s.correct += o.correct
	s.distance += o.distance
	s.penalty += o.penalty
}

func (t *trainer) update(learners []*learner) {
	for _, l := range learners {
		l.optimiser.Step++
	}
	t.updating = learners
	t.crew.run(t.phases.update)
}

// countAverages counts the parameters that the next update adds to the averages.
func (t *trainer) countAverages() {
	for _, l := range t.learners[:2] {
		if l.average != nil {
			l.averaged++
		}
	}
}
