package ppi

import "math"

// slack is how much of a view's posteriors and weights is spread evenly, as no view is quite right.
const slack = 0.05

// soften spreads some of a posterior of n classes evenly.
func soften(p float64, n int) float64 { return (1-slack)*p + slack/float64(n) }

// Reweigh returns the weights of views given labels: each is multiplied by the likelihood of the
// labels under the view's posteriors of their rows (views: V×m×C). As the labels of given rows are
// likely or not however the rows were drawn, that is fair whatever drew them. A view without
// weight may get some.
func Reweigh(weights []float64, views [][][]float64, labels []int) []float64 {
	return reweigh(weights, views, labels, func(int) bool { return true })
}

// reweigh is Reweigh by the labels of some rows.
func reweigh(weights []float64, views [][][]float64, labels []int, seen func(row int) bool) []float64 {
	all, top := make([]float64, len(weights)), math.Inf(-1)
	for v, rows := range views {
		all[v] = math.Log(weights[v] + slack)
		for i, p := range rows {
			if seen(i) {
				all[v] += math.Log(soften(p[labels[i]], len(p)))
			}
		}
		top = max(top, all[v])
	}
	sum := 0.0
	for v, log := range all {
		all[v] = math.Exp(log - top)
		sum += all[v]
	}
	for v := range all {
		all[v] /= sum
	}
	return all
}

// folds is how many times some labels are kept from the views' weights.
const folds = 10

// CrossFit returns what the views, reweighed by the labels, say of each labelled row, and its mean over all
// rows of the target, m×C both: by the labels of the other folds, so that no row's own label has a part
// in its value (Chernozhukov et al. 2018). Means are those of the views, V×C, and the rest is as of
// Reweigh.
func CrossFit(weights []float64, views [][][]float64, means [][]float64, labels []int) (values, overall [][]float64) {
	values, overall = make([][]float64, len(labels)), make([][]float64, len(labels))
	count := min(folds, len(labels))
	for fold := range count {
		by := reweigh(weights, views, labels, func(row int) bool { return row%count != fold })
		mean := mixed(by, means)
		for i := fold; i < len(labels); i += count {
			of := make([][]float64, len(views))
			for v := range views {
				of[v] = views[v][i]
			}
			values[i], overall[i] = mixed(by, of), mean
		}
	}
	return values, overall
}

// mixed is the weighted sum of rows.
func mixed(weights []float64, rows [][]float64) []float64 {
	sum := make([]float64, len(rows[0]))
	for v, w := range weights {
		for k, p := range rows[v] {
			sum[k] += w * p
		}
	}
	return sum
}

// Blend shrinks an estimate of the shares to what the views say, as far as labels leave open
// whether these are wrong. Model is the mean posteriors of the reweighed views, expectedError
// what the answer without labels is expected to be off by, in L1. Classes from known on are those
// that the views do not know.
func (e *Estimate) Blend(model []float64, known int, expectedError float64) []float64 {
	model = e.completed(model, known)
	apart, noise := 0.0, 0.0
	for k, v := range e.Value {
		apart += (v - model[k]) * (v - model[k])
		noise += e.Variance[k]
	}
	bias := (2*max(apart-noise, 0) + expectedError*expectedError/float64(len(model))) / 3
	s := 1.0
	if bias+noise > 0 {
		s = bias / (bias + noise)
	}
	blend := make([]float64, len(model))
	for k, v := range e.Value {
		blend[k] = s*v + (1-s)*model[k]
	}
	return blend
}

// completed gives the classes that a model does not know the share that the labels say.
func (e *Estimate) completed(model []float64, known int) []float64 {
	all, fresh, sum := make([]float64, len(e.Value)), 0.0, 0.0
	for k, v := range e.Value {
		if k >= known {
			all[k] = min(max(v, 0), 1)
			fresh += all[k]
		} else {
			sum += model[k]
		}
	}
	for k := range known {
		all[k] = model[k] * max(0, 1-fresh) / sum
	}
	if known == len(all) {
		copy(all, model)
	}
	return all
}

// Refute is the p-value of a view: the probability of labels no likelier than these, if the label of
// each row were drawn from the view's posteriors (m×C). It is exact up to the rounding of
// logarithms.
func Refute(rows [][]float64, labels []int) float64 {
	costs, most := make([][]float64, len(rows)), 0.0
	for i, p := range rows {
		highest := 0.0
		for _, q := range p {
			c := -math.Log(soften(q, len(p)))
			costs[i] = append(costs[i], c)
			highest = max(highest, c)
		}
		most += highest
	}
	unit := max(0.02, most/20_000)
	law, observed := []float64{1}, 0
	for i, p := range rows {
		steps, highest := make([]int, len(p)), 0
		for k, c := range costs[i] {
			steps[k] = int(math.Floor(c/unit + 0.5))
			highest = max(highest, steps[k])
		}
		observed += steps[labels[i]]
		next := make([]float64, len(law)+highest)
		for k, q := range p {
			for c, v := range law {
				next[c+steps[k]] += soften(q, len(p)) * v
			}
		}
		law = next
	}
	sum := 0.0
	for _, v := range law[observed:] {
		sum += v
	}
	return min(sum, 1)
}
