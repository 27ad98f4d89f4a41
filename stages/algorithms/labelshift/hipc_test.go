package labelshift

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// TestCytometry estimates the proportions of each of four blood samples from
// each other one: 12 tasks with real shifts of classes and looks.
func TestCytometry(t *testing.T) {
	data := os.Getenv("MARS_DATA")
	if data == "" {
		t.Skip("MARS_DATA does not name the folder of hipc/*.npz")
	}
	names := []string{"FTV_1", "FTV_4", "FTV_7", "W2_1"}
	total, inside := 0.0, 0
	for _, from := range names {
		for _, to := range names {
			if from == to {
				continue
			}
			p := mte.Problem{Classes: 10}
			p.Source, p.Labels = sample(t, filepath.Join(data, "hipc", from+".npz"), 4000)
			target, truth := sample(t, filepath.Join(data, "hipc", to+".npz"), 2000)
			p.Target = mte.InMemory(target)
			panel, err := Consult(t.Context(), p, linear, mte.Options{})
			if err != nil {
				t.Fatal(err)
			}
			share, err := Shares(truth, 10)
			if err != nil {
				t.Fatal(err)
			}
			v, err := panel.Interval(t.Context(), IntervalOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for k, q := range share {
				if v.Lower[k] <= q && q <= v.Upper[k] {
					inside++
				}
			}
			e := dense.L1(panel.Proportions(), share)
			total += e / 12
			t.Logf("%s to %s: L1 %.3f, expected %.3f, disagreement %.3f, alignment %.3f", from, to, e, v.ExpectedError, panel.Disagreement, panel.Alignment)
		}
	}
	t.Logf("mean L1 %.3f; intervals of 90 %% hold %d of 120 shares", total, inside)
	if total > 0.09 {
		t.Errorf("mean L1 %.3f, want at most 0.09", total)
	}
}

// sample returns n rows, evenly spread over a file with X (n×d) and y from 1.
func sample(t *testing.T, file string, n int) (blas32.General, []int32) {
	t.Helper()
	f, err := npz.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var x []float32
	var y []int32
	for name, into := range map[string]any{"X": &x, "y": &y} {
		if err := f.Read(name+".npy", into); err != nil {
			t.Fatal(err)
		}
	}
	d := len(x) / len(y)
	rows, labels := dense.New(n, d), make([]int32, n)
	for i := range n {
		at := i * len(y) / n
		copy(dense.Row(rows, i), x[at*d:(at+1)*d])
		labels[i] = y[at] - 1
	}
	return rows, labels
}
