package survey

import (
	"math"
	"testing"
)

// A label is in the bin of its confidence, both ends of the scale included, and the calibration
// error is the mean of the bins' gaps over rows, not over bins. By hand: eight labels of .95, of
// which six are right, and two of .55, of which both are: (8·|.95 − .75| + 2·|.55 − 1|)/10.
func TestSurveyByHand(t *testing.T) {
	var s Survey
	add := func(confidence float64, truth string) {
		t.Helper()
		if err := s.Add(confidence, "a", truth, func() Row { return Row{ID: "row"} }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		add(0.95, []string{"a", "b"}[i/6])
	}
	add(0.55, "a")
	add(0.55, "a")
	found := s.Finish()
	if e := *found.Error; math.Abs(e-(8*0.2+2*0.45)/10) > 1e-12 {
		t.Errorf("the calibration error is %g, want 0.25", e)
	}
	for k, b := range found.Bins {
		want := map[int]int{5: 2, 9: 8}[k]
		if b.Rows != want || b.From != float64(k)/10 || (want > 0) != (b.Confidence != nil) {
			t.Errorf("bin %d: %+v, want %d rows", k, b, want)
		}
	}
	if b := found.Bins[9]; math.Abs(*b.Confidence-0.95) > 1e-12 || *b.Accuracy != 0.75 {
		t.Errorf("the last bin: confidence %g, accuracy %g", *b.Confidence, *b.Accuracy)
	}
	var ends Survey
	for _, confidence := range []float64{0, 1} {
		if err := ends.Add(confidence, "a", "", func() Row { return Row{ID: "row"} }); err != nil {
			t.Fatal(err)
		}
	}
	if bins := ends.Finish().Bins; bins[0].Rows != 1 || bins[9].Rows != 1 {
		t.Errorf("confidences of 0 and 1 are in %+v", bins)
	}
}
