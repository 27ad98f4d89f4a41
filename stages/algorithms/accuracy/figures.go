package accuracy

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Figures are what is known of how right a classifier is on some rows. One that cannot be said,
// such as the recall of a class without rows, is NaN.
type Figures []float64

// The first of Figures; then come the F1 of each class, and of two classes the shares of the
// rows that are of class 0 and called 0, 0 and 1, 1 and 0, 1 and 1.
const (
	Accuracy = iota
	Balanced // mean recall of the classes
	LogLoss  // NaN of classes alone
	AUC      // area under the ROC curve; NaN but of two classes with posteriors
	firstF1
)

// F1 is the index of a class' F1.
func F1(class int) int { return firstF1 + class }

// Confusion is the index of a share of the confusion matrix of two classes.
func Confusion(truth, predicted int) int { return firstF1 + 2 + 2*truth + predicted }

// Count is how many figures there are of so many classes.
func Count(classes int) int {
	if classes == 2 {
		return firstF1 + 2 + 4
	}
	return firstF1 + classes
}

// correct adds to figures what they lack. Shares stay from 0 to 1.
func (f Figures) correct(lacking Figures) {
	for j, v := range lacking {
		if v == v {
			f[j] = max(f[j]+v, 0)
		}
		if j != LogLoss {
			f[j] = min(f[j], 1)
		}
	}
}

// Rows are what a classifier says of n rows.
type Rows struct {
	Posteriors blas32.General // n×C
	Predicted  []int32
	// Hard says that there are classes alone: each row of Posteriors has a 1.
	Hard bool
}

// some are the rows with the given indices.
func (r Rows) some(index []int) Rows {
	return Rows{dense.Gather(r.Posteriors, index), dense.Pick(r.Predicted, index), r.Hard}
}

// leastPosterior is what a posterior counts as in logarithms if it is less: scikit-learn's of float32.
const leastPosterior = 1.1920929e-07

// A counter adds up what figures are of. Classes weigh as much as they are likely.
type counter struct {
	Rows
	logs  []float64 // −log of the posteriors, n×C; nil if Hard
	order []int     // by the posterior of class 1; nil unless there is an AUC
}

func newCounter(r Rows) *counter {
	c := &counter{Rows: r}
	if r.Hard {
		return c
	}
	for i := range r.Posteriors.Rows {
		for _, p := range dense.Row(r.Posteriors, i) {
			c.logs = append(c.logs, -math.Log(min(max(float64(p), leastPosterior), 1-leastPosterior)))
		}
	}
	if r.Posteriors.Cols == 2 {
		c.order = make([]int, r.Posteriors.Rows)
		for i := range c.order {
			c.order[i] = i
		}
		slices.SortFunc(c.order, func(a, b int) int { return cmp.Compare(c.score(a), c.score(b)) })
	}
	return c
}

func (c *counter) score(i int) float32 { return dense.Row(c.Posteriors, i)[1] }

// leastRows is how many rows of a class are to be expected for its recall to count.
const leastRows = 0.5

// figures are those to be expected of rows whose classes are as likely as truth says, n×C.
func (c *counter) figures(truth blas32.General) Figures {
	classes, n := truth.Cols, float64(truth.Rows)
	f := make(Figures, Count(classes))
	for j := range f {
		f[j] = math.NaN()
	}
	right, rows, called := make([]float64, classes), make([]float64, classes), make([]float64, classes)
	lost := 0.0
	for i := range truth.Rows {
		said := c.Predicted[i]
		called[said]++
		for k, q := range dense.Row(truth, i) {
			rows[k] += float64(q)
			if c.logs != nil && q > 0 {
				lost += float64(q) * c.logs[i*classes+k]
			}
		}
		right[said] += float64(dense.Row(truth, i)[said])
	}
	recall, there := 0.0, 0.0
	for k := range classes {
		if rows[k]+called[k] > 0 {
			f[F1(k)] = 2 * right[k] / (rows[k] + called[k])
		}
		if rows[k] >= leastRows {
			recall, there = recall+right[k]/rows[k], there+1
		}
	}
	f[Accuracy], f[Balanced] = dense.Sum(right)/n, recall/there
	if c.logs != nil {
		f[LogLoss] = lost / n
	}
	if classes == 2 {
		for k := range 2 {
			f[Confusion(k, k)], f[Confusion(k, 1-k)] = right[k]/n, (rows[k]-right[k])/n
		}
	}
	if c.order != nil {
		f[AUC] = c.area(truth)
	}
	return f
}

// area is the share of pairs of a row of class 1 and another one of class 0 in which the first has the
// higher score, ties counting half.
func (c *counter) area(truth blas32.General) float64 {
	below, above, pairs, self := 0.0, 0.0, 0.0, 0.0
	for lo := 0; lo < len(c.order); {
		hi, zero, one := lo, 0.0, 0.0
		for ; hi < len(c.order) && c.score(c.order[hi]) == c.score(c.order[lo]); hi++ {
			row := dense.Row(truth, c.order[hi])
			zero, one = zero+float64(row[0]), one+float64(row[1])
			self += float64(row[0]) * float64(row[1])
			pairs -= float64(row[0]) * float64(row[1]) / 2 // a row is no pair with itself
		}
		pairs += one * (below + zero/2)
		below, above, lo = below+zero, above+one, hi
	}
	if all := below*above - self; all > 1e-9*float64(len(c.order)) {
		return pairs / all
	}
	return math.NaN()
}

// known are posteriors of rows whose classes are known.
func known(labels []int32, classes int) blas32.General {
	out := dense.New(len(labels), classes)
	for i, y := range labels {
		dense.Row(out, i)[y] = 1
	}
	return out
}
