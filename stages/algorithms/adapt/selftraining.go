package adapt

import (
	"context"
	"fmt"
	"time"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// beginSelfTraining gives target rows new labels if that is due, and divides the batch
// between the domains.
func (t *trainer) beginSelfTraining(ctx context.Context, m *EpochMetrics) error {
	if t.aligned && (t.epoch-t.config.StartAlign)%t.config.ReestimateEvery == 0 {
		began := time.Now()
		if err := t.relabel(ctx); err != nil {
			return err
		}
		m.Reestimated, m.EstimateTime = true, time.Since(began)
	}
	kept := 0
	if t.pseudo != nil {
		kept = len(t.sampler.target.rows)
	}
	m.Labelled, m.Kept = kept > 0, float64(kept)/float64(t.problem.Target.Rows)
	targets := 0
	if m.Labelled {
		targets = int(t.config.TargetShare * float64(t.config.Batch))
	}
	t.batch.divide(targets)
	return nil
}

// relabel labels target rows by the model as it is now, with averaged weights.
func (t *trainer) relabel(ctx context.Context) error {
	m := t.model(t.epoch - 1)
	p, err := t.config.Relabel(ctx, m.Predict(t.problem.Target), m.Prior)
	if err == nil {
		err = t.checkLabels(p)
	}
	if err != nil {
		return fmt.Errorf("labelling the target before epoch %d: %w", t.epoch+1, err)
	}
	t.usePseudo(p)
	if t.firstLabels == nil {
		t.firstLabels = &LabelFigures{Kept: float64(len(t.sampler.target.rows)) / float64(len(p.Labels)), Proportions: p.Proportions}
	}
	return nil
}

func (t *trainer) checkLabels(p *PseudoLabels) error {
	classes := len(t.problem.Classes)
	if len(p.Labels) != t.problem.Target.Rows || len(p.Weights) != classes {
		return fmt.Errorf("%d labels and %d weights for %d rows and %d classes", len(p.Labels), len(p.Weights), t.problem.Target.Rows, classes)
	}
	for i, y := range p.Labels {
		if y < -1 || int(y) >= classes {
			return fmt.Errorf("row %d has label %d: want −1 to %d", i, y, classes-1)
		}
	}
	return checkProportions(p.Proportions, classes)
}

// usePseudo draws target rows with labels from now on.
func (t *trainer) usePseudo(p *PseudoLabels) {
	t.pseudo, t.proportions = p, p.Proportions
	var kept []int32
	for i, y := range p.Labels {
		if y >= 0 {
			kept = append(kept, int32(i))
		}
	}
	t.sampler.useTargets(kept, t.rng)
}

// divide makes all rows of a batch source rows but the given number of target rows.
func (b *batch) divide(targets int) {
	b.source = b.source[:len(b.class)-targets]
	if cap(b.target) < targets {
		b.target = make([]int32, targets)
	}
	b.target = b.target[:targets]
}

// weighLabels sets the labels of a batch's target rows and the coefficients of the loss:
// the mean over source rows, with all classes alike, plus the weighted mean over target rows.
func (t *trainer) weighLabels() {
	b := t.batch
	n := len(b.source)
	b.labels = b.labels[:n]
	b.weigh(b.class[:n], t.sampler.balanced, true)
	b.labels = b.labels[:len(b.class)]
	for i, row := range b.target {
		y := t.pseudo.Labels[row]
		b.labels[n+i] = y
		b.class[n+i] = t.pseudo.Weights[y] / float32(len(b.target))
	}
}

// labelStep adds the gradients of g and h in the classification loss of the batch's source
// rows and of its target rows with pseudo-labels.
func (w *worker) labelStep(b *batch) {
	d, classes := w.t.g.Inputs, w.t.h.Outputs
	lo, hi := w.t.pool.part(len(b.source), w.id)
	first, end := w.t.pool.part(len(b.target), w.id)
	n, sources := hi-lo+end-first, len(b.source)
	w.gather(w.x[:(hi-lo)*d], w.t.problem.Source, b.source[lo:hi], lo)
	w.gather(w.x[(hi-lo)*d:n*d], w.t.problem.Target, b.target[first:end], sources+first)
	copy(w.labels, b.labels[lo:hi])
	copy(w.labels[hi-lo:], b.labels[sources+first:sources+end])
	copy(w.c, b.class[lo:hi])
	copy(w.c[hi-lo:], b.class[sources+first:sources+end])
	logits := w.h.Forward(w.g.Forward(w.x[:n*d], n), n)
	w.sums.correct = 0
	for i, y := range w.labels[:hi-lo] {
		if dense.Argmax(logits[i*classes:(i+1)*classes]) == int(y) {
			w.sums.correct++
		}
	}
	w.sums.class = nn.CrossEntropy(logits, n, classes, w.labels[:n], w.c[:n])
	w.g.Backward(w.h.Backward(logits, n, true), n, false)
}

// Tensors of a checkpoint, n_T and C values.
const (
	labelTensor  = "pseudo.labels"
	weightTensor = "pseudo.weights"
)

func (p *PseudoLabels) tensors() []safetensors.Tensor {
	return []safetensors.Tensor{vector(labelTensor, numbers[float32](p.Labels)), vector(weightTensor, p.Weights)}
}

// restorePseudo reads what tensors gives, if it is there.
func (t *trainer) restorePseudo(l *loader) error {
	labels, there := l.file.Get(labelTensor)
	weights, both := l.file.Get(weightTensor)
	if !there && !both {
		return nil
	}
	p := &PseudoLabels{Labels: numbers[int32](labels.Data), Weights: weights.Data, Proportions: t.proportions}
	if err := t.checkLabels(p); err != nil {
		return err
	}
	l.used += 2
	t.usePseudo(p)
	return nil
}

// numbers converts all of x.
func numbers[To, From int32 | float32](x []From) []To {
	out := make([]To, len(x))
	for i, v := range x {
		out[i] = To(v)
	}
	return out
}
