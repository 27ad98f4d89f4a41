package proportions

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages"
	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/scale"
	"mars/stages/internal/stream"
)

const (
	// mostRows is how many target rows the other estimators look at; of more,
	// an even sample.
	mostRows = 5_000
	// heldOut is which of so many source rows of each class the classifier is not
	// trained on; its mistakes are counted there.
	heldOut = 3
)

// others are the opinions of the estimators beyond the panel's, on standardised
// features: marsc and marsg, the paper's, and bbse, bbse-soft, rlls and em on the
// posteriors of a classifier that a third of the source was kept from. One that
// cannot say anything is left out with a line in the log. What there is to say of
// these and of the estimate e comes with them.
func others(env stages.Env, p labelshift.Problem, e *labelshift.Estimate, train labelshift.Classifier) (map[string][]float64, *Diagnostics, error) {
	target, err := sample(p.Target, mostRows)
	if err != nil {
		return nil, nil, err
	}
	source := blas32.General{Rows: p.Source.Rows, Cols: p.Source.Cols, Stride: p.Source.Stride, Data: slices.Clone(p.Source.Data)}
	standard, _, err := scale.Fit(context.TODO(), source)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range []blas32.General{source, target} {
		if err := standard.Apply(context.TODO(), x); err != nil {
			return nil, nil, err
		}
	}
	d := diagnose(env, labelshift.Problem{Source: source, Labels: p.Labels, Classes: p.Classes, Names: p.Names}, target, e)
	opinions := map[string][]float64{}
	say := func(name string, estimate func() ([]float64, error)) {
		proportions, err := estimate()
		if err != nil {
			env.Logger().Info(fmt.Sprintf("no opinion of %s: %v", name, err))
			return
		}
		opinions[name] = proportions
	}
	for name, cluster := range clusters(env.Seed) {
		say(name, func() ([]float64, error) {
			var fit *mixture.Result
			m, err := labelshift.Matched(source, p.Labels, target, p.Classes, func(x blas32.General, k int) (r *mixture.Result, err error) {
				fit, err = cluster(x, k)
				return fit, err
			})
			if err != nil {
				return nil, err
			}
			return m.Proportions, d.add(name, source, p, fit, m)
		})
	}
	evidence, err := posteriors(source, p.Labels, target, p.Classes, train)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"bbse", "bbse-soft", "rlls", "em"} {
		say(name, func() ([]float64, error) {
			found, err := evidence.Estimate(name)
			if err != nil {
				return nil, err
			}
			return found.Proportions, nil
		})
	}
	return opinions, d, nil
}

// clusters are the paper's two ways to cluster the target.
func clusters(seed uint64) map[string]labelshift.Cluster {
	return map[string]labelshift.Cluster{
		"marsc": func(x blas32.General, k int) (*mixture.Result, error) {
			return mixture.Ward(context.TODO(), x, k, mixture.WardOptions{Seed: seed})
		},
		"marsg": func(x blas32.General, k int) (*mixture.Result, error) {
			return mixture.GMM(context.TODO(), x, k, mixture.GMMOptions{Seed: seed})
		},
	}
}

// posteriors trains a classifier on part of the source and applies it to the
// rest and to the target.
func posteriors(source blas32.General, labels []int32, target blas32.General, classes int, train labelshift.Classifier) (*labelshift.Evidence, error) {
	var parts [2]blas32.General // trained on, held out
	var of [2][]int32
	seen := make([]int, classes)
	for i, label := range labels {
		part := 0
		if seen[label]++; seen[label]%heldOut == 0 {
			part = 1
		}
		stream.AppendRow(&parts[part], source.Data[i*source.Stride:][:source.Cols])
		of[part] = append(of[part], label)
	}
	posterior, err := train(parts[0], of[0], nil)
	if err != nil {
		return nil, err
	}
	bcts := labelshift.BCTS
	e := &labelshift.Evidence{Problem: labelshift.Problem{Labels: of[1], Classes: classes}, Calibration: &bcts}
	if e.SourcePosteriors, err = posterior(parts[1]); err != nil {
		return nil, err
	}
	e.TargetPosteriors, err = posterior(target)
	return e, err
}

// sample gathers at most n rows, evenly spread.
func sample(blocks labelshift.Blocks, n int) (blas32.General, error) {
	var x blas32.General
	step, seen := 1, 0
	for block, err := range blocks {
		if err != nil {
			return x, err
		}
		for i := range block.Rows {
			if seen%step == 0 {
				stream.AppendRow(&x, block.Data[i*block.Stride:][:block.Cols])
			}
			if seen++; x.Rows > n {
				x, step = everySecond(x), 2*step
			}
		}
	}
	return x, nil
}

// everySecond keeps the rows 0, 2, 4, … of x.
func everySecond(x blas32.General) blas32.General {
	half := blas32.General{Rows: (x.Rows + 1) / 2, Cols: x.Cols, Stride: x.Stride, Data: x.Data}
	for i := range half.Rows {
		copy(half.Data[i*x.Stride:][:x.Cols], x.Data[2*i*x.Stride:])
	}
	half.Data = half.Data[:half.Rows*x.Stride]
	return half
}
