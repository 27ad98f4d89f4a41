package proportions

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/stream"
)

const (
	// maxRows is how many target rows the other estimators look at. If there are
	// more, they look at an even sample.
	maxRows = 5_000
	// heldOut: the classifier is not trained on every third source row of each
	// class. Its mistakes are counted there.
	heldOut = 3
)

// A sample is a problem with standardised features and at most maxRows target
// rows.
type sample struct {
	mte.Problem
	target blas32.General // of Target
}

func newSample(ctx context.Context, p mte.Problem) (*sample, error) {
	target, err := evenly(p.Target, maxRows)
	if err != nil {
		return nil, err
	}
	p.Source.Data = slices.Clone(p.Source.Data)
	standard, _, err := scale.Fit(ctx, p.Source)
	if err != nil {
		return nil, err
	}
	for _, x := range []blas32.General{p.Source, target} {
		if err := standard.Apply(ctx, x); err != nil {
			return nil, err
		}
	}
	p.Target = mte.InMemory(target)
	return &sample{p, target}, nil
}

// askOthers adds to the report the proportions by the estimators beyond the
// panel's: marsc and marsg, the paper's, with how they clustered and matched, and
// bbse, bbse-soft, rlls and em on the posteriors of a classifier that a third of
// the source was kept from. One that fails is left out with a line in the log.
func (s *sample) askOthers(ctx context.Context, env stages.Env, train labelshift.Classifier, r *Report, d *Diagnostics) error {
	onPosteriors, noPosteriors := s.posteriors(ctx, train)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	onRows := labelshift.Inputs{Problem: s.Problem, Seed: env.Seed}
	for _, name := range []string{"marsc", "marsg", "bbse", "bbse-soft", "rlls", "em"} {
		in, err := onRows, error(nil)
		if needs, _ := labelshift.NeedsOf(name); needs == labelshift.Posteriors {
			in, err = onPosteriors, noPosteriors
		}
		var e *labelshift.Result
		if err == nil {
			e, err = labelshift.Estimate(ctx, name, in)
		}
		if err == nil && e.Matching != nil {
			err = d.add(ctx, s, e)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			env.Logger().Info(fmt.Sprintf("no estimate by %s: %v", name, err))
			continue
		}
		r.Estimators[name] = e.Proportions
	}
	return nil
}

// posteriors trains a classifier on part of the source and applies it to the
// rest and to the target.
func (s *sample) posteriors(ctx context.Context, train labelshift.Classifier) (labelshift.Inputs, error) {
	var parts [2]blas32.General // trained on, held out
	var labels [2][]int32
	seen := make([]int, s.Classes)
	for i, label := range s.Labels {
		part := 0
		if seen[label]++; seen[label]%heldOut == 0 {
			part = 1
		}
		stream.AppendRow(&parts[part], s.Source.Data[i*s.Source.Stride:][:s.Source.Cols])
		labels[part] = append(labels[part], label)
	}
	if parts[1].Rows == 0 {
		return labelshift.Inputs{}, fmt.Errorf("no class has %d source rows, so none can be kept from a classifier: give more labelled rows", heldOut)
	}
	posterior, err := train(ctx, parts[0], labels[0])
	if err != nil {
		return labelshift.Inputs{}, err
	}
	bcts := labelshift.BCTS
	in := labelshift.Inputs{Problem: mte.Problem{Labels: labels[1], Classes: s.Classes}, Calibration: &bcts}
	if in.SourcePosteriors, err = posterior(parts[1]); err != nil {
		return in, err
	}
	in.TargetPosteriors, err = posterior(s.target)
	return in, err
}

// evenly gathers at most n rows, evenly spread.
func evenly(blocks mte.Blocks, n int) (blas32.General, error) {
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
