package labelshift

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func TestDecision(t *testing.T) {
	source, target := []float64{0.5, 0.25, 0.25, 0}, []float64{0.25, 0.75, 0, 0}
	cases := []struct {
		decision Decision
		want     string
	}{
		{Accuracy, "[0.1428 0.8570 0.0001 0.0000]"},
		{Balanced, "[0.2000 0.4000 0.4000 0.0000]"},
	}
	for _, c := range cases {
		p := blas32.General{Rows: 1, Cols: 4, Stride: 4, Data: []float32{0.25, 0.25, 0.25, 0.25}}
		if err := c.decision.Adjust(p, source, target); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.4f", p.Data); got != c.want {
			t.Errorf("%v: %s, want %s", c.decision, got, c.want)
		}
		if d, err := ParseDecision(c.decision.String()); d != c.decision || err != nil {
			t.Errorf("ParseDecision(%q) = %v, %v", c.decision, d, err)
		}
	}
}

func TestDecisionErrors(t *testing.T) {
	x := func(v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / 2, Cols: 2, Stride: 2, Data: v}
	}
	_, unknown := ParseDecision("best")
	for _, c := range []struct {
		err  error
		want string
	}{
		{Balanced.Adjust(x(0, 1), []float64{1, 0}, nil), "labelshift: row 0 has no posterior above 0"},
		{Accuracy.Adjust(x(1, 0), []float64{1, 0}, []float64{math.NaN(), 1}), "labelshift: class 0 has the share 1 of the source and NaN of the target"},
		{unknown, `labelshift: decision: "best" is not known: choose accuracy or balanced`},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
}
