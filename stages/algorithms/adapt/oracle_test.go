package adapt

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// The oracle's formulas, as in testdata/oracle/train/generate.py.
const (
	oracleClasses = 3
	oracleRows    = 25
	oracleBatch   = 8
	oracleLambda  = 0.4
	oracleGamma   = 10
)

var oracleProportions = []float64{0.6, 0.3, 0.1}

// oracleTolerance bounds differences from PyTorch's float64, relative to the largest
// value of a tensor.
const oracleTolerance = 1e-5

// normTolerance takes its place in networks with norms, which divide by the deviation of
// a few numbers and so magnify rounding.
const normTolerance = 3e-4

type oracleArch struct {
	Name    string
	Input   []int
	G, H, V string
}

// oracleRun is one of the oracle's configurations.
type oracleRun struct {
	Method    string
	Points    PenaltyPoints
	Beta      float64
	Arch      oracleArch
	Optimiser Optimiser
	Rate      float64
	Momentum  float64
	Decay     float64
}

func readOracle(t testing.TB, name string, value any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../testdata/oracle/train", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, value); err != nil {
		t.Fatal(err)
	}
}

// uniform is n numbers in [0, 1) by splitmix64.
func uniform(seed uint64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		z := (seed<<32 + uint64(i) + 1) * 0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		values[i] = float64(z>>11) / (1 << 53)
	}
	return values
}

func (a oracleArch) parse(t testing.TB) nn.Arch {
	t.Helper()
	arch := nn.Arch{Name: a.Name, Input: a.Input, Classes: oracleClasses}
	for text, specs := range map[string]*[]nn.LayerSpec{a.G: &arch.G, a.H: &arch.H, a.V: &arch.V} {
		var err error
		if *specs, err = nn.ParseLayers(text); err != nil {
			t.Fatal(err)
		}
	}
	return arch
}

// oracleWeights fills in the networks' parameters.
func oracleWeights(n networks) {
	for i, net := range n.all() {
		fanIn := 0
		for j, tensor := range net.Tensors {
			start := 0.0
			switch kind := net.Specs[tensor.Layer].Kind; {
			case kind == nn.GroupNorm || kind == nn.LayerNorm:
				fanIn = 16
				if tensor.Name == "weight" {
					start = 1
				}
			case tensor.Name == "weight":
				fanIn = tensor.Size / tensor.Shape[0]
			}
			values := make([]float32, tensor.Size)
			for k, u := range uniform(uint64(1000*(i+1)+j+1), tensor.Size) {
				values[k] = float32(start + (2*u-1)/math.Sqrt(float64(fanIn)))
			}
			net.Import(tensor, net.Params, values)
		}
	}
}

func oracleProblem(input []int) Problem { return formulaProblem(input, oracleRows, oracleClasses) }

// formulaProblem makes the given number of rows of each domain by the oracle's formulas.
func formulaProblem(input []int, rows, classes int) Problem {
	d := 1
	for _, k := range input {
		d *= k
	}
	p := Problem{Shape: input}
	for c := range classes {
		p.Classes = append(p.Classes, string(rune('a'+c)))
	}
	p.Source = blas32.General{Rows: rows, Cols: d, Stride: d}
	p.Target = p.Source
	source, target := uniform(7, rows*d), uniform(8, rows*d)
	for i := range rows {
		label := i % classes
		p.Labels = append(p.Labels, int32(label))
		for j := range d {
			p.Source.Data = append(p.Source.Data, float32(2*source[i*d+j]-1+0.3*float64(label)))
			p.Target.Data = append(p.Target.Data, float32(2*target[i*d+j]-0.8))
		}
	}
	return p
}

