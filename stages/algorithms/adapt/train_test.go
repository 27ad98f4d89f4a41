package adapt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/augment"
)

// trueProportions is an estimator that knows the answer.
func trueProportions(p ...float64) Estimator {
	return func(context.Context, Snapshot) ([]float64, error) { return p, nil }
}

// quickConfig trains small networks on the oracle's rows in milliseconds.
func quickConfig(tb testing.TB, method string) (Problem, Config) {
	tb.Helper()
	c, err := Recipe("mlp:5-7-6", []int{5}, ScheduleDefault)
	if err != nil {
		tb.Fatal(err)
	}
	if c.Method, err = ParseMethod(method, 0); err != nil {
		tb.Fatal(err)
	}
	c.Epochs, c.StartAlign, c.ReestimateEvery, c.Batch, c.Jobs, c.Seed = 8, 2, 2, 8, 2, 5
	c.DecayFrom, c.AverageFrom = 2, 5
	c.Estimate = trueProportions(oracleProportions...)
	if c.Method.SelfTrains() {
		c.Relabel, c.TargetShare, c.Iterations, c.SmoothRates = everyOther, 0.25, 5, true
		c.Sampling, c.Augment = SamplingBalanced, augment.Policy{{Name: "noise", Strength: 1}}
	}
	return oracleProblem([]int{5}), c
}

func save(tb testing.TB, m *Model) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func mustTrain(tb testing.TB, p Problem, c Config) *Model {
	tb.Helper()
	m, err := Train(context.Background(), p, c)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// No number of threads is as many as the process may use: a Go program need not know it.
func TestJobsLeftOut(t *testing.T) {
	p, c := quickConfig(t, "source")
	c.Jobs = 0
	all := save(t, mustTrain(t, p, c))
	c.Jobs = runtime.GOMAXPROCS(0)
	if !bytes.Equal(all, save(t, mustTrain(t, p, c))) {
		t.Error("0 threads give another model than all do")
	}
	c.Jobs = -1
	if _, err := Train(t.Context(), p, c); err == nil || err.Error() != "adapt: jobs -1: want at least 0" {
		t.Errorf("-1 threads: %v", err)
	}
}

func TestSameSeedGivesSameBytes(t *testing.T) {
	for _, method := range MethodNames() {
		p, c := quickConfig(t, method)
		first, second := save(t, mustTrain(t, p, c)), save(t, mustTrain(t, p, c))
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two runs differ", method)
		}
		c.Seed++
		if bytes.Equal(first, save(t, mustTrain(t, p, c))) {
			t.Errorf("%s: another seed gives the same model", method)
		}
	}
}

// keepIn keeps checkpoints in a file.
func keepIn(path string) func(func(io.Writer) error) error {
	return func(write func(io.Writer) error) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
}

func TestResumeGivesSameBytes(t *testing.T) {
	for _, method := range MethodNames() {
		for _, optimiser := range []Optimiser{SGD, Adam} {
			for _, interrupted := range []int{1, 4, 7} { // before alignment, before averaging, after
				p, c := quickConfig(t, method)
				c.Optimiser, c.Momentum, c.WeightDecay = optimiser, 0.5, 1e-3
				whole := save(t, mustTrain(t, p, c))
				state := filepath.Join(t.TempDir(), "state")
				c.Checkpoint, c.CheckpointEvery = keepIn(state), 1
				stop := errors.New("stop")
				c.OnEpoch = func(m EpochMetrics) error {
					if m.Epoch == interrupted {
						return stop
					}
					return nil
				}
				if _, err := Train(context.Background(), p, c); !errors.Is(err, stop) {
					t.Fatal(err)
				}
				c.OnEpoch, c.ResumeFile, c.Checkpoint = nil, state, nil
				if !bytes.Equal(whole, save(t, mustTrain(t, p, c))) {
					t.Errorf("%s, %s: resumed in epoch %d, it ends elsewhere", method, optimiser, interrupted)
				}
			}
		}
	}
}

