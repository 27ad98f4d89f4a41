package hedge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// With one or two columns, one of two classes that moves can land where the other was. New
// proportions explain that target too: one class is nearly gone. If it is the rows that have all
// moved together, their density is nearer to the target's.
const (
	fewColumns = 2
	// nearlyGone is the share of a class in the target, as a part of that in the source, below
	// which the class may have moved instead.
	nearlyGone = 0.25
	rivalRows  = 1_500 // of each side that are compared, at most
	leastShare = 1e-4  // that a density has of a row in the unit square
)

// bandwidths are those that a density may have, in units of a column's deviation.
var bandwidths = []float64{0.1, 0.15, 0.2, 0.3, 0.45}

// hasRival reports whether a movement may look like the new proportions.
func (f *fit) hasRival(balance []float64) bool {
	return f.source.Cols <= fewColumns && f.stays.classes == 2 && slices.ContainsFunc(f.present(), func(k int) bool {
		return balance[k] < nearlyGone*f.prior[k]
	})
}

// rival compares the source's rows where they are with those moved together: see gate.Problem.
func (f *fit) rival(views []View, learners []*learner) (float64, error) {
	i := slices.IndexFunc(views, func(v View) bool { return v.Name == "together" })
	if i < 0 {
		return 0, nil
	}
	source := dense.Sample(f.source.Rows, rivalRows, f.random(streamRival))
	target := dense.Gather(f.target, dense.Sample(f.target.Rows, rivalRows, f.random(streamRival)))
	labels := dense.Pick(f.labels, source)
	width := f.bandwidth(dense.Gather(f.source, source), labels)
	var densities [2][]float64
	for j, rows := range []blas32.General{f.source, learners[views[i].Classifier].rows} {
		var err error
		if densities[j], err = f.logDensities(dense.Gather(rows, source), labels, target, width); err != nil {
			return 0, err
		}
	}
	gains := densities[1]
	for j, v := range densities[0] {
		gains[j] -= v
	}
	mean, deviation := stat.MeanStdDev(gains, nil)
	rows := min(len(gains), f.stays.rows)
	return min(maxDeviations, max(-maxDeviations, mean/max(deviation/math.Sqrt(float64(rows)), math.SmallestNonzeroFloat32))), nil
}

// logDensities returns the logarithm of the density of each target row, under the mixture of the
// classes' kernel density estimates that is likeliest.
func (f *fit) logDensities(source blas32.General, labels []int32, target blas32.General, width float64) ([]float64, error) {
	with := f.present()
	ofClass := dense.New(target.Rows, len(with))
	for k, class := range with {
		rows := dense.Gather(source, rowsOf(labels, class))
		d := kernelridge.SquaredDistances(target, rows)
		for i := range d.Rows {
			ofClass.Data[i*ofClass.Stride+k] = float32(density(d.Data[i*d.Stride:][:d.Cols], -1, target.Cols, width))
		}
	}
	// Densities are posteriors, but for a factor of each row, where classes are of one size.
	posteriors, even := dense.Clone(ofClass), make([]float64, len(with))
	for k := range even {
		even[k] = 1 / float64(len(with))
	}
	for i := range posteriors.Rows {
		row, sum := dense.Row(posteriors, i), float32(0)
		for _, v := range row {
			sum += v
		}
		for k := range row {
			row[k] /= sum
		}
	}
	e, err := labelshift.EM(posteriors, even, labelshift.EMOptions{Iterations: emSteps, Tolerance: emTolerance})
	if err != nil {
		return nil, err
	}
	logs := make([]float64, target.Rows)
	for i := range logs {
		sum := 0.0
		for k, v := range dense.Row(ofClass, i) {
			sum += e.Proportions[k] * float64(v)
		}
		logs[i] = math.Log(sum)
	}
	return logs, nil
}

// bandwidth is the one that gives left-out rows of the classes the greatest likelihood.
func (f *fit) bandwidth(source blas32.General, labels []int32) float64 {
	likelihoods := make([]float64, len(bandwidths))
	for _, class := range f.present() {
		rows := dense.Gather(source, rowsOf(labels, class))
		d := kernelridge.SquaredDistances(rows, rows)
		for b, width := range bandwidths {
			for i := range d.Rows {
				likelihoods[b] += math.Log(density(d.Data[i*d.Stride:][:d.Cols], i, source.Cols, width))
			}
		}
	}
	best := 0
	for b, v := range likelihoods {
		if v > likelihoods[best] {
			best = b
		}
	}
	return bandwidths[best]
}

// rowsOf returns the indices of the rows of a class.
func rowsOf(labels []int32, class int) []int {
	var rows []int
	for i, y := range labels {
		if int(y) == class {
			rows = append(rows, i)
		}
	}
	return rows
}

// density is the Gaussian kernel density of a row with these squared distances to others, in
// space of so many columns, but for the one that is left out.
func density(squares []float64, leftOut, columns int, width float64) float64 {
	sum, n := 0.0, 0
	for j, d := range squares {
		if j != leftOut {
			sum += math.Exp(-d / (2 * width * width))
			n++
		}
	}
	return leastShare + sum/float64(max(n, 1))/math.Pow(2*math.Pi*width*width, float64(columns)/2)
}
