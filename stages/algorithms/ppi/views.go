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
	all := make([]int, len(labels))
	for i := range all {
		all[i] = i
	}
	return reweigh(weights, views, labels, all)
}

// reweigh is Reweigh by the labels of some rows.
func reweigh(weights []float64, views [][][]float64, labels, on []int) []float64 {
	all, top := make([]float64, len(weights)), math.Inf(-1)
	for v, rows := range views {
		all[v] = math.Log(weights[v] + slack)
		for _, i := range on {
			all[v] += math.Log(soften(rows[i][labels[i]], len(rows[i])))
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
