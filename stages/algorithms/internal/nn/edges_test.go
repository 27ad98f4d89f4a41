package nn

import (
	"fmt"
	"slices"
	"testing"
)

// Sizes go up to maxWidth, and no further.
func TestGreatestSizes(t *testing.T) {
	shape := func(sides ...int) func() error { return func() error { return CheckShape(sides) } }
	arch := func(name string) func() error {
		return func() error { _, err := ParseArch(name, []int{2}, 2); return err }
	}
	layers := func(text string) func() error {
		return func() error { _, err := ParseLayers(text); return err }
	}
	const side = 1 << 10 // whose square is maxWidth
	for _, c := range []struct {
		what string
		f    func() error
		want string
	}{
		{"columns", shape(maxWidth), ""},
		{"a column more", shape(maxWidth + 1), "nn: input shape [1048577]: every size must be at least 1, and the product at most 1048576"},
		{"an image", shape(1, side, side), ""},
		{"a line more", shape(1, side+1, side), "nn: input shape [1 1025 1024]: every size must be at least 1, and the product at most 1048576"},
		{"a width", arch(fmt.Sprint("mlp:2-", maxWidth)), ""},
		{"a greater one", arch(fmt.Sprint("mlp:2-", maxWidth+1)), `nn: arch "mlp:2-1048577": "1048577" is not a layer width: want numbers joined by dashes, such as mlp:2048-100-100`},
		{"a layer", layers(fmt.Sprint("linear 1 ", maxWidth)), ""},
		{"a wider one", layers(fmt.Sprint("linear 1 ", maxWidth+1)), `nn: layer "linear 1 1048577": "1048577" is not a size from 1 to 1048576`},
	} {
		got := ""
		if err := c.f(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: error %q, want %q", c.what, got, c.want)
		}
	}
}

// Images of which one side does not fit are columns.
func TestAutoOfOddImages(t *testing.T) {
	for _, input := range [][]int{{1, 28, 27}, {1, 27, 28}} {
		if a, err := ParseArch("auto", input, 2); err != nil || a.Name != "mlp:756-100-100" {
			t.Errorf("%v: %s, %v", input, a.Name, err)
		}
	}
}

// Words stand anywhere behind the kind of a layer.
func TestWordsOfLayers(t *testing.T) {
	specs, err := ParseLayers("linear nobias 3 4, conv same 1 nobias 2 3")
	if got := FormatLayers(specs); err != nil || got != "linear 3 4 nobias, conv 1 2 3 same nobias" {
		t.Errorf("%q, %v", got, err)
	}
}

// A layer says how many parameters it has, and how many values go into it.
func TestParametersAndInputs(t *testing.T) {
	n := network(t, "conv 2 4 3 same nobias, groupnorm 2 4, relu, conv 4 3 2, linear 36 5, layernorm 5, linear 5 2 nobias", 2, 4, 5)
	sum := 0
	for _, s := range n.Specs {
		sum += s.Parameters()
	}
	if sum != len(n.Params) {
		t.Errorf("the layers have %d parameters, the network %d", sum, len(n.Params))
	}
	for layer, want := range map[int]int{1: 80, 3: 80, 4: 36, 5: 5, 6: 5} {
		if got := n.InputSize(layer); got != want {
			t.Errorf("%d values go into layer %d, want %d", got, layer, want)
		}
	}
}

// Lines that are computed four at a time are pooled as those that are computed by themselves.
func TestPoolingOfFourLines(t *testing.T) {
	const rows, side = 3, 8
	whole, alone := network(t, "conv 8 5 3, maxpool 2, relu", 8, side+2, side+2), network(t, "conv 8 5 3, relu", 8, side+2, side+2)
	x := randomRows(rows * whole.Inputs)
	y := pooled(slices.Clone(alone.NewPass(rows, false, nil).Forward(x, rows)), rows*5, side, side)
	near(t, "output", whole.NewPass(rows, false, nil).Forward(x, rows), y)
}

// A convolution that keeps the size of images is one of images with zeros around them, however wide, forward and backward.
func TestSameSizeIsZerosAround(t *testing.T) {
	const rows, channels, height, width = 9, 2, 4, 3
	for side := 3; side <= 7; side += 2 {
		margin := side / 2
		high, wide := height+2*margin, width+2*margin
		layer := fmt.Sprintf("conv %d 3 %d", channels, side)
		same, plain := network(t, layer+" same", channels, height, width), network(t, layer, channels, high, wide)
		x := randomRows(rows * same.Inputs)
		around := make([]float32, rows*plain.Inputs)
		each := func(f func(inside, padded int)) { // line by line
			for i := range rows * channels {
				for line := range height {
					f((i*height+line)*width, (i*high+line+margin)*wide+margin)
				}
			}
		}
		each(func(inside, padded int) { copy(around[padded:], x[inside:inside+width]) })
		a, b := same.NewPass(rows, true, nil), plain.NewPass(rows, true, nil)
		near(t, layer+": output", a.Forward(x, rows), b.Forward(around, rows))
		dy := randomRows(rows * same.Outputs)
		dx, daround := a.Backward(slices.Clone(dy), rows, true), b.Backward(slices.Clone(dy), rows, true)
		each(func(inside, padded int) {
			near(t, layer+": gradient of the input", dx[inside:inside+width], daround[padded:padded+width])
		})
		near(t, layer+": gradient", a.Grads, b.Grads)
	}
}
