package labelshift

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/mte"
)

// simulation is a kind of task: classes in d dimensions with means of normal
// coordinates of deviation spread and unit variance, all moved by shift in each
// coordinate, and target proportions drawn uniformly from the simplex.
type simulation struct {
	name          string
	classes, d    int
	nS, nT        int
	spread, shift float64
	part          int // of the draws asked for, one in so many is made
}

// simulations are: label shift alone, with a move of the classes, with a move of
// classes that are near to each other, and "hard" (spread 0), where spread and
// move are random, each class moves its own way too, and all change their scale.
var simulations = []simulation{
	{"3 classes, label shift", 3, 6, 1000, 500, 1, 0, 1},
	{"3 classes, moved", 3, 6, 1000, 500, 1, 0.5, 1},
	{"3 near classes, moved", 3, 6, 1000, 500, 0.7, 0.3, 1},
	{"3 classes, hard", 3, 6, 1000, 500, 0, 0, 1},
	{"10 classes, label shift", 10, 12, 1000, 800, 1, 0, 1},
	{"10 classes, moved", 10, 12, 1000, 800, 1, 0.5, 1},
	{"10 near classes, moved", 10, 12, 1000, 800, 0.6, 0.3, 1},
	{"10 classes, hard", 10, 12, 1000, 800, 0, 0, 1},
	{"31 classes, label shift", 31, 20, 3000, 2000, 0.7, 0, 10},
	{"31 classes, moved", 31, 20, 3000, 2000, 0.7, 0.5, 10},
	{"31 near classes, moved", 31, 20, 3000, 2000, 0.5, 0.3, 10},
	{"31 classes, hard", 31, 20, 3000, 2000, 0, 0, 10},
	{"65 classes, label shift", 65, 30, 4000, 2000, 0.6, 0, 40},
	{"65 classes, moved", 65, 30, 4000, 2000, 0.6, 0.5, 40},
	{"65 near classes, moved", 65, 30, 4000, 2000, 0.45, 0.3, 40},
	{"65 classes, hard", 65, 30, 4000, 2000, 0, 0, 40},
}

// draw makes a task and its true proportions.
func (s simulation) draw(rng *rand.Rand) (p mte.Problem, truth []float64) {
	spread, shift, own, scale := s.spread, s.shift, 0.0, 1.0
	if spread == 0 {
		spread = (0.5 + 0.7*rng.Float64()) * math.Sqrt(6/float64(s.d))
		shift, own, scale = 1.2*rng.Float64(), 0.6*rng.Float64(), 0.8+0.5*rng.Float64()
	}
	truth = simulate.Dirichlet(rng, s.classes)
	data := simulate.Blobs(rng, s.nS, s.nT, s.d, dense.Uniform(s.classes), truth, spread, shift)
	p, labels := problem(data), data.Truth
	if s.spread != 0 {
		return p, truth
	}
	moves := dense.New(s.classes, s.d)
	for i := range moves.Data {
		moves.Data[i] = float32(own * rng.NormFloat64())
	}
	for x := range p.Target {
		for i := range x.Rows {
			for j, v := range dense.Row(moves, int(labels[i])) {
				dense.Row(x, i)[j] += v + float32(math.Sqrt(max(scale*scale-1, 0))*rng.NormFloat64())
			}
		}
	}
	return p, truth
}

// outcome is what came of a task.
type outcome struct {
	Family        string             `json:"family"`
	L1            map[string]float64 `json:"l1"`
	ExpectedError float64            `json:"expected_error"`
	Disagreement  float64            `json:"disagreement"`
	Alignment     float64            `json:"alignment"`
	Inside        []bool             `json:"inside"` // of each class' interval
	Bootstrap     []bool             `json:"inside_bootstrap"`
	Joint         bool               `json:"inside_region"`
	Width         float64            `json:"width"` // mean over the classes
}

