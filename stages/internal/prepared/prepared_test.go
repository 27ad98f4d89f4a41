package prepared

import (
	"encoding/json"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/scale"
)

func text(t *testing.T, p Preparation) string {
	t.Helper()
	s, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What differs is named; what says nothing differs from nothing.
func TestCheckAlike(t *testing.T) {
	standard := func(mean float64) *scale.Standard {
		return &scale.Standard{Mean: []float64{0, mean}, Deviation: []float64{1, 2}}
	}
	model := Preparation{Columns: []string{"a", "b"}, Target: Side{Standard: standard(1. / 3)}}
	for _, test := range []struct {
		rows Preparation
		want string // "" if they are alike
	}{
		{model, ""},
		{Preparation{Columns: []string{"a", "b"}, Source: Side{Standard: standard(5)}, Target: Side{Standard: standard(1. / 3)}}, ""},
		{Preparation{Columns: []string{"b", "a"}, Target: model.Target}, `feature 1 of the model is the column "a", and of the rows "b"`},
		{Preparation{Columns: []string{"a"}, Target: model.Target}, `the column "b", which the rows do not have`},
		{Preparation{Columns: []string{"a", "b", "c"}, Target: model.Target}, `the column "c", which the model does not have`},
		{Preparation{Columns: []string{"a", "b"}}, "the rows were not standardised"},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Standard: standard(.4)}}, `feature "b" was standardised by mean 0.4`},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Images: json.RawMessage(`{"pad":2}`), Standard: standard(1. / 3)}}, "the images were prepared by"},
	} {
		err := CheckAlike(text(t, model), text(t, test.rows))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("want %q, got %v", test.want, err)
		}
	}
	if err := CheckAlike("", text(t, model)); err != nil {
		t.Error(err)
	}
	if err := CheckAlike(text(t, model), ""); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "[]", `{"version":2}`, `{"version":1,"target":{"standard":{"mean":[1],"deviation":[]}}}`} {
		if _, err := Parse(bad); err == nil || !strings.Contains(err.Error(), "mars.preparation") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
