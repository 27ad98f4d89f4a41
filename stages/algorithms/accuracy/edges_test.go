package accuracy

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// The end of the context ends a fit, and labels of classes that there are not are refused.
func TestErrorsOfFit(t *testing.T) {
	r, labels := rows(rand.New(rand.NewPCG(1, 1)), 60, []float64{.4, .3, .3}, 1)
	contexttest.Stops(t, 10, func(ctx context.Context) error {
		_, err := Fit(ctx, r, labels, Options{})
		return err
	})
	labels[7] = 3
	for _, r := range []Rows{r, hard(r)} {
		if _, err := Fit(t.Context(), r, labels, Options{}); err == nil || !strings.HasPrefix(err.Error(), "labelshift: ") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := fitTable(t.Context(), hard(r).Posteriors, labels); err == nil || !strings.HasPrefix(err.Error(), "labelshift: ") {
		t.Errorf("got %v", err)
	}
}

// Each row gets a class, the last one where rounding leaves something.
func TestDraw(t *testing.T) {
	p := dense.New(200, 2)
	for i := range p.Data {
		p.Data[i] = .25
	}
	drawn := draw(rand.New(rand.NewPCG(1, 1)), p)
	first := 0
	for i := range drawn.Rows {
		row := dense.Row(drawn, i)
		if row[0]+row[1] != 1 || row[0]*row[1] != 0 {
			t.Fatalf("row %d is %v", i, row)
		}
		first += int(row[0])
	}
	if first < 25 || first > 75 { // 50 ± 4 deviations
		t.Errorf("%d of 200 rows are of the first class, want about 50", first)
	}
}
