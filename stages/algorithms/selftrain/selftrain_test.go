package selftrain

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
)

// The weights that Label gives are worked out by hand: the proportions of EM, the posteriors
// times them, and the rows above the threshold.
func TestLabel(t *testing.T) {
	x := blas32.General{Rows: 5, Cols: 2, Stride: 2, Data: []float32{0.99, 0.01, 0.99, 0.01, 0.99, 0.01, 0.6, 0.4, 0.02, 0.98}}
	p, err := Label(t.Context(), x, []float64{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Labels, []int32{0, 0, 0, -1, 1}) {
		t.Errorf("labels %v", p.Labels)
	}
	// At the fixed point the share q of the first class is the mean of what its posteriors
	// become.
	q, mean := (p.Proportions[0]*(1+2*minShare))-minShare, 0.0
	for i := range 5 {
		a, b := float64(x.Data[2*i])*q, float64(x.Data[2*i+1])*(1-q)
		mean += a / (a + b) / 5
	}
	if math.Abs(mean-q) > 1e-6 || q < 0.7 || q > 0.8 {
		t.Errorf("the share %g of the first class is no fixed point: %g", q, mean)
	}
	// Shares of 3/4 and 1/4 among the labelled rows.
	if w := p.Weights; math.Abs(float64(w[0])-2.0/3) > 1e-6 || math.Abs(float64(w[1])-2) > 1e-6 {
		t.Errorf("weights %v, want 2/3 and 2", w)
	}
}

// Posteriors are corrected for the target's proportions: where most rows are of one class, a row
// that leans to it by itself is labelled, and one that leans to the rare class is not.
func TestLabelIsOfTheTargetsProportions(t *testing.T) {
	x := blas32.General{Cols: 2, Stride: 2}
	for range 95 {
		x.Data = append(x.Data, 0.999, 0.001)
	}
	for range 5 {
		x.Data = append(x.Data, 0.001, 0.999)
	}
	x.Data = append(x.Data, 0.7, 0.3, 0.08, 0.92)
	x.Rows = 102
	p, err := Label(t.Context(), x, []float64{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Labels[100:]; !slices.Equal(got, []int32{0, -1}) {
		t.Errorf("posteriors of .7 for the frequent class and of .92 for the rare one are labelled %v, want 0 and none", got)
	}
}

// A class of few rows weighs at most maxWeight times the mean before scaling; no row has no
// weights.
func TestWeights(t *testing.T) {
	w := weights([]int{99, 1})
	if mean := (99*float64(w[0]) + float64(w[1])) / 100; math.Abs(mean-1) > 1e-6 {
		t.Errorf("mean weight %g of the rows", mean)
	}
	if ratio := float64(w[1] / w[0]); math.Abs(ratio-maxWeight/(100.0/198)) > 1e-4 {
		t.Errorf("ratio %g of the weights", ratio)
	}
	if w := weights([]int{0, 0}); w[0] != 0 || w[1] != 0 {
		t.Errorf("weights %v of no rows", w)
	}
}

func TestLabelFails(t *testing.T) {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.9, 0.1}}
	if _, err := Label(t.Context(), x, nil); err == nil {
		t.Error("posteriors of no known proportions were used")
	}
	if _, err := Label(t.Context(), x, []float64{0.5, 0.4}); err == nil || !strings.Contains(err.Error(), "the source proportions sum to 0.9") {
		t.Errorf("proportions that are none: %v", err)
	}
	// A share so small that no float64 holds what a class becomes likelier by.
	certain := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 0}}
	if _, err := Label(t.Context(), certain, []float64{1, 1e-315}); err == nil || !strings.Contains(err.Error(), "row 0 has no posterior above 0") {
		t.Errorf("a class of nearly no share: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Label(ended, x, []float64{0.5, 0.5}); err == nil {
		t.Error("a context that has ended was not seen")
	}
}

// side is that of the test's images.
const side = 16

