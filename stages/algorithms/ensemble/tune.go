package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/boosting"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/validate"
)

// folds is how many parts the source is cut into for cross-validation.
const folds = 3

// Tuned is what the source's own rows have told about each member.
type Tuned struct {
	Classes int
	// Gamma and Lambda are the hyper-parameters of kernel ridge regression, which
	// are chosen whether it is a member or not; but not of crowded classes.
	Gamma, Lambda float64
	// Accuracy is the balanced accuracy of the members, on average, on rows that were held
	// out.
	Accuracy float64

	members     []member
	temperature float64 // of a linear discriminant
	cuts        boosting.Cuts
	rounds      int            // of trees
	unlabelled  blas32.General // see Options
	distinct    int            // rows; the others are copies of them
	groups      []int32        // of these rows, see Options.Groups
	crowded     bool           // see Crowded
	seed        uint64
}

// member is a kind of classifier with its calibration.
type member struct {
	*kind
	calibrator *labelshift.Calibrator
	// On rows that were held out:
	accuracy float64 // balanced
	loss     float64 // mean logarithmic loss, in nats
	weight   float64 // of all members 1
}

// A member's weight is inverse to that power of its loss. On 324 tasks of 96 families powers
// from 3 to 8 and offsets from 0.01 to 0.05 were as good as each other, and better than equal
// weights and than the best member alone, also on rows of the source.
const (
	lossPower  = 6
	lossOffset = 0.02
)

// weigh sets the weights of members.
func weigh(members []member) {
	least := math.Inf(1)
	for _, m := range members {
		least = min(least, m.loss)
	}
	sum := 0.0
	for i, m := range members {
		members[i].weight = math.Pow((least+lossOffset)/(m.loss+lossOffset), lossPower)
		sum += members[i].weight
	}
	for i := range members {
		members[i].weight /= sum
	}
}

// Tune chooses hyper-parameters and calibrations on the rows of x (n×d) with
// labels from 0 to classes−1, of which any may have no rows. It fails if there
// are no rows, a value is not finite or a member is unknown, and panics if there
// is not one label a row. The end of ctx ends it.
func Tune(ctx context.Context, x blas32.General, labels []int32, classes int, o Options) (*Tuned, error) {
	names, err := o.members()
	if err != nil {
		return nil, err
	}
	if err := check(x, labels, classes); err != nil {
		return nil, err
	}
	t := &Tuned{Classes: classes, temperature: 1, distinct: cmp.Or(o.Distinct, x.Rows), groups: o.Groups, unlabelled: o.Unlabelled, seed: o.Seed}
	present, _ := renumber(labels, classes)
	t.crowded = Crowded(t.distinct, len(present))
	switch {
	case o.Members != nil:
	case t.crowded:
		names = []string{discriminantKind.name}
	case Thin(t.distinct, len(present)):
		names = without(names, Trees)
	}
	tuned := names
	if !t.crowded && !slices.Contains(names, kernelKind.name) {
		tuned = append(slices.Clip(names), kernelKind.name) // for Gamma and Lambda
	}
	members := make([]member, len(tuned))
	err = kernel.Each(len(tuned), func(i int) (err error) {
		members[i], err = t.tune(ctx, kindOf(tuned[i]), x, labels)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.members = members[:len(names)]
	weigh(t.members)
	for _, m := range t.members {
		t.Accuracy += m.accuracy / float64(len(t.members))
	}
	return t, nil
}

// check reports rows and labels that no member can be trained on.
func check(x blas32.General, labels []int32, classes int) error {
	if len(labels) != x.Rows {
		panic("ensemble: one label a row is needed")
	}
	if x.Rows == 0 || x.Cols == 0 {
		return errors.New("ensemble: there are no rows or no columns: give labelled rows")
	}
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return fmt.Errorf("ensemble: source row %d: label %d is not one of %d classes, from 0: repair the labels", i, y, classes)
		}
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return fmt.Errorf("ensemble: %w", err)
	}
	return nil
}

func (t *Tuned) tune(ctx context.Context, k *kind, x blas32.General, labels []int32) (member, error) {
	m := member{kind: k}
	heldOut, seen, err := t.heldOut(ctx, k, x, labels)
	if err != nil {
		return m, err
	}
	calibration := labelshift.BCTS
	if t.crowded {
		calibration = labelshift.Temperature // few rows say nothing of their class' own bias
	}
	if m.calibrator, err = labelshift.Calibrate(ctx, heldOut, seen, calibration); err != nil {
		return m, err
	}
	p := m.calibrator.Apply(heldOut)
	m.accuracy, m.loss = balancedAccuracy(p, seen, t.Classes), logLoss(p, seen)
	if k == &discriminantKind {
		t.temperature, m.calibrator = m.calibrator.Temperature, labelshift.Uncalibrated(t.Classes)
	}
	return m, nil
}

