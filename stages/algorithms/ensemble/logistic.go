package ensemble

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/logistic"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Of the logistic regression: C, and the derivative at which its steps end.
const (
	inversePenalty = 0.3
	tolerance      = 1e-3
)

var logisticKind = kind{name: "logistic", train: (*Tuned).trainLogistic, get: getLinear}

// linear is logistic regression.
type linear struct{ model *logistic.Model }

func (t *Tuned) trainLogistic(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
	m, err := logistic.Fit(ctx, x, labels, t.Classes, logistic.Options{C: inversePenalty, Tolerance: tolerance})
	if err != nil {
		return nil, err
	}
	return linear{m}, nil
}

func (l linear) posteriors(x blas32.General) blas32.General { return softmax(l.model.Logits(x), 1) }

func (l linear) width() int { return l.model.Weights.Rows }

func (l linear) put(f *safetensors.File, prefix string) error {
	f.PutMatrix(prefix+"weights", l.model.Weights)
	f.Put(prefix+"bias", l.model.Bias, len(l.model.Bias))
	return nil
}

func getLinear(f *safetensors.File, prefix string, classes int) (scorer, error) {
	weights, err := f.GetMatrix(prefix+"weights", safetensors.AnySize, classes)
	if err != nil {
		return nil, err
	}
	bias, err := f.GetVector(prefix+"bias", classes)
	if err != nil {
		return nil, err
	}
	return linear{&logistic.Model{Weights: weights, Bias: bias}}, nil
}
