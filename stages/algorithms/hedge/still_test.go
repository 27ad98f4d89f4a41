package hedge

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/race"
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

// Where classes overlap, classes that are taken to move are wrong. So they have little weight there,
// and the answer is no worse than that of a classifier of the source.
func TestOverlappingClasses(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	p := splitTable(600, 1)
	m, q := fitted(t, p, Options{})
	if s := m.Problem.Separation; s > 0.5 {
		t.Fatalf("separation %.2f: the case is of another kind", s)
	}
	_, same := fitted(t, p, Options{Assume: []string{"same"}})
	_, moved := fitted(t, p, Options{Assume: []string{"classes", "parts"}})
	found, still, wrong := accuracy(q, p.truth), accuracy(same, p.truth), accuracy(moved, p.truth)
	if wrong > still-0.02 {
		t.Fatalf("classes that move have accuracy %.3f, and the source's classifier %.3f: the case is of another kind", wrong, still)
	}
	if found < still-0.03 {
		t.Errorf("accuracy %.3f, and %.3f by the source's classifier: %+v", found, still, m.Views)
	}
}

func TestSeparatedClasses(t *testing.T) {
	m, _ := fitted(t, newProblem(300, even, uneven, apart), Options{})
	if s := m.Problem.Separation; s < 0.9 {
		t.Errorf("separation %.2f: the classes are apart", s)
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
