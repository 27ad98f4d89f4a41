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

// TestOptimizersTakePyTorchSteps has values of torch.optim in float64 for
// w = 1, g = 0.5 and -0.2, lr 0.1, momentum 0.9, decay 0.01.
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

// TestConvolution compares the product with the patch matrix with the sums
// over the image, and Col2Im with the transpose: <cols, Im2Col(x)> =
// <Col2Im(cols), x>.
func TestConvolution(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, c := range []Conv{
			{Channels: 1, Height: 28, Width: 28, Kernel: 5}, {Channels: 3, Height: 12, Width: 12, Kernel: 5},
			{Channels: 2, Height: 7, Width: 9, Kernel: 3, Pad: 1}, {Channels: 2, Height: 7, Width: 8, Kernel: 3, Stride: 2, Pad: 2},
			{Channels: 1, Height: 3, Width: 2, Kernel: 4, Pad: 1}, {Channels: 1, Height: 4, Width: 4, Kernel: 1, Stride: 3},
		} {
			image, back := random(r, c.ImageSize()), make([]float32, c.ImageSize())
			cols := random(r, c.PatchSize()*c.Pixels())
			patches := make([]float32, len(cols))
			Im2Col(patches, image, c)
			requireNear(t, patches, naivePatches(image, c), 0)
			Col2Im(back, cols, c)
			if left, right := dotGo(cols, patches), dotGo(back, image); math.Abs(float64(left-right)) > 1e-3 {
				t.Errorf("%+v: <cols, Im2Col> = %v, <Col2Im, image> = %v", c, left, right)
			}
		}
	})
}

func naivePatches(image []float32, c Conv) []float32 {
	patches := make([]float32, 0, c.PatchSize()*c.Pixels())
	for row := range c.PatchSize() {
		plane, ky, kx := row/(c.Kernel*c.Kernel), row/c.Kernel%c.Kernel, row%c.Kernel
		for p := range c.Pixels() {
			y, x := p/c.OutWidth()*c.stride()+ky-c.Pad, p%c.OutWidth()*c.stride()+kx-c.Pad
			var v float32
			if y >= 0 && y < c.Height && x >= 0 && x < c.Width {
				v = image[(plane*c.Height+y)*c.Width+x]
			}
			patches = append(patches, v)
		}
	}
	return patches
}

func TestMaxPoolAgainstTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, shape := range [][3]int{{2, 24, 24}, {3, 8, 8}, {2, 5, 11}, {1, 2, 31}, {2, 1, 5}, {1, 6, 2}} {
			planes, height, width := shape[0], shape[1], shape[2]
			src := fence[float32]{t, true}.slice(planes * height * width)
			for i := range src {
				src[i] = float32(r.IntN(4)) // with ties
				if r.IntN(9) == 0 {
					src[i] = float32(math.NaN())
				}
			}
			n := planes * (height / 2) * (width / 2)
			dst, argmax := fence[float32]{t, true}.slice(n), fence[uint8]{t, true}.slice(n)
			MaxPool2x2(dst, argmax, src, planes, height, width)
			checkPooled(t, dst, argmax, src, planes, height, width)
			for i := range dst {
				dst[i] = float32(i + 1)
			}
			MaxPool2x2Backward(src, dst, argmax, planes, height, width)
			checkSpread(t, dst, argmax, src, planes, height, width)
		}
	})
}

// eachWindow calls f with the index of every window and of its first number.
func eachWindow(planes, height, width int, f func(window, first int)) {
	window := 0
	for p := range planes {
		for y := range height / 2 {
			for x := range width / 2 {
				f(window, (p*height+2*y)*width+2*x)
				window++
			}
		}
	}
}

func checkPooled(t *testing.T, dst []float32, argmax []uint8, src []float32, planes, height, width int) {
	t.Helper()
	eachWindow(planes, height, width, func(window, first int) {
		best, place := src[first], 0
		for k, at := range []int{first, first + 1, first + width, first + width + 1} {
			if v := src[at]; best == best && (v > best || v != v) {
				best, place = v, k
			}
		}
		if int(argmax[window]) != place || dst[window] != best && best == best {
			t.Fatalf("%dx%dx%d: window %d: %v at %d, want %v at %d", planes, height, width, window, dst[window], argmax[window], best, place)
		}
	})
}

func checkSpread(t *testing.T, ddst []float32, argmax []uint8, dsrc []float32, planes, height, width int) {
	t.Helper()
	want := make([]float32, len(dsrc))
	eachWindow(planes, height, width, func(window, first int) {
		want[first+int(argmax[window]>>1)*width+int(argmax[window]&1)] = ddst[window]
	})
	requireNear(t, dsrc, want, 0)
}

func TestParallelCoversOnce(t *testing.T) {
	defer SetJobs(0)
	for _, n := range []int{0, 1, 2, 7, 100} {
		for j := 1; j <= 5; j++ {
			SetJobs(j)
			seen := make([]int, n)
			Parallel(n, 1, func(lo, hi int) {
				Parallel(hi-lo, 1, func(from, to int) { // nested
					for i := lo + from; i < lo+to; i++ {
						seen[i]++
					}
				})
			})
			for i, s := range seen {
				if s != 1 {
					t.Fatalf("n=%d jobs=%d: element %d visited %d times", n, j, i, s)
				}
			}
		}
	}
}

func TestParallelRespectsGrain(t *testing.T) {
	defer SetJobs(0)
	SetJobs(4)
	parts := make(chan int, 10)
	Parallel(10, 4, func(lo, hi int) { parts <- hi - lo })
	if close(parts); len(parts) != 2 {
		t.Errorf("%d parts of 10 elements with a grain of 4, want 2", len(parts))
	}
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
