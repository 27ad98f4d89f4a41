package prepare

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
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/pca"
)

// oracleCase is one of testdata/oracle/classifiers/prepare.json.
type oracleCase struct {
	Data       simulate.Oracle
	Counts     bool
	Kept       []int
	Sparse     bool
	Rows       [][]float64 // the first mapped rows
	Deviations []float64   // of the mapped columns
}

func oracle(t *testing.T) (cases []oracleCase) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/classifiers/prepare.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// table is table of generate.py.
func (c oracleCase) table() blas32.General {
	x := c.Data.Data().Source
	for i, v32 := range x.Data {
		v := float64(v32)
		if c.Counts {
			x.Data[i] = float32(max(math.Floor(3*v-2), 0))
			continue
		}
		x.Data[i] = float32(column(i%x.Cols%6, v))
	}
	return x
}

func column(kind int, v float64) float64 {
	switch kind {
	case 1: // constant up to rounding
		return 5 + 1e-8*v
	case 2: // seldom 1
		if v > 3 {
			return 1
		}
		return 0
	case 3: // few values
		return math.RoundToEven(v)
	case 4: // some far outside
		return math.Pow(v, 5)
	case 5:
		return 1000 + 0.01*v
	}
	return v
}

func deviations(x blas32.General) []float64 {
	mean, all := dense.ColumnMeans(x), make([]float64, x.Cols)
	for j := range all {
		sum := 0.0
		for i := range x.Rows {
			d := float64(dense.Row(x, i)[j]) - mean[j]
			sum += d * d
		}
		all[j] = math.Sqrt(sum / float64(x.Rows))
	}
	return all
}

// Compares with what NumPy makes of the package's documentation. Components have
// no sign.
func TestFitFollowsItsDocumentation(t *testing.T) {
	const tolerance = 2e-4 // rows are float32, and components of similar variance mix
	for _, c := range oracle(t) {
		x := c.table()
		p := mustFit(t, x)
		if !slices.Equal(p.Kept, c.Kept) || p.Counts != c.Sparse || p.Width() != len(c.Deviations) {
			t.Errorf("%v: kept %v, sparse %v, width %d; want %v, %v, %d", c.Data, p.Kept, p.Counts, p.Width(), c.Kept, c.Sparse, len(c.Deviations))
			continue
		}
		if p.Axes != nil && x.Rows > maxAxes+pca.SpareAxes {
			continue
		}
		z := p.Apply(x)
		for i, row := range c.Rows {
			for j, want := range row {
				got := float64(dense.Row(z, i)[j])
				if p.Axes != nil {
					got, want = math.Abs(got), math.Abs(want)
				}
				if !(math.Abs(got-want) <= tolerance) {
					t.Fatalf("%v: row %d, value %d is %g, want %g", c.Data, i, j, got, want)
				}
			}
		}
		for j, got := range deviations(z) {
			if !(math.Abs(got-c.Deviations[j]) <= tolerance) {
				t.Fatalf("%v: deviation %d is %g, want %g", c.Data, j, got, c.Deviations[j])
			}
		}
	}
}

// Of many rows, the components have nearly as much of the variance as the best, in
// the same unit.
func TestComponentsOfManyRows(t *testing.T) {
	for _, c := range oracle(t) {
		x := c.table()
		if x.Rows <= maxAxes+pca.SpareAxes || len(c.Deviations) != maxAxes {
			continue
		}
		var mean, got, want float64
		for j, d := range deviations(mustFit(t, x).Apply(x)) {
			mean += d / maxAxes
			got, want = got+d*d, want+c.Deviations[j]*c.Deviations[j]
		}
		if math.Abs(mean-1) > 1e-5 || math.Abs(got/want-1) > 0.01 {
			t.Errorf("mean deviation %g, want 1; sum of variances %g, want %g", mean, got, want)
		}
		return
	}
	t.Error("there is no such case")
}

func TestValuesAreCutOff(t *testing.T) {
	x := wide(100)
	x.Cols = 5
	p := mustFit(t, x)
	far := dense.New(1, 5)
	far.Data = []float32{1e6, -1e6, math.MaxFloat32, 0, 0}
	if got := p.Apply(far).Data[:3]; !slices.Equal(got, []float32{clipping, -clipping, clipping}) {
		t.Errorf("got %v", got)
	}
}

func TestSameBytesWithAnyThreads(t *testing.T) {
	defer kernel.SetJobs(0)
	x := wide(700)
	var want []float32
	for jobs := 1; jobs <= 3; jobs++ {
		kernel.SetJobs(jobs)
		got := mustFit(t, x).Apply(x).Data
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: mapped rows differ", jobs)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	bad := wide(10)
	bad.Data[3*bad.Cols+7] = float32(math.NaN())
	for want, x := range map[string]blas32.General{
		"source row 3, column 7 is NaN": bad,
		"all source rows are equal":     dense.New(5, 3),
		"there are no rows":             dense.New(0, 3),
	} {
		if _, err := Fit(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestApplyPanicsAtAnotherWidth(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("rows of another width are mapped")
		}
	}()
	mustFit(t, wide(10)).Apply(dense.New(1, 3))
}

func TestContextEndsFit(t *testing.T) {
	x := wide(300)
	contexttest.Stops(t, pca.Rounds, func(ctx context.Context) error {
		_, err := Fit(ctx, x, 0)
		return err
	})
}

// Principal components keep their proportions, with a little disorder too; other columns
// do not.
func TestFall(t *testing.T) {
	var components, disordered, rising, few []float64
	for j := range 40 {
		d := math.Pow(float64(j+1), -.5)
		components = append(components, d)
		disordered = append(disordered, d*(1+.1*float64(j%3)))
		rising = append(rising, 1/d)
	}
	few = components[:7]
	equal := slices.Repeat([]float64{1}, 40)
	slight := make([]float64, 40)
	for j := range slight {
		slight[j] = 1 - float64(j)/100
	}
	for name, test := range map[string]struct {
		deviations []float64
		want       bool
	}{"components": {components, true}, "disordered": {disordered, true}, "rising": {rising, false}, "few": {few, false}, "equal": {equal, false}, "slight": {slight, false}} {
		if got := fall(test.deviations); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Components are divided by one number, and what is far out is not cut off.
func TestComponentsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	x := dense.New(500, 20)
	for i := range x.Rows {
		for j := range x.Cols {
			x.Data[i*x.Cols+j] = float32(10 / float64(j+1) * rng.NormFloat64())
		}
	}
	p, err := Fit(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Together || p.Scale[0] != p.Scale[19] {
		t.Errorf("together %v, scales %v", p.Together, p.Scale)
	}
	far := dense.New(1, 20)
	far.Data[0] = 1000
	if z := p.Apply(far); z.Data[0] < 100 {
		t.Errorf("a component is cut off at %v", z.Data[0])
	}
}
