package embed

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/streamtest"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// options train for an epoch.
func options(method string) Options {
	return Options{Method: method, Arch: "mlp:2-4-3", Tune: []func(*adapt.Config){func(c *adapt.Config) { c.Epochs, c.Batch = 1, 12 }}}
}

// saved learns and returns the path of the model.
func saved(t *testing.T) string {
	t.Helper()
	o := options("source")
	o.Save = filepath.Join(t.TempDir(), "model")
	if err := Fit(o)(t.Context(), env, streamtest.Clouds(), &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return o.Save
}

// Whatever fails, its error comes back.
func TestErrorsComeBack(t *testing.T) {
	for name, c := range map[string]struct {
		in    *arrowio.Batches
		stage stages.Func
	}{
		"source":           {streamtest.Clouds(), Fit(options("source"))},
		"self-training":    {streamtest.Clouds(), Fit(options(selftrain.Method))},
		"no metadata":      {streamtest.WithMeta(streamtest.Clouds(), nil), Fit(options("source"))},
		"apply":            {streamtest.Clouds(), Apply(saved(t))},
		"what is no image": {streamtest.Clouds(), Images(options("source"))},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.Fails(t, env, c.in, c.stage)
			streamtest.Stops(t, env, c.in, c.stage)
		})
	}
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Fit(options("source")), "domain", "label", "features")
	streamtest.RefusesTypes(t, env, streamtest.Clouds(), Apply(saved(t)), "features")
}

// What cannot be embedded is refused, and the error says why and where.
func TestRefused(t *testing.T) {
	clouds := streamtest.Clouds
	missing := filepath.Join(t.TempDir(), "missing", "file")
	apply := Apply(saved(t))
	unknown := map[string]string{arrowio.ProvenanceKey: "x"}
	change := func(method string, f func(*Options)) stages.Func {
		o := options(method)
		f(&o)
		return Fit(o)
	}
	arch := func(o *Options) { o.Arch = "mlp" }
	augmented := options("source")
	augmented.Augment = "flip"
	for name, c := range map[string]struct {
		in    arrowio.Stream
		stage stages.Func
		want  string
	}{
		"no label":             {streamtest.Without(clouds(), "label"), Fit(options("source")), `there is no column "label" (`},
		"no features":          {streamtest.Without(clouds(), "features"), apply, `there is no column "features" (`},
		"metadata":             {streamtest.WithMeta(clouds(), unknown), Fit(options("source")), arrowio.ProvenanceKey},
		"metadata to apply to": {streamtest.WithMeta(clouds(), unknown), apply, arrowio.ProvenanceKey},
		"no target":            {streamtest.Pick(clouds(), 0, 6), Fit(options(selftrain.Method)), "there are no target rows"},
		"another shape":        {clouds(), change("source", func(o *Options) { o.Shape = []int{3} }), "a shape of 3 is 3 numbers, and the rows have 2"},
		"an architecture":      {clouds(), change("source", arch), `arch "mlp"`},
		"one of self-training": {clouds(), change(selftrain.Method, arch), `arch "mlp"`},
		"changes of no images": {clouds(), change("source", func(o *Options) { o.Augment = "flip" }), `clouds: column "features": `},
		"no image to change":   {clouds(), Images(augmented), "no image is changed"},
		"a batch of a row":     {clouds(), change("source", func(o *Options) { o.Tune = append(o.Tune, func(c *adapt.Config) { c.Batch = 1 }) }), "batch 1"},
		"one of both":          {clouds(), change(selftrain.Method, func(o *Options) { o.Tune = append(o.Tune, func(c *adapt.Config) { c.Batch = 1 }) }), "batch 1"},
		"vectors of nothing":   {streamtest.With(clouds(), "features", streamtest.Empty), Fit(options("source")), "rows have no numbers"},
		"other widths":         {streamtest.Narrow("features")(clouds()), apply, "rows have 1 numbers, and the model takes 2"},
		"no folder":            {clouds(), change("source", func(o *Options) { o.Save = missing }), missing},
		"no file":              {clouds(), Apply(missing), missing},
		"no model":             {clouds(), Apply("errors_test.go"), "errors_test.go: "},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, c.stage, c.want) })
	}
}

