package match

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/streamtest"
)

var env = stages.Env{Columns: arrowio.DefaultColumns()}

// saved fits and returns the path of what was learnt.
func saved(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "match")
	if err := Fit(Options{Save: path})(t.Context(), env, streamtest.Clouds(), &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever fails, its error comes back.
func TestErrorsComeBack(t *testing.T) {
	for name, stage := range map[string]stages.Func{
		"means": Fit(Options{}),
		"bures": Fit(Options{Cost: transport.Bures}),
		"apply": Apply(saved(t)),
	} {
		t.Run(name, func(t *testing.T) {
			in := streamtest.Clouds()
			streamtest.Fails(t, env, in, stage)
			streamtest.Stops(t, env, in, stage)
		})
	}
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Fit(Options{}), "domain", "label", "embedding", "component")
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Apply(saved(t)), "domain", "component")
}

// ints is a column of the values, again and again.
func ints(values ...int32) func(int, arrow.Record) arrow.Array {
	return func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewIntArray(slices.Repeat(values, int(rec.NumRows()))[:rec.NumRows()], nil)
	}
}

// wide are rows of so many numbers.
func wide(width int) *arrowio.Batches {
	return streamtest.With(streamtest.Pick(streamtest.Clouds(), 4, 8), "embedding", func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewVectorArray(arrowio.Vectors{Data: make([]float32, int(rec.NumRows())*width), Rows: int(rec.NumRows()), Width: width})
	})
}

// What cannot be matched is refused, and the error says why and where.
func TestRefused(t *testing.T) {
	clouds := streamtest.Clouds
	missing := filepath.Join(t.TempDir(), "missing", "file")
	fit, apply := Fit(Options{}), Apply(saved(t))
	plan := func(values ...float64) string {
		s := state.NewTable("match", 2)
		s.AddStrings("class", []string{"a", "b"})
		s.AddVectors("plan", [][]float64{values, values})
		path := filepath.Join(t.TempDir(), "plan")
		if _, err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare, table := filepath.Join(t.TempDir(), "bare"), state.NewTable("match", 2)
	table.AddStrings("class", []string{"a", "b"})
	if _, err := table.Save(bare); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in    arrowio.Stream
		stage stages.Func
		want  string
	}{
		"no column":             {streamtest.Without(clouds(), "component"), fit, `there is no column "component"`},
		"no column to apply to": {streamtest.Without(clouds(), "component"), apply, `there is no column "component"`},
		"metadata":              {streamtest.WithMeta(clouds(), map[string]string{arrowio.ProvenanceKey: "x"}), fit, arrowio.ProvenanceKey},
		"metadata to apply to":  {streamtest.WithMeta(clouds(), map[string]string{arrowio.ProvenanceKey: "x"}), apply, arrowio.ProvenanceKey},
		"no label": {streamtest.With(clouds(), "label", func(_ int, rec arrow.Record) arrow.Array {
			return arrowio.NewIntArray(make([]int32, 12), make([]bool, 12))
		}), fit, "row 1 of its batch is a source row without a label"},
		"one class":                {streamtest.With(clouds(), "label", ints(0)), fit, `no source row has class "b"`},
		"no component":             {streamtest.With(clouds(), "component", ints(-1)), fit, "no target row has a component"},
		"a gap":                    {streamtest.With(clouds(), "component", ints(0, 2)), fit, "component 1 of 3 has no row"},
		"too many components":      {streamtest.With(clouds(), "component", ints(0, maxComponents)), fit, `column "component": there is a component numbered 10000: number components from 0, below 10000`},
		"the most components":      {streamtest.With(clouds(), "component", ints(0, maxComponents-1)), fit, "component 1 of 10000 has no row"},
		"other widths":             {streamtest.Alone(clouds(), streamtest.Narrow("embedding")), fit, "embeddings of 1 numbers follow some of 2"},
		"vectors of nothing":       {streamtest.With(clouds(), "embedding", streamtest.Empty), fit, `column "embedding": rows have no numbers`},
		"infinite":                 {streamtest.Alone(clouds(), streamtest.Unreadable("embedding")), fit, `clouds: column "embedding": row 37: element 2 is +Inf`},
		"unknown classes":          {streamtest.WithMeta(streamtest.With(clouds(), "label", ints(-1)), nil), fit, "row 1 of its batch has label -1"},
		"wide covariances":         {wide(5800), Fit(Options{Cost: transport.Bures}), "takes 4 covariances of 5800×5800 numbers"},
		"a state without its plan": {clouds(), Apply(bare), `"plan"`},
		"no folder":                {clouds(), Fit(Options{Save: missing}), missing},
		"no file":                  {clouds(), Apply(missing), missing},
		"a component too many":     {streamtest.With(clouds(), "component", ints(0, 1, 2)), apply, `clouds: column "component": row 9 of its batch has component 2, and 2 components were matched`},
		"no plan":                  {clouds(), Apply(plan(0, 1.1)), "its plan holds a mass of 1.1, want 0 to 1"},
		"a plan below 0":           {clouds(), Apply(plan(-.1, 1)), "its plan holds a mass of -0.1, want 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, c.stage, c.want) })
	}
}

// Rows get the classes of their components, also by what was saved; rows of the source and those without a component get none.
func TestMatched(t *testing.T) {
	in := streamtest.With(streamtest.Clouds(), "component", func(_ int, rec arrow.Record) arrow.Array {
		return arrowio.NewIntArray([]int32{0, 1, 0, 1, 0, 1, 1, 0, 1, 0, -1, 0}, []bool{true, true, true, true, true, true, true, true, true, true, true, false})
	})
	path := filepath.Join(t.TempDir(), "match")
	for _, c := range []struct {
		name  string
		in    *arrowio.Batches
		stage stages.Func
	}{
		{"fit", in, Fit(Options{Save: path})},
		{"apply", streamtest.WithMeta(in, nil), Apply(path)},
		{"batches without rows", streamtest.Sparse(in, "embedding"), Fit(Options{})},
		{"apply to such", streamtest.Sparse(in, "embedding"), Apply(path)},
	} {
		var out streamtest.Sink
		if err := c.stage(t.Context(), env, c.in, &out); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		rows := 0
		for _, rec := range out.Batches {
			rows += int(rec.NumRows())
			got, err := arrowio.IntColumn(rec, "matched")
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []int32{-1, -1, -1, -1, -1, -1, 0, 1, 0, 1, -1, -1}[:rec.NumRows()] {
				if got.Null(i) != (want < 0) || want >= 0 && got.Values[i] != want {
					t.Errorf("%s: row %d was matched with %d, null %v, want %d", c.name, i, got.Values[i], got.Null(i), want)
				}
			}
		}
		meta, err := arrowio.ReadMeta(out.Schema)
		if err != nil || rows != 36 || !slices.Equal(meta.Classes, []string{"a", "b"}) {
			t.Errorf("%s: %d rows of the classes %v, %v", c.name, rows, meta.Classes, err)
		}
	}
	classes, p, err := LoadPlan(path)
	if err != nil || !slices.Equal(classes, []string{"a", "b"}) || len(p) != 2 || len(p[0]) != 2 {
		t.Errorf("the plan is %v of %v, %v", p, classes, err)
	}
	if _, _, err := LoadPlan(path + "missing"); err == nil {
		t.Error("a plan that there is not is read")
	}
}
