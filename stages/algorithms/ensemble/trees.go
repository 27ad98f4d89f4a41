package ensemble

import (
	"context"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/boosting"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Trees is the name of boosted trees among Names.
const Trees = "trees"

var treesKind = kind{name: Trees, train: (*Tuned).trainTrees, get: getTrees, choose: (*Tuned).chooseTrees}

// Of the trees. They are few and small, as they are trained again for every view.
const (
	treeBins     = 64
	treeRate     = 0.2
	treeLeaves   = 15
	treeMinRows  = 10
	treeColumns  = 0.5
	maxRounds    = 60
	treePatience = 5
)

// trees are boosted trees.
type trees struct{ model *boosting.Model }

func (t *Tuned) treeOptions() boosting.Options {
	return boosting.Options{Rounds: t.rounds, LearningRate: treeRate, Leaves: treeLeaves, MinRows: treeMinRows,
		Columns: treeColumns, Cuts: t.cuts, Seed: t.seed}
}

// chooseTrees chooses the number of rounds: that after which the loss of rows that were held out is
// least. It returns their posteriors by models without them, and their labels.
func (t *Tuned) chooseTrees(ctx context.Context, x blas32.General, labels []int32) (blas32.General, []int32, error) {
	t.cuts = boosting.Quantiles(treeBins, x, t.unlabelled)
	t.rounds = maxRounds
	fold := t.divide(labels)
	var most atomic.Int64 // rounds that all models can have: those after them are not counted
	most.Store(maxRounds)
	var models [folds]*boosting.Model
	var held [folds][]int
	err := kernel.Each(folds, func(f int) (err error) {
		var in []int
		if in, held[f] = split(fold, f); len(in) == 0 || len(held[f]) == 0 {
			return nil
		}
		o := t.treeOptions()
		o.Patience, o.HeldOut = treePatience, &boosting.Rows{X: dense.Gather(x, held[f]), Labels: dense.Pick(labels, held[f])}
		o.Enough = func(rounds int) bool { return rounds >= int(most.Load()) }
		models[f], err = boosting.Fit(ctx, boosting.Rows{X: dense.Gather(x, in), Labels: dense.Pick(labels, in)}, t.Classes, o)
		if err == nil && models[f].Losses != nil {
			lower(&most, len(models[f].Losses))
		}
		return err
	})
	if err != nil {
		return blas32.General{}, nil, err
	}
	t.rounds = bestRounds(models[:])
	all := t.uniform(x.Rows)
	for f, m := range models {
		if m == nil {
			continue
		}
		p := m.First(t.rounds).Posteriors(dense.Gather(x, held[f]))
		for j, i := range held[f] {
			copy(dense.Row(all, i), dense.Row(p, j))
		}
	}
	return all, labels, nil
}

// lower makes a number that several goroutines lower n, if it is greater.
func lower(number *atomic.Int64, n int) {
	for old := number.Load(); old > int64(n) && !number.CompareAndSwap(old, int64(n)); old = number.Load() {
	}
}

// bestRounds is the number of rounds that all models have after which their mean loss is least.
func bestRounds(models []*boosting.Model) int {
	var mean []float64
	for _, m := range models {
		if m == nil || m.Losses == nil {
			continue
		}
		if mean == nil {
			mean = slices.Clone(m.Losses)
			continue
		}
		mean = mean[:min(len(mean), len(m.Losses))]
		for r := range mean {
			mean[r] += m.Losses[r]
		}
	}
	if mean == nil {
		return 1
	}
	return 1 + slices.Index(mean, slices.Min(mean))
}

func (t *Tuned) trainTrees(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
	m, err := boosting.Fit(ctx, boosting.Rows{X: x, Labels: labels}, t.Classes, t.treeOptions())
	if err != nil {
		return nil, err
	}
	return trees{m}, nil
}

func (r trees) posteriors(x blas32.General) blas32.General { return r.model.Posteriors(x) }

func (r trees) width() int { return r.model.Columns }

func (r trees) put(f *safetensors.File, prefix string) error { return r.model.Put(f, prefix) }

func (r trees) onnx(g *onnx.Graph, _ string, x onnx.Value) onnx.Value {
	return g.Softmax(r.model.ONNX(g, x))
}

func getTrees(f *safetensors.File, prefix string, classes int) (scorer, error) {
	m, err := boosting.Get(f, prefix, classes)
	if err != nil {
		return nil, err
	}
	return trees{m}, nil
}
