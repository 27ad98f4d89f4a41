package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/streamtest"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// saved fits and returns the path of what was learnt.
func saved(t *testing.T, method string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "components")
	if err := Fit(Options{Method: method, Save: path})(t.Context(), env, streamtest.Clouds(), &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever fails, its error comes back.
func TestErrorsComeBack(t *testing.T) {
	for name, c := range map[string]struct {
		in    *arrowio.Batches
		stage stages.Func
	}{
		"kmeans":      {streamtest.Clouds(), Fit(Options{Method: "kmeans"})},
		"no metadata": {streamtest.WithMeta(streamtest.Clouds(), nil), Fit(Options{Method: "ward"})},
		"apply":       {streamtest.Clouds(), Apply(saved(t, "gmm"))},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.Fails(t, env, c.in, c.stage)
			streamtest.Stops(t, env, c.in, c.stage)
		})
	}
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Fit(Options{Method: "kmeans"}), "domain", "embedding")
	streamtest.RefusesTypes(t, env, streamtest.WithMeta(streamtest.Clouds(), nil), Fit(Options{Method: "kmeans"}), "label")
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Apply(saved(t, "kmeans")), "domain", "embedding")
}

// What cannot be clustered is refused, and the error says why and where.
func TestRefused(t *testing.T) {
	clouds := streamtest.Clouds
	missing := filepath.Join(t.TempDir(), "missing", "file")
	fit, apply := Fit(Options{Method: "kmeans"}), Apply(saved(t, "kmeans"))
	unknown := map[string]string{arrowio.ProvenanceKey: "x"}
	null := func(_ int, rec arrow.Record) arrow.Array {
		n := int(rec.NumRows())
		return arrowio.NewIntArray(make([]int32, n), make([]bool, n))
	}
	table := func(weight float64, covariance ...[]float64) string {
		s := state.NewTable("cluster", 2)
		s.AddInts("component", []int32{0, 1})
		s.AddFloats("proportion", []float64{.5, .5})
		s.AddVectors("mean", [][]float64{{0, 0}, {1, 1}})
		s.AddFloats("weight", []float64{weight, 1 - weight})
		s.AddVectors("covariance", covariance)
		path := filepath.Join(t.TempDir(), "state")
		if _, err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare, s := filepath.Join(t.TempDir(), "bare"), state.NewTable("cluster", 2)
	s.AddFloats("proportion", []float64{.5, .5})
	if _, err := s.Save(bare); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in    arrowio.Stream
		stage stages.Func
		want  string
	}{
		"no embedding":            {streamtest.Without(clouds(), "embedding"), fit, `there is no column "embedding"`},
		"none to apply to":        {streamtest.Without(clouds(), "embedding"), apply, `there is no column "embedding" (`},
		"no classes":              {streamtest.WithMeta(streamtest.Without(clouds(), "label"), nil), fit, `there is no column "label"`},
		"no labels":               {streamtest.WithMeta(streamtest.With(clouds(), "label", null), nil), fit, "no row has a label, so the number of classes is unknown: say how many components there are with --components"},
		"metadata":                {streamtest.WithMeta(clouds(), unknown), fit, arrowio.ProvenanceKey},
		"metadata to apply to":    {streamtest.WithMeta(clouds(), unknown), apply, arrowio.ProvenanceKey},
		"no target":               {streamtest.Pick(clouds(), 0, 6), fit, "clouds: there are no target rows"},
		"no method":               {clouds(), Fit(Options{Method: "none"}), `there is no method "none"`},
		"more components":         {clouds(), Fit(Options{Method: "kmeans", Components: 5, MaxRows: 4}), "5 components of 4 rows at most: raise --max-rows"},
		"vectors of nothing":      {streamtest.With(clouds(), "embedding", streamtest.Empty), fit, "rows have no numbers"},
		"other widths":            {streamtest.Narrow("embedding")(clouds()), apply, "rows have 1 numbers, and the components 2"},
		"one row of other width":  {streamtest.Pick(streamtest.Narrow("embedding")(clouds()), 6, 7), apply, "rows have 1 numbers, and the components 2"},
		"no folder":               {clouds(), Fit(Options{Method: "kmeans", Save: missing}), missing},
		"no file":                 {clouds(), Apply(missing), missing},
		"a state of no Gaussians": {clouds(), Apply(table(.5, []float64{1, 2, 2, 1}, []float64{1, 2, 2, 1})), "save it again"},
		"a state of no means":     {clouds(), Apply(bare), `"mean"`},
		"a state of no weights":   {clouds(), Apply(table(-1, []float64{1, 1}, []float64{1, 1})), "save it again"},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, c.stage, c.want) })
	}
	if left, err := os.ReadDir(filepath.Dir(filepath.Dir(missing))); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// Target rows get components, the same by what was saved, and source rows none. There may be as many components as rows are looked at.
func TestComponents(t *testing.T) {
	for _, method := range Methods {
		path := filepath.Join(t.TempDir(), "components")
		var first []int32
		for _, c := range []struct {
			name  string
			in    *arrowio.Batches
			stage stages.Func
		}{
			{"fit", streamtest.Clouds(), Fit(Options{Method: method, Save: path})},
			{"no metadata", streamtest.WithMeta(streamtest.Clouds(), nil), Fit(Options{Method: method})},
			{"apply", streamtest.Clouds(), Apply(path)},
			{"batches without rows", streamtest.Sparse(streamtest.Clouds(), "embedding"), Apply(path)},
			{"as many as rows", streamtest.Clouds(), Fit(Options{Method: method, Components: 2, MaxRows: 2})},
		} {
			var out streamtest.Sink
			if err := c.stage(t.Context(), env, c.in, &out); err != nil {
				t.Fatalf("%s: %s: %v", method, c.name, err)
			}
			var all []int32
			for _, rec := range out.Batches {
				got, err := arrowio.IntColumn(rec, "component")
				if err != nil {
					t.Fatal(err)
				}
				for i := range got.Values {
					if got.Null(i) != (i < 6) {
						t.Errorf("%s: %s: row %d has component %d, null %v", method, c.name, i, got.Values[i], got.Null(i))
					}
				}
				all = append(all, got.Values...)
			}
			if first == nil {
				first = all
			}
			if c.name != "as many as rows" && !slices.Equal(all, first) {
				t.Errorf("%s: %s: the components are %v, want %v", method, c.name, all, first)
			}
		}
		table, _, err := state.LoadTable(path, "cluster")
		if err != nil {
			t.Fatal(err)
		}
		if ids, means := table.Ints("component"), table.Vectors("mean"); !slices.Equal(ids, []int32{0, 1}) || len(means) != 2 || len(means[0]) != 2 || len(means[1]) != 2 {
			t.Errorf("%s: the state has the components %v with means %v", method, ids, means)
		}
	}
}
