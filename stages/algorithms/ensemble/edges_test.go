package ensemble

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
)

// Rows are thin of more than 64 classes that are more than ten times as many as each has rows, and crowded
// of more than 400 such.
func TestThinAndCrowded(t *testing.T) {
	for _, test := range []struct {
		rows, classes int
		thin, crowded bool
	}{
		{1, 64, false, false}, {1, 65, true, false}, {489, 70, true, false}, {490, 70, false, false}, {491, 70, false, false},
		{1, 400, true, false}, {1, 401, true, true}, {17640, 420, false, false}, {17639, 420, true, true},
	} {
		if thin, crowded := Thin(test.rows, test.classes), Crowded(test.rows, test.classes); thin != test.thin || crowded != test.crowded {
			t.Errorf("%d rows of %d classes are thin %v, crowded %v", test.rows, test.classes, thin, crowded)
		}
	}
}

// Of thin classes there are no trees, unless somebody asks for them.
func TestThinClassesHaveNoTrees(t *testing.T) {
	p := simulate.Oracle{C: 70, D: 2, NS: 140, NT: 1, Spread: 2, Cuts: []int{2}, Seed: 4}.Data()
	m := mustTrain(t, p, Options{})
	var names []string
	for _, k := range m.members {
		names = append(names, k.name)
	}
	if want := []string{"logistic", "kernel", "network"}; !slices.Equal(names, want) {
		t.Errorf("the members are %v, want %v", names, want)
	}
}

// A model of one column is read as it was saved, and so is one of one class.
func TestOneClassOrColumn(t *testing.T) {
	x := blas32.General{Rows: 6, Cols: 1, Stride: 1, Data: []float32{0, 1, 2, 3, 4, 5}}
	labels := []int32{0, 1, 0, 1, 0, 1}
	tuned, err := Tune(t.Context(), x, labels, 2, Options{Members: []string{"network"}})
	if err != nil {
		t.Fatal(err)
	}
	two, err := tuned.Train(t.Context(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	alone := network{present: []int{0}, inputs: 1, classes: 1}
	for _, m := range []*Model{two, {Classes: 1, members: []trained{{alone, "network", labelshift.Uncalibrated(1), 1}}}} {
		var f safetensors.File
		if err := m.Put(&f, "e."); err != nil {
			t.Fatal(err)
		}
		if again, err := Get(&f, "e."); err != nil || !sameBits(again.Predict(x), m.Predict(x)) {
			t.Errorf("of %d classes: %v", m.Classes, err)
		}
	}
}

// What a file cannot hold is an error.
func TestErrorOfPut(t *testing.T) {
	r := ridge{&kernelridge.Model{Landmarks: dense.New(1, 1), Coefficients: dense.New(1, 2), Gamma: math.NaN()}}
	m := &Model{Classes: 2, members: []trained{{scorer: r, name: "kernel", calibrator: labelshift.Uncalibrated(2), weight: 1}}}
	if err := m.Put(&safetensors.File{}, "e."); err == nil || !strings.HasPrefix(err.Error(), "metadata e.kernel.gamma: ") {
		t.Errorf("got %v", err)
	}
}

// In a graph, as without one, a class that had no rows gets nothing, and one that was alone all.
func TestGraphOfClassesWithoutRows(t *testing.T) {
	constants := func(n network) []onnx.Tensor {
		g := &onnx.Graph{}
		g.Output("p", n.onnx(g, "", g.Input("x", onnx.Float, -1, n.inputs)), onnx.Float, -1, n.classes)
		content, err := (&onnx.Model{Graph: g}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		f, err := onnx.Parse(content)
		if err != nil {
			t.Fatal(err)
		}
		return f.Tensors
	}
	holds := func(all []onnx.Tensor, values []float32, shape ...int) bool {
		return slices.ContainsFunc(all, func(c onnx.Tensor) bool {
			return slices.Equal(c.Shape, shape) && slices.Equal(c.Raw, onnx.FloatBytes(values))
		})
	}
	if all := constants(network{present: []int{1}, inputs: 2, classes: 3}); !holds(all, make([]float32, 6), 2, 3) || !holds(all, []float32{0, 1, 0}, 3) {
		t.Errorf("of one class the graph holds %v", all)
	}
	n, ok := mustTrain(t, blobs(20), Options{Members: []string{"network"}}).members[0].scorer.(network)
	if all := constants(n); !ok || !holds(all, []float32{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}, 3, 4) {
		t.Errorf("of three of four classes the graph holds %v", all)
	}
}
