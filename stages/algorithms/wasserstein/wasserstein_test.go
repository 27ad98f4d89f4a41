package wasserstein

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
)

// rowsOf is a matrix of the given rows.
func rowsOf(rows [][]float32) blas32.General {
	x := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, row := range rows {
		x.Data = append(x.Data, row...)
	}
	return x
}

// cloud is n normal rows around mean.
func cloud(seed uint64, n, d int, mean float64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range x.Data {
		x.Data[i] = float32(mean + rng.NormFloat64())
	}
	return x
}

func reference(t *testing.T, target blas32.General, o Options) *Reference {
	t.Helper()
	r, err := NewReference(t.Context(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDistanceIsPOTs(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/oracle/wasserstein/wasserstein.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		X, Y     [][]float32
		Masses   []float64
		Distance float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		y := rowsOf(c.Y)
		r := reference(t, rowsOf(append(c.Y, c.Y...)), Options{Rows: len(c.Y)})
		r.rows = y
		got, err := r.distance(t.Context(), rowsOf(c.X), c.Masses)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-c.Distance) > 1e-6*c.Distance {
			t.Errorf("case %d: %v, want %v", i, got, c.Distance)
		}
	}
}

// On the line it is the area between the two distribution functions.
func TestDistanceOnTheLine(t *testing.T) {
	source, target := cloud(1, 150, 1, 0), cloud(2, 200, 1, 1)
	labels := make([]int32, 150)
	for i := range labels {
		labels[i] = int32(i % 2)
	}
	proportions := []float64{0.8, 0.2}
	r := reference(t, target, Options{})
	d, err := r.To(t.Context(), source, labels, proportions)
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows != 100 {
		t.Errorf("%d rows were compared, want half of 200", d.Rows)
	}
	rows, masses := r.stratify(labels, proportions)
	if len(rows) != 75+20 {
		t.Errorf("%d source rows, want all 75 of class 0 and 20 of class 1", len(rows))
	}
	mass := map[float32]float64{} // of the source minus that of the target, at each point
	for k, i := range rows {
		mass[source.Data[i]] += masses[k]
	}
	for _, v := range r.rows.Data {
		mass[v] -= 1 / float64(r.rows.Rows)
	}
	points := slices.Sorted(maps.Keys(mass))
	want, below := 0.0, 0.0
	for k, v := range points[1:] {
		below += mass[points[k]]
		want += math.Abs(below) * float64(v-points[k])
	}
	if math.Abs(d.Value-want) > 1e-6 {
		t.Errorf("distance %v, want %v", d.Value, want)
	}
}

// The ratio is about 1 if the weighted source is like the target. It is greater
// if weights are wrong or a class has moved.
func TestRatio(t *testing.T) {
	mixture := func(seed uint64, n int, first, by float64) (blas32.General, []int32) {
		x, labels := cloud(seed, n, 4, 0), make([]int32, n)
		for i := range labels {
			if float64(i) >= first*float64(n) {
				labels[i] = 1
				x.Data[i*4] += float32(6 + by)
			}
		}
		return x, labels
	}
	target, _ := mixture(3, 1500, 0.8, 0)
	r := reference(t, target, Options{})
	for name, c := range map[string]struct {
		first, by   float64
		proportions []float64
		low, high   float64
	}{
		"alike":         {0.8, 0, []float64{0.8, 0.2}, 0.85, 1.15},
		"weighted":      {0.5, 0, []float64{0.8, 0.2}, 0.85, 1.15},
		"wrong weights": {0.5, 0, []float64{0.5, 0.5}, 1.25, 5},
		"moved":         {0.5, 4, []float64{0.8, 0.2}, 1.25, 5},
	} {
		source, labels := mixture(4, 1500, c.first, c.by)
		d, err := r.To(t.Context(), source, labels, c.proportions)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := d.Ratio(); ratio < c.low || ratio > c.high {
			t.Errorf("%s: %.3f times the floor, want %v to %v", name, ratio, c.low, c.high)
		}
		again, _ := reference(t, target, Options{}).To(t.Context(), source, labels, c.proportions)
		if again != d {
			t.Errorf("%s: %v, and again %v", name, d, again)
		}
	}
}

// Rows are compared in the given space.
func TestSpace(t *testing.T) {
	target, source := cloud(5, 100, 3, 0), cloud(6, 80, 3, 0)
	labels := make([]int32, 80)
	plain, err := reference(t, target, Options{}).To(t.Context(), source, labels, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	twice := func(x blas32.General) (blas32.General, error) {
		for i := range x.Data {
			x.Data[i] *= 2
		}
		return x, nil
	}
	scaled, err := reference(t, target, Options{Space: twice}).To(t.Context(), source, labels, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(scaled.Value-2*plain.Value) > 1e-6 || math.Abs(scaled.Floor-2*plain.Floor) > 1e-6 {
		t.Errorf("%v in twice the space of %v", scaled, plain)
	}
	broken := func(x blas32.General) (blas32.General, error) { return x, errors.New("no model") }
	if _, err := NewReference(t.Context(), target, Options{Space: broken}); err == nil || err.Error() != "no model" {
		t.Errorf("error %v", err)
	}
}

func TestFunctionsStopWithTheirContext(t *testing.T) {
	target, source := cloud(5, 100, 3, 0), cloud(6, 80, 3, 0)
	var r *Reference
	contexttest.Stops(t, 80, func(ctx context.Context) (err error) {
		r, err = NewReference(ctx, target, Options{})
		return err
	})
	contexttest.Stops(t, 80, func(ctx context.Context) error {
		_, err := r.To(ctx, source, make([]int32, 80), []float64{1})
		return err
	})
}

func TestErrors(t *testing.T) {
	if _, err := NewReference(t.Context(), cloud(1, 1, 2, 0), Options{}); err == nil || !strings.Contains(err.Error(), "1 target rows: give at least two") {
		t.Errorf("error %v", err)
	}
	r := reference(t, cloud(1, 10, 2, 0), Options{})
	source := cloud(2, 4, 2, 0)
	if _, err := r.To(t.Context(), source, []int32{0, 0, 0, 0}, []float64{0, 1}); err == nil || !strings.Contains(err.Error(), "no class of the source has a share") {
		t.Errorf("error %v", err)
	}
	source.Data[3] = float32(math.Inf(1))
	if _, err := r.To(t.Context(), source, []int32{0, 0, 0, 0}, []float64{1}); err == nil || !strings.Contains(err.Error(), "give finite costs") {
		t.Errorf("error %v", err)
	}
	if got := (Distance{}).Ratio(); got != 1 {
		t.Errorf("ratio %v of two samples of one row each at the same place", got)
	}
}

func BenchmarkDistance(b *testing.B) {
	target, source := cloud(1, 2000, 50, 0), cloud(2, 4000, 50, 1)
	labels := make([]int32, 4000)
	for b.Loop() {
		r, err := NewReference(b.Context(), target, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.To(b.Context(), source, labels, []float64{1}); err != nil {
			b.Fatal(err)
		}
	}
}
