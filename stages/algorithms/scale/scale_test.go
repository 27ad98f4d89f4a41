package scale

import (
	"context"
	"mars.dev/mars/internal/contexttest"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func matrix(rows, cols, stride int, data []float32) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: data}
}

func TestFitApply(t *testing.T) {
	nan := float32(math.NaN()) // between the rows, never to be read
	x := matrix(4, 3, 4, []float32{1, 5, -2, nan, 2, 5, 0, nan, 3, 5, 0, nan, 4, 5, 2})
	s, constant, err := Fit(t.Context(), x)
	if err != nil || !slices.Equal(constant, []int{1}) {
		t.Errorf("constant columns %v, want [1]; error %v", constant, err)
	}
	wantMean, wantDeviation := []float64{2.5, 5, 0}, []float64{math.Sqrt(1.25), 0, math.Sqrt2}
	for j := range 3 {
		if math.Abs(s.Mean[j]-wantMean[j]) > 1e-12 || math.Abs(s.Deviation[j]-wantDeviation[j]) > 1e-12 {
			t.Errorf("column %d: %v, %v; want %v, %v", j, s.Mean[j], s.Deviation[j], wantMean[j], wantDeviation[j])
		}
	}
	if err := s.Apply(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if again, _, _ := Fit(t.Context(), x); math.Abs(again.Mean[2]) > 1e-7 || math.Abs(again.Deviation[2]-1) > 1e-6 || x.Data[1] != 0 {
		t.Errorf("after Apply: %+v, constant column %v", again, x.Data[1])
	}
}

// A large offset must not drown the deviation, as one-pass sums of squares do.
func TestFitOffset(t *testing.T) {
	x := matrix(4, 1, 1, []float32{1 << 23, 1<<23 + 1, 1<<23 + 2, 1<<23 + 3})
	s, constant, _ := Fit(t.Context(), x)
	if math.Abs(s.Deviation[0]-math.Sqrt(1.25)) > 1e-12 || constant != nil {
		t.Errorf("deviation %v, constant %v", s.Deviation[0], constant)
	}
	y := matrix(3, 1, 1, []float32{.1, .1, .1}) // whose mean is not .1 in binary
	if s, constant, _ = Fit(t.Context(), y); len(constant) != 1 || s.Deviation[0] != 0 || s.Mean[0] != float64(float32(.1)) {
		t.Errorf("constant column: %+v, %v", s, constant)
	}
}

func TestFunctionsStopWithTheirContext(t *testing.T) {
	x := matrix(3, checkedValues, checkedValues, make([]float32, 3*checkedValues))
	var s Standard
	contexttest.Stops(t, 6, func(ctx context.Context) (err error) {
		s, _, err = Fit(ctx, x)
		return err
	})
	contexttest.Stops(t, 3, func(ctx context.Context) error { return s.Apply(ctx, x) })
	x = matrix(2, 3, 3, make([]float32, 6))
	for _, m := range []Method{Robust, Quantile} {
		contexttest.Stops(t, 3, func(ctx context.Context) error {
			_, _, err := FitBy(ctx, m, x)
			return err
		})
	}
	x = matrix(3, checkedValues, checkedValues, make([]float32, 3*checkedValues))
	q := Quantiles{Values: slices.Repeat([][]float64{{0, 0}}, checkedValues)}
	contexttest.Stops(t, 3, func(ctx context.Context) error { return q.Apply(ctx, x) })
}

func TestErrors(t *testing.T) {
	s := Standard{Mean: []float64{0, 0}, Deviation: []float64{1, 1e-40}}
	for want, err := range map[string]error{
		"fitted to 2 features, the data have 3":            s.Check(3),
		"2 means but 1 deviations":                         Standard{Mean: []float64{0, 0}, Deviation: []float64{1}}.Check(2),
		"feature 1 has mean 0 and deviation -1":            Standard{Mean: []float64{0, 0}, Deviation: []float64{1, -1}}.Check(2),
		"feature 0 has mean NaN":                           Standard{Mean: []float64{math.NaN()}, Deviation: []float64{1}}.Check(1),
		"quantiles: fitted to 1 features, the data have 2": Quantiles{Values: [][]float64{{1}}}.Check(2),
		"those of feature 1 are no 2 ascending":            Quantiles{Values: [][]float64{{1, 2}, {2, 1}}}.Check(2),
		"those of feature 0 are no 1 ascending":            Quantiles{Values: [][]float64{{math.NaN()}, {1}}}.Check(2),
		"those of feature 0 are no 0 ascending":            Quantiles{Values: [][]float64{{}, {}}}.Check(2),
		"log1p true with the cofactor 5":                   Transform{Log1p: true, Cofactor: 5}.Check(),
		"row 2, feature 2: 3 lies":                         s.Apply(t.Context(), matrix(2, 2, 2, []float32{0, 0, 0, 3})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := s.Check(2); err != nil {
		t.Error(err)
	}
}

// A column that had one value says nothing of other rows, whatever theirs are.
func TestConstantColumnElsewhere(t *testing.T) {
	s, _, _ := Fit(t.Context(), matrix(3, 2, 2, []float32{1, 5, 2, 5, 3, 5}))
	x := matrix(2, 2, 2, []float32{2, 1e30, 2, -7})
	if err := s.Apply(t.Context(), x); err != nil || !slices.Equal(x.Data, []float32{0, 0, 0, 0}) {
		t.Errorf("%v, %v", x.Data, err)
	}
	if scales := s.Scales(); scales[1] != 0 || math.Abs(scales[0]*s.Deviation[0]-1) > 1e-15 {
		t.Errorf("scales %v", scales)
	}
}

// What had one value becomes 0 however it is scaled, and so does the only row.
func TestConstantColumnsOfAllMethods(t *testing.T) {
	for _, m := range Methods {
		for _, rows := range []int{1, 3} {
			x := matrix(rows, 1, 1, slices.Repeat([]float32{5}, rows))
			s, constant, err := FitBy(t.Context(), m, x)
			if err != nil || !slices.Equal(constant, []int{0}) {
				t.Errorf("%s of %d rows: constant %v, %v", m, rows, constant, err)
			}
			x.Data[0] = 7
			if err := s.Apply(t.Context(), x); err != nil || x.Data[0] != 0 {
				t.Errorf("%s of %d rows: %v, %v", m, rows, x.Data[0], err)
			}
		}
	}
}

// Small numbers have normal scores as others do.
func TestQuantilesOfSmallNumbers(t *testing.T) {
	x := matrix(5, 1, 1, []float32{1e-9, 2e-9, 3e-9, 4e-9, 5e-9})
	q, _, _ := FitQuantiles(t.Context(), x)
	if err := q.Apply(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	want := []float32{-5.1993375, -0.6744898, 0, 0.6744898, 5.1993375}
	for i, w := range want {
		if math.Abs(float64(x.Data[i]-w)) > 1e-6 {
			t.Errorf("%v, want %v", x.Data, want)
			break
		}
	}
}

// A deviation whose inverse is no float32 counts as none: it would be infinite, and NaN times 0.
func TestScalesAreFinite(t *testing.T) {
	s := Standard{Mean: make([]float64, 4), Deviation: []float64{0, 1e-44, 1e-38, 4}}
	for j, by := range s.Scales() {
		if want := []float64{0, 0, 0, 0.25}[j]; j != 2 && by != want || math.IsInf(float64(float32(by)), 0) {
			t.Errorf("deviation %g: times %g", s.Deviation[j], by)
		}
	}
}
