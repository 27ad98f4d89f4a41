package labelshift

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/mte"
)

// small is a problem of three classes and few rows.
func small() Inputs {
	rng := rand.New(rand.NewPCG(8, 9))
	return Inputs{Problem: problem(simulate.Blobs(rng, 90, 60, 3, dense.Uniform(3), []float64{0.6, 0.2, 0.2}, 4, 0.5)), Train: linear, Interval: IntervalOptions{Replicates: 2}}
}

var errBroken = errors.New("the pipe broke")

// countdown fails from its call number left on.
type countdown struct{ left int }

func (c *countdown) err() error {
	if c.left--; c.left < 0 {
		return errBroken
	}
	return nil
}

// Whatever an estimator reads or asks, it returns the error of that: of each time that the target is gone through, and of each
// time that a classifier is trained or asked.
func TestEstimatorsPassErrorsOn(t *testing.T) {
	for _, name := range Names(Rows) {
		for what, c := range map[string]struct {
			fails func(in *Inputs, c *countdown)
			least map[string]int
			want  string
		}{
			"target": {func(in *Inputs, c *countdown) {
				all := in.Target
				in.Target = func(yield func(blas32.General, error) bool) {
					for x := range all {
						if yield(dense.Rows(x, 0, 30), nil) {
							yield(dense.Rows(x, 30, x.Rows), c.err())
						}
					}
				}
			}, map[string]int{"marsc": 1, "marsg": 1, "mte": 1, "refit": 3, "auto": 6}, "reading the target: "},
			"training": {func(in *Inputs, c *countdown) {
				in.Train = func(ctx context.Context, x blas32.General, labels []int32) (Posterior, error) {
					if err := c.err(); err != nil {
						return nil, err
					}
					return linear(ctx, x, labels)
				}
			}, map[string]int{"refit": 1, "auto": 2}, "labelshift: training a classifier: "},
			"posteriors": {func(in *Inputs, c *countdown) {
				in.Train = func(ctx context.Context, x blas32.General, labels []int32) (Posterior, error) {
					ask, err := linear(ctx, x, labels)
					return func(x blas32.General) (blas32.General, error) {
						if err := c.err(); err != nil {
							return blas32.General{}, err
						}
						return ask(x)
					}, err
				}
			}, map[string]int{"refit": 1, "auto": 2}, "labelshift: classifying the target: "},
		} {
			for left := 0; ; left++ {
				in := small()
				c.fails(&in, &countdown{left})
				_, err := Estimate(t.Context(), name, in)
				if err == nil {
					if left < c.least[name] {
						t.Errorf("%s: %s was asked for %d times, want %d", name, what, left, c.least[name])
					}
					break
				}
				if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%s: the error of %s is %v", name, what, err)
				}
			}
		}
	}
}

// The end of the context ends each estimator, and what it is made of, wherever it comes.
func TestEstimatorsStop(t *testing.T) {
	in := small()
	for _, name := range Names(Rows) {
		contexttest.Stops(t, 1, func(ctx context.Context) error {
			_, err := Estimate(ctx, name, in)
			return err
		})
	}
	panel := mustConsult(t, in.Problem)
	x := shifted(rand.New(rand.NewPCG(5, 6)), 20, dense.Uniform(3), dense.Uniform(3), 2)
	many := dense.New(20, newtonClasses+1)
	for i := range many.Data {
		many.Data[i] = 1 / float32(many.Cols)
	}
	counts := func(context.Context, blas32.General, int) (*mixture.Result, error) {
		r := &mixture.Result{}
		r.Means, r.Proportions = mat.NewDense(3, 3, nil), dense.Uniform(3)
		return r, nil
	}
	for name, f := range map[string]func(ctx context.Context) error{
		"mte, adapted":        func(ctx context.Context) error { _, err := adapted(ctx, panel.fit, nil); return err },
		"aligned":             func(ctx context.Context) error { _, err := aligned(ctx, panel.fit); return err },
		"refitted":            func(ctx context.Context) error { _, err := refitted(ctx, panel.fit, linear); return err },
		"matched":             func(ctx context.Context) error { _, err := Matched(ctx, &in, counts); return err },
		"interval":            func(ctx context.Context) error { _, err := panel.Interval(ctx, IntervalOptions{}); return err },
		"calibration":         func(ctx context.Context) error { _, err := Calibrate(ctx, x, make([]int32, 20), BCTS); return err },
		"fixed point":         func(ctx context.Context) error { _, err := FixedPoint(ctx, x, dense.Uniform(3)); return err },
		"fixed point of many": func(ctx context.Context) error { _, err := FixedPoint(ctx, many, dense.Uniform(many.Cols)); return err },
	} {
		t.Run(name, func(t *testing.T) { contexttest.Stops(t, 1, f) })
	}
}

