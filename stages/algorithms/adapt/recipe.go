package adapt

import (
	"fmt"
	"runtime"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// Recipe returns the measured defaults of an architecture for rows of the given shape
// (C, H, W, or one number of columns), or with SchedulePaper the published settings. The
// method is source; choose another with ParseMethod and SetMethod.
func Recipe(arch string, shape []int, s Schedule) (Config, error) {
	const anyClasses = 2 // neither names nor recipes depend on their number
	a, err := nn.ParseArch(arch, shape, anyClasses)
	if err != nil {
		return Config{}, &OptionError{err}
	}
	c := common()
	switch {
	case s == SchedulePaper:
		c.published(a.Name)
	case s == ScheduleDefault:
		c.measured(a.Name)
		c.forTables(arch, a)
	default:
		return Config{}, fmt.Errorf("adapt: schedule %q is unknown: want %s or %s", s, ScheduleDefault, SchedulePaper)
	}
	c.Arch = a.Name
	return c, nil
}

// common is what the recipes share.
func common() Config {
	return Config{
		Method:          methods[0],
		ReestimateEvery: 10, Gamma: 10,
		Beta1: 0.5, Beta2: 0.999,
		ClassLoss: ClassLossWeighted, PenaltyPoints: PenaltyInterpolates,
		Batches: BatchesShared, Sampling: SamplingStratified, Input: InputAsIs,
		CheckpointEvery: 10, Jobs: runtime.GOMAXPROCS(0),
	}
}

// forTables has plain columns standardised, whatever they are measured in, and trains on few
// rows for more epochs. The networks of the paper's problems take their own data as they
// are, if asked for by name, and identity gives what it takes.
func (c *Config) forTables(asked string, a nn.Arch) {
	own := []string{"toy", "visda", "office", "identity"}
	if len(a.Input) == 1 && !slices.Contains(own, asked) {
		c.Input, c.minSteps = InputStandard, tableSteps
	}
}

// tableSteps is how many steps a table is trained for at least, as many as the toy's 3,000
// rows are in 40 epochs; maxTableEpochs bounds the epochs that these make of few rows.
const (
	tableSteps     = 1000
	maxTableEpochs = 200
)

// ForRows lengthens the schedule of a table where the source has few rows.
func (c *Config) ForRows(n int) {
	steps := max(1, n/c.Batch)
	epochs := min(maxTableEpochs, (c.minSteps+steps-1)/steps)
	if epochs <= c.Epochs {
		return
	}
	c.ReestimateEvery = c.ReestimateEvery * epochs / c.Epochs
	c.SetEpochs(epochs)
}

// measured sets the default schedule, which docs/measured/choices.md is about.
func (c *Config) measured(arch string) {
	c.Decay = 0.1
	switch arch {
	case "toy":
		// At this rate the critic is stable with γ = 3 and not with γ = 10, and λ = 1
		// aligns in 30 epochs as λ = 0.4 does in 50.
		c.train(40, 10, 5, 120)
		c.optimise(SGD, 0.05, 1)
		c.Gamma = 3
	case "digits", "ganin":
		c.train(20, 5, 5, 200)
		c.optimise(Adam, 1e-3, 0.01)
		c.Beta1, c.ReestimateEvery, c.Input = 0.9, 5, InputSymmetric
		// Estimates of p_T from clusters of images can be too far off to weight classes by.
		c.ClassLoss = ClassLossBalanced
	default:
		c.train(60, 10, 5, 120)
		c.optimise(Adam, 3e-4, 0.01)
	}
	// A constant rate makes the most progress, but adversarial training oscillates with
	// it. So the rate falls in the last quarter, and the last eighth is averaged.
	c.DecayFrom = c.Epochs * 3 / 4
	c.AverageFrom = c.Epochs * 7 / 8
}

// published sets the settings of the paper and of its authors' code.
func (c *Config) published(arch string) {
	c.PenaltyPoints, c.Batches = PenaltyAll, BatchesFresh
	c.Decay = 1
	switch arch {
	case "toy":
		c.train(500, 100, 10, 120)
		c.optimise(SGD, 0.01, 0.4) // λ = 0.05·p, here for a shift of p = 8
	case "digits", "ganin":
		c.train(100, 11, 5, 200)
		c.optimise(Adam, 1e-4, 0.01)
		c.Beta1, c.ReestimateEvery = 0.9, 5
	default:
		c.train(200, 10, 5, 120)
		c.optimise(Adam, 1e-4, 0.01)
	}
	c.DecayFrom, c.AverageFrom = c.Epochs, c.Epochs
}

func (c *Config) train(epochs, startAlign, criticSteps, batch int) {
	c.Epochs, c.StartAlign, c.CriticSteps, c.Batch = epochs, startAlign, criticSteps, batch
}

func (c *Config) optimise(o Optimiser, rate, lambda float64) {
	c.Optimiser, c.LearningRate, c.CriticLearningRate, c.Lambda = o, rate, rate, lambda
}

// maxCriticRate is the highest rate of the critic, times 1+β, at which SGD trains it
// reliably: at 0.25 four in ten runs of WD_4 on the toy diverged.
const maxCriticRate = 0.1

// SetMethod sets the method. The critic's loss grows with 1+β, so the critic's rate is
// lowered where SGD would diverge. iw-wd estimates often enough.
func (c *Config) SetMethod(m Method) {
	c.Method = m
	if c.Optimiser == SGD {
		c.CriticLearningRate = min(c.CriticLearningRate, maxCriticRate/(1+m.Beta))
	}
	c.estimateOften()
}

// minEstimates is how many estimates of p_T iw-wd makes at least. Each is averaged half and
// half with the last, so that 1/1024 of p_S is left of what it began with.
const minEstimates = 10

// estimateOften has iw-wd estimate as often as its moving average needs.
func (c *Config) estimateOften() {
	if c.Method.Name == "iw-wd" {
		c.ReestimateEvery = max(1, min(c.ReestimateEvery, (c.Epochs-c.StartAlign)/minEstimates))
	}
}