// What resumes a finished training has nothing left to do, and knows what it measured.
func TestResumeFinished(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	state := filepath.Join(t.TempDir(), "state")
	c.Checkpoint = keepIn(state)
	whole := mustTrain(t, p, c)
	c.ResumeFile, c.Checkpoint = state, nil
	again := mustTrain(t, p, c)
	if whole.CriticDistance == nil || again.CriticDistance == nil || *again.CriticDistance != *whole.CriticDistance {
		t.Errorf("the critic's distance: %v, resumed %v", whole.CriticDistance, again.CriticDistance)
	}
	if !bytes.Equal(save(t, whole), save(t, again)) {
		t.Error("resumed, it ends elsewhere")
	}
}

// A checkpoint that cannot be kept ends training, with the last good model.
func TestCheckpointFails(t *testing.T) {
	p, c := quickConfig(t, "source")
	full := errors.New("the disk is full")
	c.Checkpoint, c.CheckpointEvery = func(func(io.Writer) error) error { return full }, 2
	model, err := Train(context.Background(), p, c)
	if !errors.Is(err, full) || model == nil || model.Epoch != 1 {
		t.Errorf("training ends with %v, %v", model, err)
	}
}

// If only the end of training depends on the number of epochs, a finished training can go
// on.
func TestResumeWithMoreEpochs(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	c.Decay = 1
	whole := save(t, mustTrain(t, p, c))
	state := filepath.Join(t.TempDir(), "state")
	c.Checkpoint, c.Epochs = keepIn(state), 4
	mustTrain(t, p, c)
	c.ResumeFile, c.Epochs = state, 8
	if !bytes.Equal(whole, save(t, mustTrain(t, p, c))) {
		t.Error("four and four epochs are not eight")
	}
}

