package kernelridge

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// oracleCase is one of testdata/oracle/classifiers/kernelridge.json: scores of the
// first ten rows, moved by ½, or of all rows that were left out.
type oracleCase struct {
	Data                      simulate.Oracle
	Gamma, Alpha              float64
	Exact, Weighted, Nystroem [][]float64
	LeftOut                   struct {
		Gamma, Alpha float64
		Scores       [][]float64
	} `json:"left_out"`
}

func oracle(t *testing.T) (cases []oracleCase) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/classifiers/kernelridge.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func compare(t *testing.T, what string, got blas32.General, want [][]float64) {
	t.Helper()
	const tolerance = 2e-6 // coefficients are float32
	if got.Rows != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, got.Rows, len(want))
	}
	for i, row := range want {
		for k, w := range row {
			if v := dense.Row(got, i)[k]; !(math.Abs(float64(v)-w) <= tolerance) {
				t.Fatalf("%s: score %d of row %d is %g, want %g", what, k, i, v, w)
			}
		}
	}
}

func mustFit(tb testing.TB, p simulate.Data, h Hyper, o Options) *Model {
	tb.Helper()
	m, err := Fit(tb.Context(), p.Source, p.Labels, p.Classes, h, o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// sevenWeights are the weights of the oracle.
func sevenWeights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.5 + float64(i%7)/4
	}
	return w
}

func TestFitAgreesWithScikitLearn(t *testing.T) {
	for _, c := range oracle(t) {
		p := c.Data.Data()
		query := dense.Clone(dense.Rows(p.Source, 0, 10))
		for i := range query.Data {
			query.Data[i] += 0.5
		}
		h := Hyper{c.Gamma, c.Alpha}
		compare(t, "exact", mustFit(t, p, h, Options{}).Scores(query), c.Exact)
		weights := sevenWeights(c.Data.NS)
		compare(t, "weighted", mustFit(t, p, h, Options{Weights: weights}).Scores(query), c.Weighted)

		y, mean := targets(p.Labels, p.Classes, weights)
		m := &Model{Landmarks: dense.Rows(p.Source, 0, c.Data.NS/3), Mean: mean, Gamma: c.Gamma}
		a, err := landmarkEquations(t.Context(), p.Source, m.Landmarks, y, weights, h).solve(t.Context(), h.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		m.Coefficients = narrow(a)
		compare(t, "Nyström", m.Scores(query), c.Nystroem)
	}
}

// Compares with models that were trained without each row.
func TestChooseAgreesWithBruteForce(t *testing.T) {
	for _, c := range oracle(t) {
		p := c.Data.Data()
		got, err := Choose(t.Context(), p.Source, p.Labels, p.Classes, 0)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Gamma/c.LeftOut.Gamma-1) > 1e-6 || got.Lambda != c.LeftOut.Alpha {
			t.Errorf("%v: chose %+v, want gamma %g, lambda %g", c.Data, got.Hyper, c.LeftOut.Gamma, c.LeftOut.Alpha)
		}
		if len(got.Rows) != c.Data.NS {
			t.Errorf("%v: %d rows were looked at", c.Data, len(got.Rows))
		}
		compare(t, "left out", got.LeftOut, c.LeftOut.Scores)
	}
}

// Sizes about those of the blocks.
func TestInvertFactor(t *testing.T) {
	for _, n := range []int{1, 2, innerBlock - 1, innerBlock, innerBlock + 1, outerBlock, outerBlock + innerBlock, 2*outerBlock + 1} {
		x := simulate.Oracle{C: 2, D: 9, NS: n, Spread: 1, Seed: 3}.Data().Source
		k := Gram(x, x, 0.01)
		for i := range n {
			k.Data[i*n+i] += 0.01
		}
		m := lower(k)
		if !invertFactor(m, outerBlock) {
			t.Fatalf("%d rows: not positive definite", n)
		}
		factor, full := mat.NewDense(n, n, m.Data), mat.NewDense(n, n, k.Data)
		var product mat.Dense // M·K·Mᵀ = 1
		product.Product(factor, full, factor.T())
		for i := range n {
			product.Set(i, i, product.At(i, i)-1)
		}
		if d := mat.Max(&product); d > 1e-9 {
			t.Errorf("%d rows: M·K·Mᵀ is off by %g", n, d)
		}
		k.Data[n*n-1] = -1
		if invertFactor(lower(k), outerBlock) {
			t.Errorf("%d rows: a matrix that is not positive definite has a factor", n)
		}
	}
}

