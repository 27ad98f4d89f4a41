package adapt

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// everyOther labels every other target row, with the likeliest class.
func everyOther(_ context.Context, posteriors blas32.General, prior []float64) (*PseudoLabels, error) {
	p := &PseudoLabels{Labels: Argmax(posteriors), Proportions: prior, Weights: make([]float32, len(prior))}
	for k := range p.Weights {
		p.Weights[k] = float32(k + 1)
	}
	for i := 1; i < len(p.Labels); i += 2 {
		p.Labels[i] = -1
	}
	return p, nil
}

// nothing labels no row.
func nothing(_ context.Context, posteriors blas32.General, prior []float64) (*PseudoLabels, error) {
	labels := slices.Repeat([]int32{-1}, posteriors.Rows)
	return &PseudoLabels{Labels: labels, Proportions: prior, Weights: make([]float32, len(prior))}, nil
}

func selfTrainer(t *testing.T, jobs int, change func(*Config)) *trainer {
	t.Helper()
	p, c := quickConfig(t, SelfTraining)
	c.Jobs = jobs
	if change != nil {
		change(&c)
	}
	arch, err := nn.ParseArch(c.Arch, p.shape(), len(p.Classes))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(t.Context(), p, c, arch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.pool.stop)
	return tr
}

// begin starts the first epoch with labels.
func (t *trainer) begin(tb testing.TB) EpochMetrics {
	tb.Helper()
	var m EpochMetrics
	t.epoch = t.config.StartAlign
	t.beginEpoch()
	if err := t.beginSelfTraining(tb.Context(), &m); err != nil {
		tb.Fatal(err)
	}
	return m
}

// A batch has the source's classes alike and only target rows with labels; the loss is that
// of the definition.
func TestLossOfPseudoLabels(t *testing.T) {
	tr := selfTrainer(t, 2, func(c *Config) { c.Augment = nil })
	if m := tr.begin(t); !m.Labelled || m.Kept != 0.52 { // 13 of 25
		t.Errorf("labelled %v, kept %g", m.Labelled, m.Kept)
	}
	b := tr.batch
	for range 20 {
		tr.nextBatch(false)
		if len(b.source) != 6 || len(b.target) != 2 {
			t.Fatalf("a batch of %d and %d rows", len(b.source), len(b.target))
		}
		tr.pool.run(tr.phases.main)
		m := &Model{networks: tr.networks, input: tr.input}
		source, target := m.Predict(tr.problem.Source), m.Predict(tr.problem.Target)
		want, counts := 0.0, make([]float64, 3)
		for _, row := range b.source {
			counts[tr.problem.Labels[row]]++
		}
		for _, row := range b.source {
			y := tr.problem.Labels[row]
			want -= math.Log(float64(source.Data[int(row)*3+int(y)])) / 3 / counts[y]
		}
		for _, row := range b.target {
			y := tr.pseudo.Labels[row]
			if row%2 != 0 || y < 0 {
				t.Fatalf("row %d of the target has the label %d", row, y)
			}
			want -= math.Log(float64(target.Data[int(row)*3+int(y)])) * float64(y+1) / 2
		}
		if got := tr.collect().class; math.Abs(got-want) > 1e-5*want {
			t.Errorf("loss %g, want %g", got, want)
		}
		if slices.Max(counts)-slices.Min(counts) > 1 {
			t.Errorf("a batch with classes %v", counts)
		}
		tr.update(tr.learners[:2])
	}
}

// Rows are changed alike for any number of threads, and differently in every batch.
func TestAugmentedRowsDoNotDependOnThreads(t *testing.T) {
	var first []float32
	for jobs := 1; jobs <= 3; jobs++ {
		tr := selfTrainer(t, jobs, nil)
		tr.begin(t)
		var rows []float32
		for range 2 {
			tr.nextBatch(false)
			tr.pool.run(tr.phases.main)
			d := tr.g.Inputs
			for _, target := range []bool{false, true} {
				for _, w := range tr.workers {
					lo, hi := tr.pool.part(len(tr.batch.source), w.id)
					from, to := tr.pool.part(len(tr.batch.target), w.id)
					if target {
						rows = append(rows, w.x[(hi-lo)*d:(hi-lo+to-from)*d]...)
					} else {
						rows = append(rows, w.x[:(hi-lo)*d]...)
					}
				}
			}
		}
		if first == nil {
			first = rows
		}
		if !slices.Equal(rows, first) {
			t.Errorf("%d threads train on other rows than one", jobs)
		}
		if slices.Equal(rows[:len(rows)/2], rows[len(rows)/2:]) {
			t.Error("two batches are the same")
		}
	}
}

