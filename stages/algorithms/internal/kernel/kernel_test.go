package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestLayers(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const rows, cols = 3, 2
		y := []float32{1, -2, 3, -4, 5, -6}
		AddBias(y, rows, cols, []float32{1, 2})
		requireNear(t, y, []float32{2, 0, 4, -2, 6, -4}, 0)
		AddBiasReLU(y, rows, cols, []float32{-3, 1})
		requireNear(t, y, []float32{0, 1, 1, 0, 3, 0}, 0)
		dy := []float32{1, 2, 3, 4, 5, 6}
		ReLUBackward(dy, y)
		requireNear(t, dy, []float32{0, 2, 3, 0, 5, 0}, 0)
		sums := []float32{10, 20}
		ColumnSums(sums, dy, rows, cols)
		requireNear(t, sums, []float32{18, 22}, 0)
		norms := make([]float32, 2)
		RowNorms(norms, []float32{3, 4, 0, 0, 0, 2}, 2, 3)
		requireNear(t, norms, []float32{5, 2}, 0)
	})
}

func TestSoftmaxCrossEntropyByHand(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		logits := []float32{0, 0, 1, 3}
		prob := make([]float32, 4)
		loss := SoftmaxCrossEntropy(prob, logits, 2, 2, []int32{0, 1}, []float32{2, 1})
		want := 2*math.Ln2 + math.Log1p(math.Exp(-2))
		if math.Abs(loss-want) > 1e-6 {
			t.Errorf("loss = %v, want %v", loss, want)
		}
		small := float32(1 / (1 + math.Exp(2)))
		requireNear(t, prob, []float32{0.5, 0.5, small, 1 - small}, 1e-6)
		Softmax(logits, logits, 2, 2)
		requireNear(t, logits, prob, 0)
	})
}

func TestCrossEntropyOfImpossibleClassIsFinite(t *testing.T) {
	logits := []float32{-500, 500}
	if loss := SoftmaxCrossEntropy(logits, logits, 1, 2, []int32{0}, nil); loss != 1000 {
		t.Errorf("loss = %v, want 1000", loss)
	}
}

func TestSoftmaxPassesNaN(t *testing.T) {
	prob := []float32{1, float32(math.NaN()), 2, 1, 2, 3}
	Softmax(prob, prob, 2, 3)
	for i, p := range prob {
		if (p != p) != (i < 3) {
			t.Fatalf("prob = %v", prob)
		}
	}
}

// TestOptimizersTakePyTorchSteps compares with values of torch.optim in float64
// for w = 1, g = 0.5 and -0.2, lr 0.1, momentum 0.9, decay 0.01.
func TestOptimizersTakePyTorchSteps(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		w, velocity := []float32{1}, []float32{0}
		SGD(w, []float32{0.5}, velocity, 0.1, 0.9, 0.01)
		requireNear(t, w, []float32{0.949}, 1e-7)
		SGD(w, []float32{-0.2}, velocity, 0.1, 0.9, 0.01)
		requireNear(t, w, []float32{0.922151}, 1e-7)
		SGD(w, []float32{1}, nil, 0.5, 0, 0)
		requireNear(t, w, []float32{0.422151}, 1e-7)
		w, m, v := []float32{1}, []float32{0}, []float32{0}
		Adam(w, []float32{0.5}, m, v, 0.1, 0.9, 0.999, 1e-8, 0, 1)
		requireNear(t, w, []float32{0.9}, 1e-6)
		Adam(w, []float32{-0.2}, m, v, 0.1, 0.9, 0.999, 1e-8, 0, 2)
		requireNear(t, w, []float32{0.86544}, 1e-5)
	})
}

func TestMismatchedLengthsPanic(t *testing.T) {
	defer func() {
		if message := fmt.Sprint(recover()); message != "kernel: Axpy: length 2, want 3" {
			t.Errorf("panic %q", message)
		}
	}()
	Axpy(1, make([]float32, 2), make([]float32, 3))
}

func TestChooseLevel(t *testing.T) {
	best := levels()[0].name
	for name, want := range map[string]string{"": best, "generic": "generic", "nonsense": best} {
		if got := choose(name).name; got != want {
			t.Errorf("choose(%q) = %s, want %s", name, got, want)
		}
	}
}
