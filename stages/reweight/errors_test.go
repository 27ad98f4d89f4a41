package reweight

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/streamtest"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// saved fits and returns the path of what was learnt.
func saved(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights")
	if err := Fit(Options{Estimator: "mars", Save: path})(t.Context(), env, streamtest.Clouds(), &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// constant is a column of one number.
func constant(value int32) func(int, arrow.Record) arrow.Array {
	return func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewIntArray(slices.Repeat([]int32{value}, int(rec.NumRows())), nil)
	}
}

// Whatever fails, its error comes back.
func TestErrorsComeBack(t *testing.T) {
	in := streamtest.With(streamtest.Clouds(), "unseen", constant(1))
	in = streamtest.With(in, "truth", constant(1))
	for name, c := range map[string]struct {
		in    *arrowio.Batches
		stage stages.Func
	}{
		"mars":       {in, Fit(Options{Estimator: "mars"})},
		"oracle":     {in, Fit(Options{Estimator: "oracle"})},
		"rows":       {in, Fit(Options{Estimator: "mte"})},
		"posteriors": {in, Fit(Options{Estimator: "bbse", AllUnseen: true})},
		"apply":      {in, Apply(saved(t))},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.Fails(t, env, c.in, c.stage)
			streamtest.Stops(t, env, c.in, c.stage)
		})
	}
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Fit(Options{Estimator: "mars"}), "domain", "label", "matched")
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Apply(saved(t)), "domain", "label")
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Fit(Options{Estimator: "bbse", AllUnseen: true}), "probability")
	streamtest.RefusesTypes(t, env, streamtest.Without(streamtest.Clouds(), "probability"), Fit(Options{Estimator: "bbse"}), "features")
}

// What cannot be weighted is refused, and the error says why and where.
func TestRefused(t *testing.T) {
	clouds := streamtest.Clouds
	missing := filepath.Join(t.TempDir(), "missing", "file")
	fit, apply := Fit(Options{Estimator: "mars"}), Apply(saved(t))
	unknown := map[string]string{arrowio.ProvenanceKey: "x"}
	null := func(_ int, rec arrow.Record) arrow.Array {
		n := int(rec.NumRows())
		return arrowio.NewIntArray(make([]int32, n), make([]bool, n))
	}
	given := func(p ...float64) stages.Func {
		return Fit(Options{Estimator: "given", Proportions: func([]string) ([]float64, error) { return p, nil }})
	}
	rec, _ := streamtest.Pick(streamtest.With(clouds(), "matched", null), 0, 7).Next()
	one := arrowio.NewBatches("clouds", rec.Schema(), rec)
	for name, c := range map[string]struct {
		in    arrowio.Stream
		stage stages.Func
		want  string
	}{
		"no estimator":            {clouds(), Fit(Options{Estimator: "none"}), `"none"`},
		"no label":                {streamtest.Without(clouds(), "label"), fit, `there is no column "label"`},
		"no label to apply to":    {streamtest.Without(clouds(), "label"), apply, `there is no column "label"`},
		"no matching":             {streamtest.Without(clouds(), "matched"), fit, `there is no column "matched"`},
		"metadata":                {streamtest.WithMeta(clouds(), unknown), fit, arrowio.ProvenanceKey},
		"metadata to apply to":    {streamtest.WithMeta(clouds(), unknown), apply, arrowio.ProvenanceKey},
		"labels of no number":     {streamtest.WithMeta(streamtest.With(clouds(), "label", constant(-1)), nil), fit, "row 1 of its batch has label -1"},
		"a source of one class":   {streamtest.With(clouds(), "label", constant(1)), fit, `no source row has class "a"`},
		"a source of one row":     {streamtest.With(clouds(), "label", null), fit, "row 1 of its batch is a source row without a label"},
		"matched with too many":   {streamtest.With(clouds(), "matched", constant(2)), fit, `clouds: column "matched": row 7 of its batch was matched with class 2, and there are 2: run mars-match on this stream`},
		"matched below 0":         {streamtest.With(clouds(), "matched", constant(-1)), fit, `clouds: column "matched": row 7 of its batch was matched with class -1, and there are 2: run mars-match on this stream`},
		"matched with none":       {streamtest.With(clouds(), "matched", null), fit, `clouds: column "matched": no target row was matched with a class`},
		"no target":               {streamtest.Pick(clouds(), 0, 6), fit, "clouds: there are no target rows"},
		"no source":               {streamtest.Pick(clouds(), 6, 12), fit, "clouds: there are no source rows"},
		"no plan":                 {clouds(), Fit(Options{Estimator: "plan"}), "its metadata have no target proportions"},
		"no shares":               {clouds(), given(.5, .6), "clouds: "},
		"shares of other classes": {clouds(), given(.5, .2, .3), "clouds: "},
		"no truth":                {streamtest.With(clouds(), "truth", null), Fit(Options{Estimator: "oracle"}), "no target row has a true class"},
		"posteriors of another":   {streamtest.Narrow("probability")(clouds()), Fit(Options{Estimator: "bbse", AllUnseen: true}), "rows have 1 posteriors, and there are 2 classes"},
		"one unmatched row":       {one, fit, `clouds: column "matched": no target row was matched with a class`},
		"images":                  {streamtest.Without(clouds(), "probability"), Fit(Options{Estimator: "bbse", Shape: []int{1, 1, 2}}), `there is no column "probability" (`},
		"vectors of nothing":      {streamtest.With(streamtest.With(clouds(), "features", streamtest.Empty), "embedding", streamtest.Empty), Fit(Options{Estimator: "mte"}), "rows have no numbers"},
		"no folder":               {clouds(), Fit(Options{Estimator: "mars", Save: missing}), missing},
		"no file":                 {clouds(), Apply(missing), missing},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, c.stage, c.want) })
	}
}

