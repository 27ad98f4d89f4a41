package export

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/stages/internal/streamtest"
	"mars.dev/mars/stages/train"
)

// made trains a model on rows of two columns that say how they were prepared, and returns its path.
func made(t *testing.T, method, preparation string) string {
	t.Helper()
	env := stages.Env{Columns: arrowio.DefaultColumns(), Jobs: 1}
	env.Columns.Embedding = "none"
	in := streamtest.Clouds()
	if preparation != "" {
		in = streamtest.Prepared(in, preparation)
	}
	path := filepath.Join(t.TempDir(), "model")
	o := train.Options{Method: method, Arch: "mlp:2-4-3", Schedule: adapt.ScheduleDefault, Save: path, Tune: []func(*adapt.Config){func(c *adapt.Config) { c.Epochs, c.Batch = 1, 6 }}}
	if err := train.Fit(o)(t.Context(), env, in, &streamtest.Sink{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is made of a table's columns, in metadata.
const (
	asTheyAre = `{"version":1,"columns":["p","q"],"source":{},"target":{}}`
	damaged   = `{"version":1,"columns":["p","q"],"inputs":{"columns":[{"name":"p","kind":"none"}]},"source":{},"target":{}}`
	hashed    = `{"version":1,"columns":["p","q"],"inputs":{"columns":[{"name":"p","kind":"category","buckets":2}]},"source":{},"target":{}}`
	// With a column that says which numbers are missing.
	gaps = `{"version":1,"columns":["p","p?"],"inputs":{"columns":[{"name":"p","parts":["number"],"gaps":true}]},"source":{},"target":{"transform":{"log1p":true}}}`
)

// A model that cannot be written is refused, and nothing is left beside it.
func TestRefused(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	networks := made(t, "source", "")
	whole, err := os.ReadFile(networks)
	if err != nil {
		t.Fatal(err)
	}
	cut, taken := filepath.Join(t.TempDir(), "cut"), t.TempDir()
	if err := errors.Join(os.WriteFile(cut, whole[:len(whole)-8], 0o600), os.Mkdir(filepath.Join(taken, "m.safetensors"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ model, to, output, want string }{
		"no model":               {missing, "onnx", "", missing},
		"of later":               {made(t, "source", `{"version":2}`), "onnx", "", arrowio.PreparationKey},
		"a damaged table":        {made(t, "source", damaged), "onnx", "", `its kind is "none"`},
		"it in PyTorch":          {made(t, "source", damaged), "torch", "", `its kind is "none"`},
		"hashed values":          {made(t, "source", hashed), "onnx", "", "add --prepared"},
		"them in PyTorch":        {made(t, "source", hashed), "torch", "", "add --prepared"},
		"a method of shares":     {made(t, "unmix", ""), "onnx", "", "method unmix cannot be exported"},
		"no folder":              {networks, "onnx", filepath.Join(missing, "m.onnx"), missing},
		"no folder of a program": {networks, "torch", filepath.Join(missing, "m.py"), missing},
		"a damaged model":        {cut, "onnx", "", cut},
		"a folder of numbers":    {networks, "torch", filepath.Join(taken, "m.py"), "m.safetensors"},
		"a folder":               {networks, "torch", t.TempDir(), "is a directory"},
	} {
		folder := t.TempDir()
		if c.output == "" {
			c.output = filepath.Join(folder, "out")
		}
		err := Write(t.Context(), Options{Model: c.model, To: c.to, Output: c.output, Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
		if _, err := os.Stat(c.output + ".safetensors"); err == nil {
			t.Errorf("%s: numbers without a program are left", name)
		}
	}
}

// A disk that is full is an error.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	for to, name := range map[string]string{"onnx": "m.onnx", "torch": "m.py"} {
		folder := t.TempDir()
		if err := os.Symlink("/dev/full", filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		err := Write(t.Context(), Options{Model: made(t, "source", ""), To: to, Output: filepath.Join(folder, name), Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s: the error is %v", to, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "m.safetensors")); err == nil {
			t.Errorf("%s: numbers without a program are left", to)
		}
	}
}

// A model that cannot be read any more is not written.
func TestUnreadable(t *testing.T) {
	broken := errors.New("broken")
	for _, to := range []string{"onnx", "torch"} {
		o := Options{Model: made(t, "source", ""), To: to, Output: filepath.Join(t.TempDir(), "out"), Log: slog.New(slog.DiscardHandler)}
		write := func(m *source) error {
			if to == "torch" {
				return m.writeTorch(o)
			}
			return m.writeONNX(o)
		}
		m, err := open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(o.Model); err != nil {
			t.Fatal(err)
		}
		if err := write(m); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of no file: the error is %v", to, err)
		}
		o.Model = made(t, "gmm-ot", "")
		if m, err = open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		m.Tensors = func() (safetensors.File, error) { return safetensors.File{}, broken }
		if err := write(m); !errors.Is(err, broken) {
			t.Errorf("%s of no tensors: the error is %v", to, err)
		}
	}
}

// The graph's input has the table's columns, and a transform is of the numbers alone.
func TestInput(t *testing.T) {
	for name, c := range map[string]struct {
		preparation string
		columns     []string
		want        func(g *onnx.Graph) onnx.Value // the graph, and the rows as the model takes them
	}{
		"as they are": {asTheyAre, []string{"p", "q"}, func(g *onnx.Graph) onnx.Value { return g.Input("features", onnx.Float, onnx.Rows, 2) }},
		"with gaps": {gaps, []string{"p"}, func(g *onnx.Graph) onnx.Value {
			p, err := prepared.Parse(gaps)
			if err != nil {
				t.Fatal(err)
			}
			of := &source{Labeller: &models.Labeller{Width: 2}, preparation: &prepared.Preparation{Inputs: p.Inputs}}
			x, _, err := of.encoded(g)
			if err != nil {
				t.Fatal(err)
			}
			y := scale.Transform{Log1p: true}.ONNX(g, x)
			return g.Op("Where", g.Bools([]bool{true, false}), y, x)
		}},
	} {
		p, err := prepared.Parse(c.preparation)
		if err != nil {
			t.Fatal(err)
		}
		m := &source{Labeller: &models.Labeller{Width: 2, Shape: []int{2}}, preparation: p}
		got, want := &onnx.Graph{}, &onnx.Graph{}
		x, columns, err := m.input(got)
		if is := c.want(want); err != nil || x != is || !slices.Equal(columns, c.columns) || !slices.Equal(got.Inputs(), want.Inputs()) {
			t.Errorf("%s: columns %v and inputs %v, want %v and %v; %v", name, columns, got.Inputs(), c.columns, want.Inputs(), err)
		}
		if !slices.Equal(got.Marshal(), want.Marshal()) {
			t.Errorf("%s: the graph is\n%q\nwant\n%q", name, got.Marshal(), want.Marshal())
		}
	}
}

// The program says what rows it takes.
func TestRowsInWords(t *testing.T) {
	for want, m := range map[string]*source{
		"images, n×3×8×9, as a stream of mars featurize has them in the column features": {Labeller: &models.Labeller{Shape: []int{3, 8, 9}}},
		"embeddings of another model, n×5":                                               {Labeller: &models.Labeller{Vectors: "embedding", Width: 5}},
		"rows as a stream of mars featurize has them in the column features, n×5":        {Labeller: &models.Labeller{Shape: []int{5}, Width: 5}},
		"rows of the columns model.columns, as they are in the table":                    {Labeller: &models.Labeller{Shape: []int{5}, Width: 5}, preparation: &prepared.Preparation{}},
	} {
		if got := m.rowsInWords(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
