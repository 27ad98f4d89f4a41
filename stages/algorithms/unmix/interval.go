package unmix

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// IntervalOptions of Bounds.
type IntervalOptions struct {
	Level      float64 // 0 means 0.9
	Replicates int     // 0 means 200
	// Groups say of each class of which of several it is a part; each Groups has bounds of its own.
	Groups [][]int
	Seed   uint64
}

// A Bound holds each of several shares with a probability of Level.
type Bound struct{ Lower, Upper []float64 }

// Bounds are those of the classes, and of the sums of each of Groups.
type Bounds struct {
	Bound
	Groups []Bound
	// Error is the mean distance of the replicates from the estimate, in L1.
	Error float64
}

const (
	streamBootstrap = 0x756e6d6978 // the random stream of Bounds
	// Of a large source each replicate learns from a part: as many rows as take fitWork, and leastOfClass of each
	// class. The intervals are then a little wide.
	fitWork      = 2e8
	leastOfClass = 50
	// experience is how far shares are off beyond chance, where classes look otherwise than in the source: as
	// far as counts of so many rows. So it was on six sets of wells whose shares are known, and then on
	// ten families of data on which it had not been chosen (docs/measured/unmix.md).
	experience = 25
	least      = 1e-3 // a lower bound below this is 0, as no draw of a Dirichlet distribution is
)

// Bounds of the shares of the model's classes in rows like target (n×d), of which the given ones are a
// sample: both the source's rows, class by class, and the target's are drawn again, and percentiles of
// what comes of it are taken. How else the
// classes may look in the target does not show: experience stands for it.
func (m *Model) Bounds(ctx context.Context, source blas32.General, labels []int32, target blas32.General, o IntervalOptions) (*Bounds, error) {
	if o.Level == 0 {
		o.Level = .9
	}
	if o.Replicates == 0 {
		o.Replicates = 200
	}
	middle, err := m.Together(ctx, target)
	if err != nil {
		return nil, err
	}
	rows, b := m.rowsOf(labels), &Bounds{}
	drawn := make([][]float64, o.Replicates)
	for i := range drawn {
		rng := rand.New(rand.NewPCG(o.Seed^streamBootstrap, uint64(i)))
		if drawn[i], err = m.replicate(ctx, source, labels, rows, target, rng); err != nil {
			return nil, err
		}
		spread(drawn[i], rng)
		b.Error += dense.L1(drawn[i], middle) / float64(o.Replicates)
	}
	b.Bound = percentiles(drawn, o.Level)
	for _, of := range o.Groups {
		sums := make([][]float64, len(drawn))
		for i, p := range drawn {
			sums[i] = make([]float64, slices.Max(of)+1)
			for k, g := range of {
				sums[i][g] += p[k]
			}
		}
		b.Groups = append(b.Groups, percentiles(sums, o.Level))
	}
	return b, nil
}

// spread replaces shares by some of a Dirichlet distribution, which vary as counts of experience rows do. A
// class without a share gets a part of one row.
func spread(p []float64, rng *rand.Rand) {
	for k, share := range p {
		p[k] = distuv.Gamma{Alpha: (experience-1)*share + 1/float64(len(p)), Beta: 1, Src: rng}.Rand()
	}
	dense.Normalize(p)
}

// percentiles are those of each column of the drawn shares.
func percentiles(drawn [][]float64, level float64) (b Bound) {
	values := make([]float64, len(drawn))
	for k := range drawn[0] {
		for i, p := range drawn {
			values[i] = p[k]
		}
		slices.Sort(values)
		lower := stat.Quantile((1-level)/2, stat.Empirical, values, nil)
		if lower < least {
			lower = 0
		}
		b.Lower = append(b.Lower, lower)
		b.Upper = append(b.Upper, stat.Quantile((1+level)/2, stat.Empirical, values, nil))
	}
	return b
}

// rowsOf are the source's rows of each class, evenly some of very many.
func (m *Model) rowsOf(labels []int32) [][]int {
	rows := make([][]int, len(m.Classes))
	for i, y := range labels {
		rows[y] = append(rows[y], i)
	}
	work := m.Width() * len(rows) // of a row
	if m.amounts == nil {
		work *= m.Width()
	}
	most := max(int(fitWork)/work, leastOfClass)
	for k, of := range rows {
		some := make([]int, min(len(of), most))
		for i := range some {
			some[i] = of[i*len(of)/len(some)]
		}
		rows[k] = some
	}
	return rows
}

// replicate is the estimate of rows that are drawn again. Where the source's have several answers, the
// model's own classes count.
func (m *Model) replicate(ctx context.Context, source blas32.General, labels []int32, rows [][]int, target blas32.General, rng *rand.Rand) ([]float64, error) {
	var drawn []int
	for _, of := range rows {
		for range of {
			drawn = append(drawn, of[rng.IntN(len(of))])
		}
	}
	again, err := Fit(ctx, dense.Gather(source, drawn), dense.Pick(labels, drawn), m.Classes)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		again = m
	}
	picked := make([]int, target.Rows)
	for i := range picked {
		picked[i] = rng.IntN(target.Rows)
	}
	return again.together(ctx, dense.Gather(target, picked))
}
