package boosting

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

var nan = float32(math.NaN())

func mustFit(tb testing.TB, rows Rows, classes int, o Options) *Model {
	tb.Helper()
	m, err := Fit(tb.Context(), rows, classes, o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// sample is n rows of three classes in d columns, of which the first three say the class. A share
// of the values is missing.
func sample(seed uint64, n, d int, missing float64) Rows {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := Rows{dense.New(n, d), make([]int32, n)}
	for i := range n {
		row := dense.Row(rows.X, i)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		switch s := float64(row[0]) + float64(row[1]*row[2]) + 0.3*rng.NormFloat64(); {
		case s > 0.7:
			rows.Labels[i] = 2
		case s > -0.5:
			rows.Labels[i] = 1
		}
		for j := range row {
			if rng.Float64() < missing {
				row[j] = nan
			}
		}
	}
	return rows
}

func sameBits(a, b blas32.General) bool {
	return slices.EqualFunc(a.Data, b.Data, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func right(m *Model, rows Rows) (share float64) {
	for i, k := range dense.ArgmaxRows(m.Posteriors(rows.X)) {
		if k == rows.Labels[i] {
			share += 1 / float64(len(rows.Labels))
		}
	}
	return share
}

// Three rounds of small trees are those of scikit-learn, whose bins are the same where values are few.
func TestAsScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/sklearn.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]struct {
		X          []*float32
		Labels     []int32
		Posteriors []float64
	}
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	if len(tables) != 3 {
		t.Errorf("%d tables", len(tables))
	}
	for name, table := range tables {
		x := dense.New(len(table.Labels), 3)
		for i, v := range table.X {
			if x.Data[i] = nan; v != nil {
				x.Data[i] = *v
			}
		}
		p := mustFit(t, Rows{x, table.Labels}, len(table.Posteriors)/x.Rows, Options{Rounds: 3, LearningRate: 0.3, Leaves: 4, MinRows: 5}).Posteriors(x)
		for i, want := range table.Posteriors {
			if math.Abs(float64(p.Data[i])-want) > 1e-5 {
				t.Fatalf("%s: row %d: %v, want %g", name, i/p.Cols, dense.Row(p, i/p.Cols), want)
			}
		}
	}
}

// A tree of two leaves halves a column where the classes change, and each leaf takes Newton's step.
func TestOneTree(t *testing.T) {
	rows := Rows{dense.New(8, 2), []int32{0, 0, 0, 1, 1, 1, 1, 1}}
	for i := range 8 {
		rows.X.Data[2*i], rows.X.Data[2*i+1] = 7, float32(i)
	}
	m := mustFit(t, rows, 2, Options{Rounds: 1, Leaves: 2, MinRows: 1, LearningRate: 1})
	n := m.trees[0].nodes
	if len(m.trees) != 1 || len(n) != 3 || n[0].column != 1 || n[0].value != 2.5 {
		t.Fatalf("the trees are %v", m.trees)
	}
	p := 5.0 / 8
	for i, want := range []float64{-3 * p / (3*p*(1-p) + 1), 5 * (1 - p) / (5*p*(1-p) + 1)} {
		if got := float64(n[1+i].value); math.Abs(got-want) > 1e-6 {
			t.Errorf("leaf %d has the value %g, want %g", i, got, want)
		}
	}
}

// Missing values that say the class are told from all others, and those of a column that had none
// go where most rows went.
func TestMissingValues(t *testing.T) {
	rows := Rows{dense.New(60, 2), make([]int32, 60)}
	for i := range 60 {
		rows.X.Data[2*i], rows.X.Data[2*i+1] = float32(i%7), 1
		if i%3 == 0 {
			rows.X.Data[2*i], rows.Labels[i] = nan, 1
		}
	}
	if got := right(mustFit(t, rows, 2, Options{MinRows: 1}), rows); got < 0.99 {
		t.Errorf("%g of the rows are right", got)
	}
	for i := range 60 {
		rows.X.Data[2*i], rows.Labels[i] = float32(i), 0
		if i < 20 {
			rows.Labels[i] = 1
		}
	}
	m := mustFit(t, rows, 2, Options{MinRows: 1})
	if p := m.Posteriors(blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{nan, nan}}); p.Data[0] < 0.9 {
		t.Errorf("a row without values has the posteriors %v", p.Data)
	}
}

// Trees see only the order of values.
func TestMonotoneMapsChangeNothing(t *testing.T) {
	rows := sample(1, 400, 4, 0.1)
	want := mustFit(t, rows, 3, Options{Rounds: 20}).Posteriors(rows.X)
	mapped := Rows{dense.Clone(rows.X), rows.Labels}
	for i := range mapped.X.Rows {
		row := dense.Row(mapped.X, i)
		row[0], row[2] = float32(math.Exp(float64(row[0]))), 3*row[2]-5
	}
	if got := mustFit(t, mapped, 3, Options{Rounds: 20}).Posteriors(mapped.X); !sameBits(got, want) {
		t.Error("posteriors differ")
	}
}

func TestOrderOfRowsChangesNothing(t *testing.T) {
	rows := sample(2, 300, 4, 0.1)
	order := rand.New(rand.NewPCG(1, 1)).Perm(300)
	shuffled := Rows{dense.Gather(rows.X, order), dense.Pick(rows.Labels, order)}
	want := mustFit(t, rows, 3, Options{Rounds: 10}).Posteriors(rows.X)
	if got := mustFit(t, shuffled, 3, Options{Rounds: 10}).Posteriors(rows.X); !sameBits(got, want) {
		t.Error("posteriors differ")
	}
}

// A weight is as good as so many copies of a row.
func TestWeightsAreCopies(t *testing.T) {
	rows := sample(3, 150, 3, 0.1)
	copies := Rows{X: dense.New(0, 3)}
	o := Options{Rounds: 5, Leaves: 6, MinRows: 1, Weights: make([]float64, 150)}
	for i := range 150 {
		o.Weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			dense.Append(&copies.X, dense.Row(rows.X, i))
			copies.Labels = append(copies.Labels, rows.Labels[i])
		}
	}
	got := mustFit(t, rows, 3, o).Posteriors(rows.X)
	want := mustFit(t, copies, 3, Options{Rounds: 5, Leaves: 6, MinRows: 1}).Posteriors(rows.X)
	for i, v := range want.Data {
		if math.Abs(float64(v-got.Data[i])) > 1e-5 {
			t.Fatalf("row %d: %v, want %v", i/3, dense.Row(got, i/3), dense.Row(want, i/3))
		}
	}
}

