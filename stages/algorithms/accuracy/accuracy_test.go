package accuracy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Values of scikit-learn 1.7's IsotonicRegression, between whose points it is linear.
func TestIsotonic(t *testing.T) {
	x := []float32{.1, .2, .3, .4, .5, .6, .7, .8}
	y := []float64{0, 0, 1, 0, 1, 1, 0, 1}
	s := isotonic(x, y)
	least := 0.5 / 9
	for at, want := range map[float64]float64{.05: least, .1: least, .2: least, .3: .5, .35: .5, .25: (least + .5) / 2, .5: 2. / 3, .7: 2. / 3, .75: (2./3 + 1 - least) / 2, .9: 1 - least} {
		if got := s.at(at); math.Abs(got-want) > 1e-6 {
			t.Errorf("at %g: %g, want %g", at, got, want)
		}
	}
	ties := isotonic([]float32{1, 0, 1, 0, 1}, []float64{1, 0, 0, 1, 1})
	if got := []float64{ties.at(0), ties.at(1)}; math.Abs(got[0]-.5) > 1e-12 || math.Abs(got[1]-2./3) > 1e-12 {
		t.Errorf("values of equal x: %v", got)
	}
}

// rows are of a classifier whose posteriors are powers of the true ones: n rows whose classes have some
// shares, by two numbers each.
func rows(rng *rand.Rand, n int, shares []float64, power float64) (Rows, []int32) {
	classes := len(shares)
	r := Rows{Posteriors: dense.New(n, classes), Predicted: make([]int32, n)}
	labels := make([]int32, n)
	for i := range n {
		u, k := rng.Float64(), 0
		for u -= shares[0]; u >= 0 && k < classes-1; u -= shares[k] {
			k++
		}
		labels[i] = int32(k)
		at := 1.5*float64(k) + rng.NormFloat64()
		p, sum := make([]float64, classes), 0.0
		for j := range p {
			d := at - 1.5*float64(j)
			p[j] = math.Exp(-power * d * d / 2)
			sum += p[j]
		}
		for j := range p {
			dense.Row(r.Posteriors, i)[j] = float32(p[j] / sum)
		}
		r.Predicted[i] = int32(dense.Argmax(p))
	}
	return r, labels
}

// Figures of known labels are what their definitions say.
func TestFigures(t *testing.T) {
	r, labels := rows(rand.New(rand.NewPCG(1, 1)), 300, []float64{.4, .6}, 1)
	f := newCounter(r).figures(known(labels, 2))
	var counts [2][2]float64
	pairs, above, lost := 0.0, 0.0, 0.0
	for i, y := range labels {
		counts[y][r.Predicted[i]]++
		lost -= math.Log(float64(dense.Row(r.Posteriors, i)[y])) / 300
		for j, z := range labels {
			if y == 1 && z == 0 {
				a, b := dense.Row(r.Posteriors, i)[1], dense.Row(r.Posteriors, j)[1]
				pairs++
				if a > b {
					above++
				} else if a == b {
					above += .5
				}
			}
		}
	}
	recall := func(k int) float64 { return counts[k][k] / (counts[k][0] + counts[k][1]) }
	for j, want := range map[int]float64{
		Accuracy: (counts[0][0] + counts[1][1]) / 300, Balanced: (recall(0) + recall(1)) / 2, LogLoss: lost, AUC: above / pairs,
		F1(1): 2 * counts[1][1] / (2*counts[1][1] + counts[0][1] + counts[1][0]), Confusion(0, 1): counts[0][1] / 300,
	} {
		if math.Abs(f[j]-want) > 1e-6 {
			t.Errorf("figure %d is %g, want %g", j, f[j], want)
		}
	}
}