// bars draws images of a bar: vertical, horizontal or both, at a random place.
func bars(rng *rand.Rand, shares []float64, n int) (x blas32.General, labels []int32) {
	const d = side * side
	x = blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range n {
		k := 0
		for u := rng.Float64(); k < len(shares)-1 && u > shares[k]; k++ {
			u -= shares[k]
		}
		across, down := 5+rng.IntN(4), 5+rng.IntN(4)
		for j := range d {
			r, c := j/side, j%side
			if k != 1 && (c == across || c == across+1) && r > 1 && r < side-2 || k != 0 && (r == down || r == down+1) && c > 1 && c < side-2 {
				x.Data[i*d+j] = 0.8
			}
			x.Data[i*d+j] += 0.1 * rng.Float32()
		}
		labels = append(labels, int32(k))
	}
	return x, labels
}

// problem has bars that are light on dark in the source, and in the target dark on light,
// of low contrast and with a shade.
func problem(seed uint64) (adapt.Problem, []int32) {
	rng := rand.New(rand.NewPCG(seed, 9))
	source, labels := bars(rng, []float64{0.34, 0.33, 0.33}, 300)
	target, truth := bars(rng, []float64{0.5, 0.3, 0.2}, 300)
	for j, v := range target.Data {
		target.Data[j] = 0.7 - 0.3*v + 0.01*float32(j%side)
	}
	return adapt.Problem{Source: source, Labels: labels, Target: target, Shape: []int{1, side, side}, Classes: []string{"|", "-", "+"}}, truth
}

func train(t *testing.T, p adapt.Problem, change func(*adapt.Config)) (*adapt.Model, *Report) {
	t.Helper()
	c, err := Config("digits-gn", p.Shape)
	if err != nil {
		t.Fatal(err)
	}
	c.Iterations, c.Batch, c.Seed, c.Jobs = 20, 64, 1, 2
	if change != nil {
		change(&c)
	}
	m, r, err := Train(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// Bars that are dark on light are labelled by what was learnt on bars that are light on
// dark, and their proportions are found.
func TestTrain(t *testing.T) {
	p, truth := problem(1)
	m, r := train(t, p, nil)
	wrong := 0
	for i, k := range adapt.Argmax(m.Predict(p.Target)) {
		if k != truth[i] {
			wrong++
		}
	}
	if wrong > 15 {
		t.Errorf("%d of 300 rows are labelled wrong", wrong)
	}
	shares := make([]float64, 3)
	for _, k := range truth {
		shares[k] += 1.0 / 300
	}
	l1 := 0.0
	for k, q := range m.Proportions {
		l1 += math.Abs(q - shares[k])
	}
	if l1 > 0.06 {
		t.Errorf("proportions %.3f, L1 %.3f", m.Proportions, l1)
	}
	if r.Kept < 0.9 || r.Agreement < 0.8 || r.Doubt > 0.1 || r.FirstKept == 0 || len(r.Before) != 3 {
		t.Errorf("report %+v", r)
	}
	t.Logf("%d wrong, L1 %.3f, %+v", wrong, l1, r)
}

// The same seed gives the same model, and the problem is left as it was.
func TestRepeatable(t *testing.T) {
	p, _ := problem(2)
	before := slices.Clone(p.Source.Data)
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		m, _ := train(t, p, func(c *adapt.Config) { c.SetEpochs(3) })
		if err := m.Save(b); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two trainings differ")
	}
	if !slices.Equal(before, p.Source.Data) {
		t.Error("the source was changed")
	}
}

// Every shape has a network and settings that train.
func TestConfig(t *testing.T) {
	for _, shape := range [][]int{{1, 28, 28}, {3, 28, 28}, {3, 32, 32}, {1, 16, 16}, {1, 8, 8}, {1, 30, 30}, {3, 7, 9}, {2}, {50}} {
		c, err := Config("auto", shape)
		if err != nil {
			t.Errorf("%v: %v", shape, err)
			continue
		}
		t.Log(shape, c.Arch)
	}
	if _, err := Config("toys", []int{2}); err == nil || !strings.Contains(err.Error(), `arch "toys" is unknown`) {
		t.Errorf("a network of no name: %v", err)
	}
	if _, err := Config("auto", []int{1, 3, 3}); err == nil || !strings.Contains(err.Error(), "images of 3×3 are too small") {
		t.Errorf("images too small to be changed: %v", err)
	}
	for side, want := range map[int]string{minSide: "digits-gn", minSide - 4: "resnet8"} {
		if got := network([]int{1, side, side}); got != want {
			t.Errorf("images of side %d get %s, want %s", side, got, want)
		}
	}
}
