package models

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

var classes = []string{"left", "right"}

// line is two classes on a line, 0 and 1, with a second column that says nothing.
func line() (x blas32.General, labels []int32) {
	x = blas32.General{Rows: 40, Cols: 2, Stride: 2}
	for i := range x.Rows {
		x.Data, labels = append(x.Data, float32(i%2)+float32(i)/100, float32(i%5)/10), append(labels, int32(i%2))
	}
	return x, labels
}

func trained(t *testing.T) *adapt.Model {
	t.Helper()
	x, labels := line()
	c, err := adapt.Recipe("mlp:2-4", []int{2}, adapt.ScheduleDefault)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(1)
	m, err := adapt.Train(t.Context(), adapt.Problem{Source: x, Labels: labels, Classes: classes}, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func hedged(t *testing.T) *hedge.Model {
	t.Helper()
	x, labels := line()
	m, err := hedge.Fit(t.Context(), hedge.Problem{Source: x, Labels: labels, Target: x, Classes: classes}, hedge.Options{Classifiers: []string{"logistic"}, Sampled: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// matched is a Gaussian for each class.
func matched(t *testing.T) *gmmot.Model {
	t.Helper()
	half := []float64{.5, .5}
	m := &gmmot.Model{Classes: classes, ClassOf: []int32{0, 1}, Proportions: slices.Clone(half), Mixture: mixture.Components{Proportions: half, Weights: half,
		Means: mat.NewDense(2, 2, []float64{0, 0, 1, 0}), Covariances: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}}
	if err := m.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func saved[M interface{ Save(w io.Writer) error }](t *testing.T, m M) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m")
	if _, err := state.Save(path, func(w io.Writer) error { return m.Save(w) }); err != nil {
		t.Fatal(err)
	}
	return path
}

// exported is an ONNX file of a model's file, whose origin is changed.
func exported(t *testing.T, content []byte, change func(o *origin)) string {
	t.Helper()
	m := &onnx.Model{Producer: "mars", Graph: &onnx.Graph{}, Metadata: map[string]string{}}
	if err := PutOrigin(m, content); err != nil {
		t.Fatal(err)
	}
	var o origin
	if err := json.Unmarshal([]byte(m.Metadata[OriginKey]), &o); err != nil {
		t.Fatal(err)
	}
	change(&o)
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	m.Metadata[OriginKey] = string(text)
	file, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tensors is a model's file with nothing but metadata and a number.
func tensors(t *testing.T, metadata map[string]string) []byte {
	t.Helper()
	b, err := written(safetensors.File{Metadata: metadata, Tensors: []safetensors.Tensor{{Name: "x", Shape: []int{1}, Data: []float32{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is wrong with a model's file is said, by whoever reads it.
func TestErrorsOfFiles(t *testing.T) {
	load := func(decision string) func(path string) error {
		return func(path string) error { _, _, err := Load(t.Context(), path, decision); return err }
	}
	networks := func(path string) error { _, _, err := LoadNetworks(path); return err }
	hedges := func(path string) error { _, _, err := LoadHedge(path); return err }
	missing := filepath.Join(t.TempDir(), "missing")
	net, wide := trained(t), hedged(t)
	netPath := saved(t, net)
	content, err := os.ReadFile(netPath)
	if err != nil {
		t.Fatal(err)
	}
	wide.Levels = `[{"name":"side","of":["any","any"]},{"name":"class"}]`
	grouped := saved(t, wide)
	wide.Levels = `[{"name":"side","of":["any","any"]},{"name":"kind"}]`
	ungrouped := saved(t, wide)
	for _, test := range []struct {
		name string
		read func(path string) error
		path string
		want string // after the path; "" for no error
	}{
		{"a model", load(""), netPath, ""},
		{"its ONNX file", load(""), exported(t, content, func(*origin) {}), ""},
		{"no file", load(""), missing, "no such file"},
		{"no file of networks", networks, missing, "no such file"},
		{"no file of sums", hedges, missing, "no such file"},
		{"a decision", load("best"), netPath, `labelshift: decision: "best" is not known: choose accuracy or balanced`},
		{"no model", load(""), file(t, []byte("hello")), ": safetensors: "},
		{"networks for sums", hedges, netPath, ": is no model of the method hedge, which alone sums over all rows are made for: make it with mars label --method hedge --save"},
		{"a model that is cut", hedges, file(t, tensors(t, map[string]string{adapt.KeyMethod: hedge.Method})), ": metadata mars."},
		{"levels", hedges, grouped, `: mars.levels: a level cannot be called "class"`},
		{"groups", hedges, ungrouped, ": its groups of classes are not those of its levels: make the model again"},
		{"networks that are cut, in ONNX", load(""), exported(t, tensors(t, map[string]string{"a": "b"}), func(*origin) {}), `: it is not a model of mars-embed or mars-train: metadata mars.format is "", not "mars-model-1"`},
		{"a tensor that ONNX lacks", load(""), exported(t, content, func(o *origin) { o.Tensors = append(o.Tensors, "another") }), ": " + errChanged.Error()},
		{"another sum", load(""), exported(t, content, func(o *origin) { o.Sum = "0" }), ": " + errChanged.Error()},
		{"another graph", load(""), exported(t, content, func(o *origin) { o.Graph = "0" }), ": " + errChanged.Error()},
		{"a later format", load(""), exported(t, content, func(o *origin) { o.Format = "mars-onnx-9" }), `: this ONNX model is of a newer version of MARS (, format "mars-onnx-9"): update MARS, or run it with ONNX Runtime`},
	} {
		err := test.read(test.path)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.HasPrefix(test.want, ":") && !strings.HasPrefix(err.Error(), test.path+test.want) {
			t.Errorf("%s: got %v\nwant %s", test.name, err, test.want)
		}
	}
	if IsONNX(missing) {
		t.Error("a file that is not there is taken for ONNX")
	}
	if err := PutOrigin(&onnx.Model{Graph: &onnx.Graph{}, Metadata: map[string]string{}}, []byte("hello")); err == nil || !strings.HasPrefix(err.Error(), "safetensors: ") {
		t.Errorf("of a model that is none: %v", err)
	}
}

// A decision that cannot be made is not left out of a graph.
func TestDecisionsOfGraphs(t *testing.T) {
	balanced := labelshift.Balanced
	net := trained(t)
	net.Decision, net.Prior = &balanced, nil
	mix := matched(t)
	mix.Decision, mix.ClassOf, mix.Proportions[0] = new(labelshift.Decision), []int32{0, 1}, math.NaN()
	wide := hedged(t)
	wide.Decision, wide.Proportions[0] = &balanced, math.NaN()
	for name, l := range map[string]*Labeller{"adapt: the model does not say which": Networks(net), "labelshift: class 0 has": Mixture(mix), "labelshift: class 0": Hedge(wide)} {
		g := &onnx.Graph{}
		if _, err := l.ONNX(g, g.Input("x", onnx.Float, -1, 2)); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

// Rows have as many numbers as the model takes, and no rows any.
func TestFeatures(t *testing.T) {
	env := stages.Env{Columns: arrowio.DefaultColumns()}
	for _, test := range []struct {
		rows, width int
		value       float32
		want        string
	}{
		{2, 2, 1, ""}, {0, 3, 1, ""},
		{1, 3, 1, `test: column "features": rows have 3 numbers, and the model takes 2: featurize these rows as those that the model was trained on`},
		{1, 2, float32(math.Inf(1)), `column "features": row 1: element 1 is +Inf: fill or drop the row`},
	} {
		var table arrowio.Table
		table.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: slices.Repeat([]float32{test.value}, test.rows*test.width), Rows: test.rows, Width: test.width}))
		rec := table.Record(arrowio.Meta{})
		r := &stream.Rows{Env: env, Stream: arrowio.NewBatches("test", rec.Schema(), rec)}
		x, err := Features(r, rec, "", 2)
		if err != nil && err.Error() != test.want || err == nil && (test.want != "" || x.Rows != test.rows || x.Cols != 2) {
			t.Errorf("%d rows of %d: got %d×%d, %v\nwant %s", test.rows, test.width, x.Rows, x.Cols, err, test.want)
		}
	}
}

// What a sketch says of all rows has to be whole.
func TestTotalsOfFit(t *testing.T) {
	x, labels := line()
	var table arrowio.Table
	table.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: slices.Concat(x.Data, x.Data), Rows: 80, Width: 2}))
	table.Add("label", arrowio.NewIntArray(slices.Concat(labels, labels), nil))
	table.Add("domain", arrowio.NewDomainArray(slices.Concat(slices.Repeat([]arrowio.Domain{arrowio.SourceDomain}, 40), slices.Repeat([]arrowio.Domain{arrowio.TargetDomain}, 40))))
	rec := table.Record(arrowio.Meta{})
	meta := arrow.NewMetadata([]string{arrowio.TotalsKey}, []string{"7"})
	r := &stream.Rows{Env: stages.Env{Columns: arrowio.DefaultColumns()}, Stream: arrowio.NewBatches("test", arrow.NewSchema(rec.Schema().Fields(), &meta), rec)}
	if _, err := FitHedge(t.Context(), r, "features", classes, hedge.Options{Classifiers: []string{"logistic"}}); err == nil || !strings.HasPrefix(err.Error(), "test: schema metadata mars.totals: ") {
		t.Errorf("got %v", err)
	}
}