var many = simulate.Oracle{C: 4, D: 20, NS: 1500, NT: 500, Spread: 0.4, Shift: 0.2, Cuts: []int{2, 5, 7}, Seed: 8}

// Scores are those of the formula, in blocks or not.
func TestScoresAreExact(t *testing.T) {
	p := many.Data()
	m := mustFit(t, p, Hyper{0.02, 0.1}, Options{})
	got, k := m.Scores(p.Target), Gram(p.Target, m.Landmarks, m.Gamma)
	for i := range got.Rows {
		for c := range got.Cols {
			want := float64(m.Mean[c])
			for l, v := range k.Data[i*k.Stride:][:k.Cols] {
				want += v * float64(dense.Row(m.Coefficients, l)[c])
			}
			if v := dense.Row(got, i)[c]; !(math.Abs(float64(v)-want) <= 1e-6) {
				t.Fatalf("score %d of row %d is %g, want %g", c, i, v, want)
			}
		}
	}
	if none := m.Scores(dense.New(0, 20)); none.Rows != 0 || none.Cols != 4 {
		t.Errorf("scores of no rows are %d×%d", none.Rows, none.Cols)
	}
}

func TestDistancesAndKernel(t *testing.T) {
	x := dense.New(3, 2)
	copy(x.Data, []float32{0, 0, 3, 4, 1e4, 1e4})
	z := dense.Rows(x, 1, 3)
	if got, want := SquaredDistances(x, z).Data, []float64{25, 2e8, 0, 1.9986e8 + 25, 1.9986e8 + 25, 0}; !slices.Equal(got, want) {
		t.Errorf("distances %v, want %v", got, want)
	}
	if got, want := Gram(x, z, 0.1).Data[0], math.Exp(-2.5); math.Abs(got-want) > 1e-15 {
		t.Errorf("kernel %g, want %g", got, want)
	}
	if got := Gram(x, dense.New(0, 2), 1); got.Rows != 3 || got.Cols != 0 {
		t.Errorf("no points: %d×%d", got.Rows, got.Cols)
	}
}

// Landmarks are drawn by seed, from each class in its share.
func TestLandmarks(t *testing.T) {
	labels := slices.Repeat([]int32{0, 0, 0, 2}, 250)
	index := landmarks(labels, 100, 1)
	count := map[int32]int{}
	for i, row := range index {
		if i > 0 && row <= index[i-1] {
			t.Fatalf("rows %v are not rising", index)
		}
		count[labels[row]]++
	}
	if count[0] != 75 || count[2] != 25 {
		t.Errorf("classes have %v landmarks", count)
	}
	if slices.Equal(index, landmarks(labels, 100, 2)) || !slices.Equal(index, landmarks(labels, 100, 1)) {
		t.Error("the seed does not draw them")
	}
}

func TestSameBytesWithAnyThreads(t *testing.T) {
	defer kernel.SetJobs(0)
	p := many.Data()
	var want []float32
	for jobs := 1; jobs <= 3; jobs++ {
		kernel.SetJobs(jobs)
		chosen, err := Choose(t.Context(), p.Source, p.Labels, p.Classes, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := mustFit(t, p, chosen.Hyper, Options{Seed: 1})
		got := slices.Concat(chosen.LeftOut.Data, m.Coefficients.Data, m.Scores(p.Target).Data)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: results differ", jobs)
		}
	}
}