// Under either assumption the intervals of a window of which it is true hold the figures about as often
// as they say, and the estimate is not biased.
func TestEstimate(t *testing.T) {
	for _, window := range []struct {
		name   string
		shares []float64
		hard   bool
		most   float64 // mean error of the accuracy
	}{
		{"same", []float64{.5, .3, .2}, false, .012},
		{"shift", []float64{.2, .2, .6}, false, .02},
		{"hard shift", []float64{.2, .2, .6}, true, .025},
	} {
		off, held, tries := 0.0, 0, 15
		for seed := range tries {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			source, labels := rows(rng, 1500, []float64{.5, .3, .2}, 1.6)
			target, truth := rows(rng, 1500, window.shares, 1.6)
			if window.hard {
				source, target = hard(source), hard(target)
			}
			r, err := Fit(context.Background(), source, labels, Options{})
			if err != nil {
				t.Fatal(err)
			}
			e, err := r.Estimate(context.Background(), target, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			is := newCounter(target).figures(known(truth, 3))[Accuracy]
			off += math.Abs(e.Figures[Accuracy]-is) / float64(tries)
			if e.Interval.Lower[Accuracy] <= is && is <= e.Interval.Upper[Accuracy] {
				held++
			}
		}
		if off > window.most || held < tries*4/5 {
			t.Errorf("%s: the accuracy is off by %.4f, and %d of %d intervals hold it", window.name, off, held, tries)
		}
	}
}

func hard(r Rows) Rows {
	return Rows{Posteriors: known(r.Predicted, r.Posteriors.Cols), Predicted: r.Predicted, Hard: true}
}

// Posteriors that say nothing leave open what the accuracy is, and those of other rows than the
// reference has are not explained.
func TestDoubt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	source, labels := rows(rng, 2000, []float64{.5, .5}, 1)
	r, err := Fit(context.Background(), source, labels, Options{})
	if err != nil {
		t.Fatal(err)
	}
	constant := Rows{Posteriors: blas32.General{Rows: 500, Cols: 2, Stride: 2, Data: make([]float32, 1000)}, Predicted: make([]int32, 500)}
	for i := range constant.Posteriors.Data {
		constant.Posteriors.Data[i] = .5
	}
	e, err := r.Estimate(context.Background(), constant, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Error < .1 || e.Unexplained < .2 {
		t.Errorf("of posteriors that are all .5 the accuracy is expected to be off by %g, with %g unexplained", e.Error, e.Unexplained)
	}
	if _, err := Fit(context.Background(), source, make([]int32, 2000), Options{}); err == nil {
		t.Error("a reference of one class is taken")
	}
}

// An opinion and the predictions count by the inverse of how far off each is expected to be, and an answer of
// two that disagree is less sure than either.
func TestOpinion(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	source, labels := rows(rng, 2000, []float64{.5, .5}, 1)
	r, err := Fit(context.Background(), source, labels, Options{})
	if err != nil {
		t.Fatal(err)
	}
	window, truth := rows(rng, 1000, []float64{.5, .5}, 1)
	for i, y := range truth { // the model errs more than it knows
		if i%3 == 0 {
			truth[i] = 1 - y
		}
	}
	estimate := func(o *Opinion) *Estimate {
		e, err := r.Estimate(context.Background(), window, 0, o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	alone := estimate(nil)
	is := newCounter(window).figures(known(truth, 2))[Accuracy]
	for _, off := range []float64{.002, .02, .2} {
		e := estimate(&Opinion{Rows: window, Posteriors: known(truth, 2), Error: off})
		said := alone.Error / math.Sqrt(2/math.Pi)
		want, weights := said/(said+off), 0.0
		for _, a := range e.Assumptions {
			weights += a.Weight
		}
		last := e.Assumptions[len(e.Assumptions)-1]
		if last.Name != Columns || math.Abs(last.Weight-want) > 1e-9 || math.Abs(weights-1) > 1e-9 {
			t.Errorf("error %g: the opinion has the weight %g of %g, want %g of 1", off, last.Weight, weights, want)
		}
		mean := want*is + (1-want)*alone.Figures[Accuracy]
		spread := math.Sqrt(2/math.Pi*want*(1-want)) * math.Abs(is-alone.Figures[Accuracy])
		if math.Abs(e.Figures[Accuracy]-mean) > 1e-6 || e.Error < spread {
			t.Errorf("error %g: the accuracy is %g and off by %g, want %g and %g at least", off, e.Figures[Accuracy], e.Error, mean, spread)
		}
	}
}

// With few rows of the reference, to which isotonic functions fit too well, intervals are wide enough too.
func TestFewReferenceRows(t *testing.T) {
	held, tries := 0, 100
	for seed := range tries {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		source, labels := rows(rng, 20, []float64{.4, .3, .3}, 1.6)
		target, truth := rows(rng, 500, []float64{.4, .3, .3}, 1.6)
		r, err := Fit(context.Background(), source, labels, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Estimate(context.Background(), target, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if is := newCounter(target).figures(known(truth, 3))[Accuracy]; e.Interval.Lower[Accuracy] <= is && is <= e.Interval.Upper[Accuracy] {
			held++
		}
	}
	if held < 87 {
		t.Errorf("%d of %d intervals hold the accuracy", held, tries)
	}
}