func (s simulation) run(t *testing.T, rng *rand.Rand, others bool) outcome {
	t.Helper()
	p, truth := s.draw(rng)
	panel := mustConsult(t, p)
	v, err := panel.Interval(t.Context(), IntervalOptions{Replicates: min(100, max(50, 2_000/s.classes))})
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{Family: s.name, L1: map[string]float64{"source": dense.L1(truth, dense.Uniform(s.classes))}, ExpectedError: v.ExpectedError,
		Disagreement: panel.Disagreement, Alignment: panel.Alignment, Joint: v.Region.Contains(truth)}
	opinions := panel.Estimates()
	if others {
		addOthers(t, opinions, p)
	}
	for name, opinion := range opinions {
		o.L1[name] = dense.L1(truth, opinion)
	}
	for k, q := range truth {
		o.Inside = append(o.Inside, v.Lower[k] <= q && q <= v.Upper[k])
		o.Bootstrap = append(o.Bootstrap, math.Abs(q-panel.Proportions()[k]) <= 1.645*v.Bootstrap[k])
		o.Width += (v.Upper[k] - v.Lower[k]) / float64(s.classes)
	}
	return o
}

// addOthers adds the opinions of the paper's estimators, and of those that work
// on the posteriors of a classifier, which a third of the source was kept from.
func addOthers(t *testing.T, opinions map[string][]float64, p mte.Problem) {
	t.Helper()
	var target blas32.General
	for x := range p.Target {
		target = x
	}
	add := func(in Inputs, names ...string) {
		for _, name := range names {
			found, err := Estimate(t.Context(), name, in)
			if err != nil {
				t.Fatal(err)
			}
			opinions[name] = found.Proportions
		}
	}
	add(Inputs{Problem: p}, "marsc", "marsg")
	var index [2][]int
	var labels [2][]int32
	for i, l := range p.Labels {
		part := 0
		if i%3 == 2 {
			part = 1
		}
		index[part], labels[part] = append(index[part], i), append(labels[part], l)
	}
	posterior, err := linear(t.Context(), dense.Gather(p.Source, index[0]), labels[0])
	if err != nil {
		t.Fatal(err)
	}
	bcts := BCTS
	in := Inputs{Problem: mte.Problem{Labels: labels[1], Classes: p.Classes}, Calibration: &bcts}
	in.SourcePosteriors, _ = posterior(dense.Gather(p.Source, index[1]))
	in.TargetPosteriors, _ = posterior(target)
	add(in, "bbse", "bbse-soft", "rlls", "em")
}

// TestCoverage counts how often 90 % intervals hold the true proportions, and
// what is expected of errors. MARS_DRAWS sets how many tasks there are of each
// kind (fewer of those of many classes); the few that there are without it can
// only tell intervals that are far too narrow. MARS_STUDY names a file for what
// came of each task, a JSON object a line, for make measured.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulations take long under the race detector")
	}
	draws, err := strconv.Atoi(os.Getenv("MARS_DRAWS"))
	if err != nil {
		draws = 2
	}
	study, err := os.OpenFile(os.Getenv("MARS_STUDY"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		study, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	defer study.Close()
	inside, shares := 0.0, 0.0
	for i, s := range simulations {
		t.Run(s.name, func(t *testing.T) {
			var all []outcome
			for draw := range draws / s.part {
				o := s.run(t, rand.New(rand.NewPCG(uint64(draw), uint64(i))), draw%(10/min(s.part, 10)) == 0 && draws > 2)
				if err := json.NewEncoder(study).Encode(o); err != nil {
					t.Fatal(err)
				}
				all = append(all, o)
				inside, shares = inside+share(o.Inside)*float64(s.classes), shares+float64(s.classes)
			}
			describe(t, all)
		})
	}
	if inside/shares < 0.8 {
		t.Errorf("90 %% intervals hold %.3f of the true proportions", inside/shares)
	}
}

func describe(t *testing.T, all []outcome) {
	n := float64(len(all))
	var l1, expected, inside, bootstrap, width, joint float64
	for _, o := range all {
		l1, expected, width = l1+o.L1["mte"]/n, expected+o.ExpectedError/n, width+o.Width/n
		inside, bootstrap, joint = inside+share(o.Inside)/n, bootstrap+share(o.Bootstrap)/n, joint+share([]bool{o.Joint})/n
	}
	t.Logf("%.0f tasks: L1 %.3f, expected %.3f, coverage %.3f (bootstrap alone %.3f), mean width %.3f, region %.3f", n, l1, expected, inside, bootstrap, width, joint)
}

// share returns that of the true values.
func share(values []bool) float64 {
	count := make([]float64, len(values))
	for i, v := range values {
		if v {
			count[i] = 1
		}
	}
	return floats.Sum(count) / float64(len(values))
}
