package respond

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/streamtest"
	"mars.dev/mars/stages/train"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// model trains a model of the method hedge on the rows, and returns its path.
func model(t *testing.T, in *arrowio.Batches) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model")
	o := train.Options{Method: hedge.Method, Classifiers: []string{"logistic"}, Assume: []string{"balance"}, Save: path}
	if err := train.Fit(o)(t.Context(), env, in, &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// opened is the first pass of a model.
func opened(t *testing.T, path string) *Pass {
	t.Helper()
	p, err := Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stage maps a model over rows, and writes nothing.
func stage(p *Pass) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, _ arrowio.Sink) error {
		_, err := p.Rows(ctx, env, in, "part")
		return err
	}
}

// Whatever fails, its error comes back, and rows that the model cannot take are refused.
func TestErrorsComeBack(t *testing.T) {
	p := opened(t, model(t, streamtest.Clouds()))
	in := streamtest.Without(streamtest.Clouds(), "embedding") // which the model would take
	streamtest.Fails(t, env, in, stage(p))
	streamtest.Stops(t, env, in, stage(p))
	streamtest.RefusesTypes(t, env, in, stage(p), "domain", "features")
	for name, c := range map[string]struct {
		in   arrowio.Stream
		want string
	}{
		"no features":              {streamtest.Without(in, "features"), `there is no column "features" (`},
		"other widths":             {streamtest.Narrow("features")(in), `clouds: column "features": rows have 1 numbers, and the model takes 2`},
		"one row of other width":   {streamtest.Pick(streamtest.Narrow("features")(in), 6, 7), `clouds: column "features": rows have 1 numbers, and the model takes 2`},
		"no target":                {streamtest.Pick(in, 0, 6), "clouds: there are no target rows"},
		"no target of other width": {streamtest.Narrow("features")(streamtest.Pick(in, 0, 6)), "clouds: there are no target rows"},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, stage(p), c.want) })
	}
}

// Rows that were prepared otherwise than the model's are refused.
func TestPreparation(t *testing.T) {
	of := func(columns string) *arrowio.Batches {
		return streamtest.Prepared(streamtest.Clouds(), `{"version":1,"columns":`+columns+`,"source":{},"target":{}}`)
	}
	p := opened(t, model(t, of(`["p","q"]`)))
	if _, err := p.Rows(t.Context(), env, of(`["p","q"]`), "part"); err != nil {
		t.Error(err)
	}
	streamtest.Refuses(t, env, of(`["p","r"]`), stage(p), `clouds: column "features": `)
}

// Batches without rows of the target are passed over, whatever their width.
func TestRowsAreCounted(t *testing.T) {
	p := opened(t, model(t, streamtest.Clouds()))
	in := streamtest.Without(streamtest.Clouds(), "embedding")
	r, err := p.Rows(t.Context(), env, streamtest.Alone(in, streamtest.Narrow("features")), "part") // the last is of the source
	if err != nil || r.Rows() != 18 || r.Pass != 1 {
		t.Fatalf("the pass is %+v, %v", r, err)
	}
}

// Sums that were saved are merged, and another pass begins where they lead.
func TestPasses(t *testing.T) {
	path := model(t, streamtest.Clouds())
	p := opened(t, path)
	folder := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b"} {
		in := streamtest.Without(streamtest.Clouds(), "embedding")
		if name == "b" {
			in = streamtest.Pick(in, 3, 12)
		}
		r, err := p.Rows(t.Context(), env, in, name)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(folder, name))
		if err := r.Save(paths[len(paths)-1]); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	env := env
	env.Log = slog.New(slog.NewTextHandler(&log, nil))
	both, err := Merge(env, paths)
	if err != nil || !strings.Contains(log.String(), "pass 1: ") {
		t.Fatalf("it says %s\n%v", &log, err)
	}
	merged := filepath.Join(folder, "both")
	if err := both.Save(merged); err != nil {
		t.Fatal(err)
	}
	next, err := Open(path, merged)
	if err != nil || next.Number() != 2 {
		t.Fatalf("the next pass is %+v, %v", next, err)
	}
	missing := filepath.Join(folder, "missing")
	if _, err := Merge(env, []string{paths[0], missing}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a file that there is not: %v", err)
	}
	second, err := next.Rows(t.Context(), env, streamtest.Without(streamtest.Clouds(), "embedding"), "c")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Save(merged); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(env, []string{paths[0], merged}); err == nil || !strings.Contains(err.Error(), "another pass") {
		t.Errorf("sums of two passes: %v", err)
	}
	other := streamtest.With(streamtest.Clouds(), "features", func(_ int, rec arrow.Record) arrow.Array {
		return rec.Column(rec.Schema().FieldIndices("probability")[0])
	})
	for name, c := range map[string]struct{ model, after, want string }{
		"no model":          {missing, "", missing},
		"no sums":           {path, missing, missing},
		"sums of another":   {model(t, other), merged, merged},
		"no model but sums": {merged, "", merged},
	} {
		if _, err := Open(c.model, c.after); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pass without sums of all classifiers has none after it, and a model without the point to begin at has no first.
func TestNoPass(t *testing.T) {
	path := model(t, streamtest.Clouds())
	p := opened(t, path)
	r, err := p.Rows(t.Context(), env, streamtest.Without(streamtest.Clouds(), "embedding"), "part")
	if err != nil {
		t.Fatal(err)
	}
	r.Parts = nil
	if next, _, err := p.After(r); err == nil {
		t.Errorf("after a pass over no rows comes %+v", next)
	}
	sums := filepath.Join(t.TempDir(), "sums")
	if err := r.Save(sums); err != nil {
		t.Fatal(err)
	}
	if next, err := Open(path, sums); err == nil {
		t.Errorf("after a file of no rows comes %+v", next)
	}
	for i := range p.Model.Views {
		p.Model.Views[i].FixedPoint = nil
	}
	if first, err := First(p.Model, ""); err == nil {
		t.Errorf("the first pass is %+v", first)
	}
}
