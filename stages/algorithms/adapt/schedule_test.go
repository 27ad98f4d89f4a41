package adapt

import (
	"math"
	"testing"
)

// The recipes are those that the documents give.
func TestRecipes(t *testing.T) {
	for _, want := range []struct {
		arch                               string
		schedule                           Schedule
		epochs, start, steps, batch, every int
		optimiser                          Optimiser
		rate, lambda, gamma, decay         float64
		decayFrom, averageFrom             int
		classLoss                          ClassLoss
		points                             PenaltyPoints
		batches                            Batches
	}{
		{"toy", ScheduleDefault, 40, 10, 5, 120, 10, SGD, 0.05, 1, 3, 0.1, 30, 35, ClassLossWeighted, PenaltyInterpolates, BatchesShared},
		{"digits", ScheduleDefault, 20, 5, 5, 200, 5, Adam, 1e-3, 0.01, 10, 0.1, 15, 17, ClassLossBalanced, PenaltyInterpolates, BatchesShared},
		{"mlp:5-7-6", ScheduleDefault, 60, 10, 5, 120, 10, Adam, 3e-4, 0.01, 10, 0.1, 45, 52, ClassLossWeighted, PenaltyInterpolates, BatchesShared},
		{"toy", SchedulePaper, 500, 100, 10, 120, 10, SGD, 0.01, 0.4, 10, 1, 500, 500, ClassLossWeighted, PenaltyAll, BatchesFresh},
		{"digits", SchedulePaper, 100, 11, 5, 200, 5, Adam, 1e-4, 0.01, 10, 1, 100, 100, ClassLossWeighted, PenaltyAll, BatchesFresh},
		{"mlp:5-7-6", SchedulePaper, 200, 10, 5, 120, 10, Adam, 1e-4, 0.01, 10, 1, 200, 200, ClassLossWeighted, PenaltyAll, BatchesFresh},
	} {
		shape := map[string][]int{"toy": {2}, "digits": {1, 28, 28}, "mlp:5-7-6": {5}}[want.arch]
		c, err := Recipe(want.arch, shape, want.schedule)
		if err != nil {
			t.Fatal(err)
		}
		got := want
		got.epochs, got.start, got.steps, got.batch, got.every = c.Epochs, c.StartAlign, c.CriticSteps, c.Batch, c.ReestimateEvery
		got.optimiser, got.rate, got.lambda, got.gamma, got.decay = c.Optimiser, c.LearningRate, c.Lambda, c.Gamma, c.Decay
		got.decayFrom, got.averageFrom = c.DecayFrom, c.AverageFrom
		got.classLoss, got.points, got.batches = c.ClassLoss, c.PenaltyPoints, c.Batches
		if got != want || c.CriticLearningRate != c.LearningRate {
			t.Errorf("the recipe is\n%+v, want\n%+v", got, want)
		}
	}
}

// Tables are standardised, and trained for as many steps if they are short; the paper's
// networks take their problems as they are.
func TestTablesAreStandardised(t *testing.T) {
	for _, want := range []struct {
		arch     string
		shape    []int
		schedule Schedule
		rows     int
		input    InputScaling
		epochs   int
	}{
		{"auto", []int{2}, ScheduleDefault, 600, InputStandard, 200},
		{"auto", []int{7}, ScheduleDefault, 1500, InputStandard, 84},
		{"auto", []int{50}, ScheduleDefault, 30, InputStandard, 200},
		{"auto", []int{50}, ScheduleDefault, 30_000, InputStandard, 60},
		{"mlp:5-7-6", []int{5}, ScheduleDefault, 30_000, InputStandard, 60},
		{"toy", []int{2}, ScheduleDefault, 600, InputAsIs, 40},
		{"identity", []int{5}, ScheduleDefault, 600, InputAsIs, 60},
		{"auto", []int{5}, SchedulePaper, 600, InputAsIs, 200},
		{"auto", []int{1, 28, 28}, ScheduleDefault, 600, InputSymmetric, 20},
	} {
		c, err := Recipe(want.arch, want.shape, want.schedule)
		if err != nil {
			t.Fatal(err)
		}
		c.ForRows(want.rows)
		if c.Input != want.input || c.Epochs != want.epochs || c.AverageFrom > c.Epochs || c.ReestimateEvery > c.Epochs {
			t.Errorf("%s of %v and %d rows, %s: %s input and %d epochs, want %s and %d", want.arch, want.shape, want.rows, want.schedule, c.Input, c.Epochs, want.input, want.epochs)
		}
	}
}

