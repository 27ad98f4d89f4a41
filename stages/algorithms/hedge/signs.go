package hedge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/boosting"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// weigh weights the views by what is seen of them, and takes their mean.
func (m *Model) weigh(ctx context.Context, f *fit, learners []*learner, posteriors []blas32.General) error {
	if m.Noise = f.heard; m.Noise != nil {
		m.Noise.Loudest = f.columns[f.heard.Loudest]
	}
	var err error
	if m.Problem, err = f.problem(m.Views, learners); err != nil {
		return err
	}
	if err := m.look(ctx, f, learners, posteriors); err != nil {
		return err
	}
	m.disagree = disagreement(posteriors)
	weights := m.gate.Weights(m.Signs(), f.Assume)
	if weights == nil {
		return fmt.Errorf("hedge: nothing can be found in the target under the assumption %s: choose another", strings.Join(f.Assume, " or "))
	}
	m.Proportions = make([]float64, f.classes)
	for i := range m.Views {
		v := &m.Views[i]
		v.Weight = weights[i]
		for k, p := range v.Proportions {
			m.Proportions[k] += v.Weight * p
		}
	}
	dense.Normalize(m.Proportions)
	return nil
}

// problem is what is seen of the source and the target.
func (f *fit) problem(views []View, learners []*learner) (gate.Problem, error) {
	with := len(f.present())
	chance := 1 / float64(with)
	p := gate.Problem{Separation: max(0, (f.tuned.Accuracy-chance)/(1-chance)), Novelty: f.nearness.novelty(), Distance: f.nearness.distance,
		Source: f.distinct, Target: f.target.Rows, Columns: f.source.Cols, Classes: with}
	if !f.stays.tested {
		return p, nil
	}
	p.Misfit, p.Change = f.stays.Misfit, f.stays.Change
	balance := views[1].Proportions
	p.New = f.nearness.newShare(f.labels, balance, f.stays.rows)
	var err error
	if f.hasRival(balance) {
		p.Rival, err = f.rival(views, learners)
	}
	return p, err
}

// look finds the signs of the views.
func (m *Model) look(ctx context.Context, f *fit, learners []*learner, posteriors []blas32.General) error {
	members, trees := make([]float64, len(learners)), make([]blas32.General, len(learners))
	target := dense.Sample(f.target.Rows, areaRows, f.random(streamArea))
	err := kernel.Each(len(learners), func(c int) (err error) {
		if learners[c] == nil {
			return nil
		}
		if members[c], err = f.membersApart(ctx, learners[c]); err != nil || f.thin {
			return err
		}
		trees[c], err = f.trees(ctx, learners[c].rows, target)
		return err
	})
	if err != nil {
		return err
	}
	return kernel.Each(len(m.Views), func(i int) (err error) {
		v := &m.Views[i]
		v.Doubt, v.Members = doubt(posteriors[i]), members[v.Classifier]
		if own := trees[v.Classifier]; own.Rows > 0 {
			own = dense.Clone(own)
			if err := labelshift.Accuracy.Adjust(own, f.prior, v.carried()); err != nil {
				return err
			}
			v.Trees = disagreement([]blas32.General{own, dense.Gather(posteriors[i], target)})[0][1]
		}
		return f.apart(ctx, v, learners[v.Classifier].rows)
	})
}

// trees are the posteriors of some target rows by boosted trees that learnt from the source's rows where a
// view has moved them. They err otherwise than the classifiers, which are smooth: where both agree, both
// are mostly right (Jiang, Nagarajan, Baek & Kolter 2022).
func (f *fit) trees(ctx context.Context, rows blas32.General, target []int) (blas32.General, error) {
	source := dense.Sample(f.distinct, areaRows, f.random(streamArea))
	seen := boosting.Rows{X: dense.Gather(rows, source), Labels: dense.Pick(f.labels, source)}
	model, err := boosting.Fit(ctx, seen, f.classes, treeOptions(f.Seed, seen.X))
	if err != nil {
		return blas32.General{}, err
	}
	return model.Posteriors(dense.Gather(f.target, target)), nil
}

// disagreement is the share of rows to which two views, by their posteriors, give other labels.
func disagreement(posteriors []blas32.General) [][]float64 {
	labels, all := make([][]int32, len(posteriors)), make([][]float64, len(posteriors))
	for i, p := range posteriors {
		labels[i], all[i] = dense.ArgmaxRows(p), make([]float64, len(posteriors))
		for j := range i {
			other := 0
			for row, y := range labels[i] {
				if y != labels[j][row] {
					other++
				}
			}
			all[i][j] = float64(other) / float64(len(labels[i]))
			all[j][i] = all[i][j]
		}
	}
	return all
}

// Signs are what is seen of the target without its labels, by which the views are weighed.
func (m *Model) Signs() gate.Signs {
	s := gate.Signs{Problem: m.Problem, Prior: m.prior, Disagree: m.disagree}
	for _, v := range m.Views {
		s.Views = append(s.Views, gate.View{Name: v.Name, Apart: v.Apart, Beyond: v.Beyond, Blurred: v.Blurred, Doubt: v.Doubt, Members: v.Members, Trees: v.Trees, Proportions: v.Proportions})
	}
	return s
}

// Why says what speaks for a view, and against it, beside the others: see gate.Gate.Why. It is nil
// of models of versions that did not keep it.
func (m *Model) Why(view int) []gate.Reason {
	if m.Problem.Classes == 0 {
		return nil
	}
	g := cmp.Or(m.gate, gate.Default())
	return g.Why(m.Signs(), m.weights(), view)
}

// weights are the views'.
func (m *Model) weights() []float64 {
	all := make([]float64, len(m.Views))
	for i, v := range m.Views {
		all[i] = v.Weight
	}
	return all
}
