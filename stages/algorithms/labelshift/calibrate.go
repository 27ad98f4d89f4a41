package labelshift

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Calibration is a way to make posteriors mean what they say.
type Calibration int

const (
	// Temperature divides the logarithms by a number (Guo et al. 2017).
	Temperature Calibration = iota
	// BCTS also adds a bias a class, "bias-corrected temperature scaling"
	// (Alexandari, Kundaje & Shrikumar 2020).
	BCTS
)

var calibrationNames = [...]string{"temperature", "bcts"}

// String returns "temperature" or "bcts".
func (c Calibration) String() string {
	if c < 0 || int(c) >= len(calibrationNames) {
		return fmt.Sprintf("Calibration(%d)", int(c))
	}
	return calibrationNames[c]
}

// ParseCalibration returns the calibration that String names.
func ParseCalibration(name string) (Calibration, error) {
	for c, s := range calibrationNames {
		if s == name {
			return Calibration(c), nil
		}
	}
	return 0, fmt.Errorf("labelshift: calibration: %q is not known: choose temperature or bcts", name)
}

// Uncalibrated leaves posteriors of so many classes as they are.
func Uncalibrated(classes int) *Calibrator {
	return &Calibrator{Temperature: 1, Bias: make([]float64, classes)}
}

// Calibrator replaces posteriors p by kernel.Softmax64(log p / T + b).
type Calibrator struct {
	Temperature float64
	Bias        []float64 // C values of mean 0
}

// minPosterior is what a posterior counts as if it is less.
const minPosterior = 1e-12

const (
	newtonSteps     = 100
	newtonTolerance = 1e-10 // of the gradient
	newtonGain      = 1e-6  // that the last step promises, in nats a row: classes that are apart have no maximum
	newtonRidge     = 1e-10 // of the Hessian, whose biases have a direction of no effect
)

// 1/T stays between these: the order of the classes is never turned around, and
// posteriors that are right about every row have no best temperature.
const (
	minBeta = 1e-3
	maxBeta = 1e2
)

// Calibrate fits a Calibrator by maximum likelihood, a convex problem in 1/T and
// b, to posteriors of source rows that the classifier was not trained on (n×C)
// and their labels. It fails if a row is not a distribution or a label is not
// from 0 to C−1, and with ctx.Err() if ctx ends.
func Calibrate(ctx context.Context, source blas32.General, labels []int32, kind Calibration) (*Calibrator, error) {
	if source.Rows != len(labels) {
		panic("labelshift: Calibrate: one label a row is needed")
	}
	if err := checkPosteriors("source", source); err != nil {
		return nil, err
	}
	if _, err := classes.Count(labels, source.Cols); err != nil {
		return nil, fmt.Errorf("labelshift: %w", err)
	}
	l := &likelihood{logs: logarithms(source), labels: labels, classes: source.Cols}
	if kind == BCTS {
		l.biases = source.Cols
	}
	v, err := l.maximise(ctx)
	if err != nil {
		return nil, err
	}
	c := &Calibrator{Temperature: 1 / v[0], Bias: make([]float64, source.Cols)}
	copy(c.Bias, v[1:])
	floats.AddConst(-floats.Sum(c.Bias)/float64(source.Cols), c.Bias)
	return c, nil
}

// Apply returns the calibrated posteriors (n×C). It panics if C differs.
func (c *Calibrator) Apply(posteriors blas32.General) blas32.General {
	if posteriors.Cols != len(c.Bias) {
		panic("labelshift: Calibrator.Apply: the number of classes differs")
	}
	logs := logarithms(posteriors)
	for i := range logs {
		logs[i] = logs[i]/c.Temperature + c.Bias[i%len(c.Bias)]
	}
	kernel.Softmax64(logs, len(c.Bias))
	out := dense.New(posteriors.Rows, posteriors.Cols)
	for i, v := range logs {
		out.Data[i] = float32(v)
	}
	return out
}

// logarithms returns those of all posteriors, row by row.
func logarithms(x blas32.General) []float64 {
	logs := make([]float64, 0, x.Rows*x.Cols)
	for i := range x.Rows {
		for _, v := range dense.Row(x, i) {
			logs = append(logs, max(float64(v), minPosterior))
		}
	}
	kernel.Log64(logs, logs)
	return logs
}

// likelihood is the mean negative log-likelihood of labels as a function of
// 1/T and the biases, if there are any.
type likelihood struct {
	logs    []float64 // n×C
	labels  []int32
	classes int
	biases  int // 0 or C

	posteriors []float64 // n×C, that derivatives looks at
}

