package unmix

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

var names = []string{"a", "b", "c", "d"}

func mustFit(t *testing.T, x blas32.General, labels []int32, classes []string) *Model {
	t.Helper()
	m, err := Fit(t.Context(), x, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustPredict(t *testing.T, m *Model, x blas32.General) blas32.General {
	t.Helper()
	p, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func matrix(rows [][]float32) (x blas32.General) {
	for _, row := range rows {
		dense.Append(&x, row)
	}
	return x
}

// Compares with scipy, testdata/oracle/unmix/generate.py.
func TestAgreesWithScipy(t *testing.T) {
	const tolerance = 2e-4 // rows are float32
	text, err := os.ReadFile("../../../testdata/oracle/unmix/unmix.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct {
		Source, Target [][]float32
		Labels         []int32
		Shares         [][]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for what, o := range cases {
		m := mustFit(t, matrix(o.Source), o.Labels, names[:len(o.Shares[0])])
		if m.Amounts() != (what == "amounts") {
			t.Errorf("%s: taken for amounts: %t", what, m.Amounts())
		}
		p := mustPredict(t, m, matrix(o.Target))
		for i, want := range o.Shares {
			for k, share := range want {
				if got := float64(dense.Row(p, i)[k]); !(math.Abs(got-share) <= tolerance) {
					t.Errorf("%s, row %d, class %d: %g, want %g", what, i, k, got, share)
				}
			}
		}
		var file bytes.Buffer
		m.Proportions = dense.Uniform(len(m.Classes))
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := Load(bytes.NewReader(file.Bytes()), "file")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range mustPredict(t, again, matrix(o.Target)).Data {
			if v != p.Data[i] {
				t.Fatalf("%s: what was kept answers otherwise", what)
			}
		}
	}
}

// amountsOf makes rows of three classes in 120 columns, as many as each of n, and a mixture of them as another machine sees it.
func amountsOf(rng *rand.Rand, n int, shares []float64) (x blas32.General, labels []int32, mixed blas32.General) {
	usual := make([][]float64, 3)
	for k := range usual {
		usual[k] = make([]float64, 120)
		for j := range usual[k] {
			usual[k][j] = math.Exp(1.5 * rng.NormFloat64())
		}
		for range n {
			row := make([]float32, 120)
			for j, v := range usual[k] {
				row[j] = float32(v * math.Exp(rng.NormFloat64()/5))
			}
			dense.Append(&x, row)
			labels = append(labels, int32(k))
		}
	}
	row := make([]float32, 120)
	for j := range row {
		seen := 7 * math.Exp(rng.NormFloat64()/3)
		for k, share := range shares {
			row[j] += float32(seen * share * usual[k][j])
		}
	}
	dense.Append(&mixed, row)
	return x, labels, mixed
}

// One row a class is enough, and a row of any size. A row in which there is nothing says nothing.
func TestAmounts(t *testing.T) {
	shares := []float64{.6, .3, .1}
	for _, n := range []int{1, 5} {
		x, labels, mixed := amountsOf(rand.New(rand.NewPCG(4, uint64(n))), n, shares)
		m := mustFit(t, x, labels, names[:3])
		dense.Append(&mixed, make([]float32, 120))
		p := mustPredict(t, m, mixed)
		for k, share := range shares {
			if got := float64(dense.Row(p, 0)[k]); math.Abs(got-share) > .1 {
				t.Errorf("%d rows a class, class %d: %g, want about %g", n, k, got, share)
			}
			if got := dense.Row(p, 1)[k]; got != float32(1./3) {
				t.Errorf("%d rows a class: nothing gives %g of class %d", n, got, k)
			}
		}
		b, err := m.Bounds(t.Context(), x, labels, dense.Rows(mixed, 0, 1), IntervalOptions{Replicates: 40})
		if err != nil {
			t.Fatal(err)
		}
		for k, share := range shares {
			if share < b.Lower[k] || share > b.Upper[k] {
				t.Errorf("%d rows a class, class %d: %g is not within %g and %g", n, k, share, b.Lower[k], b.Upper[k])
			}
		}
		dense.Row(mixed, 1)[7] = -0.5
		_, rows := m.Predict(t.Context(), mixed)
		_, together := m.Together(t.Context(), mixed)
		for _, err := range []error{rows, together} {
			if err == nil || !strings.Contains(err.Error(), "row 2: feature 8 ") || !strings.Contains(err.Error(), "is -0.5, but the source has amounts") {
				t.Errorf("a row with less than nothing: %v", err)
			}
		}
		dense.Row(x, 0)[0] = -1
		if mustFit(t, x, labels, names[:3]).Amounts() {
			t.Error("values below 0 are taken for amounts")
		}
	}
	x, labels, _ := amountsOf(rand.New(rand.NewPCG(5, 0)), 2, shares)
	copy(x.Data[4*x.Stride:], x.Data[2*x.Stride:4*x.Stride]) // two classes are alike
	if _, err := Fit(t.Context(), x, labels, names[:3]); err == nil || !strings.Contains(err.Error(), "several mixtures of them are the same row") {
		t.Errorf("classes that are alike: %v", err)
	}
}

// draw makes n rows of each of four classes in five columns, and mixtures of those shares of so many rows each.
func draw(rng *rand.Rand, n, mixtures, of int, shares []float64) (x blas32.General, labels []int32, mixed blas32.General) {
	row := func(k int) []float32 {
		v := make([]float32, 5)
		for j := range v {
			v[j] = float32(rng.NormFloat64() + 4*math.Cos(float64(k*(j+1)+j)))
		}
		return v
	}
	for k := range names {
		for range n {
			dense.Append(&x, row(k))
			labels = append(labels, int32(k))
		}
	}
	for range mixtures {
		sum := make([]float32, 5)
		for range of {
			k, u := 0, rng.Float64()
			for ; k < len(shares)-1 && u > shares[k]; k++ {
				u -= shares[k]
			}
			for j, v := range row(k) {
				sum[j] += v / float32(of)
			}
		}
		dense.Append(&mixed, sum)
	}
	return x, labels, mixed
}

// Rows that are drawn again vary as rows do, whatever the units. The bounds, which stand for more than chance, are
// wider, and those of groups are of the sums.
func TestBoundsHold(t *testing.T) {
	shares, groups := []float64{.5, .3, .15, .05}, [][]int{{0, 0, 1, 1}}
	const draws, replicates = 60, 60
	chance, all, together := 0, 0, 0
	for i := range draws {
		of := []int{1, 9}[i%2] // rows of one class are mixtures too
		x, labels, mixed := draw(rand.New(rand.NewPCG(1, uint64(i))), 40, 60, of, shares)
		for _, v := range []blas32.General{x, mixed} {
			for r := range v.Rows {
				dense.Row(v, r)[1] *= 1e5
			}
		}
		m := mustFit(t, x, labels, names)
		drawn := make([][]float64, replicates)
		for j := range drawn {
			var err error
			if drawn[j], err = m.replicate(t.Context(), x, labels, m.rowsOf(labels), mixed, rand.New(rand.NewPCG(uint64(i), uint64(j)))); err != nil {
				t.Fatal(err)
			}
		}
		b, err := m.Bounds(t.Context(), x, labels, mixed, IntervalOptions{Groups: groups, Replicates: replicates, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		rows := percentiles(drawn, .9)
		for k, share := range shares {
			if rows.Lower[k] <= share && share <= rows.Upper[k] {
				chance++
			}
			if b.Lower[k] <= share && share <= b.Upper[k] {
				all++
			}
		}
		if b.Groups[0].Lower[0] <= .8 && .8 <= b.Groups[0].Upper[0] {
			together++
		}
		if width := b.Upper[0] - b.Lower[0]; width < .25 || width > .6 || b.Error < .15 || b.Error > .5 {
			t.Errorf("the first class is bounded by %g and %g, expected error %g", b.Lower[0], b.Upper[0], b.Error)
		}
	}
	if rate := float64(chance) / draws / 4; rate < .8 || rate > .97 {
		t.Errorf("%.3f of the shares are within those of rows that are drawn again", rate)
	}
	if rate, groups := float64(all)/draws/4, float64(together)/draws; rate < .95 || groups < .95 {
		t.Errorf("%.3f of the bounds hold, of groups %.3f", rate, groups)
	}
}

func TestRefuses(t *testing.T) {
	x, labels, mixed := draw(rand.New(rand.NewPCG(2, 0)), 20, 3, 5, []float64{.25, .25, .25, .25})
	narrow := blas32.General{Rows: x.Rows, Cols: 2, Stride: 2}
	for i := range x.Rows {
		narrow.Data = append(narrow.Data, dense.Row(x, i)[:2]...)
	}
	broken := dense.Clone(x)
	broken.Data[7] = float32(math.NaN())
	for what, test := range map[string]struct {
		x       blas32.General
		labels  []int32
		classes []string
		want    string
	}{
		"one class":                   {x, make([]int32, x.Rows), names[:1], "at least two can be mixed"},
		"NaN":                         {broken, labels, names, "row 1"},
		"fewer columns than it takes": {narrow, labels, names, "span fewer than 3 dimensions"},
	} {
		if _, err := Fit(t.Context(), test.x, test.labels, test.classes); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m := mustFit(t, x, labels, names)
	damage(t, m, mixed)
	x, labels, mixed = amountsOf(rand.New(rand.NewPCG(6, 0)), 2, []float64{.5, .3, .2})
	damage(t, mustFit(t, x, labels, names[:3]), mixed)
}

// Mixtures can be told apart if the classes' means are no mixtures of each other, however far they are from 0.
func TestTellsApart(t *testing.T) {
	for what, test := range map[string]struct {
		means []float64 // in two dimensions
		apart bool
	}{
		"a triangle":              {[]float64{100, 0, 101, 0, 100, 1}, true},
		"a triangle far from 0":   {[]float64{1e4, 0, 1e4 + 1, 0, 1e4, 1}, true},
		"a line far from 0":       {[]float64{1e4, 0, 1e4 + 1, 0, 1e4 + 3, 0}, false},
		"a triangle at 0":         {[]float64{0, 0, 1, 0, 0, 1}, true},
		"a line":                  {[]float64{100, 0, 101, 0, 103, 0}, false},
		"a line through 0":        {[]float64{-1, -2, 1, 2, 3, 6}, false},
		"two means are the same":  {[]float64{5, 1, 5, 1, 7, 3}, false},
		"two classes":             {[]float64{5, 1, 7, 3}, true},
		"two that are the same":   {[]float64{5, 1, 5, 1}, false},
		"four in two dimensions":  {[]float64{0, 0, 1, 0, 0, 1, 1, 1}, false},
		"a triangle that is flat": {[]float64{100, 0, 101, 0, 100, .01}, true},
	} {
		means := mat.NewDense(len(test.means)/2, 2, test.means)
		m := &Model{Classes: names[:len(test.means)/2], gram: &mat.Dense{}}
		m.gram.Mul(means, means.T())
		if err := m.tellApart(); (err == nil) != test.apart {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// damage checks that nothing panics and no NaN is passed on, whatever is damaged.
func damage(t *testing.T, m *Model, mixed blas32.General) {
	t.Helper()
	m.Proportions = dense.Uniform(len(m.Classes))
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < file.Len(); i += 7 {
		damaged := bytes.Clone(file.Bytes())
		damaged[i] ^= 0x55
		if again, err := Load(bytes.NewReader(damaged), "file"); err == nil && again.Width() == mixed.Cols {
			if p, err := again.Predict(t.Context(), mixed); err == nil && !dense.Finite(p.Data) {
				t.Errorf("byte %d: shares are not finite", i)
			}
		}
	}
}

func TestContextEnds(t *testing.T) {
	x, labels, mixed := draw(rand.New(rand.NewPCG(3, 0)), 20, 200, 5, []float64{.25, .25, .25, .25})
	m := mustFit(t, x, labels, names)
	contexttest.Stops(t, 3, func(ctx context.Context) error {
		_, err := m.Predict(ctx, mixed)
		return err
	})
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := m.Bounds(ctx, x, labels, mixed, IntervalOptions{Replicates: 4})
		return err
	})
}
