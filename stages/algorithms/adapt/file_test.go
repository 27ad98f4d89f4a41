package adapt

import (
	"bytes"
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/safetensors"
)

func TestSavedModelPredictsTheSame(t *testing.T) {
	for _, method := range []string{"source", "dann", "marsc"} {
		p, c := quickConfig(t, method)
		c.Input = InputStandard
		m := mustTrain(t, p, c)
		file := save(t, m)
		loaded, err := Load(bytes.NewReader(file), "model")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, save(t, loaded)) {
			t.Errorf("%s: saved again, the file differs", method)
		}
		for i, v := range loaded.Predict(p.Target).Data {
			if v != m.Predict(p.Target).Data[i] {
				t.Fatalf("%s: probability %d differs", method, i)
			}
		}
	}
}

// Reads files that Python's safetensors wrote from PyTorch's weights.
func TestLoadReadsPyTorchFiles(t *testing.T) {
	for _, c := range []struct {
		file, predictions string
		width, embedding  int
		tolerance         float64
	}{
		{"pytorch.safetensors", "predictions.json", 512, 6, oracleTolerance},
		{"residual.safetensors", "residual-predictions.json", 128, 4, normTolerance},
	} {
		f, err := os.Open("../../../testdata/oracle/train/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := Load(f, c.file)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		readOracle(t, c.predictions, &want)
		got := m.Predict(oracleProblem(m.Shape()).Source).Data
		if d := relativeDifference(got, want, 0); d > c.tolerance {
			t.Errorf("%s: probabilities differ from PyTorch's by %.2g", c.file, d)
		}
		if m.Seed != 7 || m.Epoch != 3 || m.Method != "marsc" || m.EmbeddingWidth() != c.embedding || m.Width() != c.width {
			t.Errorf("%s: metadata: %+v", c.file, m)
		}
	}
}

var update = flag.Bool("update", false, "write the files that other programs are to read")

// Compares a file that this package writes with what Python's safetensors read from it.
func TestPythonReadsSavedFile(t *testing.T) {
	p := oracleProblem([]int{2, 16, 16})
	arch := oracleArch{Name: "conv", Input: p.Shape, H: "linear 6 5, relu, linear 5 3", V: "linear 6 4 nobias, relu, linear 4 1 nobias",
		G: "conv 2 3 5, maxpool 2, relu, conv 3 4 5, maxpool 2, relu, linear 4 6, relu"}.parse(t)
	nets, err := newNetworks(arch, alignWasserstein)
	if err != nil {
		t.Fatal(err)
	}
	oracleWeights(nets)
	m := &Model{Classes: []string{"a", `b "2"`, "ç"}, Method: "marsg", Seed: math.MaxUint64, Epoch: 59,
		Proportions: []float64{0.1, 0.2, 0.7}, networks: nets, input: input{offset: []float32{0.5}, scale: []float32{2}}}
	const name = "../../../testdata/oracle/train/mars.safetensors"
	if *update {
		if err := os.WriteFile(name, save(t, m), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, save(t, m)) {
		t.Fatal("the file that Python has read is not what is written now: run with -update, then generate.py")
	}
	var read struct {
		Metadata map[string]string
		Tensors  map[string]struct {
			Shape  []int
			Values []float64
		}
	}
	readOracle(t, "mars-read.json", &read)
	f, err := m.file()
	if err != nil {
		t.Fatal(err)
	}
	if read.Metadata["mars.checksum"] == "" {
		t.Error("Python read no checksum")
	}
	delete(read.Metadata, "mars.checksum")
	if !maps.Equal(read.Metadata, f.Metadata) || len(read.Tensors) != len(f.Tensors) {
		t.Errorf("Python read metadata %v and %d tensors", read.Metadata, len(read.Tensors))
	}
	for _, tensor := range f.Tensors {
		got := read.Tensors[tensor.Name]
		if !slices.Equal(got.Shape, tensor.Shape) || relativeDifference(tensor.Data[:len(got.Values)], got.Values, 0) > 1e-7 {
			t.Errorf("Python read %s as %v", tensor.Name, got)
		}
	}
}

func TestLoadRefusesDamagedFiles(t *testing.T) {
	p, c := quickConfig(t, "marsc")
	m := mustTrain(t, p, c)
	damaged := strings.Replace(string(save(t, m)), "g.0.bias", "g.9.bias", 1)
	if _, err := Load(strings.NewReader(damaged), "model"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a file that does not fit its checksum: %v", err)
	}
	file := strings.Replace(string(save(t, m)), "mars.checksum", "none.checksum", 1) // so that the other checks are tried
	cases := []struct{ want, file string }{
		{"cut short", file[:len(file)-1]},
		{"bytes follow", file + "x"},
		{"ends before its header", ""},
		{"not a safetensors file", "PK\x03\x04 some archive"},
		{"is not a model", strings.Replace(file, "mars-model-1", "mars-model-2", 1)},
		{"3 proportions for 2 classes", strings.Replace(file, `\"a\",\"b\",\"c\"`, `\"a\",\"b\"      `, 1)},
		{"tensor g.0.weight has shape", strings.Replace(file, `[7,5]`, `[5,7]`, 1)},
		{"it takes 6 columns and gets 7", strings.Replace(file, "linear 7 6", "linear 6 6", 1)},
		{"its kind is unknown", strings.Replace(file, "linear 7 6", "linger 7 6", 1)},
		{"missing", strings.Replace(file, "g.2.weight", "g.9.weight", 1)},
		{"F16", strings.Replace(file, "F32", "F16", 1)},
		{"more than the", strings.Replace(file, "linear 5 7, relu, linear 7 6", "linear 5 99999, relu, relu  ", 1)},
	}
	for _, k := range cases {
		if _, err := Load(strings.NewReader(k.file), "model"); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("want an error with %q, got %v", k.want, err)
		} else if !strings.HasPrefix(err.Error(), "model: ") {
			t.Errorf("%v does not name the input", err)
		}
	}
	c.Input = InputStandard
	for what, m := range map[string]*Model{"features as they are": m, "standardised features": mustTrain(t, p, c)} {
		f, err := safetensors.Read(bytes.NewReader(save(t, m)))
		if err != nil {
			t.Fatal(err)
		}
		f.Put("another", []float32{1}, 1)
		var more bytes.Buffer
		if err := safetensors.Write(&more, f); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(&more, "model"); err == nil || !strings.Contains(err.Error(), "1 tensors belong to none of its layers") {
			t.Errorf("%s: a tensor of no layer: %v", what, err)
		}
	}
	m.g.Params[3] = float32(math.Inf(1))
	if _, err := Load(bytes.NewReader(save(t, m)), "model"); err == nil || !strings.Contains(err.Error(), "NaN or infinity") {
		t.Errorf("a weight that is infinite: %v", err)
	}
}