// maximise runs Newton's method, halving steps that do not lower the value.
func (l *likelihood) maximise(ctx context.Context) ([]float64, error) {
	v := make([]float64, 1+l.biases)
	v[0] = 1
	value, gradient, hessian := l.derivatives(v)
	for range newtonSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if floats.Norm(gradient, math.Inf(1)) < newtonTolerance {
			break
		}
		step, err := newtonStep(gradient, hessian)
		if err != nil {
			return nil, err
		}
		improved, promised := false, floats.Dot(gradient, step)/2
		for size := 1.0; size > 1e-6 && !improved; size /= 2 {
			next := floats.AddScaledTo(make([]float64, len(v)), v, -size, step)
			next[0] = max(minBeta, min(maxBeta, next[0]))
			if less, g, h := l.derivatives(next); less < value {
				v, value, gradient, hessian, improved = next, less, g, h, true
			}
		}
		if !improved || promised < newtonGain {
			break // as low as rounding allows, or as matters
		}
	}
	return v, nil
}

func newtonStep(gradient []float64, hessian *mat.SymDense) ([]float64, error) {
	n := len(gradient)
	ridge := newtonRidge * (1 + mat.Trace(hessian))
	for j := range n {
		hessian.SetSym(j, j, hessian.At(j, j)+ridge)
	}
	var cholesky mat.Cholesky
	step := mat.NewVecDense(n, nil)
	if !cholesky.Factorize(hessian) {
		return nil, errors.New("labelshift: calibration: the likelihood has no curvature: give more labelled rows")
	}
	if err := cholesky.SolveVecTo(step, mat.NewVecDense(n, gradient)); err != nil && !dense.IsCondition(err) {
		return nil, errors.New("labelshift: calibration: the likelihood has no maximum: give more labelled rows")
	}
	return step.RawVector().Data, nil
}

// derivatives returns the value, its gradient and its Hessian. A row's logits
// are linear in the parameters; with s the row's slopes of the logits, the
// gradient is s·(p − y) and the Hessian s·(diag p − p·pᵀ)·sᵀ.
func (l *likelihood) derivatives(v []float64) (value float64, gradient []float64, hessian *mat.SymDense) {
	c, m := l.classes, len(v)
	logit := func(x float64, k int) float64 {
		if l.biases > 0 {
			return v[0]*x + v[1+k]
		}
		return v[0] * x
	}
	if l.posteriors == nil {
		l.posteriors = make([]float64, len(l.logs))
	}
	p := l.posteriors
	for lo := 0; lo < len(p); lo += c {
		for k, x := range l.logs[lo : lo+c] {
			p[lo+k] = logit(x, k)
		}
	}
	kernel.Softmax64(p, c)
	gradient, hessian = make([]float64, m), mat.NewSymDense(m, nil)
	n := float64(len(l.labels))
	products, diagonal := l.biases > matrixClasses, make([]float64, l.biases)
	for i, y := range l.labels {
		row, logs := p[i*c:(i+1)*c], l.logs[i*c:(i+1)*c]
		k := floats.MaxIdx(row) // whose logarithm is exact
		value += (logit(logs[k], k) - math.Log(row[k]) - logit(logs[y], int(y))) / n
		l.addRow(gradient, hessian, diagonal, row, logs, int(y), 1/n, products)
	}
	for k, v := range diagonal {
		hessian.SetSym(1+k, 1+k, hessian.At(1+k, 1+k)+v)
	}
	if products {
		all, raw := blas64.General{Rows: len(l.labels), Cols: c, Stride: c, Data: p}, hessian.RawSymmetric()
		biases := blas64.Symmetric{N: c, Stride: raw.Stride, Uplo: raw.Uplo, Data: raw.Data[raw.Stride+1:]}
		blas64.Syrk(blas.Trans, -1/n, all, 1, biases)
	}
	return value, gradient, hessian
}

// upper is the row k of a symmetric matrix from the diagonal on.
func upper(m *mat.SymDense, k int) []float64 {
	raw := m.RawSymmetric()
	return raw.Data[k*raw.Stride+k : k*raw.Stride+raw.N]
}

// matrixClasses are so many that the products of a row's posteriors are left to one product of
// matrices.
const matrixClasses = 16

// addRow adds what a row has of the derivatives, those of a class' bias alone to diagonal, and those of two
// unless they are left.
func (l *likelihood) addRow(gradient []float64, hessian *mat.SymDense, diagonal, p, logs []float64, y int, weight float64, left bool) {
	mean, square := 0.0, 0.0
	for k, v := range p {
		mean += v * logs[k]
		square += v * logs[k] * logs[k]
	}
	gradient[0] += weight * (mean - logs[y])
	first := upper(hessian, 0)
	first[0] += weight * (square - mean*mean)
	if l.biases == 0 {
		return
	}
	gradient[1+y] -= weight
	for k, v := range p {
		gradient[1+k] += weight * v
		first[1+k] += weight * v * (logs[k] - mean)
		diagonal[k] += weight * v
	}
	if left {
		return
	}
	for k, v := range p {
		own := upper(hessian, 1+k)
		for j := k; j < len(p); j++ {
			own[j-k] -= weight * v * p[j]
		}
	}
}
