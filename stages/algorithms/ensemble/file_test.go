package ensemble

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// blobs are 4 classes of which the third has no source rows.
func blobs(rows int) simulate.Data {
	rng := rand.New(rand.NewPCG(1, 2))
	return simulate.Blobs(rng, rows, 200, 6, []float64{0.5, 0.3, 0, 0.2}, []float64{0.4, 0.3, 0, 0.3}, 1, 0)
}

func mustTune(tb testing.TB, p simulate.Data, o Options) *Tuned {
	tb.Helper()
	tuned, err := Tune(tb.Context(), p.Source, p.Labels, p.Classes, o)
	if err != nil {
		tb.Fatal(err)
	}
	return tuned
}

func mustTrain(tb testing.TB, p simulate.Data, o Options) *Model {
	tb.Helper()
	m, err := mustTune(tb, p, o).Train(tb.Context(), p.Source, p.Labels)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// stored writes f and reads it again.
func stored(t *testing.T, f safetensors.File) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	read, err := safetensors.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return &read
}

func sameBits(a, b blas32.General) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && slices.EqualFunc(a.Data, b.Data, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

// crowd is so many classes, of 2 rows each, that they are learnt by a linear discriminant.
func crowd() simulate.Data {
	return simulate.Oracle{C: 420, D: 6, NS: 840, NT: 50, Spread: 2, Cuts: []int{2, 4, 6, 8}, Seed: 4}.Data()
}

// Four ensembles in one file predict what they did before. One of four classes
// has no rows in two of them, three have none in the third, and the last has many.
func TestSavedModelsPredictTheSame(t *testing.T) {
	p := blobs(200)
	one, err := mustTune(t, p, Options{Members: Names}).Train(t.Context(), p.Source, make([]int32, p.Source.Rows))
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]*Model{
		"plain.": mustTrain(t, p, Options{Members: Names}),
		"moved.": mustTrain(t, p, Options{Members: []string{"network", "logistic"}, Seed: 1}),
		"one.":   one,
		"crowd.": mustTrain(t, crowd(), Options{}),
	}
	var f safetensors.File
	for prefix, m := range models {
		if err := m.Put(&f, prefix); err != nil {
			t.Fatal(err)
		}
	}
	read := stored(t, f)
	for prefix, m := range models {
		loaded, err := Get(read, prefix)
		if err != nil {
			t.Fatal(err)
		}
		if loaded.Classes != m.Classes || loaded.Width() != 6 {
			t.Errorf("%s: %d classes, width %d", prefix, loaded.Classes, loaded.Width())
		}
		if !sameBits(loaded.Predict(p.Target), m.Predict(p.Target)) {
			t.Errorf("%s: the posteriors differ", prefix)
		}
	}
}

// Members of a model that was saved before there were weights weigh alike.
func TestWithoutWeights(t *testing.T) {
	p := blobs(100)
	m := mustTrain(t, p, Options{})
	var f safetensors.File
	if err := m.Put(&f, "e."); err != nil {
		t.Fatal(err)
	}
	f.Metadata["e.ensemble"] = regexp.MustCompile(`,"weight":[^}]*`).ReplaceAllString(f.Metadata["e.ensemble"], "")
	old, err := Get(&f, "e.")
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.members {
		m.members[i].weight = 1 / float64(len(m.members))
	}
	if !sameBits(old.Predict(p.Target), m.Predict(p.Target)) {
		t.Errorf("the weights are %v", old.Weights())
	}
}

func TestGetRefuses(t *testing.T) {
	var whole safetensors.File
	if err := mustTrain(t, blobs(100), Options{Members: Names}).Put(&whole, "e."); err != nil {
		t.Fatal(err)
	}
	header := func(from, to string) func(f *safetensors.File) {
		return func(f *safetensors.File) {
			f.Metadata["e.ensemble"] = strings.Replace(f.Metadata["e.ensemble"], from, to, 1)
		}
	}
	metadata := func(key, value string) func(f *safetensors.File) {
		return func(f *safetensors.File) { f.Metadata[key] = value }
	}
	tensor := func(name string, change func(*safetensors.Tensor)) func(f *safetensors.File) {
		return func(f *safetensors.File) {
			i := slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })
			change(&f.Tensors[i])
		}
	}
	rename := func(t *safetensors.Tensor) { t.Name = "other" }
	narrow := func(t *safetensors.Tensor) {
		t.Shape[1]--
		t.Data = t.Data[:t.Shape[0]*t.Shape[1]]
	}
	spoil := func(t *safetensors.Tensor) { t.Data[0] = float32(math.NaN()) }
	cases := []struct {
		want   string
		change func(f *safetensors.File)
	}{
		{"metadata e.ensemble is missing", func(f *safetensors.File) { delete(f.Metadata, "e.ensemble") }},
		{"metadata e.ensemble: unexpected end", metadata("e.ensemble", "{")},
		{"0 classes", header(`"classes":4`, `"classes":0`)},
		{"4 biases for 3 classes", header(`"classes":4`, `"classes":3`)},
		{"there are no members", metadata("e.ensemble", `{"classes":4}`)},
		{`no classifier "forest"`, header("kernel", "forest")},
		{"chosen twice", header("kernel", "logistic")},
		{"temperature is -", header(`"temperature":`, `"temperature":-`)},
		{"weight is -", header(`"weight":`, `"weight":-`)},
		{"sum of the weights is", header(`"weight":`, `"weight":1e-9,"was":`)},
		{"tensor e.logistic.weights is missing", tensor("e.logistic.weights", rename)},
		{"tensor e.logistic.weights has shape [6 3]", tensor("e.logistic.weights", narrow)},
		{"tensor e.logistic.bias holds NaN", tensor("e.logistic.bias", spoil)},
		{"e.kernel takes rows of 5 columns", tensor("e.kernel.landmarks", narrow)},
		{"tensor e.kernel.coefficients has shape [100 3]", tensor("e.kernel.coefficients", narrow)},
		{"metadata e.kernel.gamma is 0", metadata("e.kernel.gamma", "0")},
		{"e.network: the network has 6 inputs and 3 classes", metadata("e.network.classifier", `{"present":[0,1],"inputs":6}`)},
		{"e.network: the network has 6 inputs and 3 classes", metadata("e.network.classifier", `{"present":[0,1,3],"inputs":5}`)},
		{"want rising numbers of 4 classes", metadata("e.network.classifier", `{"present":[0,1,4],"inputs":6}`)},
		{"want rising numbers of 4 classes", metadata("e.network.classifier", `{"present":[1,0,3],"inputs":6}`)},
		{"want rising numbers of 4 classes", metadata("e.network.classifier", `{"present":[],"inputs":6}`)},
		{"e.network: network g", tensor("e.network.g.0.weight", rename)},
		{"metadata e.trees.boosting is missing", func(f *safetensors.File) { delete(f.Metadata, "e.trees.boosting") }},
		{"e.trees takes rows of 7 columns", metadata("e.trees.boosting", `{"columns":7}`)},
		{"tensor e.trees.nodes is missing", tensor("e.trees.nodes", rename)},
	}
	for _, c := range cases {
		f := safetensors.File{Metadata: maps.Clone(whole.Metadata)}
		for _, t := range whole.Tensors {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: t.Name, Shape: slices.Clone(t.Shape), Data: slices.Clone(t.Data)})
		}
		c.change(&f)
		if m, err := Get(&f, "e."); m != nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