// The moving average of iw-wd halves what is left of p_S with every estimate: by three of
// them, as many as the others made, p_T kept an eighth of it.
func TestEstimatesOfIWWD(t *testing.T) {
	iwwd, err := ParseMethod("iw-wd", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		arch     string
		schedule Schedule
		epochs   int // 0: the schedule's
		every    int
	}{
		{"toy", ScheduleDefault, 0, 3}, {"digits", ScheduleDefault, 0, 1}, {"mlp:5-7-6", ScheduleDefault, 0, 5},
		{"toy", ScheduleDefault, 12, 1}, {"toy", SchedulePaper, 0, 10}, {"digits", SchedulePaper, 0, 5},
	} {
		shape := map[string][]int{"toy": {2}, "digits": {1, 28, 28}, "mlp:5-7-6": {5}}[want.arch]
		c, err := Recipe(want.arch, shape, want.schedule)
		if err != nil {
			t.Fatal(err)
		}
		c.SetMethod(iwwd)
		if want.epochs > 0 {
			c.SetEpochs(want.epochs)
		}
		if c.ReestimateEvery != want.every {
			t.Errorf("%s, %s, %d epochs: an estimate every %d, want %d", want.arch, want.schedule, c.Epochs, c.ReestimateEvery, want.every)
		}
	}
}

// epochsOf trains and returns the figures of every epoch.
func epochsOf(t *testing.T, method string, change func(*Config)) (seen []EpochMetrics, last *Model) {
	t.Helper()
	p, c := quickConfig(t, method)
	change(&c)
	c.OnEpoch = func(m EpochMetrics) error {
		model := m.Model()
		m.Model = func() *Model { return model }
		seen = append(seen, m)
		return nil
	}
	return seen, mustTrain(t, p, c)
}

// The rate falls in equal steps, to the fraction asked for in the last epoch.
func TestRateFallsToDecay(t *testing.T) {
	seen, _ := epochsOf(t, "marsc", func(c *Config) { c.Epochs, c.DecayFrom, c.Decay, c.LearningRate = 8, 4, 0.2, 0.01 })
	for i, want := range []float64{1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2} {
		if got := seen[i].LearningRate; math.Abs(got-0.01*want) > 1e-12 {
			t.Errorf("epoch %d: rate %g, want %g", i, got, 0.01*want)
		}
	}
}

// Estimates begin with the alignment and are counted from there.
func TestEstimatesCountFromAlignment(t *testing.T) {
	seen, _ := epochsOf(t, "marsc", func(c *Config) { c.StartAlign, c.ReestimateEvery = 3, 2 })
	for i, m := range seen {
		if want := i == 3 || i == 5 || i == 7; m.Reestimated != want {
			t.Errorf("epoch %d: estimated is %v, want %v", i, m.Reestimated, want)
		}
	}
}

// The model's weights are the mean of those after every step of the epochs from
// AverageFrom on. Here an epoch is a step.
func TestModelIsAverage(t *testing.T) {
	never := func(c *Config) { c.Iterations, c.AverageFrom = 1, c.Epochs }
	steps, plain := epochsOf(t, "marsc", never)
	_, model := epochsOf(t, "marsc", func(c *Config) { never(c); c.AverageFrom = 5 })
	for i, net := range model.all()[:2] {
		far := 0.0
		for j, got := range net.Params {
			mean := 0.0
			for _, m := range steps[5:] {
				mean += float64(m.Model().all()[i].Params[j]) / 3
			}
			if math.Abs(float64(got)-mean) > 1e-6 {
				t.Fatalf("network %d: parameter %d is %g, and the mean %g", i, j, got, mean)
			}
			far = max(far, math.Abs(float64(plain.all()[i].Params[j])-mean))
		}
		if far < 1e-5 {
			t.Errorf("network %d: the mean of the weights is the last: nothing is tested", i)
		}
	}
}
