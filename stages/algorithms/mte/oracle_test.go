package mte

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// The tables of this file were made by testdata/oracle/labelshift/generate.py
// with NumPy, SciPy and scikit-learn.
const oracleFolder = "../../../testdata/oracle/labelshift"

// oracleOptions are the oracle's 40 steps, however little the last ones change.
var oracleOptions = Options{Steps: 40, Tolerance: math.SmallestNonzeroFloat64}

func readOracle(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(oracleFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// mteTable is an entry of mte.json.
type mteTable struct {
	Case             simulate.Oracle
	Wide, Narrow     [][]float64
	Starts, Runs     [][]float64
	Best             int
	Proportions      []float64
	Adapt            []float64
	Responsibilities [][]float64
}

// eachMTE runs f for each case of mte.json.
func eachMTE(t *testing.T, f func(t *testing.T, want mteTable, m *MTE)) {
	var tables []mteTable
	readOracle(t, "mte.json", &tables)
	for _, want := range tables {
		t.Run(want.Case.Name, func(t *testing.T) {
			m, err := prepare(t.Context(), problem(want.Case.Data()), oracleOptions.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			f(t, want, m)
		})
	}
}

func TestSpacesOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *MTE) {
		for x := range m.problem.Target {
			compareRows(t, "wide", m.wide.Apply(dense.Rows(x, 0, len(want.Wide)), nil), want.Wide, 2e-5)
		}
		compareRows(t, "narrow", m.target, want.Narrow, 2e-5)
	})
}

func TestStartsOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *MTE) {
		starts, _, err := displacements(t.Context(), m.gaussians, m.target, 5000, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range starts {
			tolerance := 2e-5
			if s.name == "gmm" { // from another k-means
				tolerance = 0.3
			}
			compare(t, "start "+s.name, s.by, want.Starts[i], tolerance)
		}
	})
}

// The steps of EM from the oracle's own starts.
func TestStepsOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *MTE) {
		for i, by := range want.Starts {
			m.displacements = append(m.displacements, displacement{by: by, name: []string{"none", "means", "ward", "ward2", "gmm"}[i]})
		}
		var err error
		if m.runs, err = m.run(t.Context(), m.options.movement(), m.displacements); err != nil {
			t.Fatal(err)
		}
		for i, r := range m.runs {
			compare(t, m.displacements[i].name, r.proportions, want.Runs[i], 1e-5)
		}
		m.choose()
		if err := m.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		compare(t, "proportions", m.Proportions, want.Proportions, 1e-5)
		compareRows(t, "responsibilities", m.Responsibilities, want.Responsibilities, 1e-4)
	})
}

// EM with adapting covariances, from the oracle's own start.
func TestAdaptOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *MTE) {
		m.displacements = []displacement{{adaptStart, want.Starts[2]}}
		e, err := m.Adapted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "proportions", e.Proportions, want.Adapt, 1e-5)
	})
}

func TestFitOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *MTE) {
		e, err := Fit(t.Context(), m.problem, oracleOptions)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "proportions", e.Proportions, want.Proportions, 5e-3)
	})
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for k, w := range want {
		if !(math.Abs(got[k]-w) <= tolerance*max(1, math.Abs(w))) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// compareRows compares the first rows of got with want.
func compareRows(t *testing.T, what string, got blas32.General, want [][]float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		values := make([]float64, got.Cols)
		for j, v := range dense.Row(got, i) {
			values[j] = float64(v)
		}
		compare(t, what, values, w, tolerance)
	}
}
