package diagnostics

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/algorithms/wasserstein"
)

// parts are one of each, with nothing to doubt.
func parts() *Diagnostics {
	fit := &mixture.Result{Components: mixture.Components{Means: mat.NewDense(2, 1, nil), Proportions: []float64{.5, .5}, Weights: []float64{.5, .5}},
		Counts: []int{50, 50}, LogLikelihood: -1, Ambiguity: 0.01}
	check := &transport.Check{Cost: 1, Second: 3, Separation: 0.9, Exchanged: []int{0, 1}, Nearest: 2, Classes: 2,
		Monotone: map[string]bool{transport.Means: true, transport.Distances: true}}
	near := wasserstein.Distance{Value: 1.1, Floor: 1, Rows: 200}
	return &Diagnostics{
		Estimator: "mte", Warnings: []string{"few rows"},
		Mixture: NewClustering("gmm", fit), Matching: NewMatching(transport.Means, check, []string{"a", "b"}),
		Weights:     NewWeights([]string{"a", "b"}, []float64{1.5, 0.5}, []int{100, 100}),
		Translation: NewTranslation(wasserstein.Distance{Value: 9, Floor: 1, Rows: 200}, near), Bound: NewBound(near),
	}
}

// What one stage writes is what the next one reads.
func TestDiagnosticsGoAround(t *testing.T) {
	d := parts()
	got := Read(arrowio.Meta{Diagnostics: d.JSON()})
	if !reflect.DeepEqual(got, d) {
		t.Errorf("read %s, wrote %s", got.JSON(), d.JSON())
	}
	if got := d.AllWarnings(); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
	if len(d.Parts()) != 5 {
		t.Errorf("%d parts", len(d.Parts()))
	}
	after := d.Estimated(&Diagnostics{Estimator: "cc"})
	if after.Estimator != "cc" || after.Mixture != d.Mixture || after.Matching != d.Matching || len(after.Parts()) != 2 {
		t.Errorf("after another estimate: %s", after.JSON())
	}
	if gone := d.Estimated(nil); gone.Estimator != "" || gone.Mixture != d.Mixture || gone.Matching != d.Matching || len(gone.Parts()) != 2 {
		t.Errorf("without an estimate: %s", gone.JSON())
	}
	if (&Diagnostics{}).JSON() != nil || (*Diagnostics)(nil).JSON() != nil {
		t.Error("nothing to say is said")
	}
}

// Somebody else's JSON under the key stops nobody.
func TestForeignDiagnostics(t *testing.T) {
	for _, text := range []string{`[1, 2]`, `{"warnings": "many"}`, `"x"`} {
		if d := Read(arrowio.Meta{Diagnostics: json.RawMessage(text)}); !reflect.DeepEqual(d, &Diagnostics{}) {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// Each threshold has its warning.
func TestWarnings(t *testing.T) {
	overlapping := &mixture.Result{Components: mixture.Components{Means: mat.NewDense(2, 1, nil), Proportions: []float64{.97, .03}, Weights: []float64{.9, .1}},
		Counts: []int{97, 3}, Ambiguity: 0.2}
	flat := &mixture.Result{Components: mixture.Components{Means: mat.NewDense(2, 1, nil)}, Counts: []int{50, 50}, HeightGap: 0.05}
	unsure := &transport.Check{Cost: 1, Second: 1.1, Separation: 0.1, Exchanged: []int{1, 0}, Classes: 2,
		Monotone: map[string]bool{transport.Means: true, transport.Distances: false}}
	far := wasserstein.Distance{Value: 3, Floor: 1, Rows: 200}
	for name, c := range map[string]struct {
		part Part
		want []string
	}{
		"overlapping": {NewClustering("gmm", overlapping), []string{"1 of 2 components have fewer than 10 rows", "20.0 % of the rows are expected in the wrong one"}},
		"flat":        {NewClustering("ward", flat), []string{"do not fall into 2 clusters by themselves"}},
		"unsure":      {NewMatching(transport.Means, unsure, []string{"x", "y"}), []string{`exchanges "y", "x" (separation 0.100`, "not cyclically monotone under the cost distances"}},
		"heavy":       {NewWeights([]string{"x", "y"}, []float64{0.5, 12}, []int{95, 5}), []string{`rows of class "y" weigh 12.0 each`, "worth 16 rows"}},
		"left":        {NewTranslation(far, far), []string{"still 3.00 times as far"}},
		"apart":       {NewBound(far), []string{"3.00 times as far from the target as the target from itself"}},
	} {
		got := c.part.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%s: warnings %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q lacks %q", name, got[i], want)
			}
		}
		if c.part.Line() == "" {
			t.Errorf("%s: no line", name)
		}
	}
}

// No rows, or no weight, is no division by zero in the JSON.
func TestWeightsOfNothing(t *testing.T) {
	w := NewWeights([]string{"a"}, []float64{0}, []int{7})
	if w.EffectiveRows != 0 || math.IsInf(w.Max, 0) {
		t.Errorf("%+v", w)
	}
	if _, err := json.Marshal(w); err != nil {
		t.Error(err)
	}
}

// Of many names five are said.
func TestQuoted(t *testing.T) {
	for n, want := range map[int]string{0: ``, 1: `"a"`, 5: `"a", "b", "c", "d", "e"`, 6: `"a", "b", "c", "d", "e", …`, 7: `"a", "b", "c", "d", "e", …`} {
		if got := quoted(strings.Split("abcdefg", "")[:n]); got != want {
			t.Errorf("%d names: %s, want %s", n, got, want)
		}
	}
}
