package hedge

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Stays says whether the source's classes, where they are, explain the target when only
// their proportions change. Rows that lie where the source has none are left out on both
// sides first, so that a class that only the target has is no objection. Movement is one.
//
// Rows become random Fourier features (Rahimi & Recht 2007), and the mean of the
// target's is fitted by a mixture of the classes' means (Iyer, Nath & Sarawagi 2014). The
// distance that is left, a maximum mean discrepancy (Gretton et al. 2012), is compared
// with that of replicates: targets drawn from the fitted mixture of the source's rows,
// beside a bootstrap sample of each class.
type Stays struct {
	// Misfit is the squared distance that is left, in standard deviations of the
	// replicates' from their mean. It is about 0 if the classes have stayed.
	Misfit float64
	// Change is how much of the squared distance the new proportions take away, in
	// standard deviations from its mean over replicates that have the source's
	// proportions. It is about 0 if nothing has changed.
	Change float64
	// New is the share of target rows, 0 to 1, that are rows of no class of the source
	// if the classes have stayed; 0 where it may be chance.
	New float64
}

const (
	frequencies    = 256 // of the features, which are a cosine and a sine of each
	medianRows     = 500 // whose median distance is the unit of the frequencies
	stayReplicates = 50  // of each kind; thin classes (Evidence.Thin) get a quarter
	minStayRows    = 30  // of the target that are not left out
	minStayShare   = 0.4 // of them

	// Of 70 tasks with label shift alone, or none, none had a misfit above 4. Of 108 others without
	// new classes 7 had one below 8: small movements, and targets of few rows. Where the first is
	// passed noise is looked for, and it is noise if a source with it stays below the first.
	firstMisfit, lastMisfit = 4, 8
	distinctRow             = 0.98 // share of rows from which on rows are taken to be distinct by nature
)

// scales are the frequencies' standard deviations, in units of 1 / the median distance.
var scales = []float64{0.5, 1, 2}

// tested is what the test of Stays found. tested is false if there were too few rows to
// compare.
type tested struct {
	Stays
	tested  bool
	classes int       // that have rows that were compared
	rows    int       // of the target, what they are worth
	shares  []float64 // p_T if the classes have stayed
}

// testStays tests whether the classes have stayed. near says what rows are far off.
func (f *fit) testStays(ctx context.Context, near *nearness) (tested, error) {
	source, target := near.kept()
	if len(target) < minStayRows || float64(len(target)) < minStayShare*float64(len(near.target)) {
		return tested{}, nil
	}
	t := f.newStayTest(dense.Gather(f.source, source), dense.Gather(f.target, target), dense.Pick(f.labels, source))
	found := tested{tested: true, classes: len(t.byClass), rows: effectiveRows(f.target, near.target, f.source, near.source)}
	t.draws = len(target) * found.rows / len(near.target)
	if len(t.byClass) < 2 || t.draws < 1 {
		return tested{}, nil
	}
	s, shares, err := t.run(ctx)
	if err != nil {
		return tested{}, err
	}
	found.Stays, found.shares = s, make([]float64, f.classes)
	for c, share := range shares {
		found.shares[f.labels[source[t.byClass[c][0]]]] = share
	}
	found.New = near.newShare(f.labels, found.shares, found.rows)
	return found, nil
}

// stayTest is what Stays is computed from.
type stayTest struct {
	features blas32.General // of the source's rows
	target   []float64      // mean of the target's features
	byClass  [][]int        // rows of each class that has some
	prior    []float64      // their shares
	draws    int            // target rows in a replicate
	// replicates of each kind
	replicates int
	seed       uint64
}

func (f *fit) newStayTest(source, target blas32.General, labels []int32) *stayTest {
	directions := f.frequencies()
	t := &stayTest{features: fourier(source, directions), target: dense.ColumnMeans(fourier(target, directions)),
		replicates: stayReplicates, seed: f.Seed}
	if f.thin {
		t.replicates /= thinPart
	}
	all := make([][]int, f.classes)
	for i, y := range labels {
		all[y] = append(all[y], i)
	}
	for _, rows := range all {
		if len(rows) > 0 {
			t.byClass = append(t.byClass, rows)
			t.prior = append(t.prior, float64(len(rows))/float64(len(labels)))
		}
	}
	return t
}

// frequencies draws those of the features, d×frequencies.
func (f *fit) frequencies() blas32.General {
	some := dense.Gather(f.source, dense.Sample(f.distinct, medianRows, f.random(streamFrequencies)))
	var distances []float64
	all := kernelridge.SquaredDistances(some, some)
	for i := range all.Rows {
		for _, v := range all.Data[i*all.Stride:][:i] {
			if v > 0 {
				distances = append(distances, v)
			}
		}
	}
	unit := 1.0
	if len(distances) > 0 {
		unit = math.Sqrt(dense.Median(distances))
	}
	rng, w := f.random(streamFrequencies)(), dense.New(f.source.Cols, frequencies)
	for i := range w.Data {
		w.Data[i] = float32(rng.NormFloat64() * scales[i%frequencies%len(scales)] / unit)
	}
	return w
}

// fourier returns the features of the rows of z, n×2·frequencies.
func fourier(z, directions blas32.General) blas32.General {
	angles, features := dense.New(z.Rows, directions.Cols), dense.New(z.Rows, 2*directions.Cols)
	kernel.Gemm(false, false, 1, z, directions, 0, angles)
	unit := 1 / math.Sqrt(float64(directions.Cols))
	for i := range z.Rows {
		row := dense.Row(features, i)
		for j, a := range dense.Row(angles, i) {
			sin, cos := math.Sincos(float64(a))
			row[2*j], row[2*j+1] = float32(unit*cos), float32(unit*sin)
		}
	}
	return features
}