// oracleTrainer makes a trainer with the oracle's weights that draws the oracle's
// batches from the given step on.
func oracleTrainer(t testing.TB, run oracleRun, jobs, step int) *trainer {
	t.Helper()
	method, err := ParseMethod(run.Method, run.Beta)
	if err != nil {
		t.Fatal(err)
	}
	c := common()
	c.Method, c.PenaltyPoints, c.Jobs = method, run.Points, jobs
	c.Batch, c.CriticSteps, c.Epochs, c.DecayFrom = oracleBatch, 2, 10, 10
	c.Optimiser, c.LearningRate, c.CriticLearningRate = run.Optimiser, run.Rate, run.Rate
	c.Lambda, c.Gamma, c.Momentum, c.WeightDecay = oracleLambda, oracleGamma, run.Momentum, run.Decay
	c.StartProportions, c.AverageFrom, c.Batches = oracleProportions, c.Epochs, BatchesFresh
	arch := run.Arch.parse(t)
	if method.align == alignAdversarial { // its text has two outputs already
		arch.V[len(arch.V)-1].Out = 1
	}
	tr, err := newTrainer(context.Background(), oracleProblem(run.Arch.Input), c, arch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.pool.stop)
	oracleWeights(tr.networks)
	tr.aligned = method.Aligns()
	tr.drawBatch = func(bool) {
		b := tr.batch
		interpolation := uniform(uint64(77+step), oracleBatch)
		for i := range oracleBatch {
			b.source[i] = int32((7*step + i) % oracleRows)
			b.labels[i] = tr.problem.Labels[b.source[i]]
			b.interpolation[i] = float32(interpolation[i])
		}
		for i := range b.target {
			b.target[i] = int32((11*step + i) % oracleRows)
		}
		step++
	}
	return tr
}

// totalGradients are the sums over the workers, by tensor name.
func totalGradients(l *learner, letter string) map[string][]float32 {
	total := make([]float32, len(l.net.Params))
	for _, g := range l.grads {
		for i, v := range g {
			total[i] += v
		}
		clear(g)
	}
	tensors := map[string][]float32{}
	for _, t := range l.net.Tensors {
		tensors[tensorName(letter+".", t)] = l.net.Export(t, total)
	}
	return tensors
}

// relativeDifference is the largest difference divided by the largest value wanted, or by
// floor if that is larger.
func relativeDifference(got []float32, want []float64, floor float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var difference float64
	for i, w := range want {
		difference = max(difference, math.Abs(float64(got[i])-w))
	}
	if difference == 0 {
		return 0
	}
	return difference / max(floor, maxAbs(want))
}

func maxAbs(values []float64) float64 {
	var largest float64
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// closeTo compares losses. Distances and penalties are differences of values of order 0.1
// to 1. When they are small, the rounding of those values is not.
func closeTo(got, want float64) bool {
	return math.Abs(got-want) <= oracleTolerance*max(math.Abs(want), 0.05)
}

type gradientCase struct {
	oracleRun
	ClassLoss float64 `json:"class_loss"`
	Distance  float64
	Penalty   float64
	Main      map[string][]float64
	Critic    map[string][]float64
}

func (c gradientCase) name() string {
	return fmt.Sprintf("%s/%s/%s/%g", c.Arch.Name, c.Method, c.Points, c.Beta)
}

func TestGradientsAgreeWithPyTorch(t *testing.T) {
	var cases []gradientCase
	readOracle(t, "gradients.json", &cases)
	for _, c := range cases {
		for jobs := 1; jobs <= 3; jobs++ {
			t.Run(fmt.Sprint(c.name(), "/", jobs), func(t *testing.T) { c.check(t, jobs) })
		}
	}
}

func (c gradientCase) check(t *testing.T, jobs int) {
	tr := oracleTrainer(t, c.oracleRun, jobs, 3)
	tr.nextBatch(false)
	tr.pool.run(tr.phases.main)
	s := tr.collect()
	if !closeTo(s.class, c.ClassLoss) || !closeTo(s.distance, c.Distance) {
		t.Errorf("class loss %.9g, distance %.9g: want %.9g, %.9g", s.class, s.distance, c.ClassLoss, c.Distance)
	}
	checked := checkGradients(t, tr, c.Main)
	if c.Critic != nil {
		tr.pool.run(tr.phases.critic)
		if s := tr.collect(); !closeTo(s.penalty, c.Penalty) {
			t.Errorf("penalty %.9g: want %.9g", s.penalty, c.Penalty)
		}
		checked += checkGradients(t, tr, c.Critic)
	}
	if checked != len(c.Main)+len(c.Critic) {
		t.Errorf("%d tensors checked of the oracle's %d", checked, len(c.Main)+len(c.Critic))
	}
}

// Each weighting of the classification loss is PyTorch's cross entropy with weights of classes.
func TestClassLossesAgreeWithPyTorch(t *testing.T) {
	var cases []struct {
		gradientCase
		Kind ClassLoss
	}
	readOracle(t, "class-losses.json", &cases)
	if len(cases) != 9 {
		t.Fatalf("%d cases", len(cases))
	}
	seen := map[float64]bool{}
	for _, c := range cases {
		run := oracleRun{Method: "marsc", Points: PenaltyInterpolates, Arch: c.Arch}
		tr := oracleTrainer(t, run, 2, 3)
		tr.config.ClassLoss, tr.config.Lambda = c.Kind, 0
		tr.nextBatch(false)
		tr.pool.run(tr.phases.main)
		if s := tr.collect(); !closeTo(s.class, c.ClassLoss) {
			t.Errorf("%s, %s: class loss %.9g, want %.9g", c.Arch.Name, c.Kind, s.class, c.ClassLoss)
		}
		if n := checkGradients(t, tr, c.Main); n != len(c.Main) {
			t.Errorf("%s, %s: %d tensors checked of %d", c.Arch.Name, c.Kind, n, len(c.Main))
		}
		seen[c.ClassLoss] = true
	}
	if len(seen) != len(cases) {
		t.Errorf("%d losses of %d cases differ: the test shows nothing", len(seen), len(cases))
	}
}

// checkGradients compares the tensors that the oracle has and returns their number. A
// gradient that is 0 apart from rounding is compared relative to those of other tensors.
func checkGradients(t *testing.T, tr *trainer, want map[string][]float64) int {
	checked := 0
	var largest float64
	for _, values := range want {
		largest = max(largest, maxAbs(values))
	}
	for i, l := range tr.learners {
		for name, got := range totalGradients(l, networkNames[i]) {
			if want[name] == nil {
				continue
			}
			checked++
			if d := relativeDifference(got, want[name], 1e-3*largest); d > tolerance(tr.arch) {
				t.Errorf("gradient of %s is off by %.2g", name, d)
			}
		}
	}
	return checked
}

// tolerance is that of the gradients of the architecture.
func tolerance(a nn.Arch) float64 {
	if strings.Contains(nn.FormatLayers(a.G), "norm") {
		return normTolerance
	}
	return oracleTolerance
}

type curveCase struct {
	oracleRun
	Losses [][]float64
}

func TestTenStepsAgreeWithPyTorch(t *testing.T) {
	var cases []curveCase
	readOracle(t, "curves.json", &cases)
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%s/%s/%g", c.Arch.Name, c.Method, c.Points, c.Beta), func(t *testing.T) { c.check(t) })
	}
}