func TestResumeRefusesOtherSettings(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	state := filepath.Join(t.TempDir(), "state")
	c.Checkpoint = keepIn(state)
	mustTrain(t, p, c)
	c.ResumeFile, c.Checkpoint = state, nil
	started := mustTrain(t, p, c)
	for name, change := range map[string]func(*Problem, *Config){
		"lambda":         func(_ *Problem, c *Config) { c.Lambda++ },
		"estimator":      func(_ *Problem, c *Config) { c.Estimated = "another" },
		"proportions":    func(_ *Problem, c *Config) { c.StartProportions = []float64{0.5, 0.25, 0.25} },
		"weight decay":   func(_ *Problem, c *Config) { c.WeightDecay = 0.1 },
		"initial weight": func(_ *Problem, c *Config) { c.Initial = started },
		"scaling":        func(_ *Problem, c *Config) { c.Input = InputRow },
		"schedule":       func(_ *Problem, c *Config) { c.published("toy") },
		"names":          func(p *Problem, _ *Config) { p.Classes = []string{"x", "y", "z"} },
		"data":           func(p *Problem, _ *Config) { p.Source.Data = slices.Clone(p.Source.Data); p.Source.Data[3]++ },
		"target":         func(p *Problem, _ *Config) { p.Target.Data = slices.Clone(p.Target.Data); p.Target.Data[3]++ },
	} {
		p, c := p, c
		change(&p, &c)
		if _, err := Train(context.Background(), p, c); err == nil || !strings.Contains(err.Error(), "other data or settings") {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	if race.Detector {
		t.Skip("the race detector allocates")
	}
	for _, arch := range []struct {
		name  string
		shape []int
	}{{"toy", []int{2}}, {"visda", []int{20}}, {"digits", []int{1, 28, 28}}} {
		for _, method := range []string{"source", "dann", "wd", "marsc"} {
			tr := benchmarkTrainer(t, arch.name, arch.shape, func(c *Config) {
				c.Method, _ = ParseMethod(method, 0)
				c.Batch, c.CriticSteps, c.Jobs, c.AverageFrom = 8, 2, 2, 0
			})
			tr.aligned = tr.config.Method.Aligns()
			// A garbage collection empties the sync.Pool of packed panels, which is then
			// filled again. So the minimum of a few measurements counts.
			n := math.Inf(1)
			for range 4 {
				n = min(n, testing.AllocsPerRun(5, func() { tr.iterate(context.Background()) }))
			}
			if n != 0 {
				t.Errorf("%s, %s: %g allocations a step", arch.name, method, n)
			}
		}
	}
}

func TestDivergenceKeepsLastGoodModel(t *testing.T) {
	p, c := quickConfig(t, "source")
	c.Optimiser, c.LearningRate = SGD, 0.1
	c.DecayFrom = c.Epochs
	var last *Model
	c.OnEpoch = func(m EpochMetrics) error { last = m.Model(); return nil }
	c.AverageFrom = c.Epochs
	c.LearningRate = 1e20
	m, err := Train(context.Background(), p, c)
	var diverged *DivergedError
	if !errors.As(err, &diverged) {
		t.Fatalf("a learning rate of 1e20: %v", err)
	}
	if m == nil || m.Epoch != diverged.LastGood || diverged.LastGood != diverged.Epoch-1 {
		t.Fatalf("model %+v of %+v", m, diverged)
	}
	if want := fmt.Sprintf("adapt: training diverged in epoch %d: ", diverged.Epoch+1); !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v: want it to begin with %q", err, want)
	}
	if last != nil && !bytes.Equal(save(t, last), save(t, m)) {
		t.Error("not the model of the last good epoch")
	}
	for _, v := range m.Predict(p.Target).Data {
		if math.IsNaN(float64(v)) {
			t.Fatal("the model kept predicts NaN")
		}
	}
}

func TestTrainReportsBadInput(t *testing.T) {
	nan := float32(math.NaN())
	cases := []struct {
		want   string
		change func(p *Problem, c *Config)
	}{
		{"source has no rows", func(p *Problem, c *Config) { p.Source.Rows = 0 }},
		{"target has no rows", func(p *Problem, c *Config) { p.Target.Rows = 0 }},
		{"has 1 class", func(p *Problem, c *Config) { p.Classes = p.Classes[:1] }},
		{"class 3 (d) has no source rows", func(p *Problem, c *Config) { p.Classes = append(p.Classes, "d") }},
		{"row 4 has label 9", func(p *Problem, c *Config) { p.Labels[4] = 9 }},
		{"24 labels for 25", func(p *Problem, c *Config) { p.Labels = p.Labels[1:] }},
		{"source row 2, column 1 is NaN", func(p *Problem, c *Config) { p.Source.Data[11] = nan }},
		{"target row 1, column 4 is NaN", func(p *Problem, c *Config) { p.Target.Data[9] = nan }},
		{"target rows 4", func(p *Problem, c *Config) { p.Target.Cols = 4 }},
		{"do not have the shape", func(p *Problem, c *Config) { p.Shape = []int{6} }},
		{"needs an estimator", func(p *Problem, c *Config) { c.Estimate = nil }},
		{"the method is not set", func(p *Problem, c *Config) { c.Method = Method{} }},
		{"arch \"net\" is unknown", func(p *Problem, c *Config) { c.Arch = "net" }},
		{"mlp:5-100-100", func(p *Problem, c *Config) { c.Arch = "mlp:6-3" }},
		{"epochs 0", func(p *Problem, c *Config) { c.Epochs = 0 }},
		{"lambda -1", func(p *Problem, c *Config) { c.Lambda = -1 }},
		{"learning rate NaN", func(p *Problem, c *Config) { c.LearningRate = math.NaN() }},
		{"class loss \"heavy\"", func(p *Problem, c *Config) { c.ClassLoss = "heavy" }},
		{"sum to 0.75", func(p *Problem, c *Config) { c.StartProportions = []float64{0.25, 0.25, 0.25} }},
		{"2 proportions for 3 classes", func(p *Problem, c *Config) { c.Estimate = trueProportions(0.5, 0.5) }},
		{"the proportion of class 1 is NaN", func(p *Problem, c *Config) { c.Estimate = trueProportions(0.5, math.NaN(), 0.5) }},
		{"no such file", func(p *Problem, c *Config) { c.ResumeFile = filepath.Join(t.TempDir(), "none") }},
	}
	for _, k := range cases {
		p, c := quickConfig(t, "marsc")
		k.change(&p, &c)
		if _, err := Train(context.Background(), p, c); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("want an error with %q, got %v", k.want, err)
		}
	}
}

func TestTrainStopsWithContext(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	ctx, cancel := context.WithCancel(context.Background())
	c.OnEpoch = func(m EpochMetrics) error {
		if m.Epoch == 3 {
			cancel()
		}
		return nil
	}
	m, err := Train(ctx, p, c)
	if !errors.Is(err, context.Canceled) || m == nil || m.Epoch != 3 {
		t.Errorf("model %+v, error %v", m, err)
	}
}

