package nn

import (
	"math"
	"slices"
	"testing"
)

// Winograd's algorithm gives what convolutions are by definition, and their gradients, on
// images of several shapes and with channels and rows that fill no tile. The definition is
// summed in float64.
func TestWinogradIsByDefinition(t *testing.T) {
	for _, test := range []struct {
		layers string
		side   int
		shape  []int
	}{
		{"conv 8 5 5", 5, []int{8, 6, 6}},
		{"conv 9 3 5 nobias", 5, []int{9, 10, 7}},
		{"conv 32 20 5", 5, []int{32, 12, 12}},
		{"conv 13 9 5", 5, []int{13, 14, 24}},
		{"conv 8 5 3", 3, []int{8, 6, 4}},
		{"conv 9 17 3 nobias", 3, []int{9, 10, 7}},
		{"conv 16 32 3", 3, []int{16, 18, 18}},
		{"conv 8 3 3", 3, []int{8, 14, 64}}, // of lines so long that few are held at a time
	} {
		isByDefinition(t, test.layers, test.side, test.shape, true)
	}
}

// So do convolutions for which it is not used, of lines long and short, and with channels that fill a block of weights and more.
func TestDirectConvolutionIsByDefinition(t *testing.T) {
	for _, test := range []struct {
		layers string
		side   int
		shape  []int
	}{
		{"conv 2 3 3", 3, []int{2, 7, 64}},
		{"conv 19 5 3 nobias", 3, []int{19, 7, 5}},
		{"conv 9 17 2", 2, []int{9, 5, 6}},
	} {
		isByDefinition(t, test.layers, test.side, test.shape, false)
	}
}

// isByDefinition compares a convolution and its gradients with what they are by definition.
func isByDefinition(t *testing.T, layers string, side int, shape []int, winograd bool) {
	t.Helper()
	n := network(t, layers, shape...)
	if winograd != slices.ContainsFunc(n.NewPass(1, true, nil).steps, func(s step) bool { c, ok := s.(*convStep); return ok && c.winograd != nil }) {
		t.Fatalf("%s: Winograd's algorithm is used: %v", layers, !winograd)
	}
	for i := range n.Params {
		n.Params[i] += 0.01 * float32(i%7)
	}
	const rows = 27 // more than a few groups, and not whole ones
	x, dy := randomRows(rows*n.Inputs), randomRows(rows*n.Outputs)
	p := n.NewPass(rows, true, nil)
	y := slices.Clone(p.Forward(x, rows))
	dx := slices.Clone(p.Backward(slices.Clone(dy), rows, true))
	want := byDefinition(n, x, dy, shape, side, rows)
	compareTo(t, layers+": output", y, want.y)
	compareTo(t, layers+": gradient of the input", dx, want.dx)
	compareTo(t, layers+": gradient", p.Grads, want.grads)
}

type passed struct{ y, dx, grads []float64 }

// byDefinition is one convolution with bias, forward and backward.
func byDefinition(n *Network, x, dy []float32, shape []int, side, rows int) passed {
	in, height, width := shape[0], shape[1], shape[2]
	weights := n.Tensors[0].of(n.Params)
	out := len(weights) / (in * side * side)
	bias := make([]float32, out)
	if len(n.Tensors) > 1 {
		bias = n.Tensors[1].of(n.Params)
	}
	h, w := height-side+1, width-side+1
	want := passed{make([]float64, len(dy)), make([]float64, len(x)), make([]float64, len(n.Params))}
	for r := range rows {
		for c := range out {
			for i := range h {
				for j := range w {
					at := ((r*out+c)*h+i)*w + j
					sum := float64(bias[c])
					for channel := range in {
						for a := range side {
							for b := range side {
								pixel := ((r*in+channel)*height+i+a)*width + j + b
								weight := ((c*in+channel)*side+a)*side + b
								sum += float64(weights[weight]) * float64(x[pixel])
								want.dx[pixel] += float64(weights[weight]) * float64(dy[at])
								want.grads[weight] += float64(x[pixel]) * float64(dy[at])
							}
						}
					}
					want.y[at] = sum
					if len(n.Tensors) > 1 {
						want.grads[len(weights)+c] += float64(dy[at])
					}
				}
			}
		}
	}
	return want
}

// compareTo allows five digits of the largest value.
func compareTo(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if math.Abs(float64(got[i])-v) > 1e-5*largest {
			t.Fatalf("%s: element %d is %g, want %g (the largest is %g)", what, i, got[i], v, largest)
		}
	}
}
