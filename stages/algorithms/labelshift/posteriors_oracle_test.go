package labelshift

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// posteriorTable is an entry of posteriors.json.
type posteriorTable struct {
	Case        string
	Weights     [][]float64
	Bias        []float64
	CC          []float64
	BBSEHard    []float64 `json:"bbse_hard"`
	BBSESoft    []float64 `json:"bbse_soft"`
	RLLS        []float64
	EM          []float64
	Temperature float64
	BCTS        struct {
		Temperature float64
		Bias        []float64
	}
}

// posteriors returns the softmax of a linear model.
func (p posteriorTable) posteriors(x blas32.General) blas32.General {
	logits := make([]float64, 0, x.Rows*len(p.Bias))
	for i := range x.Rows {
		for k, b := range p.Bias {
			for j, w := range p.Weights[k] {
				b += w * float64(dense.Row(x, i)[j])
			}
			logits = append(logits, b)
		}
	}
	kernel.Softmax64(logits, len(p.Bias))
	out := dense.New(x.Rows, len(p.Bias))
	for i, v := range logits {
		out.Data[i] = float32(v)
	}
	return out
}

func TestPosteriorsOracle(t *testing.T) {
	var tables []posteriorTable
	var problems []struct{ Case simulate.Oracle }
	readOracle(t, "posteriors.json", &tables)
	readOracle(t, "mte.json", &problems)
	for i, want := range tables {
		t.Run(want.Case, func(t *testing.T) {
			p := problems[i].Case.Data()
			source, target := want.posteriors(p.Source), want.posteriors(p.Target)
			prior, err := Shares(p.Labels, p.Classes)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, proportions []float64, tolerance float64) func(*Result, error) {
				return func(e *Result, err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					compare(t, what, e.Proportions, proportions, tolerance)
				}
			}
			check("cc", want.CC, 1e-9)(CC(target))
			check("hard bbse", want.BBSEHard, 1e-5)(BBSE(source, p.Labels, target, BBSEOptions{}))
			check("soft bbse", want.BBSESoft, 1e-5)(BBSE(source, p.Labels, target, BBSEOptions{Soft: true}))
			check("rlls", want.RLLS, 1e-4)(RLLS(source, p.Labels, target))
			check("em", want.EM, 1e-5)(EM(target, prior, EMOptions{}))
		})
	}
}

func TestCalibrateOracle(t *testing.T) {
	var tables []posteriorTable
	var problems []struct{ Case simulate.Oracle }
	readOracle(t, "posteriors.json", &tables)
	readOracle(t, "mte.json", &problems)
	for i, want := range tables {
		t.Run(want.Case, func(t *testing.T) {
			p := problems[i].Case.Data()
			source := want.posteriors(p.Source)
			c, err := Calibrate(t.Context(), source, p.Labels, Temperature)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "temperature", []float64{c.Temperature}, []float64{want.Temperature}, 1e-4)
			if c, err = Calibrate(t.Context(), source, p.Labels, BCTS); err != nil {
				t.Fatal(err)
			}
			compare(t, "temperature of BCTS", []float64{c.Temperature}, []float64{want.BCTS.Temperature}, 1e-4)
			compare(t, "bias", c.Bias, want.BCTS.Bias, 1e-3)
			// With biases fitted, the mean posterior is the share of each class.
			prior, _ := Shares(p.Labels, p.Classes)
			compare(t, "mean", dense.ColumnMeans(c.Apply(source)), prior, 1e-6)
		})
	}
}
