package diagnostics

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/hedge"
)

// What speaks for the heaviest assumption is said of that one, and of none that nothing speaks for.
func TestBecause(t *testing.T) {
	views := []hedge.View{{Name: "same", Weight: 0.2}, {Name: "balance", Weight: 0.7}, {Name: "together", Weight: 0.1}}
	for want, why := range map[string][]string{
		"": nil,
		"What speaks most for it that only the proportions have changed: the classes overlap":                   {"the classes overlap"},
		"What speaks most for it that only the proportions have changed: the classes overlap, and rows are few": {"the classes overlap", "rows are few"},
	} {
		h := &Hedge{Views: views, Why: why}
		if got := h.Because(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if line := h.Line(); want != "" && !strings.Contains(line, ". "+want+". ") {
			t.Errorf("the line lacks %q: %s", want, line)
		}
	}
}

// The reasons are those of the model's own signs, the strongest first, and no weak ones.
func TestWhy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	draw := func(move float32) (x blas32.General, labels []int32) {
		x = blas32.General{Rows: 200, Cols: 2, Stride: 2, Data: make([]float32, 400)}
		for i := range x.Rows {
			y := int32(i % 2)
			x.Data[2*i], x.Data[2*i+1] = float32(rng.NormFloat64())+4*float32(y)+move, float32(rng.NormFloat64())
			labels = append(labels, y)
		}
		return x, labels
	}
	source, labels := draw(0)
	target, _ := draw(9)
	m, err := hedge.Fit(t.Context(), hedge.Problem{Source: source, Labels: labels, Target: target, Classes: []string{"a", "b"}}, hedge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := OfHedge(m).Hedge
	heaviest := slices.IndexFunc(m.Views, func(v hedge.View) bool { return v.Name == h.ByWeight()[0].Name })
	var want []string
	for _, r := range m.Why(heaviest) {
		if r.Value >= leastReason && len(want) < maxReasons {
			want = append(want, r.Text)
		}
	}
	if !slices.Equal(h.Why, want) || len(want) == 0 {
		t.Errorf("said is %q, and the signs say %q", h.Why, want)
	}
	if h.Stayed() {
		t.Errorf("rows that have moved by nine deviations are said to have stayed: %+v", h.Views)
	}
}

// The classes are said to have stayed where the assumptions that move nothing count most together.
func TestStayed(t *testing.T) {
	for _, c := range []struct {
		same, balance, classes float64
		want                   bool
	}{{0.3, 0.3, 0.4, true}, {0.2, 0.2, 0.6, false}, {0, 0.9, 0.1, true}, {0, 0, 1, false}} {
		h := &Hedge{Views: []hedge.View{{Name: "same", Weight: c.same}, {Name: "balance", Weight: c.balance}, {Name: "classes", Weight: c.classes}}}
		if got := h.Stayed(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Apart is 0 where trees do no better than chance, or worse, and 1 where they are always right.
func TestApart(t *testing.T) {
	for area, want := range map[float64]float64{0.4: 0, 0.5: 0, 0.75: 0.5, 1: 1} {
		if got := Apart(hedge.View{Apart: area}); got != want {
			t.Errorf("an area of %v is %v apart, want %v", area, got, want)
		}
	}
}