// Rows that were prepared otherwise than the model's are refused.
func TestPreparation(t *testing.T) {
	of := func(columns string) *arrowio.Batches {
		return streamtest.Prepared(streamtest.Clouds(), `{"version":1,"columns":`+columns+`,"source":{},"target":{}}`)
	}
	o := options("source")
	o.Save = filepath.Join(t.TempDir(), "model")
	if err := Fit(o)(t.Context(), env, of(`["p","q"]`), &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	if err := Apply(o.Save)(t.Context(), env, of(`["p","q"]`), &streamtest.Sink{}); err != nil {
		t.Error(err)
	}
	streamtest.Refuses(t, env, of(`["p","r"]`), Apply(o.Save), `clouds: column "features": `)
}

// Each row gets an embedding, the same by the saved model, and a row without any value one that is
// none. The classes of the model are the stream's where it has none.
func TestEmbedding(t *testing.T) {
	nan := float32(math.NaN())
	in := streamtest.With(streamtest.Clouds(), "features", func(_ int, rec arrow.Record) arrow.Array {
		v, err := arrowio.VectorColumn(rec, "features")
		if err != nil {
			t.Fatal(err)
		}
		v.Data = slices.Clone(v.Data)
		copy(v.Row(8), []float32{nan, nan})
		return arrowio.NewVectorArray(v)
	})
	o := options("source")
	o.Save = filepath.Join(t.TempDir(), "model")
	var fitted, applied streamtest.Sink
	if err := Fit(o)(t.Context(), env, in, &fitted); err != nil {
		t.Fatal(err)
	}
	in.Rewind()
	if err := Apply(o.Save)(t.Context(), env, streamtest.WithMeta(in, nil), &applied); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]streamtest.Sink{"fit": fitted, "apply": applied} {
		for b, rec := range out.Batches {
			z, err := arrowio.VectorColumnWithGaps(rec, "embedding")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if z.Rows != 12 || z.Width != 3 {
				t.Fatalf("%s: %d embeddings of %d numbers", name, z.Rows, z.Width)
			}
			for i := range z.Rows {
				if z.Missing(i) != (i == 8) {
					t.Errorf("%s: the embedding of row %d is %v", name, i, z.Row(i))
				}
			}
			want, err := arrowio.VectorColumnWithGaps(fitted.Batches[b], "embedding")
			if err != nil || fmt.Sprint(z) != fmt.Sprint(want) {
				t.Errorf("%s: batch %d: %v, want %v; %v", name, b, z, want, err)
			}
		}
		if meta, err := arrowio.ReadMeta(out.Schema); err != nil || !slices.Equal(meta.Classes, []string{"a", "b"}) {
			t.Errorf("%s: the classes are %v, %v", name, meta.Classes, err)
		}
	}
}

// The advice for a model of another program has the name of its first input, or x.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		foreign         models.Foreign
		producer, input string
	}{
		{models.Foreign{}, "another program", `{"x": x}`},
		{models.Foreign{Producer: "pytorch", Inputs: []string{"image"}}, "pytorch", `{"image": x}`},
		{models.Foreign{Producer: "pytorch", Inputs: []string{"image", "mask"}}, "pytorch", `{"image": x}`},
	} {
		got := advise("m.onnx", fmt.Errorf("m.onnx: %w", &c.foreign)).Error()
		if !strings.Contains(got, "an ONNX model of "+c.producer+",") || !strings.Contains(got, `InferenceSession("m.onnx").run(None, `+c.input+")") {
			t.Errorf("%+v: %s", c.foreign, got)
		}
	}
	other := errors.New("other")
	if got := advise("m.onnx", other); got != other {
		t.Errorf("of another error becomes %v", got)
	}
}

// Images without an embedding get one, and it is said how; the shape may be the user's.
func TestImages(t *testing.T) {
	for method, want := range map[string]string{"source": "learning an embedding on the source first", selftrain.Method: "learning an embedding by self-training first"} {
		var log strings.Builder
		env := env
		env.Shape, env.Log = []int{1, 4, 4}, slog.New(slog.NewTextHandler(&log, nil))
		o := options(method)
		o.Arch = "mlp:16-4-3"
		in := streamtest.With(streamtest.Without(streamtest.Clouds(), "embedding"), "features", func(batch int, rec arrow.Record) arrow.Array {
			v := arrowio.Vectors{Data: make([]float32, 16*rec.NumRows()), Rows: int(rec.NumRows()), Width: 16}
			for i := range v.Data {
				v.Data[i] = float32((i*i+batch)%7) / 7
			}
			return arrowio.NewVectorArray(v)
		})
		var out streamtest.Sink
		if err := Images(o)(t.Context(), env, in, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), want) || len(out.Schema.FieldIndices("embedding")) != 1 {
			t.Errorf("%s: it says\n%s", method, &log)
		}
	}
	var out streamtest.Sink
	if err := Images(options("source"))(t.Context(), env, streamtest.Without(streamtest.Clouds(), "embedding"), &out); err != nil || len(out.Schema.FieldIndices("embedding")) > 0 || len(out.Batches) != 3 {
		t.Errorf("of rows that are no images becomes %v, %d batches, %v", out.Schema, len(out.Batches), err)
	}
}