func TestEpochMetrics(t *testing.T) {
	p, c := quickConfig(t, "marsg")
	var seen []EpochMetrics
	c.OnEpoch = func(m EpochMetrics) error { seen = append(seen, m); return nil }
	m := mustTrain(t, p, c)
	if len(seen) != c.Epochs {
		t.Fatalf("%d epochs reported of %d", len(seen), c.Epochs)
	}
	for i, e := range seen {
		aligned := i >= c.StartAlign
		if e.Epoch != i || e.Aligned != aligned || e.Reestimated != (aligned && i%2 == 0) {
			t.Errorf("epoch %d: %+v", i, e)
		}
		if !(e.ClassLoss > 0) || (e.CriticDistance != 0) != aligned || (e.GradientPenalty != 0) != aligned {
			t.Errorf("epoch %d: losses %g %g %g", i, e.ClassLoss, e.CriticDistance, e.GradientPenalty)
		}
		if aligned && !slices.Equal(e.Proportions, oracleProportions) {
			t.Errorf("epoch %d: proportions %v", i, e.Proportions)
		}
	}
	if seen[7].LearningRate >= seen[3].LearningRate {
		t.Error("the learning rate does not fall")
	}
	if !slices.Equal(m.Proportions, oracleProportions) {
		t.Errorf("the model has proportions %v", m.Proportions)
	}
}

// Train must not change the caller's data.
func TestTrainChangesNoInput(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	source, target, labels := slices.Clone(p.Source.Data), slices.Clone(p.Target.Data), slices.Clone(p.Labels)
	c.Input = InputStandard
	mustTrain(t, p, c)
	if !slices.Equal(source, p.Source.Data) || !slices.Equal(target, p.Target.Data) || !slices.Equal(labels, p.Labels) {
		t.Error("training changed its input")
	}
}

func TestInitialWeightsAreTaken(t *testing.T) {
	p, c := quickConfig(t, "source")
	c.Initial = mustTrain(t, p, c)
	c.Epochs, c.LearningRate, c.AverageFrom, c.DecayFrom = 1, 0, 1, 1
	m := mustTrain(t, p, c)
	if got, want := m.Predict(p.Target), c.Initial.Predict(p.Target); !slices.Equal(got.Data, want.Data) {
		t.Error("without a learning rate the model is not the initial one")
	}
	c.Arch = "mlp:5-9"
	if _, err := Train(context.Background(), p, c); err == nil || !strings.Contains(err.Error(), "network g") {
		t.Errorf("networks that do not fit: %v", err)
	}
}

// A model gives the same for rows one by one and together.
func TestPredictDoesNotDependOnBatches(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	c.Input = InputStandard
	m := mustTrain(t, p, c)
	all := m.Predict(p.Target)
	embedded := m.Embed(p.Target)
	for i := range p.Target.Rows {
		row := blas32.General{Rows: 1, Cols: 5, Stride: 5, Data: p.Target.Data[i*5 : i*5+5]}
		if one := m.Predict(row); !slices.Equal(one.Data, all.Data[i*3:i*3+3]) {
			t.Fatalf("row %d: %v alone, %v with others", i, one.Data, all.Data[i*3:i*3+3])
		}
		if one := m.Embed(row); !slices.Equal(one.Data, embedded.Data[i*6:i*6+6]) {
			t.Fatalf("row %d embeds elsewhere alone", i)
		}
	}
}

// The critic's rate falls with β where SGD would diverge, and nowhere else.
func TestMethodLimitsCriticRate(t *testing.T) {
	for _, test := range []struct {
		method   string
		beta     float64
		schedule Schedule
		want     float64
	}{
		{"wd", 0, ScheduleDefault, 0.05}, {"wd", 1, ScheduleDefault, 0.05}, {"wd", 4, ScheduleDefault, 0.02},
		{"marsc", 0, ScheduleDefault, 0.05}, {"wd", 4, SchedulePaper, 0.01},
	} {
		c, err := Recipe("toy", []int{2}, test.schedule)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ParseMethod(test.method, test.beta)
		if err != nil {
			t.Fatal(err)
		}
		c.SetMethod(m)
		if c.CriticLearningRate != test.want {
			t.Errorf("%s, beta %g, schedule %s: the critic's rate is %g, want %g", test.method, test.beta, test.schedule, c.CriticLearningRate, test.want)
		}
	}
}
