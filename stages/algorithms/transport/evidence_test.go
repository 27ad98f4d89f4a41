package transport_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/featurize/toy"
)

// task is a problem whose answer is known.
type task struct {
	family         string
	source, target blas32.General
	labels, truth  []int32
	classes        int
}

// outcome is the result of Algorithm 2 for a task: the error of its proportions,
// and the diagnostics that might predict it.
type outcome struct {
	Cluster string             `json:"cluster"`
	Family  string             `json:"family"`
	L1      float64            `json:"l1"`
	Bures   float64            `json:"bures"` // the error with the cost Bures
	Signs   map[string]float64 `json:"signs"` // the greater, the better it looks
}

// A clustering fits a mixture of k components.
type clustering func(x blas32.General, k int) (*mixture.Result, error)

const bad = 0.2 // the error in L1 from which on an estimate is bad

// TestSignsOfFailure measures how well the diagnostics of clustering and matching
// predict the tasks at which Algorithm 2 fails. The thresholds of
// docs/measured/diagnostics.md come from it. MARS_DRAWS is the number of random
// problems of each kind, MARS_DATA the folder of hipc/*.npz. MARS_STUDY names a file for
// what came of each, a JSON object a line, for make measured.
func TestSignsOfFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations take long under the race detector")
	}
	draws, _ := strconv.Atoi(os.Getenv("MARS_DRAWS"))
	study, err := os.OpenFile(os.Getenv("MARS_STUDY"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		study, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	defer study.Close()
	tasks := slices.Concat(toys(t, max(1, draws)), movedBlobs([]int{3, 10}, max(1, draws)), movedBlobs([]int{31}, draws), cytometry(t))
	for name, cluster := range map[string]clustering{
		"ward": func(x blas32.General, k int) (*mixture.Result, error) {
			return mixture.Ward(t.Context(), x, k, mixture.WardOptions{})
		},
		"gmm": func(x blas32.General, k int) (*mixture.Result, error) {
			return mixture.GMM(t.Context(), x, k, mixture.GMMOptions{Starts: 3})
		},
	} {
		var all []outcome
		for _, k := range tasks {
			o := k.run(t, cluster)
			o.Cluster = name
			if err := json.NewEncoder(study).Encode(o); err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
		}
		for _, family := range []string{"", "toy", "blobs of 3", "blobs of 10", "blobs of 31", "cytometry"} {
			of := slices.DeleteFunc(slices.Clone(all), func(o outcome) bool { return family != "" && o.Family != family })
			if len(of) > 0 {
				report(t, name+" "+family, of)
			}
		}
		for sign, threshold := range map[string]float64{"separation": 0.5, "height gap": 0.1, "unambiguous": -0.03, "nearest": 0.8, "monotone": 0.5, "rows": 10} {
			above, failedAbove, below, failedBelow := split(all, sign, threshold)
			t.Logf("%s: %s below %v: %d of %d bad; above: %d of %d", name, sign, threshold, failedBelow, below, failedAbove, above)
		}
		if a := auroc(all, "separation"); a < 0.85 {
			t.Errorf("%s: the separation tells bad from good with an AUROC of %.2f", name, a)
		}
	}
}

func (k task) run(t *testing.T, cluster clustering) outcome {
	t.Helper()
	r, err := cluster(k.target, k.classes)
	if err != nil {
		t.Fatal(err)
	}
	classes, components := gaussians(t, k.source, k.labels, k.classes), gaussians(t, k.target, r.Labels, k.classes)
	truth, err := labelshift.Shares(k.truth, k.classes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := transport.MatchPrototypes(t.Context(), classes.Means, classes.Counts, components.Means, r.Proportions)
	if err != nil {
		t.Fatal(err)
	}
	c, err := transport.NewCheck(t.Context(), m, classes, components, transport.Means)
	if err != nil {
		t.Fatal(err)
	}
	cost, err := transport.BuresCost(t.Context(), classes, components)
	if err != nil {
		t.Fatal(err)
	}
	other, err := transport.MatchCost(t.Context(), cost, classes.Counts, r.Proportions)
	if err != nil {
		t.Fatal(err)
	}
	monotone := 0.0
	if c.Monotone[transport.Distances] {
		monotone = 1
	}
	return outcome{"", k.family, distance(m.Proportions, truth), distance(other.Proportions, truth), map[string]float64{
		"separation": c.Separation, "margin/cost": (c.Second - c.Cost) / c.Cost, "monotone": monotone,
		"nearest": float64(c.Nearest) / float64(c.Classes), "height gap": r.HeightGap, "unambiguous": -r.Ambiguity,
		"hard is soft": -r.HardSoft(), "rows": float64(r.Counts[r.Smallest]),
	}}
}

func gaussians(t *testing.T, x blas32.General, labels []int32, classes int) transport.Moments {
	t.Helper()
	g := transport.NewGaussians(classes, x.Cols)
	if err := g.Add(t.Context(), x, labels); err != nil {
		t.Fatal(err)
	}
	return g.Moments()
}

func report(t *testing.T, name string, all []outcome) {
	failures, means, bures := 0, 0.0, 0.0
	for _, o := range all {
		means += o.L1 / float64(len(all))
		bures += o.Bures / float64(len(all))
		if o.L1 > bad {
			failures++
		}
	}
	text := ""
	for _, sign := range []string{"separation", "margin/cost", "monotone", "nearest", "height gap", "unambiguous", "hard is soft", "rows"} {
		text += fmt.Sprintf(", %s %.2f", sign, auroc(all, sign))
	}
	t.Logf("%s: %d tasks, %d bad, mean L1 %.3f (bures %.3f); AUROC%s", name, len(all), failures, means, bures, text[1:])
}

// auroc is the probability that a bad task looks worse than a good one.
func auroc(all []outcome, sign string) float64 {
	right, pairs := 0.0, 0.0
	for _, a := range all {
		for _, b := range all {
			if a.L1 <= bad || b.L1 > bad {
				continue
			}
			pairs++
			if x, y := a.Signs[sign], b.Signs[sign]; x < y {
				right++
			} else if x == y {
				right += 0.5
			}
		}
	}
	return right / pairs
}

func split(all []outcome, sign string, threshold float64) (above, failedAbove, below, failedBelow int) {
	for _, o := range all {
		failed := 0
		if o.L1 > bad {
			failed = 1
		}
		if o.Signs[sign] < threshold {
			below, failedBelow = below+1, failedBelow+failed
		} else {
			above, failedAbove = above+1, failedAbove+failed
		}
	}
	return above, failedAbove, below, failedBelow
}

func distance(p, q []float64) float64 {
	sum := 0.0
	for k := range p {
		sum += math.Abs(p[k] - q[k])
	}
	return sum
}

// toys returns the paper's toy problems, with all noises and many shifts.
func toys(t *testing.T, draws int) (tasks []task) {
	for _, noise := range []toy.Noise{toy.Low, toy.Mid, toy.High} {
		for shift := 0.0; shift <= 12; shift += 3 {
			for i, balance := range [][]float64{{.34, .33, .33}, {.66, .17, .17}, {.8, .1, .1}, {.1, .1, .8}} {
				for draw := range draws {
					source, target, err := toy.Generate(t.Context(), toy.Options{Noise: noise, Shift: shift, TargetProportions: balance,
						SourceRows: 600, TargetRows: 600, Seed: uint64(1000*draw + 10*i)})
					if err != nil {
						t.Fatal(err)
					}
					tasks = append(tasks, task{"toy", source.X, target.X, source.Labels, target.Labels, toy.Classes})
				}
			}
		}
	}
	return tasks
}

// movedBlobs returns Gaussian classes in 8 dimensions. Each has moved by a common
// displacement and by its own, of the same size. The target's proportions are
// random.
func movedBlobs(numbers []int, draws int) (tasks []task) {
	const d, n = 8, 800
	rng := rand.New(rand.NewPCG(1, 7))
	for _, classes := range numbers {
		for _, spread := range []float64{0.8, 1.5, 3, 8} {
			for _, move := range []float64{0.3, 1, 3, 8} {
				for range draws {
					tasks = append(tasks, movedBlob(rng, d, n, classes, spread, move))
				}
			}
		}
	}
	return tasks
}

func movedBlob(rng *rand.Rand, d, n, classes int, spread, move float64) task {
	means, by := make([]float64, classes*d), make([]float64, classes*d)
	for i := range means {
		means[i], by[i] = spread*rng.NormFloat64(), move/2*(1+rng.NormFloat64())
	}
	shares, total := make([]float64, classes), 0.0
	for k := range shares {
		shares[k] = rng.ExpFloat64()
		total += shares[k]
	}
	draw := func(class func(i int) int, moved float64) (blas32.General, []int32) {
		x, labels := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}, make([]int32, n)
		for i := range labels {
			k := i % classes // at least one row of each
			if i >= 2*classes {
				k = class(i)
			}
			labels[i] = int32(k)
			for j := range d {
				x.Data[i*d+j] = float32(means[k*d+j] + moved*by[k*d+j] + rng.NormFloat64())
			}
		}
		return x, labels
	}
	k := task{family: fmt.Sprint("blobs of ", classes), classes: classes}
	k.source, k.labels = draw(func(i int) int { return i % classes }, 0)
	k.target, k.truth = draw(func(int) int {
		class, u := 0, rng.Float64()*total
		for u -= shares[0]; u > 0 && class < classes-1; u -= shares[class] {
			class++
		}
		return class
	}, 1)
	return k
}

// cytometry returns all ordered pairs of the samples of MARS_DATA, standardised by
// the source, and none if that is not set.
func cytometry(t *testing.T) (tasks []task) {
	data := os.Getenv("MARS_DATA")
	if data == "" {
		return nil
	}
	names := []string{"FTV_1", "FTV_4", "FTV_7", "W2_1"}
	for _, from := range names {
		for _, to := range names {
			if from == to {
				continue
			}
			k := task{family: "cytometry", classes: 10}
			k.source, k.labels = sample(t, filepath.Join(data, "hipc", from+".npz"), 3000)
			k.target, k.truth = sample(t, filepath.Join(data, "hipc", to+".npz"), 2000)
			standard, _, err := scale.Fit(t.Context(), k.source)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []blas32.General{k.source, k.target} {
				if err := standard.Apply(t.Context(), x); err != nil {
					t.Fatal(err)
				}
			}
			tasks = append(tasks, k)
		}
	}
	return tasks
}

// sample returns n rows, evenly spread over a file with X (n×d) and y from 1.
func sample(t *testing.T, file string, n int) (blas32.General, []int32) {
	t.Helper()
	f, err := npz.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []float32
	var y []int32
	for name, into := range map[string]any{"X": &all, "y": &y} {
		if err := f.Read(name+".npy", into); err != nil {
			t.Fatal(err)
		}
	}
	d := len(all) / len(y)
	x, labels := blas32.General{Rows: n, Cols: d, Stride: d}, make([]int32, n)
	for i := range n {
		at := i * len(y) / n
		x.Data = append(x.Data, all[at*d:(at+1)*d]...)
		labels[i] = y[at] - 1
	}
	return x, labels
}
