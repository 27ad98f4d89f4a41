package mixture

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// wide is the width from which full covariances are scored by bounds. In fewer
// columns the last panel is too great a part of the work.
const wide = 8 * panel

// hopeless is added to the greatest score of a row: a component below it has a
// negligible responsibility.
var hopeless = math.Log(negligible)

// scoreBounded is score for full covariances in many dimensions. The squared length of
// a white row grows with its columns, so some of them give a bound of the score. The
// last ones are taken first: they are what the columns before do not tell, and differ
// most from one component to another. The component by which they are likeliest is
// scored first. Others are given up, with a score of −Inf, as soon as they are hopeless
// beside it. Of well separated components this leaves little more than one a row.
func (g *gaussians) scoreBounded(ctx context.Context, dst blas64.General, x blas32.General) error {
	first, err := g.bound(ctx, dst, x)
	if err != nil {
		return err
	}
	floor := make([]float64, x.Rows)
	for i := range floor {
		floor[i] = math.Inf(-1)
	}
	if err := g.scoreSome(ctx, dst, x, floor, func(i, k int) bool { return int(first[i]) == k }); err != nil {
		return err
	}
	for i, k := range first {
		floor[i] = dst.Data[i*dst.Stride+int(k)] + hopeless
	}
	return g.scoreSome(ctx, dst, x, floor, func(i, k int) bool { return int(first[i]) != k })
}

// lastColumns returns the first of the columns that are taken first: a panel or more, to
// the last.
func lastColumns(d int) int { return (d/panel - 1) * panel }

// bound writes the bounds that the last columns of white rows give, and returns for each
// row the component by which these columns are likeliest. One product gives them for all
// components.
func (g *gaussians) bound(ctx context.Context, dst blas64.General, x blas32.General) ([]int32, error) {
	d, components := x.Cols, len(g.components)
	from := lastColumns(d)
	width := d - from
	origin := make([]float64, d)
	for _, c := range g.components {
		floats.AddScaled(origin, 1/float64(components), c.mean)
	}
	whiten, means := dense.New64(d, components*width), dense.New64(1, components*width)
	before := make([]float64, components) // what the other columns add to a bound
	for k, c := range g.components {
		part, mean := view(whiten, 0, d, k*width, (k+1)*width), dense.New64(1, d)
		for i := range d {
			copy(part.Data[i*part.Stride:][:width], c.whiten.Data[i*d+from:])
		}
		floats.SubTo(mean.Data, c.mean, origin)
		kernel.Gemm64(false, false, 1, mean, part, 0, view(means, 0, 1, k*width, (k+1)*width))
		before[k] = c.logVolume(0, from)
	}
	first := make([]int32, x.Rows)
	return first, eachBlock(ctx, x.Rows, func(_, lo, hi int) {
		centred, giveCentred := dense.Borrow64(hi-lo, d)
		defer giveCentred()
		white, giveWhite := dense.Borrow64(hi-lo, components*width)
		defer giveWhite()
		centre(centred, x, lo, hi, origin)
		kernel.Gemm64(false, false, 1, centred, whiten, 0, white)
		likelihoods := make([]float64, components)
		for i := lo; i < hi; i++ {
			row := white.Data[(i-lo)*white.Stride:][:white.Cols]
			floats.Sub(row, means.Data)
			for k, c := range g.components {
				bound := c.constant - 0.5*square(row[k*width:][:width])
				dst.Data[i*dst.Stride+k], likelihoods[k] = bound, bound-before[k]
			}
			first[i] = int32(dense.Argmax(likelihoods))
		}
	})
}

// scoreSome scores the rows and components that are asked for. dst has their bounds,
// and gets −Inf where a score is less than the row's floor.
func (g *gaussians) scoreSome(ctx context.Context, dst blas64.General, x blas32.General, floor []float64, asked func(i, k int) bool) error {
	type task struct {
		k    int
		rows []int32
	}
	var tasks []task
	for k := range g.components {
		var rows []int32
		for i := range x.Rows {
			if !asked(i, k) {
				continue
			}
			if score := &dst.Data[i*dst.Stride+k]; *score < floor[i] {
				*score = math.Inf(-1)
				continue
			}
			if rows = append(rows, int32(i)); len(rows) == blockRows {
				tasks, rows = append(tasks, task{k, rows}), nil
			}
		}
		if len(rows) > 0 {
			tasks = append(tasks, task{k, rows})
		}
	}
	return kernel.Each(len(tasks), func(t int) error {
		g.components[tasks[t].k].scoreRows(dst, tasks[t].k, x, tasks[t].rows, floor)
		return ctx.Err()
	})
}

// scoreRows scores rows of x for the component, which is the k-th, each until its
// score is below its floor. It changes rows.
func (g *gaussian) scoreRows(dst blas64.General, k int, x blas32.General, rows []int32, floor []float64) {
	d := x.Cols
	deviation, giveDeviation := dense.Borrow64(len(rows), d)
	defer giveDeviation()
	white, giveWhite := dense.Borrow64(len(rows), d)
	defer giveWhite()
	for r, i := range rows {
		subtract(deviation.Data[r*d:][:d], dense.Row(x, int(i)), g.mean)
	}
	for from, to := lastColumns(d), d; to > 0 && len(rows) > 0; from, to = max(0, from-(d-from))/panel*panel, from {
		n := len(rows)
		g.multiply(view(white, 0, n, 0, d), view(deviation, 0, n, 0, d), from, to)
		kept := rows[:0]
		for r, i := range rows {
			score := &dst.Data[int(i)*dst.Stride+k]
			*score = g.constant - 0.5*square(white.Data[r*d:][from:d])
			if *score < floor[i] {
				*score = math.Inf(-1)
				continue
			}
			if at := len(kept); at < r {
				copy(deviation.Data[at*d:][:d], deviation.Data[r*d:])
				copy(white.Data[at*d:][from:d], white.Data[r*d:][from:d])
			}
			kept = append(kept, i)
		}
		rows = kept
	}
}
