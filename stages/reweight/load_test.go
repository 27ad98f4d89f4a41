package reweight

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/stages/internal/state"
)

// A state whose numbers are none that Fit could have found is refused.
func TestLoadRefuses(t *testing.T) {
	type columns struct{ source, target, weight []float64 }
	right := columns{[]float64{0.5, 0.5}, []float64{0.25, 0.75}, []float64{0.5, 1.5}}
	for name, tc := range map[string]struct {
		classes []string
		columns
		want string
	}{
		"right":           {[]string{"a", "b"}, right, ""},
		"NaN":             {[]string{"a", "b"}, columns{[]float64{math.NaN(), 0.5}, right.target, right.weight}, "is NaN"},
		"negative weight": {[]string{"a", "b"}, columns{right.source, right.target, []float64{-1, 3}}, `the weight of class "a" is -1`},
		"huge weight":     {[]string{"a", "b"}, columns{right.source, right.target, []float64{1e300, 3}}, `the weight of class "a" is 1e+300`},
		"no shares":       {[]string{"a", "b"}, columns{right.source, []float64{0.5, 0.75}, right.weight}, "the shares' sum is 1.25"},
		"names":           {[]string{"a", "a"}, right, `"a" is there twice`},
	} {
		s := state.NewTable("reweight", len(tc.classes))
		s.AddStrings("class", tc.classes)
		s.AddFloats("source_proportion", tc.source)
		s.AddFloats("target_proportion", tc.target)
		s.AddFloats("weight", tc.weight)
		path := filepath.Join(t.TempDir(), "w.arrow")
		if _, err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		_, _, err := load(path)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "save it again")):
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
