package ppi

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// folds is how many times some labels are kept from what a model learns.
	folds = 10
	// remaining is how much of the expected error remains once views are reweighed.
	remaining = 0.25
)

// A Learner is a model of several views that learns from labels: m rows have one, of C classes, of which the
// views know the first.
type Learner struct {
	Weights []float64     // of the views, without labels
	Views   [][][]float64 // V×m×C: posteriors of the labelled rows, 0 for classes that are not known
	Means   [][]float64   // V×C: of the posteriors over all rows
	Labels  []int
	Known   int // classes
	// Field says which rows are alike; without one nothing but the weights is learnt.
	Field *Field
	// Error is what the shares of the model are expected to be off by without labels, in L1.
	Error float64
}

// CrossFit returns what the model says of each labelled row, and its mean over all rows of the target, m×C both:
// once it has learnt from the labels of the other folds, so that no row's own label has a part in its value
// (Chernozhukov et al. 2018).
func (l *Learner) CrossFit() (values, overall [][]float64) {
	m := len(l.Labels)
	values, overall = make([][]float64, m), make([][]float64, m)
	count := min(folds, m)
	for fold := range count {
		in := func(i int) bool { return i%count == fold }
		left := l.rows(in)
		said, mean := l.learnt(l.rows(func(i int) bool { return !in(i) }), left)
		for _, i := range left {
			values[i], overall[i] = said[i], mean
		}
	}
	return values, overall
}

// Shares are those that the model says of total rows once it has learnt from all labels, with those of the labelled
// rows themselves. Those of classes that the views do not know are an estimate's.
func (l *Learner) Shares(e *Estimate, total int) []float64 {
	all := l.rows(func(int) bool { return true })
	values, shares := l.learnt(all, all)
	for i, said := range values {
		floats.AddScaled(shares, -1/float64(total), said)
		shares[l.Labels[i]] += 1 / float64(total)
	}
	if l.Known == len(shares) {
		return shares
	}
	known, fresh := shares[:l.Known], shares[l.Known:]
	for k := range fresh {
		fresh[k] = min(max(e.Value[l.Known+k], 0), 1)
	}
	floats.Scale(max(0, 1-floats.Sum(fresh))/floats.Sum(known), known)
	return shares
}

// rows are those labelled rows that are wanted.
func (l *Learner) rows(wanted func(i int) bool) (on []int) {
	for i := range l.Labels {
		if wanted(i) {
			on = append(on, i)
		}
	}
	return on
}

// learnt is what the model says of some labelled rows, m×C, and in the mean of all rows, once it has learnt from the
// labels of the rows on: its views are reweighed, and what they lack on these rows is expected on rows that are like them.
func (l *Learner) learnt(on, of []int) (values [][]float64, overall []float64) {
	weights := reweigh(l.Weights, l.Views, l.Labels, on)
	for i := range l.Labels {
		said := make([][]float64, len(l.Views))
		for v := range l.Views {
			said[v] = l.Views[v][i]
		}
		values = append(values, mixed(weights, said))
	}
	overall = mixed(weights, l.Means)
	if l.Field == nil || len(on) == 0 {
		return values, overall
	}
	first, _ := slices.BinarySearch(on, mostLearnt)
	on = on[:first]
	errors := l.errors(on, values)
	for j, row := range on {
		lacks := errors.RawRowView(j)
		floats.AddScaled(overall, l.Field.Near(row), lacks)
		for _, i := range of {
			floats.AddScaled(values[i], l.Field.Alike(i, row), lacks)
		}
	}
	return values, overall
}

// errors are the coefficients of some labelled rows in the expected error of a row: of the mean of a Gaussian process,
// whose amplitude is not known. It is the mean over amplitudes from an eighth to eight times what the expected error
// says, by their likelihood and a log-normal prior. The noise is the model's doubt.
func (l *Learner) errors(on []int, values [][]float64) *mat.Dense {
	m, classes := len(on), len(values[0])
	lacks, kernel, noise := mat.NewDense(m, classes, nil), mat.NewSymDense(m, nil), make([]float64, m)
	for a, i := range on {
		for k, p := range values[i] {
			lacks.Set(a, k, -p)
		}
		lacks.Set(a, l.Labels[i], 1-values[i][l.Labels[i]])
		noise[a] = l.Field.doubts[i] * l.Field.doubts[i] / float64(classes)
		for b := range a + 1 {
			kernel.SetSym(a, b, l.Field.Alike(i, on[b]))
		}
	}
	expected := remaining * math.Sqrt(math.Pi/2) * l.Error / float64(classes) / l.Field.meanDoubt()
	var logs []float64
	var solutions []*mat.Dense
	for j := -3; j <= 3; j++ {
		step := math.Pow(2, float64(j))
		scale := step * expected * step * expected
		var covariance mat.SymDense
		covariance.ScaleSym(scale, kernel)
		for a, v := range noise {
			covariance.SetSym(a, a, covariance.At(a, a)+v)
		}
		var factor mat.Cholesky
		solved := new(mat.Dense)
		if !factor.Factorize(&covariance) || factor.SolveTo(solved, lacks) != nil {
			panic("ppi: a vector is not finite") // the noise is never 0
		}
		logs = append(logs, -floats.Dot(lacks.RawMatrix().Data, solved.RawMatrix().Data)/2-float64(classes-1)*factor.LogDet()/2-math.Log(step)*math.Log(step)/2)
		solved.Scale(scale, solved)
		solutions = append(solutions, solved)
	}
	all, most := mat.NewDense(m, classes, nil), floats.Max(logs)
	sum := 0.0
	for i, log := range logs {
		w := math.Exp(log - most)
		sum += w
		solutions[i].Scale(w, solutions[i])
		all.Add(all, solutions[i])
	}
	all.Scale(1/sum, all)
	return all
}
