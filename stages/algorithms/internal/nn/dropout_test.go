package nn

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Fractions are those of the oracle's uniform, SplitMix64's, for rand.Rand.Float64.
type fractions struct{ seed, n uint64 }

func (f *fractions) Uint64() uint64 {
	f.n++
	z := (f.seed<<32 + f.n) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 11
}

// A network that drops values has PyTorch's outputs and gradients, where PyTorch drops the
// same ones (testdata/oracle/train/generate.py).
func TestDropoutAgreesWithPyTorch(t *testing.T) {
	text, err := os.ReadFile("../../../../testdata/oracle/train/dropout.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Layers                string
		X, Y, DX              []float64
		Kept                  []bool
		Parameters, Gradients map[string][]float64
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(want.Kept, false) || !slices.Contains(want.Kept, true) {
		t.Fatal("the oracle does not drop some values and keep others")
	}
	const inputs = 5
	n, rows := network(t, want.Layers, inputs), len(want.X)/inputs
	name := func(tensor Tensor) string { return fmt.Sprintf("%d.%s", tensor.Layer, tensor.Name) }
	for _, tensor := range n.Tensors {
		n.Import(tensor, n.Params, single(want.Parameters[name(tensor)]))
	}
	p := n.NewPass(rows, true, rand.New(&fractions{seed: 99}))
	y := slices.Clone(p.Forward(single(want.X), rows))
	agrees(t, "outputs", y, want.Y)
	for i := range y {
		y[i] *= 2 // the gradient of their squares
	}
	agrees(t, "gradient of the rows", p.Backward(y, rows, true), want.DX)
	for _, tensor := range n.Tensors {
		agrees(t, "gradient of "+name(tensor), n.Export(tensor, p.Grads), want.Gradients[name(tensor)])
	}
}

func single(values []float64) []float32 {
	s := make([]float32, len(values))
	for i, v := range values {
		s[i] = float32(v)
	}
	return s
}

// agrees compares with float64, relative to the largest value.
func agrees(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 1e-6*largest {
			t.Errorf("%s, value %d: %g, want %g", what, i, got[i], w)
		}
	}
}