// Without any label of the target, training goes on with the source alone.
func TestNoPseudoLabels(t *testing.T) {
	p, c := quickConfig(t, SelfTraining)
	c.Relabel = nothing
	asked := 0
	c.OnEpoch = func(m EpochMetrics) error {
		if m.Labelled || m.Kept != 0 {
			t.Errorf("epoch %d has labels", m.Epoch)
		}
		if m.Reestimated {
			asked++
		}
		return nil
	}
	mustTrain(t, p, c)
	if asked != 3 { // before epochs 2, 4 and 6
		t.Errorf("labels were asked for %d times", asked)
	}
}

// A labeller that gives nonsense is named.
func TestRelabelIsChecked(t *testing.T) {
	for want, spoil := range map[string]func(*PseudoLabels){
		"has label 3":      func(p *PseudoLabels) { p.Labels[0] = 3 },
		"24 labels":        func(p *PseudoLabels) { p.Labels = p.Labels[:24] },
		"the proportions ": func(p *PseudoLabels) { p.Proportions = []float64{1, 1, 1} },
	} {
		p, c := quickConfig(t, SelfTraining)
		c.Relabel = func(ctx context.Context, x blas32.General, prior []float64) (*PseudoLabels, error) {
			p, err := everyOther(ctx, x, prior)
			spoil(p)
			return p, err
		}
		if _, err := Train(t.Context(), p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Rates rise, stay and fall to 0 step by step.
func TestSmoothRates(t *testing.T) {
	tr := selfTrainer(t, 1, func(c *Config) {
		c.Epochs, c.Iterations, c.WarmUp, c.DecayFrom, c.Decay, c.LearningRate = 4, 10, 0.5, 2, 0, 1
	})
	for _, k := range []struct {
		epoch, iteration int
		want             float64
	}{{0, 0, 0.2}, {0, 4, 1}, {1, 9, 1}, {2, 0, 0.95}, {3, 0, 0.45}, {3, 9, 0}} {
		tr.epoch, tr.iteration = k.epoch, k.iteration
		if got := tr.rate(tr.learners[0]); math.Abs(got-k.want) > 1e-12 {
			t.Errorf("epoch %d, step %d: rate %g, want %g", k.epoch, k.iteration, got, k.want)
		}
	}
}

// The exponential average has the weights of its definition.
func TestExponentialAverage(t *testing.T) {
	tr := selfTrainer(t, 1, func(c *Config) { c.AverageFrom, c.AverageDecay = 0, 0.75 })
	tr.epoch = 0
	tr.beginEpoch()
	l, mean := tr.learners[0], 0.0
	for step := 1; step <= 8; step++ {
		tr.countAverages()
		fill(l.net.Params, float32(step))
		l.grads[0][0] = 0
		l.optimiser = nn.Optimiser{}
		l.updateSome(0, 1, 0)
		share := max(0.25, 1/float64(step))
		mean += share * (float64(step) - mean)
		if got := float64(l.average[0]); math.Abs(got-mean) > 1e-5 {
			t.Errorf("step %d: average %g, want %g", step, got, mean)
		}
	}
}

// Rows that are scaled by their own moments are after saving and loading as well.
func TestRowScaling(t *testing.T) {
	x := []float32{1, 2, 3, 6}
	y := make([]float32, 4)
	input{byRow: true}.apply(y, x)
	for j, want := range []float64{-2, -1, 0, 3} {
		if want /= math.Sqrt(3.5) + rowEpsilon; math.Abs(float64(y[j])-want) > 1e-6 {
			t.Errorf("column %d is %g, want %g", j, y[j], want)
		}
	}
	p, c := quickConfig(t, SelfTraining)
	c.Input = InputRow
	m := mustTrain(t, p, c)
	back, err := Load(bytes.NewReader(save(t, m)), "model")
	if err != nil {
		t.Fatal(err)
	}
	before := m.Predict(p.Target).Data
	if !slices.Equal(before, back.Predict(p.Target).Data) {
		t.Error("the loaded model predicts otherwise")
	}
	for i := range p.Target.Data {
		p.Target.Data[i] += 7 // does not change a row that is scaled by its own mean
	}
	for i, v := range back.Predict(p.Target).Data {
		if math.Abs(float64(v-before[i])) > 1e-4 {
			t.Fatalf("another mean of a row changes a posterior from %g to %g", before[i], v)
		}
	}
}
