package gmmot

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
)

// oracle is what testdata/oracle/gmmot/generate.py writes.
type oracle struct {
	Source, Target, Posteriors [][]float64
	Labels, Prediction         []int32
	Proportions                []float64
}

func readOracle(t *testing.T) *oracle {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/gmmot/gmmot.json")
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{}
	if err := json.Unmarshal(text, o); err != nil {
		t.Fatal(err)
	}
	return o
}

func matrix(rows [][]float64) blas32.General {
	x := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, row := range rows {
		for _, v := range row {
			x.Data = append(x.Data, float32(v))
		}
	}
	return x
}

func (o *oracle) fit(t *testing.T) (*Model, blas32.General) {
	t.Helper()
	target := matrix(o.Target)
	m, matching, err := Fit(t.Context(), matrix(o.Source), o.Labels, target, []string{"a", "b", "c", "d"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !matching.OneToOne() || !(matching.Margin > 0) {
		t.Errorf("matched one to one: %v, margin %v", matching.OneToOne(), matching.Margin)
	}
	return m, target
}

func TestAgreesWithScikitLearnAndScipy(t *testing.T) {
	o := readOracle(t)
	m, target := o.fit(t)
	p, err := m.Predict(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	unsure := 0
	for i, want := range o.Posteriors {
		best := 0
		for c, w := range want {
			got := float64(p.Data[i*p.Stride+c])
			if math.Abs(got-w) > 1e-5 {
				t.Errorf("row %d, class %d: posterior %v, want %v", i, c, got, w)
			}
			if got > float64(p.Data[i*p.Stride+best]) {
				best = c
			}
			if w > 0.05 && w < 0.95 {
				unsure++
			}
		}
		if int32(best) != o.Prediction[i] {
			t.Errorf("row %d has class %d, want %d", i, best, o.Prediction[i])
		}
	}
	if unsure < 10 {
		t.Errorf("%d posteriors between .05 and .95: the oracle is too easy to show anything", unsure)
	}
	for c, w := range o.Proportions {
		if math.Abs(m.Proportions[c]-w) > 1e-12 {
			t.Errorf("proportion of class %d is %v, want %v", c, m.Proportions[c], w)
		}
	}
}

// Deciding for balanced recall divides by the mixing weights: of a rare and a
// frequent class that were as probable, the rare one is more so.
func TestDecide(t *testing.T) {
	m, target := readOracle(t).fit(t)
	before, _ := m.Predict(t.Context(), target)
	balanced := labelshift.Balanced
	m.Decision = &balanced
	after, _ := m.Predict(t.Context(), target)
	if err := m.Decide(after); err != nil {
		t.Fatal(err)
	}
	weight := make([]float64, len(m.Classes))
	for k, class := range m.ClassOf {
		weight[class] += m.Mixture.Weights[k]
	}
	for i := range before.Rows {
		sum := 0.0
		for c, w := range weight {
			sum += float64(before.Data[i*before.Stride+c]) / w
		}
		for c, w := range weight {
			want := float64(before.Data[i*before.Stride+c]) / w / sum
			if got := float64(after.Data[i*after.Stride+c]); math.Abs(got-want) > 1e-6 {
				t.Fatalf("row %d, class %d: %v, want %v", i, c, got, want)
			}
		}
	}
}

func TestReadyRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Model){
		"classes":             func(m *Model) { m.ClassOf = m.ClassOf[1:] },
		"has class 4 of 4":    func(m *Model) { m.ClassOf[2] = 4 },
		"has class 7":         func(m *Model) { m.ClassOf[2] = 7 },
		"not positive":        func(m *Model) { m.Mixture.Covariances[0] = []float64{-1} },
		"proportion of class": func(m *Model) { m.Proportions[1] = math.NaN() },
		"Gaussian":            func(m *Model) { m.Mixture.Covariances = nil },
	} {
		m, _ := readOracle(t).fit(t)
		spoil(m)
		if err := m.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

// The end of the context ends a fit, and what labels rows.
func TestStops(t *testing.T) {
	o := readOracle(t)
	m, x := o.fit(t)
	ended, end := context.WithCancel(t.Context())
	end()
	_, predicted := m.Predict(ended, x)
	_, _, fitted := Fit(ended, x, make([]int32, x.Rows), x, []string{"a"}, 0)
	for what, err := range map[string]error{"labels": predicted, "fit": fitted} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", what, err, context.Canceled)
		}
	}
	m.Proportions[0] = math.NaN()
	if _, err := m.Tensors(); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("tensors of a proportion that is no number: %v", err)
	}
}

func TestEmptyBatch(t *testing.T) {
	m, _ := readOracle(t).fit(t)
	if p, _ := m.Predict(t.Context(), blas32.General{Cols: 3, Stride: 3}); p.Rows != 0 || p.Cols != 4 {
		t.Errorf("%d×%d posteriors of no rows", p.Rows, p.Cols)
	}
}
