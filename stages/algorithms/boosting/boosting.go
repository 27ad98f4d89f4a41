package boosting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Options of a fit. The zero value is usable.
type Options struct {
	Rounds       int     // at most; 0 means 100
	LearningRate float64 // what part of a tree's step is taken; 0 means 0.1
	Leaves       int     // of a tree, at most; 0 means 31
	MinRows      int     // of a leaf; 0 means 20
	L2           float64 // added to the sum of a leaf's second derivatives; 0 means 1
	Columns      float64 // the share of the columns, drawn for each round; 0 means all
	// Cuts are the thresholds; nil means 255 bins by quantiles of the rows.
	Cuts Cuts
	// Weights of the rows, n, above 0; nil means 1.
	Weights []float64
	// HeldOut are rows by whose loss rounds are counted; nil means that all rounds are taken.
	HeldOut *Rows
	// Patience is after how many rounds without a smaller loss of HeldOut it ends; 0 means 10.
	Patience int
	// Enough ends it after so many rounds, when others have told that no more are needed; nil never does.
	Enough func(rounds int) bool
	// Seed draws columns.
	Seed uint64
}

// Rows are labelled rows: n×d values, finite or missing (NaN), and n labels from 0.
type Rows struct {
	X      blas32.General
	Labels []int32
}

func (o Options) withDefaults(x blas32.General) Options {
	o.Rounds, o.LearningRate = cmp.Or(o.Rounds, 100), cmp.Or(o.LearningRate, 0.1)
	o.Leaves, o.MinRows = cmp.Or(o.Leaves, 31), cmp.Or(o.MinRows, 20)
	o.L2, o.Columns = cmp.Or(o.L2, 1), cmp.Or(o.Columns, 1)
	o.Patience = cmp.Or(o.Patience, 10)
	if o.Cuts == nil {
		o.Cuts = Quantiles(maxBins, x)
	}
	return o
}

// absent is the logit of a class without rows.
const absent = -30

// Fit trains a model on rows with labels from 0 to classes−1, of which any may have no rows. It fails
// if there are no rows or no columns, a label is none of the classes, or a weight is not above 0, and
// panics if sizes do not fit. The end of ctx ends it.
func Fit(ctx context.Context, rows Rows, classes int, o Options) (*Model, error) {
	if err := check(rows, classes, o); err != nil {
		return nil, err
	}
	b := begin(rows, classes, o.withDefaults(rows.X))
	if len(b.boosted) == 0 {
		return b.model, ctx.Err()
	}
	for range b.Rounds {
		if err := b.round(ctx); err != nil {
			return nil, err
		}
		if b.HeldOut != nil && b.patienceEnds() || b.Enough != nil && b.Enough(b.model.Rounds()) {
			break
		}
	}
	return b.model, nil
}

func check(rows Rows, classes int, o Options) error {
	if len(rows.Labels) != rows.X.Rows || o.Weights != nil && len(o.Weights) != rows.X.Rows || o.Cuts != nil && len(o.Cuts) != rows.X.Cols {
		panic("boosting: one label and weight a row and cuts of each column are needed")
	}
	if rows.X.Rows == 0 || rows.X.Cols == 0 {
		return errors.New("boosting: there are no rows or no columns: give labelled rows")
	}
	for i, y := range rows.Labels {
		if y < 0 || int(y) >= classes {
			return fmt.Errorf("boosting: row %d: label %d is not one of %d classes, from 0: repair the labels", i, y, classes)
		}
	}
	for i, w := range o.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("boosting: row %d: the weight %g is not above 0: leave rows without weight out", i, w)
		}
	}
	return nil
}

// booster is a model in the making.
type booster struct {
	Options
	model         *Model
	boosted       []int // the classes that get trees
	labels        []int32
	scores        blas32.General // C×n logits: trees add to those of a class
	posteriors    blas32.General // C×n
	byRow         blas32.General // n×C, for the softmax
	heldOut       []block        // HeldOut
	heldOutScores blas32.General
	grower        *grower
	rng           *rand.Rand
}

