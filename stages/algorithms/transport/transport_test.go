package transport

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// bruteForce returns the least and the second least total of all assignments
// of cost, +Inf if there is no second.
func bruteForce(cost *mat.Dense) (best, second float64) {
	rows, cols := cost.Dims()
	best, second = math.Inf(1), math.Inf(1)
	used := make([]bool, cols)
	var extend func(row int, total float64)
	extend = func(row int, total float64) {
		if row == rows {
			if total < best {
				best, second = total, best
			} else if total < second {
				second = total
			}
			return
		}
		for j := range cols {
			if !used[j] {
				used[j] = true
				extend(row+1, total+cost.At(row, j))
				used[j] = false
			}
		}
	}
	extend(0, 0)
	return best, second
}

// FuzzAssign compares with all assignments of up to 6×6. The costs come from
// the bytes, so ties and zeros are common.
func FuzzAssign(f *testing.F) {
	f.Add(uint8(1), uint8(1), []byte{7})
	f.Add(uint8(3), uint8(3), []byte{1, 2, 3, 2, 4, 6, 3, 6, 9})
	f.Add(uint8(6), uint8(6), []byte("assignments of thirty-six characters!"))
	f.Add(uint8(2), uint8(5), []byte{0, 0, 0, 255, 128})
	f.Fuzz(func(t *testing.T, n, m uint8, costs []byte) {
		rows, cols := int(n%6)+1, int(m%6)+1
		if rows > cols {
			rows, cols = cols, rows
		}
		cost := mat.NewDense(rows, cols, nil)
		for k := range rows * cols {
			if k < len(costs) {
				cost.Set(k/cols, k%cols, float64(int8(costs[k])))
			}
		}
		columns, total, err := Assign(t.Context(), cost)
		if err != nil {
			t.Fatal(err)
		}
		best, second := bruteForce(cost)
		if total != best {
			t.Errorf("total %v, want %v", total, best)
		}
		seen := make([]bool, cols)
		for i, j := range columns {
			if seen[j] {
				t.Errorf("row %d: column %d is taken", i, j)
			}
			seen[j] = true
		}
		checkSecond(t, cost, columns, second-best)
		if rows == cols {
			plan, err := Exact(t.Context(), dense.Uniform(rows), dense.Uniform(rows), cost)
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "transport with uniform marginals", plan.Cost*float64(rows), best, 1e-9)
		}
	})
}

func TestAssignOnThousand(t *testing.T) {
	cost := randomCost(newRand(2), 1000, 1000)
	_, total, err := Assign(t.Context(), cost)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Exact(t.Context(), dense.Uniform(1000), dense.Uniform(1000), cost)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "assignment and transport", total/1000, plan.Cost, 1e-12)
	checkOptimal(t, plan, dense.Uniform(1000), dense.Uniform(1000), cost)
}

func TestAssignFollowsPermutations(t *testing.T) {
	rng := newRand(3)
	cost := randomCost(rng, 8, 11)
	columns, _, err := Assign(t.Context(), cost)
	if err != nil {
		t.Fatal(err)
	}
	rows, cols := rng.Perm(8), rng.Perm(11)
	moved := mat.NewDense(8, 11, nil)
	for i, r := range rows {
		for j, c := range cols {
			moved.Set(i, j, 3*cost.At(r, c)+2)
		}
	}
	movedColumns, _, err := Assign(t.Context(), moved)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range movedColumns {
		if columns[rows[i]] != cols[j] {
			t.Errorf("row %d has column %d, want %d", rows[i], cols[j], columns[rows[i]])
		}
	}
}

func TestExactOnRandomProblems(t *testing.T) {
	rng := newRand(4)
	for k := range 60 {
		n, m := 1+rng.IntN(12), 1+rng.IntN(12)
		cost, a, b := randomCost(rng, n, m), randomMasses(rng, n), randomMasses(rng, m)
		if k%3 == 0 { // many ties
			for i := range n {
				for j := range m {
					cost.Set(i, j, float64(rng.IntN(3)))
				}
			}
		}
		if k%2 == 0 { // no mass in places
			a[rng.IntN(n)], b[rng.IntN(m)] = 0, 0
		}
		if floats.Sum(a) == 0 || floats.Sum(b) == 0 {
			continue
		}
		scaleTo(a, 1)
		scaleTo(b, 1)
		plan, err := Exact(t.Context(), a, b, cost)
		if err != nil {
			t.Fatal(err)
		}
		checkOptimal(t, plan, a, b, cost)
	}
}

func scaleTo(masses []float64, total float64) {
	s := floats.Sum(masses)
	for i := range masses {
		masses[i] *= total / s
	}
}

