// Package ensemble is a small ensemble of classifiers that make different
// mistakes: multinomial logistic regression, kernel ridge regression, a network and boosted trees.
// Hyper-parameters are chosen, and posteriors calibrated, on rows of the source
// that the classifiers were not trained on, and so is the weight of each. The ensemble's
// posterior is the normalised geometric mean of its members' posteriors by these weights (a
// logarithmic opinion pool, Genest & Zidek 1986).
package ensemble

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// A kind is a classifier that can be a member. Each stands in a file of its own.
type kind struct {
	name string
	// train trains one on the rows of x (n×d).
	train func(t *Tuned, ctx context.Context, x blas32.General, labels []int32) (scorer, error)
	// get reads what scorer.put has added to a file.
	get func(f *safetensors.File, prefix string, classes int) (scorer, error)
	// choose chooses hyper-parameters. It returns the posteriors of rows by models without them, and
	// their labels. nil: there are none to choose.
	choose func(t *Tuned, ctx context.Context, x blas32.General, labels []int32) (blas32.General, []int32, error)
}

// kinds are those that can be chosen, in their order.
var kinds = []*kind{&logisticKind, &kernelKind, &networkKind, &treesKind}

// Names are those of the members.
var Names = func() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}()

// kindOf is the kind of that name, which a linear discriminant is too; nil if there is none.
func kindOf(name string) *kind {
	for _, k := range append(slices.Clip(kinds), &discriminantKind) {
		if k.name == name {
			return k
		}
	}
	return nil
}

// Options of an ensemble. The zero value is usable.
type Options struct {
	// Members are some of Names, each at most once; nil means all of them, but for Trees where classes are
	// Thin, or a linear discriminant where they are Crowded.
	Members []string
	// Distinct is how many rows there are; those after them are copies of these rows, in the
	// same order and as often as there are. A row is in one fold with its copies. 0 means
	// that all rows are distinct.
	Distinct int
	// Unlabelled are other rows that will be asked for (m×d), as those of a target: trees part
	// their values too. None are needed.
	Unlabelled blas32.General
	// Groups says which group each of the distinct rows is of, from 0: a person, a day. Groups are
	// held out whole. nil: each row is one of its own.
	Groups []int32
	// Seed draws folds, landmarks and initial weights.
	Seed uint64
}

// members are the names of the members, checked.
func (o Options) members() ([]string, error) {
	if o.Members == nil {
		return Names, nil
	}
	if len(o.Members) == 0 {
		return nil, fmt.Errorf("ensemble: there are no members: choose some of %v", Names)
	}
	for i, name := range o.Members {
		if kindOf(name) == nil {
			return nil, fmt.Errorf("ensemble: there is no classifier %q: choose some of %v", name, Names)
		}
		if slices.Contains(o.Members[:i], name) {
			return nil, fmt.Errorf("ensemble: classifier %q is chosen twice: name it once", name)
		}
	}
	return o.Members, nil
}

// scorer is a trained member.
type scorer interface {
	// posteriors returns those of the n rows of x, n×C, not calibrated.
	posteriors(x blas32.General) blas32.General
	// width is the number of columns of x.
	width() int
	// put adds the member to a file; the names of its tensors begin with prefix.
	put(f *safetensors.File, prefix string) error
	// onnx adds posteriors to a graph. Its tensors have the names that put gives them.
	onnx(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value
}

// A Model is a trained ensemble. Its methods do not change it.
type Model struct {
	Classes int

	members []trained
}

// trained is a trained member with its calibration.
type trained struct {
	scorer
	name       string
	calibrator *labelshift.Calibrator
	weight     float64 // of all members 1
}

// Width is the number d of columns of the rows that the model takes.
func (m *Model) Width() int { return m.members[0].width() }

// Members returns the calibrated posteriors of the rows of x (n×d) by each
// member, in the order of the options. It panics if d is not Width.
func (m *Model) Members(x blas32.General) []blas32.General {
	all := make([]blas32.General, len(m.members))
	for i, k := range m.members {
		all[i] = k.calibrator.Apply(k.posteriors(x))
	}
	return all
}

// Weights are the members' weights in the mean, in the order of the options. Their sum is 1.
func (m *Model) Weights() []float64 {
	weights := make([]float64, len(m.members))
	for i, k := range m.members {
		weights[i] = k.weight
	}
	return weights
}

// Predict returns the ensemble's posteriors of the rows of x, n×C.
func (m *Model) Predict(x blas32.General) blas32.General { return m.Mean(m.Members(x)) }

// minPosterior is what a posterior counts as in the mean if it is less.
const minPosterior = 1e-6

// Mean is the normalised weighted geometric mean of the members' posteriors, all n×C. It is those
// of a linear discriminant as they are, not a copy.
func (m *Model) Mean(members []blas32.General) blas32.General {
	if m.discriminant() {
		return members[0]
	}
	mean := dense.New(members[0].Rows, members[0].Cols)
	if mean.Rows == 0 {
		return mean
	}
	logs, own := make([]float64, len(mean.Data)), make([]float64, len(mean.Data))
	for k, p := range members {
		for i, v := range p.Data {
			own[i] = max(float64(v), minPosterior)
		}
		kernel.Log64(own, own)
		floats.AddScaled(logs, m.members[k].weight, own)
	}
	kernel.Softmax64(logs, mean.Cols)
	for i, v := range logs {
		mean.Data[i] = float32(v)
	}
	return mean
}

// discriminant reports whether a linear discriminant is all there is.
func (m *Model) discriminant() bool {
	return m.members[0].name == discriminantKind.name && len(m.members) == 1
}

// softmax replaces scores, times sharpness, by probabilities.
func softmax(scores blas32.General, sharpness float32) blas32.General {
	if sharpness != 1 {
		kernel.Scale(sharpness, scores.Data)
	}
	p := dense.New(scores.Rows, scores.Cols)
	if p.Rows > 0 {
		kernel.Softmax(p.Data, scores.Data, p.Rows, p.Cols)
	}
	return p
}
