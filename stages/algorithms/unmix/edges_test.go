package unmix

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Values are taken for amounts from 100 columns on, and two classes are enough.
func TestFewestColumns(t *testing.T) {
	x, labels, _ := amountsOf(rand.New(rand.NewPCG(4, 0)), 60, []float64{.5, .3, .2})
	for width, want := range map[int]bool{leastColumns - 1: false, leastColumns: true} {
		var two blas32.General
		for i := range 120 { // of the first two classes
			dense.Append(&two, dense.Row(x, i)[:width])
		}
		if m := mustFit(t, two, labels[:120], names[:2]); m.Amounts() != want || m.Width() != width {
			t.Errorf("%d columns are taken for amounts: %v", width, m.Amounts())
		}
	}
}

// The end of the context ends a fit to amounts.
func TestContextEndsAFitToAmounts(t *testing.T) {
	x, labels, _ := amountsOf(rand.New(rand.NewPCG(4, 0)), 2, []float64{.5, .3, .2})
	contexttest.Stops(t, 1, func(ctx context.Context) error {
		_, err := Fit(ctx, x, labels, names[:3])
		return err
	})
}

// Columns are of those that a row has, each once, and there are means of each.
func TestLoadRefuses(t *testing.T) {
	x, labels, _ := amountsOf(rand.New(rand.NewPCG(4, 0)), 2, []float64{.5, .3, .2})
	m := mustFit(t, x, labels, names[:3])
	m.Proportions = dense.Uniform(3)
	load := func(change func(f *safetensors.File)) error {
		var file, changed bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		change(&f)
		if err := safetensors.Write(&changed, f); err != nil {
			t.Fatal(err)
		}
		_, err = Load(&changed, "m")
		return err
	}
	keep := func(*safetensors.File) {}
	if err := load(keep); err != nil {
		t.Fatal(err)
	}
	if err := load(func(f *safetensors.File) { f.Tensors[0].Name = "other" }); err == nil || err.Error() != "m: tensor means is missing: train it again" {
		t.Errorf("got %v", err)
	}
	columns, last := m.amounts.columns, len(m.amounts.columns)-1
	for _, test := range []struct {
		at, column int
		refused    bool
	}{{last, 119, false}, {last, 120, true}, {0, 0, false}, {0, -1, true}, {1, columns[0], true}, {1, columns[0] - 1, true}} {
		m.amounts.columns = slices.Clone(columns)
		m.amounts.columns[test.at] = test.column
		want := fmt.Sprintf("m: metadata mars.unmix: column %d of 120 values: train it again", test.column)
		if err := load(keep); (err != nil) != test.refused || err != nil && err.Error() != want {
			t.Errorf("column %d is %d: %v", test.at, test.column, err)
		}
	}
}

// Nothing said of replicates means 200. A draw in which classes are alike counts the model's own.
func TestReplicates(t *testing.T) {
	x, labels, mixed := draw(rand.New(rand.NewPCG(4, 0)), 3, 2, 5, []float64{.25, .25, .25, .25})
	m := mustFit(t, x, labels, names)
	var all []*Bounds
	for _, n := range []int{0, 200} {
		b, err := m.Bounds(t.Context(), x, labels, mixed, IntervalOptions{Replicates: n})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	if !reflect.DeepEqual(all[0], all[1]) {
		t.Errorf("without a number %v, with 200 %v", all[0], all[1])
	}
	x, labels, mixed = amountsOf(rand.New(rand.NewPCG(4, 0)), 1, []float64{.5, .3, .2})
	m = mustFit(t, x, labels, names[:3])
	copy(dense.Row(x, 1), dense.Row(x, 0))
	got, err := m.replicate(t.Context(), x, labels, [][]int{{0}, {1}, {2}}, mixed, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Together(t.Context(), mixed)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
}
