package prepared

import (
	"encoding/json"
	"fmt"
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
	standard := func(mean float64) scale.Scaling {
		return scale.Scaling{Standard: &scale.Standard{Mean: []float64{0, mean}, Deviation: []float64{1, 2}}}
	}
	quantiles := func(top float64) scale.Scaling {
		return scale.Scaling{Quantiles: &scale.Quantiles{Values: [][]float64{{0, 1}, {0, top}}}}
	}
	model := Preparation{Columns: []string{"a", "b"}, Target: Side{Scaling: standard(1. / 3)}}
	for _, test := range []struct {
		rows Preparation
		want string // "" if they are alike
	}{
		{model, ""},
		{Preparation{Columns: []string{"a", "b"}, Source: Side{Scaling: standard(5)}, Target: Side{Scaling: standard(1. / 3)}}, ""},
		{Preparation{Columns: []string{"b", "a"}, Target: model.Target}, `feature 1 of the model is the column "a", and of the rows "b"`},
		{Preparation{Columns: []string{"a"}, Target: model.Target}, `the column "b", which the rows do not have`},
		{Preparation{Columns: []string{"a", "b", "c"}, Target: model.Target}, `the column "c", which the model does not have`},
		{Preparation{Columns: []string{"a", "b"}}, "the rows were not standardised"},
		{Preparation{Columns: []string{"a", "b"}, Compensate: true, Target: model.Target}, "the rows were compensated, and the model's were not"},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Scaling: standard(.4)}}, `feature "b" was standardised by centre 0.4 and width 2, and the model's by 0.333333 and 2`},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Images: json.RawMessage(`{"pad":2}`), Scaling: standard(1. / 3)}}, "the images were prepared by"},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Scaling: standard(1. / 3), Transform: &scale.Transform{Log1p: true}}}, "the rows were transformed by log1p, and the model's by nothing"},
		{Preparation{Columns: []string{"a", "b"}, Target: Side{Scaling: quantiles(2)}}, "the rows were standardised by their quantiles, and the model's were not"},
	} {
		err := CheckAlike(text(t, model), text(t, test.rows))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("want %q, got %v", test.want, err)
		}
	}
	scores := func(top float64) string {
		return text(t, Preparation{Columns: []string{"a", "b"}, Target: Side{Scaling: quantiles(top)}})
	}
	if err := CheckAlike(scores(2), scores(2)); err != nil {
		t.Error(err)
	}
	if err := CheckAlike(scores(2), scores(3)); err == nil || !strings.Contains(err.Error(), `feature "b" was standardised by other quantiles`) {
		t.Error(err)
	}
	if err := CheckAlike(scores(2), text(t, model)); err == nil || !strings.Contains(err.Error(), "not standardised by quantiles") {
		t.Error(err)
	}
	for what, pair := range map[string][2]string{"mars.preparation: ": {text(t, model), "{"}, "the model: mars.preparation: ": {"{", text(t, model)}} {
		if err := CheckAlike(pair[0], pair[1]); err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
		}
	}
	far := Preparation{Columns: model.Columns, Centres: []float64{0, 7}}
	for _, test := range []struct {
		centres []float64
		want    string
	}{
		{[]float64{0, 7}, ""},
		{[]float64{0, 8}, `feature "b" of the rows is how far it is from 8, and of the model from 7`},
		{[]float64{1, 7}, `feature "a" of the rows is how far it is from 1, and of the model from 0`},
		{nil, `feature "b" of the rows is how far it is from 0, and of the model from 7`},
	} {
		err := CheckAlike(text(t, far), text(t, Preparation{Columns: model.Columns, Centres: test.centres}))
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("centres %v: want %q, got %v", test.centres, test.want, err)
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
	for _, bad := range []string{"", "[]", `{"version":1,"centres":[1e999]}`, `{"version":1,"centres":["NaN"]}`, `{"version":2}`, `{"version":1,"target":{"standard":{"mean":[1],"deviation":[]}}}`,
		`{"version":1,"target":{"quantiles":{"values":[[2,1]]}}}`, `{"version":1,"target":{"transform":{"log1p":true,"arcsinh":5}}}`, `{"version":1,"source":{"transform":{"arcsinh":-5}}}`} {
		if _, err := Parse(bad); err == nil || !strings.Contains(err.Error(), "mars.preparation") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The first feature that differs is named by its number and columns.
func TestSameColumns(t *testing.T) {
	for _, test := range []struct {
		model, rows []string
		want        string
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, ""},
		{[]string{"a", "b"}, []string{"a"}, `feature 2 of the model is the column "b", which the rows do not have`},
		{[]string{"a"}, []string{"a", "b"}, `feature 2 of the rows is the column "b", which the model does not have`},
		{[]string{"a", "b", "c"}, []string{"a", "x", "y"}, `feature 2 of the model is the column "b", and of the rows "x"`},
		{nil, nil, ""},
	} {
		err := sameColumns(test.model, test.rows)
		if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && got != test.want {
			t.Errorf("%v and %v: %v, want %s", test.model, test.rows, err, test.want)
		}
	}
	if got := nameOf(0, []string{"a"}) + nameOf(1, []string{"a"}); got != `"a"2` {
		t.Errorf("features are named %s", got)
	}
	if got := orNothing(nil) + orNothing(json.RawMessage("3")); got != "nothing3" {
		t.Errorf("got %s", got)
	}
	if got := at([]float64{5}, 0)*10 + at([]float64{5}, 1); got != 50 {
		t.Errorf("got %v", got)
	}
}