func TestExactScales(t *testing.T) {
	rng := newRand(5)
	cost, a, b := randomCost(rng, 9, 7), randomMasses(rng, 9), randomMasses(rng, 7)
	plan, err := Exact(t.Context(), a, b, cost)
	if err != nil {
		t.Fatal(err)
	}
	scaleTo(a, 1000)
	scaleTo(b, 1000)
	cost.Scale(1e-6, cost)
	scaled, err := Exact(t.Context(), a, b, cost)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "cost", scaled.Cost, plan.Cost*1e-3, 1e-12)
	var mass mat.Dense
	mass.Scale(1000, plan.Mass)
	if !mat.EqualApprox(scaled.Mass, &mass, 1e-9) {
		t.Errorf("plan\n%v, want\n%v", mat.Formatted(scaled.Mass), mat.Formatted(&mass))
	}
}

// With a metric as cost, optimal transport is a metric between masses.
func TestExactIsAMetric(t *testing.T) {
	rng := newRand(6)
	points := make([]float64, 9)
	for i := range points {
		points[i] = rng.NormFloat64()
	}
	cost := mat.NewDense(9, 9, nil)
	cost.Apply(func(i, j int, _ float64) float64 { return math.Abs(points[i] - points[j]) }, cost)
	distance := func(a, b []float64) float64 {
		plan, err := Exact(t.Context(), a, b, cost)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Cost
	}
	for range 10 {
		a, b, c := randomMasses(rng, 9), randomMasses(rng, 9), randomMasses(rng, 9)
		closeTo(t, "to itself", distance(a, a), 0, 1e-12)
		closeTo(t, "symmetry", distance(a, b), distance(b, a), 1e-12)
		if distance(a, c) > distance(a, b)+distance(b, c)+1e-12 {
			t.Error("the triangle inequality does not hold")
		}
	}
}

func TestBuresOfDiagonals(t *testing.T) {
	// For commuting covariances it is the distance of the standard deviations.
	first := mat.NewSymDense(2, []float64{4, 0, 0, 0})
	second := mat.NewSymDense(2, []float64{1, 0, 0, 9})
	got, err := buresOf(t.Context(), []float64{1, 1}, first, []float64{1, 3}, second)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "distance", got, 4+1+9, 1e-12)
}

func TestMatchPrototypesPermutes(t *testing.T) {
	classes := denseOf([][]float64{{0, 0}, {10, 0}, {0, 10}})
	components := denseOf([][]float64{{1, 11}, {1, 1}, {11, 1}})
	m, err := MatchPrototypes(t.Context(), classes, []int{5, 6, 7}, components, []float64{0.2, 0.5, 0.3})
	if err != nil {
		t.Fatal(err)
	}
	if want := "[1 2 0]"; fmt.Sprint(m.ComponentOf) != want {
		t.Errorf("components %v, want %v", m.ComponentOf, want)
	}
	if want := "[2 0 1]"; fmt.Sprint(m.ClassOf) != want {
		t.Errorf("classes %v, want %v", m.ClassOf, want)
	}
	for i, want := range []float64{0.5, 0.3, 0.2} {
		closeTo(t, fmt.Sprint("proportion ", i), m.Proportions[i], want, 1e-15)
	}
	if !m.OneToOne() || !(m.Margin > 0) {
		t.Errorf("one to one %v, margin %v", m.OneToOne(), m.Margin)
	}
}

func TestMatchPrototypesWithMoreComponents(t *testing.T) {
	classes := denseOf([][]float64{{0}, {100}})
	components := denseOf([][]float64{{1}, {99}, {101}, {-1}})
	m, err := MatchPrototypes(t.Context(), classes, []int{5, 6}, components, []float64{0.1, 0.2, 0.3, 0.4})
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "first", m.Proportions[0], 0.5, 1e-12)
	closeTo(t, "second", m.Proportions[1], 0.5, 1e-12)
	if want := "[0 1 1 0]"; fmt.Sprint(m.ClassOf) != want || m.OneToOne() {
		t.Errorf("classes %v, want %v; one to one %v", m.ClassOf, want, m.OneToOne())
	}
}

