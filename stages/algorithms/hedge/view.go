package hedge

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/classmap"
	"mars.dev/mars/stages/algorithms/ensemble"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
)

// Views are the names of the assumptions.
var Views = gate.Views

// A View is what one assumption leads to.
type View struct {
	Name string `json:"name"`
	// Proportions is p_T under the view, C values.
	Proportions []float64 `json:"proportions"`
	// Weight is the view's share of the answer, from 0 to 1.
	Weight float64 `json:"weight"`
	// Apart, Beyond, Blurred, Doubt, Members and Trees are signs of the view: see gate.View.
	Apart   float64 `json:"apart"`
	Beyond  float64 `json:"beyond"`
	Blurred float64 `json:"blurred"`
	Doubt   float64 `json:"doubt"`
	Members float64 `json:"members"`
	Trees   float64 `json:"trees"`

	// Classifier is the index of the view's classifier in the model's.
	Classifier int `json:"classifier"`

	// Carried is the class proportions, C values, that posteriors of the view are brought to:
	// nil where they are Proportions.
	Carried []float64 `json:"carried,omitempty"`

	// FixedPoint is the proportions, C values, at which EM stays on the posteriors of the
	// view's classifier, over the target rows that were fitted to: nil of a still belief, and
	// of models of older versions.
	FixedPoint []float64 `json:"fixed_point,omitempty"`
}

// Unmoved is the weight, 0 to 1, of the views that leave the source's rows where they are.
func Unmoved(views []View) (weight float64) {
	for _, v := range views {
		if !v.moves() {
			weight += v.Weight
		}
	}
	return weight
}

// carried returns the class proportions that posteriors of the view are brought to.
func (v *View) carried() []float64 {
	if v.Carried != nil {
		return v.Carried
	}
	return v.Proportions
}

// A learner is a classifier with the rows that it was trained on.
type learner struct {
	rows    blas32.General // n_S×q: the source's, moved
	matched []float64      // p_T by the match that moved them; nil if there was none

	model   *ensemble.Model
	members []blas32.General // n_T×C each: posteriors of the target that carry p_S; none of crowded classes
	mean    blas32.General   // of the members
	shares  []float64        // p_T by EM of mean; nil until asked for (shifted)
}

// settled reports whether movements are not looked for, as the source's classes explain the target
// where they are. That takes most of the time where classes are thin; elsewhere it is told what they
// would give.
func (f *fit) settled() bool {
	return f.Assume == nil && !f.KeepAll && f.thin && f.stays.tested && f.stays.Misfit <= firstMisfit
}

