package adapt

import (
	"context"
	"time"
)

// rate is the learning rate of a network now.
func (t *trainer) rate(l *learner) float64 {
	c := t.config
	rate := c.LearningRate
	if l.critic {
		rate = c.CriticLearningRate
	}
	done := float64(t.epoch + 1) // epochs, the present one or step included
	if c.SmoothRates {
		done = float64(t.epoch) + float64(t.iteration+1)/float64(t.iterations())
	}
	if done < c.WarmUp {
		rate *= done / c.WarmUp
	}
	if done <= float64(c.DecayFrom) {
		return rate
	}
	fallen := (done - float64(c.DecayFrom)) / float64(c.Epochs-c.DecayFrom)
	return rate * (1 - (1-c.Decay)*fallen)
}

// runEpoch trains one epoch and returns its figures.
func (t *trainer) runEpoch(ctx context.Context) (EpochMetrics, error) {
	began := time.Now()
	t.beginEpoch()
	m := EpochMetrics{Epoch: t.epoch, Epochs: t.config.Epochs, Aligned: t.aligned && !t.config.Method.SelfTrains(), LearningRate: t.rate(t.learners[0])}
	if t.estimationDue() {
		if err := t.reestimate(ctx); err != nil {
			return m, err
		}
		m.Reestimated, m.EstimateTime = true, time.Since(began)
	}
	if t.config.Method.SelfTrains() {
		if err := t.beginSelfTraining(ctx, &m); err != nil {
			return m, err
		}
	}
	iterations := t.iterations()
	var total sums
	for t.iteration = range iterations {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		total.add(t.iterate(ctx))
		if !total.finite() {
			break
		}
	}
	if err := ctx.Err(); err != nil { // the last iteration may not be whole
		return m, err
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

// iterations is the number of iterations in an epoch.
func (t *trainer) iterations() int {
	if t.config.Iterations > 0 {
		return t.config.Iterations
	}
	return max(1, t.problem.Source.Rows/len(t.batch.class))
}

// beginEpoch seeds all random numbers from the seed and the epoch, so that training that
// is resumed gives the same bits.
func (t *trainer) beginEpoch() {
	epoch := uint64(t.epoch)
	t.pcg.Seed(t.config.Seed, streamBatches+epoch)
	t.iteration, t.drawn = 0, 0
	t.sampler.restart(t.rng)
	t.aligned = t.config.Method.Aligns() && t.epoch >= t.config.StartAlign
	dropout := !(t.config.DropoutFirstEpoch && t.epoch > 0)
	for i, w := range t.workers {
		w.pcg.Seed(t.config.Seed, streamDropout*uint64(i+1)+epoch)
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

// iterate takes the steps of one iteration: CriticSteps of the critic, if the method has
// one, and one of g and h. It returns the sums of the latter, with the penalty of the
// last critic step. It stops in the middle when ctx is done.
func (t *trainer) iterate(ctx context.Context) sums {
	var critic sums
	steps := 0
	if t.aligned && t.config.Method.align == alignWasserstein {
		steps = t.config.CriticSteps
	}
	for k := range steps {
		if ctx.Err() != nil {
			return critic
		}
		t.nextBatch(k > 0)
		t.pool.run(t.phases.critic)
		critic = t.collect()
		t.update(t.learners[2:])
	}
	t.nextBatch(steps > 0)
	t.pool.run(t.phases.main)
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

// nextBatch draws a batch. If the steps of an iteration share their rows and these have
// been drawn, it draws only the interpolation.
func (t *trainer) nextBatch(drawn bool) {
	t.fresh = !(drawn && t.config.Batches == BatchesShared)
	t.drawBatch(t.fresh)
	if t.fresh {
		t.weigh()
	}
}

// sample draws the interpolation of a batch and, if asked, its rows.
func (t *trainer) sample(rows bool) {
	if rows {
		t.drawn++
		t.sampler.draw(t.batch, t.rng)
	}
	t.batch.drawInterpolation(t.rng)
}

// weigh sets the coefficients of the batch's losses.
func (t *trainer) weigh() {
	if t.config.Method.SelfTrains() {
		t.weighLabels()
		return
	}
	b, normalise := t.batch, t.config.Sampling != SamplingPublished
	uniform := t.config.Method.weights == weightsUniform
	if uniform {
		fill(b.critic, 1/float32(len(b.critic)))
	} else {
		b.weigh(b.critic, t.proportions, normalise)
	}
	switch {
	case t.config.ClassLoss == ClassLossBalanced:
		b.weigh(b.class, t.sampler.balanced, true)
	case t.config.ClassLoss == ClassLossPlain || uniform:
		fill(b.class, 1/float32(len(b.class)))
	default:
		b.weigh(b.class, t.proportions, normalise)
	}
}

// collect adds up the sums of the workers, in their order.
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
	t.pool.run(t.phases.update)
}

// countAverages counts the parameter vector that the next update adds to the averages.
func (t *trainer) countAverages() {
	for _, l := range t.learners[:2] {
		if l.average != nil {
			l.averaged++
		}
	}
}