func (c curveCase) check(t *testing.T) {
	tr := oracleTrainer(t, c.oracleRun, 2, 0)
	var critic []float64
	run := tr.phases.update
	tr.phases.update = func(worker int) {
		if worker == 0 && tr.updating[0].critic {
			s := tr.collect()
			critic = append(critic, s.distance, s.penalty)
		}
		run(worker)
	}
	for i, want := range c.Losses {
		critic = critic[:0]
		s := tr.iterate(context.Background())
		for j, got := range append([]float64{s.class, s.distance}, critic...) {
			if !closeTo(got, want[j]) {
				t.Fatalf("step %d, figure %d: %.9g: want %.9g", i, j, got, want[j])
			}
		}
	}
}

// With a shared batch, embeddings are computed once for all steps of an iteration. Fresh
// batches that are all the same must give the same result.
func TestSharedBatchIsTheSameBatchAgain(t *testing.T) {
	var cases []curveCase
	readOracle(t, "curves.json", &cases)
	for _, c := range cases {
		if c.Method != "marsc" || c.Arch.Name != "deep" {
			continue
		}
		fresh, shared := oracleTrainer(t, c.oracleRun, 2, 0), oracleTrainer(t, c.oracleRun, 2, 0)
		shared.config.Batches = BatchesShared
		first := true
		draw, drawShared := fresh.drawBatch, shared.drawBatch
		fresh.drawBatch = func(rows bool) { // the first of an iteration's three draws
			if first {
				draw(rows)
			}
			first = false
		}
		shared.drawBatch = func(rows bool) {
			if rows {
				drawShared(rows)
			}
		}
		for range 5 {
			first = true
			fresh.iterate(context.Background())
			shared.iterate(context.Background())
		}
		for i := range fresh.learners {
			if !slices.Equal(fresh.learners[i].net.Params, shared.learners[i].net.Params) {
				t.Errorf("%s: network %s ends elsewhere", c.Points, networkNames[i])
			}
		}
	}
}
