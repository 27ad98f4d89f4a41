package kernel

import (
	"math"
	"testing"
)

func TestSoftmaxCrossEntropyByHand(t *testing.T) {
	logits := []float32{0, 0, 1, 3}
	prob := make([]float32, 4)
	loss := SoftmaxCrossEntropy(prob, logits, 2, 2, []int32{0, 1}, []float32{2, 1})
	want := 2*math.Ln2 + math.Log1p(math.Exp(-2))
	if math.Abs(loss-want) > 1e-6 {
		t.Errorf("loss = %v, want %v", loss, want)
	}
	if prob[0] != 0.5 || math.Abs(float64(prob[2]+prob[3]-1)) > 1e-6 {
		t.Errorf("prob = %v", prob)
	}
}

func TestIm2ColConvolves(t *testing.T) {
	c := Conv{Channels: 1, Height: 3, Width: 3, Kernel: 2}
	image := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	cols := make([]float32, c.PatchSize()*c.Pixels())
	Im2Col(cols, image, c)
	want := []float32{1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}
	for i := range want {
		if cols[i] != want[i] {
			t.Fatalf("cols = %v, want %v", cols, want)
		}
	}
	back := make([]float32, 9)
	Col2Im(back, cols, c)
	times := []float32{1, 2, 1, 2, 4, 2, 1, 2, 1}
	for i := range back {
		if back[i] != image[i]*times[i] {
			t.Fatalf("Col2Im = %v", back)
		}
	}
}

func TestMaxPoolAndBack(t *testing.T) {
	src := []float32{1, 5, 2, 3, 0, 9, 4, 4}
	dst, argmax := make([]float32, 2), make([]uint8, 2)
	MaxPool2x2(dst, argmax, src, 1, 2, 4)
	if dst[0] != 9 || dst[1] != 4 || argmax[0] != 3 || argmax[1] != 2 {
		t.Fatalf("dst %v argmax %v", dst, argmax)
	}
	dsrc := make([]float32, 8)
	MaxPool2x2Backward(dsrc, []float32{10, 20}, argmax, 1, 2, 4)
	if dsrc[5] != 10 || dsrc[6] != 20 {
		t.Fatalf("dsrc %v", dsrc)
	}
}

func TestParallelCoversOnce(t *testing.T) {
	defer SetJobs(0)
	for _, n := range []int{0, 1, 2, 7, 100} {
		for j := 1; j <= 5; j++ {
			SetJobs(j)
			seen := make([]int, n)
			Parallel(n, 1, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					seen[i]++
				}
			})
			for i, s := range seen {
				if s != 1 {
					t.Fatalf("n=%d jobs=%d: element %d visited %d times", n, j, i, s)
				}
			}
		}
	}
}