// Source rows weigh p_T/p_S and others 1, also by what was saved, and the stream says so.
func TestWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights")
	fit := Fit(Options{Estimator: "given", Save: path, Proportions: func([]string) ([]float64, error) { return []float64{.25, .75}, nil }})
	for _, c := range []struct {
		name  string
		in    *arrowio.Batches
		stage stages.Func
	}{{"fit", streamtest.Clouds(), fit}, {"apply", streamtest.WithMeta(streamtest.Clouds(), nil), Apply(path)}} {
		var out streamtest.Sink
		if err := c.stage(t.Context(), env, c.in, &out); err != nil {
			t.Fatal(err)
		}
		for _, rec := range out.Batches {
			weights, err := arrowio.FloatColumn(rec, "weight")
			if want := []float32{.5, 1.5, .5, 1.5, .5, 1.5, 1, 1, 1, 1, 1, 1}; err != nil || !slices.Equal(weights, want) {
				t.Errorf("%s: the weights are %v, want %v; %v", c.name, weights, want, err)
			}
		}
		meta, err := arrowio.ReadMeta(out.Schema)
		if err != nil || !slices.Equal(meta.Classes, []string{"a", "b"}) || !slices.Equal(meta.SourceProportions, []float64{.5, .5}) || !slices.Equal(meta.TargetProportions, []float64{.25, .75}) {
			t.Errorf("%s: the metadata are %+v, %v", c.name, meta, err)
		}
	}
}

// What earlier stages found of the target is no more said of rows that a state has weighted.
func TestDiagnosticsOfOthers(t *testing.T) {
	in := streamtest.WithMeta(streamtest.Clouds(), map[string]string{arrowio.DiagnosticsKey: `{"estimator":"mte"}`})
	var out streamtest.Sink
	if err := Apply(saved(t))(t.Context(), env, in, &out); err != nil {
		t.Fatal(err)
	}
	if text, there := out.Schema.Metadata().GetValue(arrowio.DiagnosticsKey); there {
		t.Errorf("the diagnostics are %s", text)
	}
}
