package ensemble

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// checkDistributions tests that the rows of p are distributions.
func checkDistributions(t *testing.T, what string, p blas32.General) {
	t.Helper()
	for i := range p.Rows {
		sum := 0.0
		for _, v := range dense.Row(p, i) {
			sum += float64(v)
			if !(v >= 0) {
				t.Fatalf("%s: row %d has posterior %g", what, i, v)
			}
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("%s: row %d sums to %g", what, i, sum)
		}
	}
}

// On rows of the source's distribution that nothing was trained on, posteriors are
// as high as rows are right, in total and by class, and rows are right nearly as
// often as with the true densities.
// A row must not be held out of models that a copy of it has trained.
func TestCopiesAreInOneFold(t *testing.T) {
	labels := make([]int32, 3*40)
	for i := range labels {
		labels[i] = int32(i % 40 % 3)
	}
	tuned := &Tuned{Classes: 3, distinct: 40, seed: 1}
	fold := tuned.divide(labels)
	for i := range labels {
		if fold[i] != fold[i%40] {
			t.Errorf("row %d is in fold %d, and its copy in %d", i%40, fold[i%40], fold[i])
		}
	}
}

func TestPosteriorsAreCalibrated(t *testing.T) {
	shares := []float64{0.5, 0.3, 0.2}
	rng := rand.New(rand.NewPCG(3, 4))
	p := simulate.Blobs(rng, 600, 6000, 5, shares, shares, 1, 0)
	m := mustTrain(t, p, Options{Members: Names})
	all := append(m.Members(p.Target), m.Predict(p.Target))
	for i, name := range append(slices.Clone(Names), "ensemble") {
		q := all[i]
		checkDistributions(t, name, q)
		var right, confidence float64
		var got, want [3]float64
		for r, y := range p.Truth {
			row := dense.Row(q, r)
			k := dense.Argmax(row)
			confidence += float64(row[k]) / 6000
			if int32(k) == y {
				right += 1. / 6000
			}
			want[y] += 1. / 6000
			for c, v := range row {
				got[c] += float64(v) / 6000
			}
		}
		if math.Abs(confidence-right) > 0.03 {
			t.Errorf("%s: %.3f of the rows are right, at a mean posterior of %.3f", name, right, confidence)
		}
		if least := map[bool]float64{true: 0.67, false: 0.7}[name == "trees"]; right < least {
			t.Errorf("%s: %.3f of the rows are right", name, right)
		}
		for k, w := range want {
			if math.Abs(got[k]-w) > 0.03 {
				t.Errorf("%s: the mean posterior of class %d is %.3f, its share %.3f", name, k, got[k], w)
			}
		}
	}
}

// No row gets a class without rows, wherever its number is.
func TestClassesWithoutRows(t *testing.T) {
	p := blobs(200)
	p.Classes = 6
	m := mustTrain(t, p, Options{Members: Names})
	for i, q := range append(m.Members(p.Target), m.Predict(p.Target)) {
		checkDistributions(t, "posteriors", q)
		for r := range q.Rows {
			if row := dense.Row(q, r); max(row[2], row[4], row[5]) > 0.01 {
				t.Fatalf("member %d: row %d has posteriors %v", i, r, row)
			}
		}
	}
}

// Few rows of a class, or in all, leave folds without it.
func TestFewRows(t *testing.T) {
	p := blobs(100)
	for name, labels := range map[string][]int32{
		"one row of a class":            append([]int32{2}, p.Labels[1:]...),
		"one row of one of two classes": append([]int32{1}, make([]int32, 99)...),
		"one class":                     make([]int32, 100),
		"a row for each of three":       {0, 1, 3},
		"a row for each of two":         {0, 1},
		"two rows of a class":           {1, 1},
		"one row":                       {3},
	} {
		q := p
		q.Source, q.Labels = dense.Rows(p.Source, 0, len(labels)), labels
		m := mustTrain(t, q, Options{Members: Names})
		for _, posteriors := range append(m.Members(q.Target), m.Predict(q.Target)) {
			checkDistributions(t, name, posteriors)
		}
	}
}

func TestSeedDecidesAllBytes(t *testing.T) {
	defer kernel.SetJobs(0)
	p := blobs(300)
	var want []float32
	for jobs := 1; jobs <= 3; jobs++ {
		kernel.SetJobs(jobs)
		got := mustTrain(t, p, Options{Members: Names, Seed: 5}).Predict(p.Target).Data
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: posteriors differ", jobs)
		}
	}
	if slices.Equal(mustTrain(t, p, Options{Members: Names, Seed: 6}).Predict(p.Target).Data, want) {
		t.Error("another seed gives the same posteriors")
	}
}

func TestMembers(t *testing.T) {
	p := blobs(150)
	all := mustTune(t, p, Options{})
	if !(all.Gamma > 0 && all.Lambda > 0) {
		t.Errorf("gamma %g, lambda %g", all.Gamma, all.Lambda)
	}
	some := mustTune(t, p, Options{Members: []string{"network", "logistic"}})
	if some.Gamma != all.Gamma || some.Lambda != all.Lambda {
		t.Errorf("without the kernel, gamma is %g and lambda %g, not %g and %g", some.Gamma, some.Lambda, all.Gamma, all.Lambda)
	}
	full, part := mustTrain(t, p, Options{}), mustTrain(t, p, Options{Members: []string{"network", "logistic"}})
	a, b := full.Members(p.Target), part.Members(p.Target)
	if len(b) != 2 || !sameBits(b[0], a[2]) || !sameBits(b[1], a[0]) {
		t.Error("members do not have the order of the options, or depend on each other")
	}
	if got := part.Predict(dense.New(0, 6)); got.Rows != 0 || got.Cols != 4 {
		t.Errorf("no rows: %d×%d", got.Rows, got.Cols)
	}
}

