package hedge

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/internal/dense"
	"mars/stages/algorithms/labelshift"
)

// minWeight is the weight below which the views of a classifier are left out.
const minWeight = 0.002

// blockRows is how many rows are labelled at a time.
const blockRows = 4_096

// Width is the number of values of a row.
func (m *Model) Width() int { return m.preparation.Columns }

// Predict returns the posteriors of the rows of x (n×d), n×C, which carry the target's
// proportions. It returns ctx.Err() if ctx ends, and panics if the width differs.
func (m *Model) Predict(ctx context.Context, x blas32.General) (blas32.General, error) {
	posteriors := dense.New(x.Rows, len(m.Classes))
	err := m.eachBlock(ctx, x, func(z blas32.General, lo int) error {
		return m.mix(dense.Rows(posteriors, lo, lo+z.Rows), z)
	})
	return posteriors, err
}

// Typicality returns how typical each row of x (n×d) is of the class of its greatest
// posterior: a p-value, from 0 to 1, which is small for a row that is like none of that
// class in the source, wherever the views have moved it. It returns ctx.Err() if ctx
// ends, and panics if shapes differ.
func (m *Model) Typicality(ctx context.Context, x, posteriors blas32.General) ([]float32, error) {
	var all []float32
	err := m.eachBlock(ctx, x, func(z blas32.General, lo int) error {
		all = append(all, m.typicalityOf(z, dense.ArgmaxRows(dense.Rows(posteriors, lo, lo+z.Rows)))...)
		return nil
	})
	return all, err
}

// eachBlock calls f with some prepared rows at a time, of which the first is row lo.
func (m *Model) eachBlock(ctx context.Context, x blas32.General, f func(z blas32.General, lo int) error) error {
	for lo := 0; lo < x.Rows; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(m.preparation.Apply(dense.Rows(x, lo, min(lo+blockRows, x.Rows))), lo); err != nil {
			return err
		}
	}
	return nil
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
			if err := labelshift.Accuracy.Adjust(q, m.prior, v.Proportions); err != nil {
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
