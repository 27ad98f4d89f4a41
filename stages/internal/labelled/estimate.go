package labelled

import "mars.dev/mars/stages/algorithms/ppi"

// Learner is the model as it learns from the labels; expectedError is what its shares are expected to be off by
// without them, in L1.
func (rows *Rows) Learner(e *Evidence, expectedError float64) *ppi.Learner {
	var means [][]float64
	for _, v := range e.Views {
		means = append(means, v.Mean)
	}
	weights, views := widened(e.Views, len(rows.Classes))
	return &ppi.Learner{Weights: weights, Views: views, Means: Widened(means, len(rows.Classes)), Labels: rows.Class, Known: len(means[0]), Field: e.field, Error: expectedError}
}

// Sample is the labelled rows as the estimators take them, with what the model says of each once it
// has learnt from the labels of others.
func (rows *Rows) Sample(e *Evidence, l *ppi.Learner) *ppi.Sample {
	classes := len(rows.Classes)
	s := &ppi.Sample{Total: e.Rows}
	s.F, s.Means = l.CrossFit()
	var probabilities []float64
	for i, row := range rows.Answers.Labelled {
		y := make([]float64, classes)
		y[rows.Class[i]] = 1
		s.Y, probabilities = append(s.Y, y), append(probabilities, row.Probability)
		if row.Part == ppi.Uniform {
			s.Uniform++
		}
	}
	drawn, done := [2]int{rows.Plan.Uniform, rows.Plan.Chosen}, [2]int{s.Uniform, len(s.Y) - s.Uniform}
	s.Inclusion = ppi.Stopped(probabilities, s.Total, drawn, done)
	return s
}

// Reweigh returns the weights of the views given the labels.
func (rows *Rows) Reweigh(views []View) []float64 {
	weights, all := widened(views, len(rows.Classes))
	return ppi.Reweigh(weights, all, rows.Class)
}

// widened are the weights of views and their posteriors of the labelled rows, of all classes.
func widened(views []View, classes int) (weights []float64, all [][][]float64) {
	for _, v := range views {
		weights, all = append(weights, v.Weight), append(all, Widened(v.Labelled, classes))
	}
	return weights, all
}

// refuted is the p-value up to which an assumption is called refuted: of five, one that is right is so
// in 5 of 100 samples at most.
const refuted = 0.01

// A Refuted view is one that the labels speak against.
type Refuted struct {
	Name string
	P    float64 // the probability of labels no likelier than these if the view were right
}

// Refuted are the views that the labels refute, of several.
func (rows *Rows) Refuted(views []View) (all []Refuted) {
	if len(views) < 2 {
		return nil
	}
	for _, v := range views {
		if p := ppi.Refute(Widened(v.Labelled, len(rows.Classes)), rows.Class); p <= refuted {
			all = append(all, Refuted{v.Name, p})
		}
	}
	return all
}
