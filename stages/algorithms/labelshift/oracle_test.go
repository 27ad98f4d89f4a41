package labelshift

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// The tables of this file were made by testdata/oracle/labelshift/generate.py
// with NumPy, SciPy and scikit-learn.
const oracleFolder = "../../../testdata/oracle/labelshift"

// oracleOptions are the oracle's 40 steps, however little the last ones change.
var oracleOptions = MTEOptions{Steps: 40, Tolerance: math.SmallestNonzeroFloat64}

// oracleCase names data that problem of generate.py and this one make alike.
type oracleCase struct {
	Name          string
	C, D          int
	NS, NT        int
	Spread, Shift float64
	Cuts          []int
	Seed          uint64
}

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

// oracleNormal is normal of generate.py.
func oracleNormal(seed uint64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		for u := range 12 {
			z := (uint64(12*i+u) + seed<<32) * 0x9E3779B97F4A7C15
			z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			x[i] += float64((z^z>>31)>>40) / (1 << 24)
		}
		x[i] -= 6
	}
	return x
}

// problem is problem of generate.py.
func (c oracleCase) problem() Problem {
	means, shifts := oracleNormal(c.Seed, c.C*c.D), oracleNormal(c.Seed+1, c.C*c.D)
	source, target := oracleNormal(c.Seed+2, c.NS*c.D), oracleNormal(c.Seed+3, c.NT*c.D)
	p := Problem{Source: newRows(c.NS, c.D), Labels: make([]int32, c.NS), Classes: c.C}
	x := newRows(c.NT, c.D)
	scale := func(j int) float64 { return 1 + float64(j)/float64(c.D-1) }
	for i := range c.NS {
		k := i % c.C
		p.Labels[i] = int32(k)
		for j := range c.D {
			p.Source.Data[i*c.D+j] = float32(c.Spread*means[k*c.D+j] + scale(j)*source[i*c.D+j])
		}
	}
	for i := range c.NT {
		k := 0
		for _, cut := range c.Cuts {
			if i%10 >= cut {
				k++
			}
		}
		for j := range c.D {
			x.Data[i*c.D+j] = float32(c.Spread*means[k*c.D+j] + c.Shift + 0.2*shifts[k*c.D+j] + 1.2*scale(j)*target[i*c.D+j])
		}
	}
	p.Target = InMemory(x)
	return p
}

// mteTable is an entry of mte.json.
type mteTable struct {
	Case             oracleCase
	Wide, Narrow     [][]float64
	Starts, Runs     [][]float64
	Best             int
	Proportions      []float64
	Adapt            []float64
	Responsibilities [][]float64
}

// eachMTE runs f for each case of mte.json.
func eachMTE(t *testing.T, f func(t *testing.T, want mteTable, m *match)) {
	var tables []mteTable
	readOracle(t, "mte.json", &tables)
	for _, want := range tables {
		t.Run(want.Case.Name, func(t *testing.T) {
			m, err := newMatch(want.Case.problem(), oracleOptions.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			f(t, want, m)
		})
	}
}

func TestSpacesOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *match) {
		for x := range m.problem.Target {
			compareRows(t, "wide", m.wide.apply(part(x, 0, len(want.Wide))), want.Wide, 2e-5)
		}
		compareRows(t, "narrow", m.target, want.Narrow, 2e-5)
	})
}

func TestStartsOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *match) {
		starts, _, err := displacements(m.classes, m.target, 5000, 0)
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
	eachMTE(t, func(t *testing.T, want mteTable, m *match) {
		for i, by := range want.Starts {
			m.starts = append(m.starts, displacement{by: by, name: []string{"none", "means", "ward", "ward2", "gmm"}[i]})
		}
		var err error
		if m.runs, err = m.run(m.options.settings(), m.starts); err != nil {
			t.Fatal(err)
		}
		for i, r := range m.runs {
			compare(t, m.starts[i].name, r.proportions, want.Runs[i], 1e-5)
		}
		m.choose()
		e := m.estimate()
		compare(t, "proportions", e.Proportions, want.Proportions, 1e-5)
		compareRows(t, "responsibilities", e.Responsibilities, want.Responsibilities, 1e-4)
	})
}

// The panel's EM with adapting covariances, from the oracle's own start.
func TestAdaptOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *match) {
		m.starts = []displacement{{adaptStart, want.Starts[2]}}
		e, err := m.adapted()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "proportions", e.Proportions, want.Adapt, 1e-5)
	})
}

func TestMTEOracle(t *testing.T) {
	eachMTE(t, func(t *testing.T, want mteTable, m *match) {
		e, err := MTE(m.problem, oracleOptions)
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
		for j, v := range row(got, i) {
			values[j] = float64(v)
		}
		compare(t, what, values, w, tolerance)
	}
}