// Rows of weight 0 are as good as absent.
func TestRowsWithoutWeight(t *testing.T) {
	p := oracle(t)[0].Data.Data()
	part := p
	part.Source, part.Labels = dense.Rows(p.Source, 0, 45), p.Labels[:45]
	want := mustFit(t, part, Hyper{0.5, 0.1}, Options{}).Scores(p.Source)
	weights := slices.Concat(slices.Repeat([]float64{1}, 45), make([]float64, 15))
	got := mustFit(t, p, Hyper{0.5, 0.1}, Options{Weights: weights}).Scores(p.Source)
	for i, v := range got.Data {
		if !(math.Abs(float64(v-want.Data[i])) < 1e-5) {
			t.Fatalf("score %d is %g, want %g", i, v, want.Data[i])
		}
	}
}

// Rows that are all alike can be fitted: their kernel matrix has rank 1.
func TestEqualRows(t *testing.T) {
	x, labels := dense.New(1200, 3), slices.Repeat([]int32{0, 1, 1}, 400)
	chosen, err := Choose(t.Context(), x, labels, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), x, labels, 2, chosen.Hyper, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Scores(dense.New(1, 3)).Data; math.Abs(float64(got[0])-1./3) > 1e-3 || math.Abs(float64(got[1])-2./3) > 1e-3 {
		t.Errorf("scores %v, want the shares of the classes", got)
	}
}

func TestRefuses(t *testing.T) {
	bad := dense.New(2, 2)
	bad.Data[3] = float32(math.Inf(-1))
	for want, x := range map[string]blas32.General{
		"source row 1, column 1 is -Inf": bad,
		"no rows or no columns":          dense.New(0, 2),
	} {
		labels := make([]int32, x.Rows)
		if _, err := Fit(t.Context(), x, labels, 2, Hyper{1, 1}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Fit: got %v, want an error with %q", err, want)
		}
		if _, err := Choose(t.Context(), x, labels, 2, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Choose: got %v, want an error with %q", err, want)
		}
	}
	if _, err := Fit(t.Context(), dense.New(3, 2), make([]int32, 3), 2, Hyper{Gamma: 1}, Options{}); err == nil || !strings.Contains(err.Error(), "raise lambda above 0") {
		t.Errorf("equal rows and no lambda: %v", err)
	}
}

func TestMisusePanics(t *testing.T) {
	p := many.Data()
	for name, f := range map[string]func(){
		"a label too few":  func() { _, _ = Fit(t.Context(), p.Source, p.Labels[1:], 4, Hyper{1, 1}, Options{}) },
		"a weight too few": func() { _, _ = Fit(t.Context(), p.Source, p.Labels, 4, Hyper{1, 1}, Options{Weights: []float64{1}}) },
		"another width":    func() { (&Model{Landmarks: p.Source}).Scores(dense.New(1, 3)) },
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
	p := oracle(t)[0].Data.Data()
	contexttest.Stops(t, len(gammas)*len(lambdas), func(ctx context.Context) error {
		_, err := Choose(ctx, p.Source, p.Labels, p.Classes, 0)
		return err
	})
	for _, landmarks := range []int{10, 1000} {
		contexttest.Stops(t, 2, func(ctx context.Context) error {
			_, err := Fit(ctx, p.Source, p.Labels, p.Classes, Hyper{1, 1}, Options{Landmarks: landmarks})
			return err
		})
	}
}

func BenchmarkChoose(b *testing.B) {
	p := simulate.Oracle{C: 5, D: 50, NS: 1200, Spread: 0.3, Seed: 7}.Data()
	for b.Loop() {
		if _, err := Choose(b.Context(), p.Source, p.Labels, 5, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScores(b *testing.B) {
	p := simulate.Oracle{C: 5, D: 50, NS: 4000, Spread: 0.3, Seed: 7}.Data()
	m := mustFit(b, p, Hyper{0.01, 0.1}, Options{})
	for b.Loop() {
		m.Scores(p.Source)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Source.Rows), "ns/row")
}