func TestMatchPrototypesWithFewerComponents(t *testing.T) {
	// Two thirds of each component's proportion go to the class beside it and
	// one third to the class in the middle.
	classes := denseOf([][]float64{{0}, {50}, {100}})
	components := denseOf([][]float64{{0}, {100}})
	m, err := MatchPrototypes(t.Context(), classes, []int{1, 1, 1}, components, []float64{0.9, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.6, 1. / 3, 0.2 / 3} {
		closeTo(t, fmt.Sprint("proportion ", i), m.Proportions[i], want, 1e-12)
	}
}

func TestMatchPrototypesWithAbsentClass(t *testing.T) {
	classes := denseOf([][]float64{{0}, {math.NaN()}, {10}})
	m, err := MatchPrototypes(t.Context(), classes, []int{4, 0, 4}, denseOf([][]float64{{9}, {1}}), []float64{0.25, 0.75})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(m.Absent, m.ComponentOf, m.Proportions) != "[1] [1 -1 0] [0.75 0 0.25]" {
		t.Errorf("absent %v, components %v, proportions %v", m.Absent, m.ComponentOf, m.Proportions)
	}
}

func TestPrototypes(t *testing.T) {
	p := NewPrototypes(3, 2)
	x := blas32.General{Rows: 3, Cols: 2, Stride: 3, Data: []float32{1, 2, 99, 3, 4, 99, 5, 6}}
	for range 2 {
		if err := p.Add(t.Context(), x, []int32{2, -1, 2}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := p.Means(), denseOf([][]float64{{0, 0}, {0, 0}, {3, 4}}); !mat.Equal(got, want) {
		t.Errorf("means\n%v", mat.Formatted(got))
	}
	if got := fmt.Sprint(p.Counts()); got != "[0 0 4]" {
		t.Errorf("counts %v", got)
	}
	checkError(t, p.Add(t.Context(), x, []int32{0, 3, 0}), "transport: row 1 has label 3: labels go from 0 to 2")
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestErrors(t *testing.T) {
	nan := math.NaN()
	one := denseOf([][]float64{{1}})
	check := func(want string, err error) {
		t.Helper()
		checkError(t, err, want)
	}
	_, _, err := Assign(t.Context(), mat.NewDense(3, 2, nil))
	check("transport: 3 rows for 2 columns: transpose the costs or use Exact", err)
	_, _, err = Assign(t.Context(), denseOf([][]float64{{1, 2}, {3, nan}}))
	check("transport: cost of row 1, column 1 is NaN: give finite costs", err)
	_, err = Margin(t.Context(), mat.NewDense(3, 2, nil))
	check("transport: 3 rows for 2 columns", err)
	_, err = Exact(t.Context(), []float64{-1}, []float64{1}, one)
	check("transport: source mass 0 is -1: give finite masses of at least 0", err)
	_, err = Exact(t.Context(), []float64{1}, []float64{nan}, one)
	check("transport: target mass 0 is NaN: give finite masses", err)
	_, err = Exact(t.Context(), []float64{0}, []float64{0}, one)
	check("transport: all source masses are zero", err)
	_, err = Exact(t.Context(), []float64{1}, []float64{2}, one)
	check("transport: source masses sum to 1 and target masses to 2: scale them to the same sum", err)
	_, err = Exact(t.Context(), []float64{1}, []float64{1}, denseOf([][]float64{{math.Inf(1)}}))
	check("transport: cost of row 0, column 0 is +Inf", err)
	identity, bad := mat.NewSymDense(1, []float64{1}), mat.NewSymDense(1, []float64{-1})
	gaussian := func(mean float64, covariance *mat.SymDense) Moments {
		return Moments{Means: mat.NewDense(1, 1, []float64{mean}), Counts: []int{1}, Covariances: []*mat.SymDense{covariance}}
	}
	good := gaussian(0, identity)
	_, err = BuresCost(t.Context(), gaussian(0, bad), good)
	check("transport: covariances of class 0 and the components: eigenvalue -1 is negative: give a covariance", err)
	_, err = BuresCost(t.Context(), gaussian(0, mat.NewSymDense(1, []float64{nan})), good)
	check("transport: covariances of class 0 and the components: value 0, 0 is NaN: give finite covariances", err)
	_, err = BuresCost(t.Context(), good, gaussian(0, mat.NewSymDense(1, []float64{nan})))
	check("transport: the squared distance of class 0 and component 0 is NaN", err)
	_, err = BuresCost(t.Context(), gaussian(nan, identity), good)
	check("transport: the squared distance of class 0 and component 0 is NaN: give finite means", err)
	_, err = MatchPrototypes(t.Context(), one, []int{0}, one, []float64{1})
	check("transport: no class has source rows: give labelled source rows", err)
	_, err = MatchPrototypes(t.Context(), one, []int{1}, denseOf([][]float64{{nan}}), []float64{1})
	check("transport: the squared distance of class 0 and component 0 is NaN: give finite means", err)
}

func TestResultsRepeat(t *testing.T) {
	rng := newRand(8)
	cost, a, b := randomCost(rng, 20, 30), randomMasses(rng, 20), randomMasses(rng, 30)
	first, err := Exact(t.Context(), a, b, cost)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Exact(t.Context(), a, b, cost)
	if err != nil {
		t.Fatal(err)
	}
	if first.Pivots != second.Pivots || !mat.Equal(first.Mass, second.Mass) {
		t.Error("two runs differ")
	}
}