func TestMean(t *testing.T) {
	a, b := dense.New(2, 2), dense.New(2, 2)
	copy(a.Data, []float32{0.5, 0.5, 1, 0})
	copy(b.Data, []float32{0.9, 0.1, 0.5, 0.5})
	for weight, want := range map[float64][]float64{
		0.5:  {0.75, 0.25, 1 / (1 + 1e-3), 1e-3 / (1 + 1e-3)},
		0.75: {math.Sqrt(3) / (1 + math.Sqrt(3)), 1 / (1 + math.Sqrt(3)), 1 / (1 + math.Pow(1e-6, 0.75)), math.Pow(1e-6, 0.75) / (1 + math.Pow(1e-6, 0.75))},
	} {
		m := &Model{Classes: 2, members: []trained{{weight: weight}, {weight: 1 - weight}}}
		for i, v := range m.Mean([]blas32.General{a, b}).Data {
			if math.Abs(float64(v)-want[i]) > 1e-6 {
				t.Errorf("with weight %g posterior %d is %g, want %g", weight, i, v, want[i])
			}
		}
	}
}

// A member that cannot tell the classes apart in rows that were held out has next to no
// weight. Members that are as good as each other weigh alike.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	x, labels := dense.New(300, 2), make([]int32, 300)
	for i := range labels { // a ring around a disc
		labels[i] = int32(i % 2)
		angle, radius := 2*math.Pi*rng.Float64(), 1+2*float64(labels[i])+0.2*rng.NormFloat64()
		x.Data[2*i], x.Data[2*i+1] = float32(radius*math.Cos(angle)), float32(radius*math.Sin(angle))
	}
	tuned, err := Tune(t.Context(), x, labels, 2, Options{Members: Names})
	if err != nil {
		t.Fatal(err)
	}
	m, err := tuned.Train(t.Context(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Weights(); len(w) != 4 || w[0] > 1e-3 || w[1] < 0.1 || w[2] < 0.1 || math.Abs(dense.Sum(w)-1) > 1e-12 {
		t.Errorf("the members of %v have the weights %v", Names, w)
	}
	equal := []member{{loss: 0.3}, {loss: 0.3}}
	weigh(equal)
	if equal[0].weight != 0.5 || equal[1].weight != 0.5 {
		t.Errorf("equal losses have weights %g and %g", equal[0].weight, equal[1].weight)
	}
	if got, want := logLoss(blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0.5, 0.5, 0.25, 0.75}}, []int32{0, 1}), -(math.Log(0.5)+math.Log(0.75))/2; math.Abs(got-want) > 1e-7 {
		t.Errorf("the loss is %g, want %g", got, want)
	}
}

func TestTuneRefuses(t *testing.T) {
	p := blobs(20)
	bad := dense.Clone(p.Source)
	bad.Data[6*2+1] = float32(math.NaN())
	outside := slices.Clone(p.Labels)
	outside[3] = 4
	cases := []struct {
		want   string
		x      blas32.General
		labels []int32
		o      Options
	}{
		{"source row 2, column 1 is NaN", bad, p.Labels, Options{}},
		{"source row 3: label 4 is not one of 4 classes", p.Source, outside, Options{}},
		{"no rows or no columns", dense.New(0, 6), nil, Options{}},
		{`no classifier "forest"`, p.Source, p.Labels, Options{Members: []string{"forest"}}},
		{`"kernel" is chosen twice`, p.Source, p.Labels, Options{Members: []string{"kernel", "kernel"}}},
		{"no members", p.Source, p.Labels, Options{Members: []string{}}},
	}
	tuned := mustTune(t, p, Options{})
	for _, c := range cases {
		if _, err := Tune(t.Context(), c.x, c.labels, 4, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Tune: got %v, want an error with %q", err, c.want)
		}
		if c.o.Members != nil {
			continue
		}
		if _, err := tuned.Train(t.Context(), c.x, c.labels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Train: got %v, want an error with %q", err, c.want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	p := blobs(20)
	m := mustTrain(t, p, Options{})
	for name, f := range map[string]func(){
		"a label too few": func() { _, _ = Tune(t.Context(), p.Source, p.Labels[1:], 4, Options{}) },
		"another width":   func() { m.Predict(dense.New(1, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestContextEnds(t *testing.T) {
	p := blobs(60)
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := Tune(ctx, p.Source, p.Labels, p.Classes, Options{Members: Names})
		return err
	})
	tuned := mustTune(t, p, Options{})
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		_, err := tuned.Train(ctx, p.Source, p.Labels)
		return err
	})
	p = crowd()
	contexttest.Stops(t, 8, func(ctx context.Context) error {
		_, err := Tune(ctx, p.Source, p.Labels, p.Classes, Options{})
		return err
	})
}

var large = simulate.Oracle{C: 5, D: 50, NS: 4000, NT: 10_000, Spread: 0.3, Cuts: []int{2, 4, 6, 8}, Seed: 7}

func BenchmarkTune(b *testing.B) {
	p := large.Data()
	for b.Loop() {
		mustTune(b, p, Options{})
	}
}

func BenchmarkTrain(b *testing.B) {
	p := large.Data()
	tuned := mustTune(b, p, Options{})
	for b.Loop() {
		if _, err := tuned.Train(b.Context(), p.Source, p.Labels); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	p := large.Data()
	m := mustTrain(b, p, Options{})
	for b.Loop() {
		m.Predict(p.Target)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Target.Rows), "ns/row")
}