func TestThreadsAndSeed(t *testing.T) {
	defer kernel.SetJobs(0)
	rows := sample(4, 20_000, 6, 0.05)
	var want blas32.General
	for jobs := 1; jobs <= 3; jobs++ {
		kernel.SetJobs(jobs)
		got := mustFit(t, rows, 3, Options{Rounds: 3, Columns: 0.5, Seed: 5}).Posteriors(rows.X)
		if want.Data == nil {
			want = got
		}
		if !sameBits(got, want) {
			t.Errorf("%d threads: posteriors differ", jobs)
		}
	}
	if sameBits(mustFit(t, rows, 3, Options{Rounds: 3, Columns: 0.5, Seed: 6}).Posteriors(rows.X), want) {
		t.Error("another seed gives the same posteriors")
	}
}

// Rows that were held out end the rounds, and more of them do not change the first.
func TestHeldOutRows(t *testing.T) {
	train, held := sample(5, 300, 5, 0), sample(6, 300, 5, 0)
	m := mustFit(t, train, 3, Options{Rounds: 500, LearningRate: 0.3, MinRows: 5, HeldOut: &held, Patience: 7})
	best := m.Best()
	if m.Rounds() != best+7 || len(m.Losses) != m.Rounds() {
		t.Errorf("%d rounds, the best after %d, %d losses", m.Rounds(), best, len(m.Losses))
	}
	loss, p := 0.0, m.First(best).Posteriors(held.X)
	for i, y := range held.Labels {
		loss -= math.Log(float64(dense.Row(p, i)[y])) / 300
	}
	if math.Abs(loss-m.Losses[best-1]) > 1e-6 {
		t.Errorf("the loss after %d rounds is %g, and was said to be %g", best, loss, m.Losses[best-1])
	}
	short := mustFit(t, train, 3, Options{Rounds: best, LearningRate: 0.3, MinRows: 5})
	if !sameBits(short.Posteriors(held.X), p) {
		t.Error("fewer rounds are not the first of more")
	}
	if got := right(m.First(best), held); got < 0.75 {
		t.Errorf("%g of the rows are right", got)
	}
}

// Others end it too, without changing what came before.
func TestEnoughRounds(t *testing.T) {
	train, held := sample(5, 300, 5, 0), sample(6, 300, 5, 0)
	o := Options{Rounds: 30, MinRows: 5, HeldOut: &held, Patience: 30}
	all := mustFit(t, train, 3, o)
	o.Enough = func(rounds int) bool { return rounds >= 4 }
	some := mustFit(t, train, 3, o)
	if some.Rounds() != 4 || !slices.Equal(some.Losses, all.Losses[:4]) || !sameBits(some.Logits(held.X), all.First(4).Logits(held.X)) {
		t.Errorf("%d rounds with losses %v, want the first 4 of %v", some.Rounds(), some.Losses, all.Losses)
	}
}

