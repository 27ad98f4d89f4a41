package hedge

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// minWeight is the weight below which the views of a classifier are left out.
const minWeight = 0.002

// blockRows is how many rows are labelled at a time.
const blockRows = 1_024

// Width is the number of values of a row.
func (m *Model) Width() int { return m.mapping.Columns }

// Prepare returns the rows of x (n×d) as Predict and Typicality take them. It panics if
// the width differs.
func (m *Model) Prepare(x blas32.General) blas32.General { return m.mapping.Apply(x) }

// Predict returns the posteriors of prepared rows z, n×C, which carry the target's
// proportions. It returns ctx.Err() if ctx ends.
func (m *Model) Predict(ctx context.Context, z blas32.General) (blas32.General, error) {
	posteriors := dense.New(z.Rows, len(m.Classes))
	return posteriors, eachBlock(ctx, z.Rows, func(lo, hi int) error {
		return m.mix(dense.Rows(posteriors, lo, hi), dense.Rows(z, lo, hi))
	})
}

// Unadjusted returns the posteriors of prepared rows z, n×C, that carry Prior: the weighted
// mean of the classifiers', where Predict has given each view its own shares of the target.
// It returns ctx.Err() if ctx ends.
func (m *Model) Unadjusted(ctx context.Context, z blas32.General) (blas32.General, error) {
	posteriors := dense.New(z.Rows, len(m.Classes))
	return posteriors, eachBlock(ctx, z.Rows, func(lo, hi int) error {
		dst, rows := dense.Rows(posteriors, lo, hi), dense.Rows(z, lo, hi)
		total := 0.0
		for c, model := range m.classifiers {
			if model == nil {
				continue
			}
			w := m.classifierWeight(c)
			total += w
			for i, p := range model.Predict(rows).Data {
				dst.Data[i] += float32(w) * p
			}
		}
		for i := range dst.Data[:dst.Rows*dst.Cols] {
			dst.Data[i] /= float32(total)
		}
		return nil
	})
}

// Prior is the class proportions that Unadjusted posteriors carry.
func (m *Model) Prior() []float64 { return m.prior }

// eachBlock calls f for blocks of n rows, as many at a time as there are threads.
func eachBlock(ctx context.Context, n int, f func(lo, hi int) error) error {
	return kernel.Each((n+blockRows-1)/blockRows, func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(i*blockRows, min((i+1)*blockRows, n))
	})
}

// Typicality returns how typical each prepared row is of the class of its greatest
// posterior: a p-value, from 0 to 1, which is small for a row that is like none of that
// class in the source, wherever the views have moved it. It returns ctx.Err() if ctx
// ends, and panics if the numbers of rows differ.
func (m *Model) Typicality(ctx context.Context, z, posteriors blas32.General) ([]float32, error) {
	labels, all := dense.ArgmaxRows(posteriors), make([]float32, z.Rows)
	return all, eachBlock(ctx, z.Rows, func(lo, hi int) error {
		copy(all[lo:hi], m.typicalityOf(dense.Rows(z, lo, hi), labels[lo:hi]))
		return nil
	})
}

// mix writes the weighted mean of the views' posteriors of prepared rows to dst.
func (m *Model) mix(dst, z blas32.General) error {
	total := 0.0
	for c, model := range m.classifiers {
		if model == nil {
			continue
		}
		mean := model.Predict(z)
		for _, v := range m.Views {
			if v.Classifier != c {
				continue
			}
			q := dense.Clone(mean)
			if err := labelshift.Accuracy.Adjust(q, m.prior, v.carried()); err != nil {
				return err
			}
			for i, p := range q.Data {
				dst.Data[i] += float32(v.Weight) * p
			}
			total += v.Weight
		}
	}
	for i := range dst.Data[:dst.Rows*dst.Cols] {
		dst.Data[i] /= float32(total)
	}
	return nil
}

// classifierWeight is the weight of all views that share a classifier.
func (m *Model) classifierWeight(c int) (weight float64) {
	for _, v := range m.Views {
		if v.Classifier == c {
			weight += v.Weight
		}
	}
	return weight
}

// typicalityOf is the weighted mean of the p-values, by the source's rows as they are and
// where each view has them.
func (m *Model) typicalityOf(z blas32.General, labels []int32) []float32 {
	mean, total := make([]float64, z.Rows), 0.0
	for c, t := range m.typicality {
		if t == nil {
			continue
		}
		w := m.typicalWeight(c)
		total += w
		for i, p := range t.of(z, labels) {
			mean[i] += w * p
		}
	}
	out := make([]float32, z.Rows)
	for i, p := range mean {
		out[i] = float32(p / total)
	}
	return out
}

// minTypical is the weight below which a classifier's rows say nothing of typicality.
const minTypical = 0.05

// typicalWeight is the weight of a classifier's rows in the typicality. The rows as they
// are have a half at least: views that move classes may move one onto new rows.
func (m *Model) typicalWeight(c int) float64 {
	w := m.classifierWeight(c)
	switch {
	case c == 0:
		return 1 + w
	case w < minTypical:
		return 0
	}
	return w
}

// untypical is the share of prepared rows whose typicality is below UntypicalRate.
func (m *Model) untypical(z, posteriors blas32.General) float64 {
	n := 0
	for _, p := range m.typicalityOf(z, dense.ArgmaxRows(posteriors)) {
		if p < UntypicalRate {
			n++
		}
	}
	return float64(n) / float64(z.Rows)
}
