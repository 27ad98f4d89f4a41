package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// oracle holds the tables that testdata/oracle/transport/generate.py made with
// scipy and POT.
type oracle struct {
	Assignments []struct {
		Cost    [][]float64
		Columns []int
		Total   float64
		Margin  *float64 // nil if there is only one assignment
	}
	Plans []struct {
		Name       string
		A, B       []float64
		Cost, Mass [][]float64
		Total      float64
	}
	Lines []struct {
		X, Y, A, B    []float64
		First, Second float64
	}
	Gaussians []struct {
		M1, M2   []float64
		C1, C2   [][]float64
		Distance float64
	}
}

func readOracle(t *testing.T) *oracle {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/transport/transport.json")
	if err != nil {
		t.Fatal(err)
	}
	tables := new(oracle)
	if err := json.Unmarshal(text, tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

// dense returns a matrix of the given rows.
func denseOf(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

// symmetric returns a symmetric matrix of the given rows.
func symmetric(rows [][]float64) *mat.SymDense {
	return mat.NewSymDense(len(rows), denseOf(rows).RawMatrix().Data)
}

func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !scalar.EqualWithinAbsOrRel(got, want, tolerance, tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestAssignAgreesWithScipy(t *testing.T) {
	for i, c := range readOracle(t).Assignments {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			columns, total, err := Assign(t.Context(), denseOf(c.Cost))
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "total", total, c.Total, 1e-12)
			margin, err := Margin(t.Context(), denseOf(c.Cost))
			if err != nil {
				t.Fatal(err)
			}
			if c.Margin == nil {
				if !math.IsInf(margin, 1) {
					t.Errorf("margin %v, want +Inf", margin)
				}
				return
			}
			closeTo(t, "margin", margin, *c.Margin, 1e-12)
			if unique := *c.Margin > 1e-9; unique && fmt.Sprint(columns) != fmt.Sprint(c.Columns) {
				t.Errorf("columns %v, want %v", columns, c.Columns)
			}
		})
	}
}

func TestExactAgreesWithPOT(t *testing.T) {
	for _, c := range readOracle(t).Plans {
		t.Run(c.Name, func(t *testing.T) {
			plan, err := Exact(t.Context(), c.A, c.B, denseOf(c.Cost))
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "cost", plan.Cost, c.Total, 1e-12)
			checkOptimal(t, plan, c.A, c.B, denseOf(c.Cost))
			if c.Name != "degenerate" && !mat.EqualApprox(plan.Mass, denseOf(c.Mass), 1e-12) {
				t.Errorf("plan\n%v, want\n%v", mat.Formatted(plan.Mass), mat.Formatted(denseOf(c.Mass)))
			}
		})
	}
}

// checkOptimal checks that plan is feasible and that its duals prove it best.
func checkOptimal(t *testing.T, plan *Plan, a, b []float64, cost *mat.Dense) {
	t.Helper()
	const tolerance = 1e-12
	n, m := cost.Dims()
	scale := 1 + math.Max(math.Abs(mat.Max(cost)), math.Abs(mat.Min(cost)))
	dual, positive := 0.0, 0
	for i := range n {
		closeTo(t, fmt.Sprint("mass of source ", i), floats.Sum(plan.Mass.RawRowView(i)), a[i], tolerance)
		dual += a[i] * plan.SourceDual[i]
		for j := range m {
			slack := cost.At(i, j) - plan.SourceDual[i] - plan.TargetDual[j]
			mass := plan.Mass.At(i, j)
			if mass > 0 {
				positive++
			}
			if mass < 0 || slack < -tolerance*scale || (mass > 0 && slack > tolerance*scale) {
				t.Errorf("from %d to %d: mass %v, reduced cost %v", i, j, mass, slack)
			}
		}
	}
	for j := range m {
		closeTo(t, fmt.Sprint("mass of sink ", j), floats.Sum(mat.Col(nil, j, plan.Mass)), b[j], tolerance)
		dual += b[j] * plan.TargetDual[j]
	}
	closeTo(t, "dual value", dual, plan.Cost, tolerance*scale)
	if positive > n+m-1 {
		t.Errorf("%d positive masses, at most %d", positive, n+m-1)
	}
}

// onTheLine returns the least mean cost of transport between two weighted samples of
// numbers.
func onTheLine(t *testing.T, x, a, y, b []float64, of func(difference float64) float64) float64 {
	cost := mat.NewDense(len(x), len(y), nil)
	cost.Apply(func(i, j int, _ float64) float64 { return of(x[i] - y[j]) }, cost)
	plan, err := Exact(t.Context(), shares(a, len(x)), shares(b, len(y)), cost)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Cost
}

// shares returns masses scaled to sum to 1; nil means n equal ones.
func shares(masses []float64, n int) []float64 {
	if masses == nil {
		return dense.Uniform(n)
	}
	masses = slices.Clone(masses)
	dense.Normalize(masses)
	return masses
}

func TestExactOnTheLineAgreesWithScipyAndPOT(t *testing.T) {
	for i, c := range readOracle(t).Lines {
		first := onTheLine(t, c.X, c.A, c.Y, c.B, math.Abs)
		second := onTheLine(t, c.X, c.A, c.Y, c.B, func(d float64) float64 { return d * d })
		closeTo(t, fmt.Sprint("Wasserstein-1 of case ", i), first, c.First, 1e-12)
		closeTo(t, fmt.Sprint("Wasserstein-2 of case ", i), math.Sqrt(second), c.Second, 1e-12)
	}
}

// buresOf returns the squared Bures–Wasserstein distance of two Gaussians.
func buresOf(ctx context.Context, mean1 []float64, covariance1 *mat.SymDense, mean2 []float64, covariance2 *mat.SymDense) (float64, error) {
	one := func(mean []float64, covariance *mat.SymDense) Moments {
		return Moments{Means: mat.NewDense(1, len(mean), mean), Counts: []int{1}, Covariances: []*mat.SymDense{covariance}}
	}
	cost, err := one(mean1, covariance1).bures(ctx, one(mean2, covariance2))
	if err != nil {
		return 0, err
	}
	return cost.At(0, 0), nil
}

func TestBuresAgreesWithPOT(t *testing.T) {
	for i, c := range readOracle(t).Gaussians {
		got, err := buresOf(t.Context(), c.M1, symmetric(c.C1), c.M2, symmetric(c.C2))
		if err != nil {
			t.Fatal(err)
		}
		closeTo(t, fmt.Sprint("case ", i), got, c.Distance*c.Distance, 1e-9)
	}
}
