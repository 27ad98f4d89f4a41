package predict

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/export"
	"mars.dev/mars/stages/internal/streamtest"
	"mars.dev/mars/stages/train"
)

var env = stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}

// model trains a model on the rows, and returns its path.
func model(t *testing.T, in *arrowio.Batches) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model")
	o := train.Options{Method: "source", Arch: "mlp:2-4-3", Schedule: adapt.ScheduleDefault, Save: path, Tune: []func(*adapt.Config){func(c *adapt.Config) { c.Epochs, c.Batch = 1, 12 }}}
	if err := train.Fit(o)(t.Context(), env, in, &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

const preparation = `{"version":1,"columns":["p","q"],"source":{},"target":{}}`

// Whatever fails, its error comes back, and what a model cannot be applied to is refused.
func TestErrorsComeBack(t *testing.T) {
	clouds := func() *arrowio.Batches { return streamtest.Prepared(streamtest.Clouds(), preparation) }
	path := model(t, clouds())
	apply := Apply(Options{Model: path})
	streamtest.Fails(t, env, clouds(), apply)
	streamtest.Stops(t, env, clouds(), apply)
	streamtest.RefusesTypes(t, env, clouds(), apply, "features")
	missing := filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]struct {
		in    arrowio.Stream
		stage stages.Func
		want  string
	}{
		"no model":         {clouds(), Apply(Options{Model: missing}), missing},
		"no decision":      {clouds(), Apply(Options{Model: path, Decision: "fair"}), "fair"},
		"no features":      {streamtest.Without(clouds(), "features"), apply, `there is no column "features" (`},
		"other widths":     {streamtest.Narrow("features")(clouds()), apply, "rows have 1 numbers, and the model takes 2"},
		"prepared another": {streamtest.Prepared(clouds(), strings.Replace(preparation, "q", "r", 1)), apply, `clouds: column "features": `},
		"metadata":         {streamtest.WithMeta(clouds(), map[string]string{arrowio.ProvenanceKey: "x"}), apply, arrowio.ProvenanceKey},
	} {
		t.Run(name, func(t *testing.T) { streamtest.Refuses(t, env, c.in, c.stage, c.want) })
	}
}