// heldOut returns posteriors of rows by models that were trained without them, and the rows' labels.
func (t *Tuned) heldOut(ctx context.Context, k *kind, x blas32.General, labels []int32) (blas32.General, []int32, error) {
	if k.choose == nil {
		return t.crossValidate(ctx, k, x, labels)
	}
	posteriors, seen, err := k.choose(t, ctx, dense.Rows(x, 0, t.distinct), labels[:t.distinct])
	if err == nil && (t.distinct < x.Rows || t.groups != nil) {
		return t.crossValidate(ctx, k, x, labels)
	}
	return posteriors, seen, err
}

// crossValidate returns the posteriors of all rows, or of a sample of them where classes are
// crowded, by models that were trained on the other folds, and the rows' labels. Posteriors are
// uniform if the other folds are empty.
func (t *Tuned) crossValidate(ctx context.Context, k *kind, x blas32.General, labels []int32) (blas32.General, []int32, error) {
	fold, rows := t.divide(labels), t.asked(x.Rows)
	all := t.uniform(len(rows))
	err := kernel.Each(folds, func(f int) error {
		in, _ := split(fold, f)
		_, out := split(dense.Pick(fold, rows), f)
		if len(in) == 0 || len(out) == 0 {
			return nil
		}
		m, err := k.train(t, ctx, dense.Gather(x, in), dense.Pick(labels, in))
		if err != nil {
			return err
		}
		p := m.posteriors(dense.Gather(x, dense.Pick(rows, out)))
		for j, i := range out {
			copy(dense.Row(all, i), dense.Row(p, j))
		}
		return nil
	})
	return all, dense.Pick(labels, rows), err
}

// uniform are the posteriors of n rows of which nothing is known.
func (t *Tuned) uniform(n int) blas32.General {
	all := dense.New(n, t.Classes)
	for i := range all.Data {
		all.Data[i] = 1 / float32(t.Classes)
	}
	return all
}

// crowdedRows is how many rows are held out of crowded classes, at most.
const crowdedRows = 1_000

// asked are the rows, of n, whose posteriors are asked for when they are held out.
func (t *Tuned) asked(n int) []int {
	limit := n
	if t.crowded {
		limit = crowdedRows
	}
	return dense.Sample(n, limit, func() *rand.Rand { return rand.New(rand.NewPCG(t.seed, streamAsked)) })
}

// split returns the rows of the other folds and those of fold f.
func split(fold []int, f int) (in, out []int) {
	for i, g := range fold {
		if g == f {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return in, out
}

// divide gives each row a fold, so that each class is spread over all of them.
func (t *Tuned) divide(labels []int32) []int {
	rng := rand.New(rand.NewPCG(t.seed, streamFolds))
	next, fold := make([]int, t.Classes), make([]int, len(labels))
	for k := range next {
		next[k] = rng.IntN(folds)
	}
	for _, i := range rng.Perm(t.distinct) {
		fold[i] = next[labels[i]] % folds
		next[labels[i]]++
	}
	if t.groups != nil {
		t.holdWhole(fold, labels)
	}
	for i := t.distinct; i < len(fold); i++ {
		fold[i] = fold[i-t.distinct]
	}
	return fold
}

// streamFolds is the stream of random numbers that cuts the rows, and streamAsked that which
// chooses those that are asked for.
const (
	streamFolds = 1
	streamAsked = 2
)

// Train trains all members on rows of x (n×d) with the hyper-parameters and
// calibrations of t. It fails as Tune does. The end of ctx ends it.
func (t *Tuned) Train(ctx context.Context, x blas32.General, labels []int32) (*Model, error) {
	if err := check(x, labels, t.Classes); err != nil {
		return nil, err
	}
	m := &Model{Classes: t.Classes, members: make([]trained, len(t.members))}
	err := kernel.Each(len(t.members), func(i int) error {
		k := t.members[i]
		s, err := k.train(t, ctx, x, labels)
		m.members[i] = trained{s, k.name, k.calibrator, k.weight}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Without returns t without a member of that name, which others then stand for, if there are others.
func (t *Tuned) Without(name string) *Tuned {
	own := *t
	own.members = slices.DeleteFunc(slices.Clone(t.members), func(m member) bool { return m.name == name })
	if len(own.members) == 0 {
		return t
	}
	weigh(own.members)
	return &own
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// logLoss is the mean logarithmic loss, in nats, of posteriors of rows with these labels.
func logLoss(posteriors blas32.General, labels []int32) (loss float64) {
	for i, y := range labels {
		loss -= math.Log(max(float64(dense.Row(posteriors, i)[y]), minPosterior)) / float64(len(labels))
	}
	return loss
}

// balancedAccuracy is that of posteriors of rows with these labels, if all classes are
// decided on as if they were equally frequent.
func balancedAccuracy(posteriors blas32.General, labels []int32, classes int) float64 {
	counts := make([]float32, classes)
	for _, y := range labels {
		counts[y]++
	}
	found := make([]int32, len(labels))
	for i := range found {
		row, best := dense.Row(posteriors, i), float32(-1)
		for k, count := range counts {
			if count > 0 && row[k]/count > best {
				found[i], best = int32(k), row[k]/count
			}
		}
	}
	return validate.BalancedAccuracy(found, labels, classes)
}
