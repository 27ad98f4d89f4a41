package scale

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// A scalingCase is what testdata/oracle/scaling/generate.py wrote: rows, and what
// scikit-learn made of them.
type scalingCase struct {
	Source, Target   [][]float32
	Robust, Quantile map[string][][]float32
	Log1p, Arcsinh   [][]float32
}

func oracleCases(t *testing.T) (cases []scalingCase) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/scaling/scaling.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 7 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

func ofRows(rows [][]float32) blas32.General {
	x := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, row := range rows {
		x.Data = append(x.Data, row...)
	}
	return x
}

// checkRows compares by the larger of 1 and the size of the value.
func checkRows(t *testing.T, what string, got blas32.General, want [][]float32) {
	t.Helper()
	for i, row := range want {
		for j, w := range row {
			if g := got.Data[i*got.Stride+j]; !(math.Abs(float64(g-w)) <= 1e-6*max(1, math.Abs(float64(w)))) {
				t.Errorf("%s: row %d, column %d: %v, want %v", what, i, j, g, w)
			}
		}
	}
}

func TestScalersAreScikitLearns(t *testing.T) {
	for _, c := range oracleCases(t) {
		for method, want := range map[Method]map[string][][]float32{Robust: c.Robust, Quantile: c.Quantile} {
			t.Run(fmt.Sprintf("%s/%d", method, len(c.Source)), func(t *testing.T) {
				source, target := ofRows(c.Source), ofRows(c.Target)
				s, constant, err := FitBy(t.Context(), method, source)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Check(source.Cols); err != nil {
					t.Fatal(err)
				}
				for domain, x := range map[string]blas32.General{"source": source, "target": target} {
					if err := s.Apply(t.Context(), x); err != nil {
						t.Fatal(err)
					}
					for _, j := range constant { // scikit-learn leaves them, or brings them to an end
						for i := range want[domain] {
							want[domain][i][j] = 0
						}
					}
					checkRows(t, domain, x, want[domain])
				}
			})
		}
	}
}

func TestTransformsAreNumpys(t *testing.T) {
	for _, c := range oracleCases(t) {
		for f, want := range map[Transform][][]float32{{Log1p: true}: c.Log1p, {Cofactor: 5}: c.Arcsinh, {}: c.Source} {
			x, of := ofRows(c.Source), f.Func()
			for i := range x.Data {
				x.Data[i] = of(x.Data[i])
			}
			checkRows(t, f.String(), x, want)
		}
	}
}