// moved returns the learners' rows, by the classifier's index: as they are, and where each belief has moved
// them. All but the first are nil if it is settled that nothing has moved. A movement that cannot be found is nil, with a
// warning, and so is one that the target does not show.
func (f *fit) moved(ctx context.Context) ([]*learner, error) {
	var ways []string
	for _, name := range Views {
		if beliefs[name].move != nil {
			ways = append(ways, name)
		}
	}
	learners := append([]*learner{{rows: f.source}}, make([]*learner, len(ways))...)
	if f.settled() {
		return learners, nil
	}
	apiece := f.findsClasses()
	if !apiece {
		f.warn("of %d classes, with %.1f source rows each on average, nobody has looked whether each has moved by itself", f.classes, float64(f.distinct)/float64(f.classes))
	}
	errs := make([]error, len(ways))
	err := kernel.Each(len(ways), func(i int) error {
		if b := beliefs[ways[i]]; apiece || !b.apiece {
			learners[i+1], errs[i] = b.move(f, ctx)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			f.warn("the assumption %q gives no answer: %v", ways[i], err)
			learners[i+1] = nil
		}
	}
	return learners, nil
}

// maxCrowdedPairs is how many pairs of a source row and a class there may be if classes are crowded
// and are still to be looked for one by one.
const maxCrowdedPairs = 1_500_000

// maxPairs is how many there may be if that is all that may be assumed: at 5 million, 1,000 classes of
// 5 rows, it takes 40 s of a processor, and that grows with their square.
const maxPairs = 10_000_000

// findsClasses reports whether classes are looked for in the target one by one: always if that is
// all that may be assumed.
func (f *fit) findsClasses() bool {
	return !f.crowded || len(f.labels)*f.classes <= maxCrowdedPairs || f.onlyClasses()
}

// onlyClasses reports whether all that may be assumed is that classes, or their parts, have moved.
func (f *fit) onlyClasses() bool {
	return f.Assume != nil && !slices.ContainsFunc(f.Assume, func(name string) bool { return !beliefs[name].apiece })
}

// checkPairs fails if what may be assumed would take minutes to hours.
func (f *fit) checkPairs() error {
	if f.crowded && f.onlyClasses() && len(f.labels)*f.classes > maxPairs {
		return fmt.Errorf("hedge: whether each of %d classes has moved by itself cannot be found in useful time from %d source rows, with %.1f of a class on average: assume \"together\", or nothing, or give fewer classes",
			f.classes, f.distinct, float64(f.distinct)/float64(f.classes))
	}
	return nil
}

// together gives all source rows the mean and the covariance of the target.
func (f *fit) together(ctx context.Context) (*learner, error) {
	one := make([]int32, f.source.Rows)
	certain := dense.New(f.target.Rows, 1)
	for i := range certain.Data {
		certain.Data[i] = 1
	}
	rows, err := f.move(ctx, one, certain)
	return &learner{rows: rows}, err
}

// byClass moves each class by itself.
func (f *fit) byClass(ctx context.Context) (*learner, error) {
	return f.each(ctx, whole(f.labels, f.classes))
}

// byPart moves each part of a class by itself. It is nil if no class has parts.
func (f *fit) byPart(ctx context.Context) (*learner, error) {
	parts, err := divide(ctx, f.source, f.labels, f.classes, f.Seed)
	if err != nil || len(parts.class) == f.classes {
		return nil, err
	}
	return f.each(ctx, parts)
}

// each finds the clouds in the target and moves each there.
func (f *fit) each(ctx context.Context, c *clouds) (*learner, error) {
	m, err := mte.Fit(ctx, mte.Problem{Source: f.source, Labels: c.labels, Target: mte.InMemory(f.target), Classes: len(c.class)},
		mte.Options{Seed: f.Seed, Steps: matchSteps, Prepared: true})
	if err != nil {
		return nil, err
	}
	l := &learner{matched: make([]float64, f.classes)}
	for k, class := range c.class {
		l.matched[class] += m.Proportions[k]
	}
	l.rows, err = f.move(ctx, c.labels, m.Responsibilities)
	return l, err
}

// matchSteps bounds the EM steps of the match. More of them follow the target's
// noise where classes overlap.
const matchSteps = 50

// move returns the source's rows where the target's rows, by their
// responsibilities, have them.
func (f *fit) move(ctx context.Context, labels []int32, responsibilities blas32.General) (blas32.General, error) {
	way, err := classmap.Fit(ctx, f.source, labels, mte.InMemory(f.target), responsibilities, classmap.Options{})
	if err != nil {
		return blas32.General{}, err
	}
	rows := dense.New(f.source.Rows, f.source.Cols)
	return rows, way.Apply(ctx, rows, f.source, labels)
}

// train trains the learner and applies it to the target. Trees learn where the source's rows have not
// been moved, unless they were asked for: of all that may learn they take longest.
func (f *fit) train(ctx context.Context, l *learner, moved bool) (err error) {
	tuned := f.tuned
	if moved && f.Classifiers == nil {
		tuned = tuned.Without(ensemble.Trees)
	}
	if l.model, err = tuned.Train(ctx, l.rows, f.labels); err != nil {
		return err
	}
	if !f.crowded {
		l.members = l.model.Members(f.target)
		l.mean = l.model.Mean(l.members)
		return ctx.Err()
	}
	l.mean = dense.New(f.target.Rows, f.classes)
	return eachBlock(ctx, f.target.Rows, func(lo, hi int) error {
		copy(dense.Rows(l.mean, lo, hi).Data, l.model.Predict(dense.Rows(f.target, lo, hi)).Data)
		return nil
	})
}

// see returns the views of the learners, and their posteriors of the target's rows.
func (f *fit) see(ctx context.Context, learners []*learner) ([]View, []blas32.General, error) {
	var views []View
	var posteriors []blas32.General
	last := 0
	for _, name := range Views {
		v := View{Name: name}
		if v.belief().move != nil {
			last++
			v.Classifier = last
		}
		l := learners[v.Classifier]
		if l == nil {
			continue
		}
		var err error
		if v.Proportions, err = f.proportions(ctx, v.belief(), l); err != nil {
			return nil, nil, fmt.Errorf("hedge: view %s: %w", name, err)
		}
		if v.belief().still {
			// Other rows do not change what a row of its kind is: the mean posterior of the
			// target's rows is p_T, but posteriors stay as they are.
			v.Carried = f.prior
		} else {
			var err error
			if v.FixedPoint, err = labelshift.FixedPoint(ctx, l.mean, f.prior); err != nil {
				return nil, nil, fmt.Errorf("hedge: view %s: %w", name, err)
			}
		}
		p := dense.Clone(l.mean)
		if err := labelshift.Accuracy.Adjust(p, f.prior, v.carried()); err != nil {
			return nil, nil, fmt.Errorf("hedge: view %s: %w", name, err)
		}
		views, posteriors = append(views, v), append(posteriors, p)
	}
	return views, posteriors, nil
}

// proportions returns p_T of a belief: by the match that moved the rows; without one, by
// EM; and the mean posterior, if posteriors stay.
func (f *fit) proportions(ctx context.Context, b belief, l *learner) ([]float64, error) {
	switch {
	case b.still:
		return dense.ColumnMeans(l.mean), nil
	case l.matched != nil:
		return l.matched, nil
	}
	return f.shifted(ctx, l)
}

// shifted is p_T by EM of the learner's posteriors.
func (f *fit) shifted(ctx context.Context, l *learner) (_ []float64, err error) {
	if l.shares == nil {
		l.shares, err = f.em(ctx, l.mean)
	}
	return l.shares, err
}

// em estimates p_T from posteriors under label shift.
func (f *fit) em(ctx context.Context, posteriors blas32.General) ([]float64, error) {
	rows, err := labelshift.NewEMRows(posteriors)
	if err != nil {
		return nil, err
	}
	steps := rows.Steps(emSteps)
	e, err := rows.EM(ctx, f.prior, labelshift.EMOptions{Iterations: steps, Tolerance: emTolerance, Accelerate: steps < emSteps})
	if err != nil {
		return nil, err
	}
	return e.Proportions, nil
}

const (
	emSteps     = 300
	emTolerance = 1e-6
)