// A file is a model by its beginning alone, and one that is too short for that or not there is none.
func TestIsModel(t *testing.T) {
	folder := t.TempDir()
	for text, want := range map[string]bool{
		"\x09\x00\x00\x00\x00\x00\x00\x00{}": true,
		"\x09\x00\x00\x00\x00\x00\x00\x00":   false,
		"\x09\x00\x00\x00\x00\x00\x00\x00[]": false,
		"\x09\x00\x00\x00\x00\x00\x00\x01{}": false,
		"a,b,c,d,e,f,g\n":                    false,
		"":                                   false,
	} {
		path := filepath.Join(folder, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := IsModel(path); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if IsModel(filepath.Join(folder, "missing")) {
		t.Error("a file that there is not is a model")
	}
}

// described writes a model's file with the metadata and shows it.
func described(t *testing.T, metadata map[string]string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model")
	var b bytes.Buffer
	if err := safetensors.Write(&b, safetensors.File{Metadata: metadata, Tensors: []safetensors.Tensor{{Name: "w", Shape: []int{2, 3}, Data: make([]float32, 6)}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := Describe(&out, path, false)
	return strings.TrimPrefix(out.String(), path), err
}

// What a model takes is said as far as its file says so, one row of the table for each feature.
func TestDescribe(t *testing.T) {
	const classes = `["a","b"]`
	for name, c := range map[string]struct{ preparation, want string }{
		"nothing": {"", ": a model of 1 tensors, 6 numbers\nIt labels rows with one of 2 classes (a, b).\n  it does not say which columns it takes\n"},
		"columns": {preparation, ": a model of 1 tensors, 6 numbers\nIt labels rows of 2 columns (p, q) with one of 2 classes (a, b).\n  columns, as they are: p, q\n"},
		"no columns": {`{"version":1,"source":{},"target":{"standard":{"mean":[1,2],"deviation":[3,4]}}}`,
			": a model of 1 tensors, 6 numbers\nIt labels rows with one of 2 classes (a, b).\n  feature  column  less  divided by\n  1                1     3\n  2                2     4\n"},
		"fewer columns": {`{"version":1,"columns":["p"],"source":{},"target":{"standard":{"mean":[1,2],"deviation":[3,4]}}}`,
			": a model of 1 tensors, 6 numbers\nIt labels rows of 1 column (p) with one of 2 classes (a, b).\n  feature  column  less  divided by\n  1        p       1     3\n  2                2     4\n"},
		"inputs": {`{"version":1,"columns":["p","p?"],"inputs":{"columns":[{"name":"p","parts":["number"],"gaps":true}]},"source":{},"target":{}}`,
			": a model of 1 tensors, 6 numbers\nIt labels rows of 1 column (p) with one of 2 classes (a, b).\n  columns, as they are: p, p?\n"},
	} {
		metadata := map[string]string{adapt.KeyClasses: classes}
		if c.preparation != "" {
			metadata[adapt.KeyPreparation] = c.preparation
		}
		want := c.want + "  mars.classes = [\"a\",\"b\"]\n\ntensor  shape\nw       2×3\n"
		if got, err := described(t, metadata); err != nil || got != want {
			t.Errorf("%s: %v; it says\n%s\nwant\n%s", name, err, got, want)
		}
	}
	if got, err := described(t, map[string]string{adapt.KeyPreparation: "x"}); err == nil || !strings.Contains(err.Error(), adapt.KeyPreparation) {
		t.Errorf("of a preparation that is none it says\n%s\n%v", got, err)
	}
}

// An ONNX file says what the model's does, with the tensors that have names.
func TestDescribeONNX(t *testing.T) {
	path := model(t, streamtest.Prepared(streamtest.Clouds(), preparation))
	o := export.Options{Model: path, To: "onnx", Output: filepath.Join(t.TempDir(), "model.onnx"), Log: slog.New(slog.DiscardHandler)}
	if err := export.Write(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Describe(&out, o.Output, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{": an ONNX model of ", "It labels rows of 2 columns (p, q) with one of 2 classes (a, b).", "\ntensor ", "g.0.weight    4×2\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, &out)
		}
	}
	if !IsModel(o.Output) {
		t.Error("it is no model")
	}
}

// full is a writer that fails after some calls.
type full struct{ left int }

var errFull = errors.New("the disk is full")

func (f *full) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// What cannot be shown is an error that names the file, and so is a disk that is full.
func TestNotDescribed(t *testing.T) {
	path := model(t, streamtest.Prepared(streamtest.Clouds(), preparation))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := export.Options{Model: path, To: "onnx", Output: filepath.Join(t.TempDir(), "model.onnx"), Log: slog.New(slog.DiscardHandler)}
	if err := export.Write(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	graph, err := os.ReadFile(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut")
	for name, whole := range map[string][]byte{"tensors": content, "ONNX": graph} {
		if err := os.WriteFile(cut, whole[:len(whole)-8], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Describe(&strings.Builder{}, cut, false); err == nil || !strings.HasPrefix(err.Error(), cut+": ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if err := Describe(&strings.Builder{}, missing, false); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), missing+": ") {
		t.Errorf("the error is %v", err)
	}
	for _, asJSON := range []bool{false, true} {
		for k := 0; ; k++ {
			if k == math.MaxInt16 {
				t.Fatal("there is no end")
			}
			w := &full{left: k}
			if err := Describe(w, path, asJSON); w.left >= 0 {
				if err != nil {
					t.Error(err)
				}
				break
			} else if !errors.Is(err, errFull) {
				t.Errorf("after %d writes: %v", k, err)
			}
		}
	}
}
