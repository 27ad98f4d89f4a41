// Package logistic is multinomial logistic regression with an L2 penalty on the
// weights, but not on the biases, by L-BFGS (Liu & Nocedal 1989). It is
// scikit-learn's LogisticRegression; that of two classes has one vector of weights
// instead of two, so its C must be twice as large for the same posteriors.
package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/optimize"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Options of a fit. The zero value is usable.
type Options struct {
	// C is the inverse of the penalty, as in scikit-learn: the loss is
	// C·Σ −log p(y_i|x_i) + ½·|W|². 0 means 1.
	C float64
	// Iterations bounds the steps; 0 means 200.
	Iterations int
	// Tolerance ends them when no derivative of the mean loss is greater;
	// 0 means 1e-4.
	Tolerance float64
}

// A Model gives the logits x·W + b. Its methods do not change it.
type Model struct {
	Weights blas32.General // d×C
	Bias    []float32      // C
}

// Fit trains on the rows of x (n×d) with labels from 0 to classes−1. A class
// without rows gets a bias far below the others and no weights. It fails if there
// are no rows or a value is not finite, and panics if there is not one label a row
// or a label is none of the classes. The end of ctx ends it.
func Fit(ctx context.Context, x blas32.General, labels []int32, classes int, o Options) (*Model, error) {
	if len(labels) != x.Rows {
		panic("logistic: one label a row is needed")
	}
	if x.Rows == 0 || x.Cols == 0 {
		return nil, errors.New("logistic: there are no rows or no columns: give labelled rows")
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	o = o.withDefaults()
	l := newLoss(ctx, x, labels, classes, o.C)
	best, err := l.minimise(o)
	if err != nil {
		return nil, err
	}
	return l.model(best), nil
}

func (o Options) withDefaults() Options {
	if o.C == 0 {
		o.C = 1
	}
	if o.Iterations == 0 {
		o.Iterations = 200
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-4
	}
	return o
}

// loss is the penalised mean loss as a function of the parameters: W, row-major
// d×C, then b. Classes without rows have none.
type loss struct {
	ctx     context.Context
	x       blas64.General // n×d
	labels  []int32        // among the present classes
	present []int          // the classes that have rows
	classes int
	penalty float64 // 1/(n·C)

	at       []float64 // the parameters that value and gradient are of
	value    float64
	gradient []float64
	scores   blas64.General // n×present, scratch
}

func newLoss(ctx context.Context, x blas32.General, labels []int32, classes int, c float64) *loss {
	l := &loss{ctx: ctx, x: dense.New64(x.Rows, x.Cols), classes: classes, penalty: 1 / (c * float64(x.Rows))}
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			l.x.Data[i*x.Cols+j] = float64(v)
		}
	}
	l.number(labels)
	l.scores = dense.New64(x.Rows, len(l.present))
	l.gradient = make([]float64, (x.Cols+1)*len(l.present))
	return l
}

// number numbers the classes that have rows, in the order of their first rows.
func (l *loss) number(labels []int32) {
	number := slices.Repeat([]int32{-1}, l.classes)
	for _, y := range labels {
		if number[y] < 0 {
			number[y] = int32(len(l.present))
			l.present = append(l.present, int(y))
		}
		l.labels = append(l.labels, number[y])
	}
}

// minimise takes steps until the gradient is small or their number is reached.
func (l *loss) minimise(o Options) ([]float64, error) {
	problem := optimize.Problem{
		Func: func(at []float64) float64 { l.evaluate(at); return l.value },
		Grad: func(grad, at []float64) { l.evaluate(at); copy(grad, l.gradient) },
		Status: func() (optimize.Status, error) {
			if err := l.ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{GradientThreshold: o.Tolerance, MajorIterations: o.Iterations, Converger: optimize.NeverTerminate{}}
	result, err := optimize.Minimize(problem, make([]float64, len(l.gradient)), settings, &optimize.LBFGS{})
	if ctxErr := l.ctx.Err(); ctxErr != nil {
		return nil, ctxErr
	}
	if result == nil || math.IsNaN(result.F) {
		return nil, fmt.Errorf("logistic: the fit failed: %w: scale the features down", err)
	}
	return result.X, nil // an error now is a line search that rounding has ended
}

// evaluate computes value and gradient: with P the n×C softmax of X·W + b and Y
// the labels, the gradient of W is Xᵀ(P − Y)/n + penalty·W.
func (l *loss) evaluate(at []float64) {
	if l.at != nil && slices.Equal(l.at, at) {
		return
	}
	l.at = append(l.at[:0], at...)
	n, c := l.x.Rows, len(l.present)
	w, bias := l.parts(l.at)
	kernel.Gemm64(false, false, 1, l.x, w, 0, l.scores)
	l.value = l.residuals(bias)
	dw, db := l.parts(l.gradient)
	kernel.Gemm64(true, false, 1/float64(n), l.x, l.scores, 0, dw)
	for i, v := range w.Data {
		dw.Data[i] += l.penalty * v
		l.value += l.penalty * v * v / 2
	}
	clear(db)
	for i := range n {
		for k, v := range l.scores.Data[i*c:][:c] {
			db[k] += v / float64(n)
		}
	}
}

// parts are W and b of the parameters.
func (l *loss) parts(at []float64) (w blas64.General, bias []float64) {
	d, c := l.x.Cols, len(l.present)
	return blas64.General{Rows: d, Cols: c, Stride: c, Data: at[:d*c]}, at[d*c:]
}

// residuals adds bias to scores, replaces them by P − Y and returns the mean loss.
func (l *loss) residuals(bias []float64) float64 {
	c, sum := len(l.present), 0.0
	for i, y := range l.labels {
		sum -= centre(l.scores.Data[i*c:][:c], bias, y)
	}
	kernel.Exp64(l.scores.Data, l.scores.Data)
	for i, y := range l.labels {
		p := l.scores.Data[i*c:][:c]
		total := dense.Sum(p)
		sum += math.Log(total)
		for k := range p {
			p[k] /= total
		}
		p[y]--
	}
	return sum / float64(l.x.Rows)
}

// centre adds bias to a row of scores and takes their greatest away, so that their
// exponentials are finite. It returns what that leaves of the score of class y.
func centre(scores, bias []float64, y int32) float64 {
	top := math.Inf(-1)
	for k := range scores {
		scores[k] += bias[k]
		top = max(top, scores[k])
	}
	for k := range scores {
		scores[k] -= top
	}
	return scores[y]
}

// absentBias is the bias of classes without rows, far below what a row's logits
// differ by.
const absentBias = -30

// model turns parameters into a model of all classes.
func (l *loss) model(at []float64) *Model {
	d, c := l.x.Cols, len(l.present)
	m := &Model{Weights: dense.New(d, l.classes), Bias: make([]float32, l.classes)}
	for k := range m.Bias {
		m.Bias[k] = absentBias
	}
	for i, k := range l.present {
		m.Bias[k] = float32(at[d*c+i])
		for j := range d {
			m.Weights.Data[j*l.classes+k] = float32(at[j*c+i])
		}
	}
	return m
}

// Logits returns those of the rows of x (n×d), n×C. It panics if the width
// differs.
func (m *Model) Logits(x blas32.General) blas32.General {
	if x.Cols != m.Weights.Rows {
		panic("logistic: model and rows differ in width")
	}
	y := dense.New(x.Rows, len(m.Bias))
	if x.Rows == 0 {
		return y
	}
	kernel.Gemm(false, false, 1, x, m.Weights, 0, y)
	kernel.AddBias(y.Data, y.Rows, y.Cols, m.Bias)
	return y
}
