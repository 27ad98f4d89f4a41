package hedge

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/boosting"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// If an assumption is true, the target looks like the source's rows where the assumption has moved
// them, in the proportions that it gives. Boosted trees are asked to tell the two apart, as two-sample tests by a
// classifier do (Lopez-Paz & Oquab 2017). Trees see what moments do not: also that rows of few values have left these
// values, as all do that were moved. They are asked again where both sides are blurred, so that this does not tell.
const (
	areaRows    = 1_500 // of each side, at most
	areaFolds   = 2
	areaRounds  = 30
	areaRate    = 0.2
	areaLeaves  = 8
	areaBins    = 64
	areaColumns = 50 // that a round looks at
	// leastWeight is the least that a source row counts, beside one of its class in its own proportions.
	leastWeight = 1e-6
	blur        = 0.25 // the deviation of noise, in units of a column's in the source
)

// side are weighted rows, each in a fold.
type side struct {
	rows    blas32.General
	weights []float64 // that sum to 1
	folds   []int
	scores  []float64
}

// newSide weighs rows alike without weights.
func newSide(rows blas32.General, weights []float64, rng *rand.Rand) *side {
	s := &side{rows, make([]float64, rows.Rows), rng.Perm(rows.Rows), make([]float64, rows.Rows)}
	sum := 0.0
	for i := range s.weights {
		s.folds[i] %= areaFolds
		s.weights[i] = 1
		if weights != nil {
			s.weights[i] = max(weights[i], leastWeight)
		}
		sum += s.weights[i]
	}
	for i := range s.weights {
		s.weights[i] /= sum
	}
	return s
}

// of are the rows of a fold.
func (s *side) of(fold int) (rows []int) {
	for i, g := range s.folds {
		if g == fold {
			rows = append(rows, i)
		}
	}
	return rows
}

// worth is as how many rows of one weight the rows count.
func (s *side) worth() float64 {
	squares := 0.0
	for _, w := range s.weights {
		squares += w * w
	}
	return 1 / squares
}

// apart finds the signs Apart, Beyond and Blurred of a view that has moved the source's rows (rows).
func (f *fit) apart(ctx context.Context, v *View, rows blas32.General) (err error) {
	if v.belief().still {
		f.outside(v)
		return nil
	}
	source := dense.Sample(f.distinct, areaRows, f.random(streamArea))
	target := dense.Sample(f.target.Rows, areaRows, f.random(streamArea))
	weights := make([]float64, len(source))
	for i, row := range source {
		y := f.labels[row]
		weights[i] = v.Proportions[y] / f.prior[y]
	}
	rng := f.random(streamArea)()
	sides := [2]*side{newSide(dense.Gather(rows, source), weights, rng), newSide(dense.Gather(f.target, target), nil, rng)}
	if v.Apart, err = areaBetween(ctx, sides, f.Seed); err != nil {
		return err
	}
	distinct := float64(len(target))
	if f.stays.tested {
		distinct *= float64(f.stays.rows) / float64(len(f.nearness.target))
	}
	chance := math.Sqrt((1/sides[0].worth() + 1/distinct) / 12)
	v.Beyond = min(maxDeviations, max(-maxDeviations, (v.Apart-0.5)/chance))
	for _, s := range sides {
		for i := range s.rows.Data {
			s.rows.Data[i] += float32(blur * rng.NormFloat64())
		}
	}
	v.Blurred, err = areaBetween(ctx, sides, f.Seed)
	return err
}

// outside finds the signs where nothing has changed. Then other rows of the same kind may have been chosen, so
// the target's need not look like the source's: but they lie where the source has rows.
func (f *fit) outside(v *View) {
	const expected = 1 - novelQuantile
	more := f.nearness.novelty() - expected
	v.Apart = (1 + max(0, more/novelQuantile)) / 2
	v.Blurred = v.Apart
	v.Beyond = more / math.Sqrt(expected*novelQuantile/float64(len(f.nearness.target)))
}

// areaBetween is the area under the ROC curve of the second side's scores against the first's. Trees score rows
// of folds that they have not seen.
func areaBetween(ctx context.Context, sides [2]*side, seed uint64) (float64, error) {
	total := sides[0].rows.Rows + sides[1].rows.Rows
	options := treeOptions(seed, sides[0].rows, sides[1].rows)
	for fold := range areaFolds {
		seen, o := boosting.Rows{X: dense.New(0, sides[0].rows.Cols)}, options
		for k, s := range sides {
			for i, g := range s.folds {
				if g != fold {
					dense.Append(&seen.X, dense.Row(s.rows, i))
					seen.Labels = append(seen.Labels, int32(k))
					o.Weights = append(o.Weights, s.weights[i]*float64(total)/2)
				}
			}
		}
		model, err := boosting.Fit(ctx, seen, 2, o)
		if err != nil {
			return 0, err
		}
		for _, s := range sides {
			held := s.of(fold)
			p := model.Logits(dense.Gather(s.rows, held))
			for k, i := range held {
				s.scores[i] = float64(p.Data[k*p.Stride+1] - p.Data[k*p.Stride])
			}
		}
	}
	return weightedArea(sides), nil
}

// treeOptions are few and small trees on such rows: they are signs alone.
func treeOptions(seed uint64, rows ...blas32.General) boosting.Options {
	return boosting.Options{Rounds: areaRounds, LearningRate: areaRate, Leaves: areaLeaves, Cuts: boosting.Quantiles(areaBins, rows...),
		Columns: min(1, areaColumns/float64(rows[0].Cols)), Seed: seed}
}

// weightedArea is the share of pairs, by weight, in which the row of the second side has the greater score.
// Equal scores count half.
func weightedArea(sides [2]*side) float64 {
	type scored struct {
		score, weight float64
		side          int
	}
	var all []scored
	for k, s := range sides {
		for i, v := range s.scores {
			all = append(all, scored{v, s.weights[i], k})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	area, below := 0.0, 0.0
	for i := 0; i < len(all); {
		var equal [2]float64
		j := i
		for ; j < len(all) && all[j].score == all[i].score; j++ {
			equal[all[j].side] += all[j].weight
		}
		area += equal[1] * (below + equal[0]/2)
		below += equal[0]
		i = j
	}
	return area
}