// Posteriors, labels and shares that are none are refused, by every estimator that looks at them and with the same words.
func TestEstimatorsRefuse(t *testing.T) {
	good := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{.5, .5, .1, .9}}
	bad := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{.5, .5, .1, .2}}
	bcts := BCTS
	estimate := func(name string, change func(in *Inputs)) func() error {
		in := Inputs{Problem: mte.Problem{Labels: []int32{0, 1}, Classes: 2}, SourcePosteriors: good, TargetPosteriors: good, Calibration: &bcts}
		change(&in)
		return func() error {
			_, err := Estimate(t.Context(), name, in)
			return err
		}
	}
	source := func(in *Inputs) { in.SourcePosteriors = bad }
	target := func(in *Inputs) { in.TargetPosteriors = bad }
	labels := func(in *Inputs) { in.Labels = []int32{0, 2} }
	own := func(f func(in *Inputs)) func(in *Inputs) {
		return func(in *Inputs) {
			*in = small()
			f(in)
		}
	}
	// A classifier that from its training number first on gives no distributions.
	nothing := func(first int) func(in *Inputs) {
		return func(in *Inputs) {
			in.Train = func(ctx context.Context, x blas32.General, labels []int32) (Posterior, error) {
				if first--; first >= 0 {
					return linear(ctx, x, labels)
				}
				return func(x blas32.General) (blas32.General, error) { return dense.New(x.Rows, 3), nil }, nil
			}
		}
	}
	many := dense.New(1, newtonClasses+1)
	nan := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0, float32(math.NaN())}}
	const sourceSum = "labelshift: the posteriors of source row 1 sum to 0.30000000447034836: make them sum to 1"
	const targetSum = "labelshift: the posteriors of target row 1 sum to 0.30000000447034836: make them sum to 1"
	const label = "labelshift: source row 1 has label 2: labels go from 0 to 1"
	for name, c := range map[string]struct {
		f    func() error
		want string
	}{
		"bbse, source":      {estimate("bbse", source), sourceSum},
		"bbse-soft, target": {estimate("bbse-soft", target), targetSum},
		"rlls, source":      {estimate("rlls", source), sourceSum},
		"rlls, labels":      {estimate("rlls", labels), label},
		"em, source":        {estimate("em", source), sourceSum},
		"em, labels":        {estimate("em", labels), label},
		"em, target":        {func() error { _, err := EM(bad, []float64{.5, .5}, EMOptions{}); return err }, targetSum},
		"iw-wd, target":     {estimate("iw-wd", target), targetSum},
		"auto, level": {estimate("auto", own(func(in *Inputs) { in.Interval.Level = 90 })),
			"labelshift: the level of intervals is 90: give a number between 0 and 1"},
		"marsc, components": {estimate("marsc", own(func(in *Inputs) {
			in.Cluster = func(context.Context, blas32.General, int) (*mixture.Result, error) { return nil, errBroken }
		})), "the pipe broke"},
		"refit, posteriors":   {estimate("refit", own(nothing(0))), "labelshift: the posteriors of target row 0 sum to 0: make them sum to 1"},
		"auto, posteriors":    {estimate("auto", own(nothing(1))), "labelshift: the posteriors of target row 0 sum to 0: make them sum to 1"},
		"fixed point":         {func() error { _, err := FixedPoint(t.Context(), nan, []float64{.5, .5}); return err }, "labelshift: row 0, class 1 has the posterior NaN: give numbers from 0 to 1"},
		"fixed point of many": {func() error { _, err := FixedPoint(t.Context(), many, dense.Uniform(many.Cols)); return err }, "labelshift: the posteriors of target row 0 sum to 0: make them sum to 1"},
		"decision":            {func() error { _, err := ParseDecisionOrNone("best"); return err }, `labelshift: decision: "best" is not known: choose accuracy or balanced`},
		"graph": {func() error { _, err := Accuracy.ONNX(nil, "", []float64{1, 0}, []float64{-1, 2}); return err },
			"labelshift: class 0 has the share 1 of the source and -1 of the target: give numbers from 0 to 1"},
	} {
		if err := c.f(); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// A classifier that cannot be trained, or asked, on a fold ends the cross-fitting.
func TestCrossFitErrors(t *testing.T) {
	source, labels := dense.New(4, 1), []int32{0, 0, 1, 1} // two rows of each class are enough
	copy(source.Data, []float32{0, 1, 5, 6})
	for left, want := range []string{"training a classifier", "classifying the source", "classifying the target", "training a classifier", "classifying the source", "classifying the target", ""} {
		c := &countdown{left}
		_, _, err := CrossFit(t.Context(), source, labels, 2, source, func(context.Context, blas32.General, []int32) (Posterior, error) {
			return func(x blas32.General) (blas32.General, error) { return dense.New(x.Rows, 2), c.err() }, c.err()
		})
		if got := ""; err != nil {
			got = err.Error()
			if want = "labelshift: " + want + ": the pipe broke"; got != want {
				t.Errorf("call %d fails: error %q, want %q", left, got, want)
			}
		} else if want != "" {
			t.Errorf("call %d fails, and there is no error", left)
		}
	}
}