// run returns what the test found and the shares that fit best.
func (t *stayTest) run(ctx context.Context) (Stays, []float64, error) {
	fitted, left, gain, err := t.explain(ctx, t.means(t.byClass), t.target, t.prior)
	if err != nil {
		return Stays{}, nil, err
	}
	lefts, gains := make([]float64, t.replicates), make([]float64, t.replicates)
	err = kernel.Each(2*t.replicates, func(b int) (err error) {
		rng := rand.New(rand.NewPCG(t.seed, streamStays+uint64(b)))
		if b < t.replicates {
			lefts[b], _, err = t.replicate(ctx, rng, fitted)
		} else {
			_, gains[b-t.replicates], err = t.replicate(ctx, rng, t.prior)
		}
		if err != nil {
			return err
		}
		return ctx.Err()
	})
	return Stays{Misfit: deviations(left, lefts), Change: deviations(gain, gains)}, fitted, err
}

// deviations is how many standard deviations of the replicates x lies above their mean.
func deviations(x float64, replicates []float64) float64 {
	mean, deviation := stat.MeanStdDev(replicates, nil)
	return min(maxDeviations, max(-maxDeviations, (x-mean)/max(deviation, math.SmallestNonzeroFloat32)))
}

const maxDeviations = 1e4 // so that it is a number in a file

// replicate draws a target of the given shares from the source's rows, and a bootstrap
// sample of each class.
func (t *stayTest) replicate(ctx context.Context, rng *rand.Rand, shares []float64) (left, gain float64, err error) {
	classes := len(t.byClass)
	drawn := make([][]int, classes+1)
	for k, rows := range t.byClass {
		for range rows {
			drawn[k] = append(drawn[k], rows[rng.IntN(len(rows))])
		}
	}
	for range t.draws {
		k, u := 0, rng.Float64()
		for ; k < classes-1 && u >= shares[k]; k++ {
			u -= shares[k]
		}
		drawn[classes] = append(drawn[classes], t.byClass[k][rng.IntN(len(t.byClass[k]))])
	}
	means := t.means(drawn)
	_, left, gain, err = t.explain(ctx, means[:classes], means[classes], shares)
	return left, gain, err
}

// means returns the mean features of samples of rows, in which a row may be more than once.
func (t *stayTest) means(samples [][]int) [][]float64 {
	if len(samples) > manyClasses {
		return t.eachMean(samples)
	}
	c, sums := dense.New(len(samples), t.features.Rows), dense.New(len(samples), t.features.Cols)
	means := make([][]float64, len(samples))
	for k, rows := range samples {
		for _, i := range rows {
			c.Data[k*c.Stride+i]++
		}
	}
	kernel.Gemm(false, false, 1, c, t.features, 0, sums)
	for k, rows := range samples {
		means[k] = make([]float64, sums.Cols)
		for j, v := range dense.Row(sums, k) {
			means[k][j] = float64(v) / float64(len(rows))
		}
	}
	return means
}

// eachMean is means where most products would be with 0.
func (t *stayTest) eachMean(samples [][]int) [][]float64 {
	means, sum := make([][]float64, len(samples)), make([]float32, t.features.Cols)
	for k, rows := range samples {
		clear(sum)
		for _, i := range rows {
			kernel.Axpy(1, dense.Row(t.features, i), sum)
		}
		means[k] = make([]float64, len(sum))
		for j, v := range sum {
			means[k][j] = float64(v) / float64(len(rows))
		}
	}
	return means
}

// explain fits a mixture of the classes' means to the target's, whose shares are near some. left is the squared
// distance then, and gain what the source's own proportions have more.
func (t *stayTest) explain(ctx context.Context, means [][]float64, target, near []float64) (shares []float64, left, gain float64, err error) {
	m := mat.NewDense(len(means), len(target), nil)
	for k, mean := range means {
		m.SetRow(k, mean)
	}
	if shares, err = labelshift.NearestMixture(ctx, m, target, near); err != nil {
		return nil, 0, 0, err
	}
	distance := func(p []float64) float64 {
		var at mat.VecDense
		at.MulVec(m.T(), mat.NewVecDense(len(p), p))
		at.SubVec(&at, mat.NewVecDense(len(target), target))
		return mat.Dot(&at, &at)
	}
	left = distance(shares)
	return shares, left, distance(t.prior) - left, nil
}

// effectiveRows is the number of target rows that are worth as much as these. Where no
// row of the source is there twice, equal rows of the target are one row that was drawn
// again, as protocols of quantification do.
func effectiveRows(target blas32.General, targetRows []int, source blas32.General, sourceRows []int) int {
	if len(repeats(source, sourceRows)) < int(distinctRow*float64(len(sourceRows))) {
		return len(targetRows)
	}
	squares := 0
	for _, n := range repeats(target, targetRows) {
		squares += n * n
	}
	return len(targetRows) * len(targetRows) / squares
}

// repeats counts equal rows.
func repeats(z blas32.General, rows []int) map[string]int {
	counts, key := make(map[string]int), make([]byte, 0, 4*z.Cols)
	for _, i := range rows {
		key = key[:0]
		for _, v := range dense.Row(z, i) {
			bits := math.Float32bits(v)
			key = append(key, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
		}
		counts[string(key)]++
	}
	return counts
}