func begin(rows Rows, classes int, o Options) *booster {
	shares := make([]float64, classes)
	for i, y := range rows.Labels {
		shares[y] += o.weight(i)
	}
	dense.Normalize(shares)
	b := &booster{Options: o, labels: rows.Labels, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	b.model = &Model{Columns: rows.X.Cols, Start: make([]float32, classes)}
	for k, share := range shares {
		if b.model.Start[k] = absent; share > 0 {
			b.model.Start[k] = float32(math.Log(share))
			b.boosted = append(b.boosted, k)
		}
	}
	if len(b.boosted) <= 2 {
		b.boosted = b.boosted[1:] // the other class' logit stays as it is
	}
	b.byRow = b.model.start(rows.X.Rows)
	b.scores, b.posteriors = dense.New(classes, rows.X.Rows), dense.New(classes, rows.X.Rows)
	transpose(b.scores, b.byRow)
	if o.HeldOut != nil {
		b.heldOut, b.heldOutScores = blocksOf(o.HeldOut.X), b.model.start(o.HeldOut.X.Rows)
	}
	largest := 1.0
	if o.Weights != nil {
		largest = slices.Max(o.Weights)
	}
	b.grower = newGrower(o.Cuts.apply(rows.X), o, largest)
	return b
}

func (o Options) weight(i int) float64 {
	if o.Weights == nil {
		return 1
	}
	return o.Weights[i]
}

// round adds a tree for each class that gets some.
func (b *booster) round(ctx context.Context) error {
	transpose(b.byRow, b.scores)
	kernel.Softmax(b.byRow.Data, b.byRow.Data, b.byRow.Rows, b.byRow.Cols)
	transpose(b.posteriors, b.byRow)
	b.grower.choose(b.Columns, b.rng)
	for _, k := range b.boosted {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.model.add(k, b.grower.grow(b.differentiate(k), dense.Row(b.scores, k)))
	}
	if b.HeldOut != nil {
		b.model.addRounds(b.heldOutScores, b.heldOut, b.model.Rounds()-1, b.model.Rounds())
		b.model.Losses = append(b.model.Losses, b.heldOutLoss())
	}
	return nil
}

// transpose sets dst to the transpose of x, in squares that caches hold.
func transpose(dst, x blas32.General) {
	const side = 16
	for lo := 0; lo < x.Rows; lo += side {
		for left := 0; left < x.Cols; left += side {
			for j := left; j < min(left+side, x.Cols); j++ {
				to := dense.Row(dst, j)
				for i := lo; i < min(lo+side, x.Rows); i++ {
					to[i] = x.Data[i*x.Stride+j]
				}
			}
		}
	}
}

// differentiate sets the sums of each row: the derivatives of its loss by the logit of class k. It
// returns those of all rows.
func (b *booster) differentiate(k int) (total sums) {
	p := dense.Row(b.posteriors, k)
	for i, y := range b.labels {
		p, w := float64(p[i]), b.weight(i)
		gradient := p
		if int(y) == k {
			gradient = p - 1
		}
		s := b.grower.sums(w*gradient, w*p*(1-p))
		b.grower.each[i], total = s, total.more(s)
	}
	return total
}

// leastPosterior is what a posterior counts as in the loss if it is less.
const leastPosterior = 1e-6

// heldOutLoss is the mean logarithmic loss of the rows that were held out.
func (b *booster) heldOutLoss() (loss float64) {
	p := softmax(b.heldOutScores)
	for i, y := range b.HeldOut.Labels {
		loss -= math.Log(max(float64(dense.Row(p, i)[y]), leastPosterior)) / float64(len(b.HeldOut.Labels))
	}
	return loss
}

// patienceEnds reports whether the loss has not fallen for long enough.
func (b *booster) patienceEnds() bool {
	best := leastOf(b.model.Losses)
	return len(b.model.Losses)-1-best >= b.Patience
}

// leastOf is the first place of the least value.
func leastOf(values []float64) (best int) {
	for i, v := range values {
		if v < values[best] {
			best = i
		}
	}
	return best
}
