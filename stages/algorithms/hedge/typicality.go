package hedge

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// typicality says how usual a row is among the source's rows of a class: what share of
// them is at least as far from the others of the class. It is the p-value of conformal
// prediction (Vovk, Gammerman & Shafer 2005), class by class, with distances to the
// nearest rows.
type typicality struct {
	axes    *axes
	classes []classRows
}

// classRows is the rows of a class. A class of few rows has those of all classes.
type classRows struct {
	rows   blas32.General // r×q: some of the source's, moved
	scores []float32      // the distances of these rows to the others, or those of all classes, rising
}

const (
	maxClassRows = 500 // of a class that are kept
	minOwnRows   = 20  // of a class that stands for itself
	// A class of fewer rows than fineRows could not have p-values much below 1/100. It
	// takes the scores of all classes, each in units of the class' median.
	fineRows  = 200
	maxScores = 1_000 // of all classes that are kept
)

// learnTypicality learns it from the (moved) source rows x.
func (f *fit) learnTypicality(ctx context.Context, x blas32.General) (*typicality, error) {
	t := &typicality{}
	var err error
	if t.axes, err = principalAxes(ctx, x, nearAxes); err != nil {
		return nil, err
	}
	z, rng := t.axes.apply(x), f.random(streamNovelty)()
	byClass := make([][]int, f.classes)
	for i, y := range f.labels[:f.distinct] {
		byClass[y] = append(byClass[y], i)
	}
	var all *classRows
	for _, rows := range byClass {
		if len(rows) < minOwnRows {
			if all == nil {
				all = newClassRows(dense.Gather(z, dense.Sample(f.distinct, nearRows, func() *rand.Rand { return rng })))
			}
			t.classes = append(t.classes, *all)
			continue
		}
		some := dense.Sample(len(rows), maxClassRows, func() *rand.Rand { return rng })
		for i, at := range some {
			some[i] = rows[at]
		}
		t.classes = append(t.classes, *newClassRows(dense.Gather(z, some)))
	}
	t.refine()
	return t, ctx.Err()
}

// refine gives classes of few rows the scores of all, in their own units.
func (t *typicality) refine() {
	var all []float32
	for _, c := range t.classes {
		if unit := c.unit(); unit > 0 {
			for _, s := range c.scores {
				all = append(all, s/unit)
			}
		}
	}
	slices.Sort(all)
	if n := len(all); n > maxScores {
		for i := range maxScores {
			all[i] = all[(i+1)*n/maxScores-1]
		}
		all = all[:maxScores]
	}
	for k := range t.classes {
		c := &t.classes[k]
		if unit := c.unit(); unit > 0 && len(c.scores) < min(fineRows, len(all)) {
			c.scores = slices.Clone(all)
			for i := range c.scores {
				c.scores[i] *= unit
			}
		}
	}
}

// unit is the median score.
func (c *classRows) unit() float32 { return c.scores[len(c.scores)/2] }

func newClassRows(rows blas32.General) *classRows {
	c := &classRows{rows: rows}
	for _, d := range nearest(rows, rows, true) {
		c.scores = append(c.scores, float32(d))
	}
	slices.Sort(c.scores)
	return c
}

// of returns the p-values of the rows of z (n×d) as rows of the given classes.
func (t *typicality) of(z blas32.General, labels []int32) []float64 {
	along := t.axes.apply(z)
	byClass := make([][]int, len(t.classes))
	for i, y := range labels {
		byClass[y] = append(byClass[y], i)
	}
	p := make([]float64, z.Rows)
	for k, index := range byClass {
		if len(index) == 0 {
			continue
		}
		c := &t.classes[k]
		for i, d := range nearest(dense.Gather(along, index), c.rows, false) {
			below, _ := slices.BinarySearch(c.scores, float32(d))
			p[index[i]] = float64(len(c.scores)-below+1) / float64(len(c.scores)+1)
		}
	}
	return p
}
