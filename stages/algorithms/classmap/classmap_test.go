package classmap

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// nearness is that of generate.py.
func nearness(source blas32.General, labels []int32, target blas32.General, classes int) blas32.General {
	means, counts := mat.NewDense(classes, source.Cols, nil), make([]float64, classes)
	for i, l := range labels {
		counts[l]++
		for j, v := range dense.Row(source, i) {
			means.Set(int(l), j, means.At(int(l), j)+float64(v))
		}
	}
	r := newRows(target.Rows, classes)
	for i := range target.Rows {
		p, sum := make([]float64, classes), 0.0
		for k := range classes {
			for j, v := range dense.Row(target, i) {
				d := float64(v) - means.At(k, j)/counts[k]
				p[k] -= d * d / float64(source.Cols)
			}
			p[k] = math.Exp(p[k])
			sum += p[k]
		}
		for k := range classes {
			dense.Row(r, i)[k] = float32(p[k] / sum)
		}
	}
	return r
}

func newRows(n, d int) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
}

// blocks returns x a few rows at a time.
func blocks(x blas32.General, rows int) iter.Seq2[blas32.General, error] {
	return func(yield func(blas32.General, error) bool) {
		for lo := 0; lo < x.Rows; lo += rows {
			n := min(rows, x.Rows-lo)
			if !yield(blas32.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]}, nil) {
				return
			}
		}
	}
}

func TestTranslateOracle(t *testing.T) {
	var tables []struct {
		Case         simulate.Oracle
		Displacement [][]float64
		Rows         [][]float64
		Sum          []float64
	}
	text, err := os.ReadFile("../../../testdata/oracle/labelshift/translate.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	for _, want := range tables {
		t.Run(want.Case.Name, func(t *testing.T) {
			data := want.Case.Data()
			source, labels, target := data.Source, data.Labels, data.Target
			m, err := Fit(t.Context(), source, labels, blocks(target, 77), nearness(source, labels, target, want.Case.C), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for k, w := range want.Displacement {
				compare(t, "displacement", m.Displacement.RawRowView(k), w, 1e-6)
			}
			if err := m.Apply(t.Context(), source, source, labels); err != nil {
				t.Fatal(err)
			}
			sum := make([]float64, source.Cols)
			for i := range source.Rows {
				for j, v := range dense.Row(source, i) {
					sum[j] += float64(v)
				}
			}
			compare(t, "sum of the rows", sum, want.Sum, 1e-4)
			for i, w := range want.Rows {
				got := make([]float64, source.Cols)
				for j, v := range dense.Row(source, i) {
					got[j] = float64(v)
				}
				compare(t, "row", got, w, 1e-5)
			}
		})
	}
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for k, w := range want {
		if !(math.Abs(got[k]-w) <= tolerance*max(1, math.Abs(w))) {
			t.Errorf("%s: value %d is %v, want %v", what, k, got[k], w)
			return
		}
	}
}

// If all rows have moved by the same constant, Apply moves the source's rows by
// exactly that.
func TestPureTranslation(t *testing.T) {
	c := simulate.Oracle{C: 3, D: 4, NS: 300, NT: 300, Spread: 5, Cuts: []int{3, 6}, Seed: 70}
	data := c.Data()
	source, labels := data.Source, data.Labels
	target, truth := newRows(300, 4), newRows(300, 3)
	for i, v := range source.Data {
		target.Data[i] = v + 2
	}
	for i, l := range labels {
		dense.Row(truth, i)[l] = 1
	}
	m, err := Fit(t.Context(), source, labels, blocks(target, 100), truth, Options{})
	if err != nil {
		t.Fatal(err)
	}
	moved := newRows(300, 4)
	if err := m.Apply(t.Context(), moved, source, labels); err != nil {
		t.Fatal(err)
	}
	for i, v := range moved.Data {
		if math.Abs(float64(v-target.Data[i])) > 1e-4 {
			t.Fatalf("value %d moved to %v, want %v", i, v, target.Data[i])
		}
	}
	begun := func(yield func(blas32.General, error) bool) { // by a block without rows
		if yield(blas32.General{}, nil) {
			blocks(target, 100)(yield)
		}
	}
	if d, err := Displace(t.Context(), source, labels, begun, truth, Options{}); err != nil || d.Within != nil {
		t.Errorf("Displace: %v, %v", d, err)
	}
}

func TestFunctionsStopWithTheirContext(t *testing.T) {
	c := simulate.Oracle{C: 3, D: exactAxes + 1, NS: 600, NT: 600, Spread: 5, Cuts: []int{3, 6}, Seed: 70}
	data := c.Data()
	source, labels, target := data.Source, data.Labels, data.Target
	r := nearness(source, labels, target, 3)
	var m *Map
	contexttest.Stops(t, 30, func(ctx context.Context) (err error) {
		m, err = Fit(ctx, source, labels, blocks(target, 300), r, Options{})
		return err
	})
	contexttest.Stops(t, 3, func(ctx context.Context) error {
		_, err := Displace(ctx, source, labels, blocks(target, 300), r, Options{})
		return err
	})
	contexttest.Stops(t, 3, func(ctx context.Context) error { return m.Apply(ctx, source, source, labels) })
}

func TestErrors(t *testing.T) {
	nan := float32(math.NaN())
	x := func(d int, v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / d, Cols: d, Stride: d, Data: v}
	}
	even := x(2, 0.5, 0.5, 0.5, 0.5)
	fit := func(source blas32.General, labels []int32, target, r blas32.General) error {
		_, err := Fit(t.Context(), source, labels, blocks(target, 1), r, Options{})
		return err
	}
	cases := []struct {
		err  error
		want string
	}{
		{fit(x(1, 1, nan), []int32{0, 1}, x(1, 1, 2), even), "classmap: source row 1, column 0 is NaN: remove"},
		{fit(x(1, 1, 2), []int32{0, 1}, x(1, nan, 2), even), "classmap: target row 0, column 0 is NaN: remove"},
		{fit(x(1, 1, 2), []int32{0, 2}, x(1, 1, 2), even), "classmap: source row 1 has label 2: labels go from 0 to 1"},
		{fit(x(1, 1, 2), []int32{0, 1}, x(1, 1), even), "classmap: 1 target rows and 2 rows of responsibilities"},
		{fit(x(1, 1, 2), []int32{0, 1}, x(1, 1, 2, 3), even), "classmap: more target rows than the 2 rows of responsibilities"},
		{fit(x(1, 1, 2), []int32{0, 1}, x(2, 1, 2), even), "classmap: target rows have 2 columns and source rows 1"},
		{fit(x(1), nil, x(1, 1, 2), even), "classmap: there are no source rows"},
		{fit(x(1, 1, 2), []int32{0, 1}, x(1), x(2)), "classmap: there are no target rows"},
		{fit(x(1, 1, 2), []int32{0, 0}, x(1, 1, 2), x(2, 0, 1, 0, 1)), "classmap: no class of the source has responsibilities"},
	}
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
}
