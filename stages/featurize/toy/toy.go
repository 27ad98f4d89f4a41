// Package toy makes the paper's toy problem: three Gaussian classes in the plane
// whose proportions and centres both change from the source to the target
// (generalised target shift, section "Numerical Experiments" and the figures of
// the supplement).
//
// The constants are those of the authors' program. There p moves the target's
// centres and q sets the imbalance of its classes.
package toy

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/featurize/shift"
)

// Classes is the number of classes, Dim the number of features.
const (
	Classes = 3
	Dim     = 2
)

// DefaultRows is the number of rows of each domain in the paper: 30 for each
// percent.
const DefaultRows = 3000

// A Noise is the width of the classes, and so the difficulty of the problem: the
// paper's low-, mid- and high-error settings.
type Noise string

// The three noises of the paper.
const (
	Low  Noise = "low"
	Mid  Noise = "mid"
	High Noise = "high"
)

// A target centre is its source centre plus Shift times its step.
var (
	sourceCentres = [Classes][Dim]float64{{0.25, 0}, {0, 1}, {1, 1.5}}
	targetStep    = [Classes][Dim]float64{{-0.05, -0.05}, {-0.05, -0.05}, {-0.1, -0.0005}}
)

// variances holds the variances for each noise, class and axis.
var variances = map[Noise][Classes][Dim]float64{
	Low:  {{0.002, 0.005}, {0.005, 0.01}, {0.05, 0.05}},
	Mid:  {{0.025, 0.025}, {0.025, 0.05}, {0.05, 0.05}},
	High: {{0.035, 0.035}, {0.035, 0.35}, {0.05, 0.05}},
}

// Options describe one problem. The zero value is the paper's mid noise with no
// shift of centres, nearly equal proportions and 3,000 rows of each domain.
type Options struct {
	Noise Noise   // "" means Mid
	Shift float64 // p: how far the target's centres move, in the paper 0 to 11

	// SourceProportions and TargetProportions are the class proportions. Their
	// sum is 1; nil means the paper's 0.33, 0.33, 0.34. The number of rows of a
	// class is not random: it is shift.Counts of the proportions.
	SourceProportions []float64
	TargetProportions []float64
	SourceRows        int // 0 means DefaultRows
	TargetRows        int // 0 means DefaultRows

	// PublishedCodeVariances sets the variance of the second axis to 0, as the
	// authors' program does.
	PublishedCodeVariances bool

	Seed uint64
}

// Setting returns the paper's numbered experiments as in the authors' program.
// Settings 0, 1 and 2 (low noise) and 5 (mid noise) vary the shift p = parameter;
// their target proportions are 33/33/34, 60/20/20, 80/10/10 and 80/10/10.
// Settings 3, 4 and 6 (low, mid, high noise) have p = 8 and vary the imbalance
// q = parameter: the first class has int(34 + 6.4·q) percent, and the other two
// have half of the rest each, the last one the odd percent.
func Setting(number int, parameter float64) (Options, error) {
	byShift := map[int][]float64{0: nil, 1: {.60, .20, .20}, 2: {.80, .10, .10}, 5: {.80, .10, .10}}
	noise := map[int]Noise{0: Low, 1: Low, 2: Low, 3: Low, 4: Mid, 5: Mid, 6: High}
	if _, ok := noise[number]; !ok {
		return Options{}, fmt.Errorf("toy setting %d: there is none: the paper's are 0 to 6", number)
	}
	if balance, ok := byShift[number]; ok {
		return Options{Noise: noise[number], Shift: parameter, TargetProportions: balance}, nil
	}
	if !(parameter >= 0 && parameter <= 10) {
		return Options{}, fmt.Errorf("toy setting %d: imbalance %v: it lies between 0 (34 %% in the first class) and 10 (98 %%)", number, parameter)
	}
	return Options{Noise: noise[number], Shift: 8, TargetProportions: Imbalance(parameter)}, nil
}

// Imbalance returns the target proportions of settings 3, 4 and 6 for q in
// [0, 10].
func Imbalance(q float64) []float64 {
	if !(q >= 0 && q <= 10) {
		panic("toy: imbalance outside [0, 10]")
	}
	major := int(34 + 6.4*q)
	second := (100 - major) / 2
	third := 100 - major - second
	return []float64{float64(major) / 100, float64(second) / 100, float64(third) / 100}
}

// A Sample holds the rows of one domain in random order.
type Sample struct {
	X      blas32.General // n×2
	Labels []int32        // n classes in [0, Classes)
}

// Generate draws the two domains. Each has its own random stream, so the source
// does not depend on the options of the target. It returns ctx.Err() if ctx ends.
func Generate(ctx context.Context, o Options) (source, target Sample, err error) {
	o, err = o.filled()
	if err != nil {
		return Sample{}, Sample{}, err
	}
	deviation := o.deviations()
	source, err = draw(ctx, o.SourceRows, o.SourceProportions, sourceCentres, deviation, rand.New(rand.NewPCG(o.Seed, 1)))
	if err != nil {
		return source, target, err
	}
	target, err = draw(ctx, o.TargetRows, o.TargetProportions, o.targetCentres(), deviation, rand.New(rand.NewPCG(o.Seed, 2)))
	return source, target, err
}

// stepRows is how many rows are drawn between two checks of the context.
const stepRows = 1 << 16

func draw(ctx context.Context, rows int, proportions []float64, centres, deviation [Classes][Dim]float64, rng *rand.Rand) (Sample, error) {
	s := Sample{
		X:      blas32.General{Rows: rows, Cols: Dim, Stride: Dim, Data: make([]float32, rows*Dim)},
		Labels: make([]int32, 0, rows),
	}
	for c, n := range shift.Counts(rows, proportions) {
		for range n {
			s.Labels = append(s.Labels, int32(c))
		}
	}
	if err := shift.Shuffle(ctx, s.Labels, rng); err != nil {
		return s, err
	}
	for i, y := range s.Labels {
		if i%stepRows == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		for a := range Dim {
			s.X.Data[i*Dim+a] = float32(centres[y][a] + deviation[y][a]*rng.NormFloat64())
		}
	}
	return s, nil
}
