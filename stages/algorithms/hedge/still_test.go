package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// splitTable is a table that was split by another of its columns: the label depends on the
// others as before, by chance, and the target has other rows of them.
func splitTable(n int, steep float64) problem {
	rng := rand.New(rand.NewPCG(8, 0))
	p := problem{}
	p.Classes = []string{"no", "yes"}
	draw := func(target float64) (x blas32.General, labels []int32) {
		x = dense.New(n, 5)
		for i := range n {
			row := dense.Row(x, i)
			for j := range row {
				row[j] = float32(rng.NormFloat64())
			}
			row[1] = float32(rng.ExpFloat64() * (1 + target)) // what the table was split by moves these
			row[2] += float32(target) * row[1]
			y := int32(0)
			if rng.Float64() < 1/(1+math.Exp(-steep*float64(row[0]))) {
				y = 1
			}
			labels = append(labels, y)
		}
		return x, labels
	}
	p.Source, p.Labels = draw(0)
	p.Target, p.truth = draw(1)
	return p
}

// Where classes overlap, movements bring labels back that are wrong. So they have little
// weight there, and no answer is far worse than that of a classifier of the source.
func TestOverlappingClasses(t *testing.T) {
	p := splitTable(600, 1)
	m, q := fitted(t, p, Options{})
	if m.Stays.Trust > 0 {
		t.Fatalf("the test of stays has trust %v: the case is of another kind", m.Stays.Trust)
	}
	if s := m.Still; s.Separation > 0.5 || s.Overlap() < 0.9 {
		t.Errorf("%+v, overlap %.2f: the classes overlap", s, s.Overlap())
	}
	_, same := fitted(t, p, Options{Assume: []string{"same"}})
	_, moved := fitted(t, p, Options{Assume: []string{"classes", "parts"}})
	found, still, wrong := accuracy(q, p.truth), accuracy(same, p.truth), accuracy(moved, p.truth)
	if wrong > still-0.02 {
		t.Fatalf("classes that move have accuracy %.3f, and the source's classifier %.3f: the case is of another kind", wrong, still)
	}
	if found < still-0.01 {
		t.Errorf("accuracy %.3f, and %.3f by the source's classifier", found, still)
	}
	moves := 0.0
	for _, v := range m.Views {
		if v.moves() {
			moves += v.Weight
		}
	}
	if moves > 0.1 {
		t.Errorf("movements have the weight %.2f", moves)
	}
}

func TestSeparatedClasses(t *testing.T) {
	m, _ := fitted(t, newProblem(300, even, uneven, apart), Options{})
	if s := m.Still; s.Separation < 0.9 || s.FewValued != 0 || s.Overlap() > 0.01 {
		t.Errorf("%+v, overlap %.2f: the classes are apart", s, s.Overlap())
	}
}

// The scores are those of weights.go, also of the terms that hold rows still.
func TestScoresOfStill(t *testing.T) {
	scores := func(s Still) []float64 {
		m := &Model{Still: s}
		for _, name := range Views {
			m.Views = append(m.Views, View{Name: name, Circle: 0.8})
		}
		return m.scores()
	}
	free, overlapping, few := scores(Still{Separation: 1}), scores(Still{Separation: 0}), scores(Still{Separation: 1, FewValued: 0.5})
	less := func(a, b []float64) []float64 {
		d := make([]float64, len(a))
		for i := range a {
			d[i] = math.Round(a[i] - b[i])
		}
		return d
	}
	if d := less(overlapping, free); !slices.Equal(d, []float64{1, -3, -7, -7, -7}) {
		t.Errorf("overlapping classes change the scores by %v", d)
	}
	if d := less(few, free); !slices.Equal(d, []float64{0, 0, -2, -2, -2}) {
		t.Errorf("columns of few values change the scores by %v", d)
	}
}

func TestFewValued(t *testing.T) {
	x := dense.New(40, 3)
	for i := range x.Rows {
		row := dense.Row(x, i)
		row[0], row[1], row[2] = float32(i%fewValues), float32(i%(fewValues+1)), float32(i)
	}
	if got := fewValued(x, x.Rows); got != 1./3 {
		t.Errorf("%v of the columns have few values, want a third", got)
	}
	if got := fewValued(x, fewValues); got != 1 {
		t.Errorf("%v of the columns have few values in the first rows, want all", got)
	}
}

// Where nothing has changed, a row's posterior is that of the source's classifiers, whatever other
// rows the target has.
func TestSameKeepsPosteriors(t *testing.T) {
	p := newProblem(300, even, uneven, nowhere)
	m, q := fitted(t, p, Options{Assume: []string{"same"}})
	own, err := m.Unadjusted(t.Context(), m.Prepare(p.Target))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range own.Data {
		if math.Abs(float64(v-q.Data[i])) > 1e-6 {
			t.Fatalf("posterior %d is %v, and %v by the source's classifiers", i, q.Data[i], v)
		}
	}
	if d := dense.L1(m.Proportions, dense.ColumnMeans(own)); d > 1e-6 {
		t.Errorf("the proportions are %v from the mean posterior", d)
	}
}

// Where the user says that rows have moved, the views disagree less than they may be wrong.
func TestExpectedErrorOfMovements(t *testing.T) {
	expected := func(unmoved float64) float64 {
		e := Evidence{Spread: 0.1, Members: 0.05, Doubt: 0.1}
		e.expectError(Stays{}, []View{{Name: "same", Weight: unmoved}, {Name: "classes", Weight: 1 - unmoved}}, []float64{0.5, 0.5})
		return e.ExpectedError
	}
	if mixed, moved := expected(0.1), expected(0); math.Abs(moved/mixed-movedFactor) > 1e-9 {
		t.Errorf("expected %.4f where rows are known to have moved, and %.4f where not", moved, mixed)
	}
}
