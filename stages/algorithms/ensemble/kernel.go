package ensemble

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// sharpness turns scores of kernel ridge regression, about 0 and 1, into logits.
const sharpness = 5

var kernelKind = kind{name: "kernel", train: (*Tuned).trainKernel, get: getRidge, choose: (*Tuned).chooseKernel}

// ridge is kernel ridge regression.
type ridge struct{ model *kernelridge.Model }

// chooseKernel chooses the hyper-parameters. It returns the posteriors of rows
// by models without them, and their labels.
func (t *Tuned) chooseKernel(ctx context.Context, x blas32.General, labels []int32) (blas32.General, []int32, error) {
	chosen, err := kernelridge.Choose(ctx, x, labels, t.Classes, t.seed)
	if err != nil {
		return blas32.General{}, nil, err
	}
	t.Gamma, t.Lambda = chosen.Gamma, chosen.Lambda
	return softmax(chosen.LeftOut, sharpness), dense.Pick(labels, chosen.Rows), nil
}

func (t *Tuned) trainKernel(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
	h := kernelridge.Hyper{Gamma: t.Gamma, Lambda: t.Lambda}
	m, err := kernelridge.Fit(ctx, x, labels, t.Classes, h, kernelridge.Options{Seed: t.seed})
	if err != nil {
		return nil, err
	}
	return ridge{m}, nil
}

func (r ridge) posteriors(x blas32.General) blas32.General {
	return softmax(r.model.Scores(x), sharpness)
}

func (r ridge) width() int { return r.model.Landmarks.Cols }

func (r ridge) put(f *safetensors.File, prefix string) error {
	f.PutMatrix(prefix+"landmarks", r.model.Landmarks)
	f.PutMatrix(prefix+"coefficients", r.model.Coefficients)
	f.Put(prefix+"mean", r.model.Mean, len(r.model.Mean))
	return f.PutJSON(prefix+"gamma", r.model.Gamma)
}

func getRidge(f *safetensors.File, prefix string, classes int) (scorer, error) {
	m := &kernelridge.Model{}
	var err error
	if m.Landmarks, err = f.GetMatrix(prefix+"landmarks", safetensors.AnySize, safetensors.AnySize); err != nil {
		return nil, err
	}
	if m.Coefficients, err = f.GetMatrix(prefix+"coefficients", m.Landmarks.Rows, classes); err != nil {
		return nil, err
	}
	if m.Mean, err = f.GetVector(prefix+"mean", classes); err != nil {
		return nil, err
	}
	if err := f.GetJSON(prefix+"gamma", &m.Gamma); err != nil {
		return nil, err
	}
	if !(m.Gamma > 0) {
		return nil, fmt.Errorf("metadata %sgamma is %g: want a positive number", prefix, m.Gamma)
	}
	return ridge{m}, nil
}