// Rows get the leaf that they would walk to from the root, with and without missing values, on both sides of the
// number of leaves up to which trees are scanned and of that of rows in a block.
func TestScansEndAtTheLeavesOfWalks(t *testing.T) {
	for _, leaves := range []int{2, 3, mostScanned, mostScanned + 1} {
		for _, n := range []int{1, blockRows, blockRows + 7} {
			rows := sample(11, 600, 4, 0.2)
			m := mustFit(t, rows, 3, Options{Rounds: 4, Leaves: leaves, MinRows: 2})
			x := sample(12, n, 4, 0.2).X
			x.Data[0] = float32(math.Inf(1))
			want := m.start(n)
			for _, tree := range m.trees {
				if (tree.scan == nil) != (len(tree.nodes) > 2*mostScanned-1) {
					t.Fatalf("%d nodes: scanned is %t", len(tree.nodes), tree.scan != nil)
				}
				for i := range n {
					want.Data[i*want.Stride+tree.class] += valueOf(tree.nodes, dense.Row(x, i))
				}
			}
			if !sameBits(m.Logits(x), want) {
				t.Errorf("%d leaves, %d rows: scans give other logits than walks", leaves, n)
			}
		}
	}
}

// Nodes of a file may be children of several: then there are more ways than nodes, here 2^40.
func TestManyWaysAreNotScanned(t *testing.T) {
	nodes := make([]node, 82)
	for k := range 40 {
		nodes[2*k].left, nodes[2*k+1].left = int32(2*k+2), int32(2*k+2)
	}
	if newScan(nodes) != nil {
		t.Error("a tree of too many ways is scanned")
	}
}

// Classes without rows get next to nothing, wherever their numbers are.
func TestClassesWithoutRows(t *testing.T) {
	rows := sample(7, 200, 3, 0)
	for name, numbers := range map[string][]int32{"one class": {3, 3, 3}, "two": {1, 4, 4}, "three": {1, 2, 4}} {
		own := Rows{rows.X, make([]int32, 200)}
		for i, y := range rows.Labels {
			own.Labels[i] = numbers[y]
		}
		m := mustFit(t, own, 6, Options{Rounds: 5})
		p := m.Posteriors(rows.X)
		for i := range p.Rows {
			for k, v := range dense.Row(p, i) {
				if !slices.Contains(numbers, int32(k)) && !(v < 1e-9) {
					t.Fatalf("%s: row %d: %v", name, i, dense.Row(p, i))
				}
			}
		}
		if want := map[string]int{"one class": 0, "two": 5, "three": 15}[name]; len(m.trees) != want {
			t.Errorf("%s: %d trees, want %d", name, len(m.trees), want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	column := func(values ...float32) blas32.General {
		return blas32.General{Rows: len(values), Cols: 1, Stride: 1, Data: values}
	}
	for _, c := range []struct {
		bins   int
		tables []blas32.General
		want   []float32
	}{
		{255, []blas32.General{column(3, 1, nan, 1, 2)}, []float32{1.5, 2.5}},
		{255, []blas32.General{column(3, 1), column(4)}, []float32{2, 3.5}},
		{2, []blas32.General{column(1, 2, 3, 4)}, []float32{2.5}},
		{3, []blas32.General{column(1, 1, 1, 1, 2, 3, 4, 5)}, []float32{1.5, 3.5}},
		{255, []blas32.General{column(5, 5)}, nil},
		{255, []blas32.General{column(nan)}, nil},
		{255, []blas32.General{column(1, math.Nextafter32(1, 2))}, []float32{1}},
	} {
		if got := Quantiles(c.bins, c.tables...)[0]; !slices.Equal(got, c.want) {
			t.Errorf("%d bins of %v: %v, want %v", c.bins, c.tables, got, c.want)
		}
	}
	if got := Quantiles(255, sample(8, 5000, 3, 0).X)[0]; len(got) != 254 || !slices.IsSorted(got) {
		t.Errorf("%d cuts", len(got))
	}
}

func TestFitRefuses(t *testing.T) {
	rows := sample(9, 20, 3, 0)
	for _, c := range []struct {
		want string
		rows Rows
		o    Options
	}{
		{"no rows", Rows{X: dense.New(0, 3)}, Options{}},
		{"row 3: label 3 is not one of 3 classes", Rows{rows.X, append([]int32{0, 1, 2, 3}, rows.Labels[4:]...)}, Options{}},
		{"row 1: the weight 0 is not above 0", rows, Options{Weights: append([]float64{1, 0}, make([]float64, 18)...)}},
	} {
		if _, err := Fit(t.Context(), c.rows, 3, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	rows := sample(10, 100, 3, 0)
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		_, err := Fit(ctx, rows, 3, Options{Rounds: 3})
		return err
	})
}

func BenchmarkFit(b *testing.B) {
	rows := sample(11, 20_000, 20, 0)
	for b.Loop() {
		mustFit(b, rows, 3, Options{Rounds: 20})
	}
}

func BenchmarkPosteriors(b *testing.B) {
	rows := sample(11, 20_000, 20, 0)
	m := mustFit(b, rows, 3, Options{Rounds: 20})
	for b.Loop() {
		m.Posteriors(rows.X)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows.X.Rows), "ns/row")
}
