package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseArch(t *testing.T) {
	cases := []struct {
		name    string
		input   []int
		resolve string
		g, h, v string
	}{
		{"toy", []int{2}, "toy", "linear 2 200, relu, linear 200 200, relu, linear 200 200, relu",
			"linear 200 200, relu, linear 200 7", "linear 200 200 nobias, relu, linear 200 200 nobias, relu, linear 200 1 nobias"},
		{"auto", []int{2}, "mlp:2-100-100", "linear 2 100, relu, linear 100 100", "", ""},
		{"visda", []int{2048}, "visda", "linear 2048 100, relu, linear 100 100", "linear 100 100, relu, dropout 0.5, linear 100 7", "linear 100 100, relu, linear 100 1 nobias"},
		{"office", []int{2048}, "office", "linear 2048 100, relu, linear 100 50", "linear 50 50, relu, linear 50 7", "linear 50 50, relu, linear 50 1 nobias"},
		{"auto", []int{1, 28, 28}, "digits", "conv 1 32 5, maxpool 2, relu, conv 32 20 5, maxpool 2, relu, linear 320 128, relu",
			"linear 128 100, relu, linear 100 7", "linear 128 100, relu, linear 100 10, relu, linear 10 1 nobias"},
		{"ganin", []int{3, 28, 28}, "ganin", "conv 3 32 5, maxpool 2, relu, conv 32 48 5, maxpool 2, relu",
			"linear 768 100, relu, linear 100 100, relu, linear 100 7", "linear 768 100, relu, linear 100 1 nobias"},
		{"auto", []int{3, 28, 28}, "ganin", "conv 3 32 5, maxpool 2, relu, conv 32 48 5, maxpool 2, relu", "", ""},
		{"digits-gn", []int{1, 28, 28}, "digits-gn", "conv 1 32 5 nobias, maxpool 2, groupnorm 4 32, relu, conv 32 48 5 nobias, maxpool 2, groupnorm 4 48, relu, linear 768 128, layernorm 128, relu",
			"linear 128 7", "linear 128 100, relu, linear 100 10, relu, linear 10 1 nobias"},
		{"resnet8", []int{3, 32, 32}, "resnet8", "conv 3 16 3 same nobias, groupnorm 2 16, relu, conv 16 32 3 same nobias, maxpool 2, groupnorm 4 32, relu, " +
			"conv 32 32 3 same nobias, groupnorm 4 32, relu, conv 32 32 3 same nobias, groupnorm 4 32, add 5, relu, conv 32 64 3 same nobias, maxpool 2, groupnorm 8 64, relu, " +
			"conv 64 64 3 same nobias, groupnorm 8 64, relu, conv 64 64 3 same nobias, groupnorm 8 64, add 5, relu, avgpool",
			"linear 64 7", "linear 64 100, relu, linear 100 1 nobias"},
		{"mlp:30-20-10", []int{30}, "mlp:30-20-10", "linear 30 20, relu, linear 20 10", "linear 10 10, relu, linear 10 7", "linear 10 10, relu, linear 10 1 nobias"},
		{"", []int{3, 9, 9}, "mlp:243-100-100", "linear 243 100, relu, linear 100 100", "", ""},
		{"identity", []int{30}, "identity", "", "linear 30 7", "linear 30 100, relu, linear 100 1 nobias"},
	}
	for _, c := range cases {
		a, err := ParseArch(c.name, c.input, 7)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if a.Name != c.resolve || FormatLayers(a.G) != c.g {
			t.Errorf("%s: %s with g = %s", c.name, a.Name, FormatLayers(a.G))
		}
		if c.h != "" && (FormatLayers(a.H) != c.h || FormatLayers(a.V) != c.v) {
			t.Errorf("%s: h = %s, v = %s", c.name, FormatLayers(a.H), FormatLayers(a.V))
		}
		g, err := NewNetwork(a.G, a.Input)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, specs := range [][]LayerSpec{a.H, a.V} {
			if _, err := NewNetwork(specs, []int{g.Outputs}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestParseArchErrors(t *testing.T) {
	cases := []struct {
		name    string
		input   []int
		classes int
		want    string
	}{
		{"resnet", []int{2}, 3, `arch "resnet" is unknown: want one of toy`},
		{"mlp:3-4", []int{2}, 3, "the first of at least two widths must be the 2 columns"},
		{"mlp:2", []int{2}, 3, "the first of at least two widths"},
		{"mlp:2-x", []int{2}, 3, `"x" is not a layer width`},
		{"mlp:2-0", []int{2}, 3, `"0" is not a layer width`},
		{"mlp:", []int{2}, 3, `"" is not a layer width`},
		{"digits", []int{784}, 3, "without an image shape"},
		{"digits", []int{1, 16, 16, 1}, 3, "input shape [1 16 16 1]"},
		{"digits", []int{1, 27, 28}, 3, "too small or odd"},
		{"ganin", []int{1, 8, 8}, 3, "too small or odd"},
		{"digits-gn", []int{3, 27, 28}, 3, "too small or odd"},
		{"resnet8", []int{3, 30, 32}, 3, "sides that 4 divides"},
		{"resnet8", []int{3072}, 3, "sides that 4 divides"},
		{"toy", []int{0}, 3, "at least 1"},
		{"toy", []int{2}, 1, "at least two"},
	}
	for _, c := range cases {
		if _, err := ParseArch(c.name, c.input, c.classes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: want an error with %q, got %v", c.name, c.input, c.want, err)
		}
	}
}

func TestLayersAreWrittenAsTheyAreRead(t *testing.T) {
	const text = "conv 3 32 5, maxpool 2, relu, linear 20 10 nobias, dropout 0.25, conv 1 2 3 nobias, conv 2 4 3 same nobias, groupnorm 2 4, add 1, avgpool, layernorm 4"
	specs, err := ParseLayers(text)
	if err != nil || FormatLayers(specs) != text {
		t.Errorf("%q, %v", FormatLayers(specs), err)
	}
	for _, bad := range []string{"linear", "linear 3", "linear 3 x", "linear 0 3", "linear 3 -1", "relu 3", "relu nobias",
		"dropout", "dropout 1", "dropout NaN", "conv 1 2", "pool 2", "relu,,relu", "linear 1 2 3", "linear 1 9999999",
		"linear 1 2 same", "groupnorm 4", "groupnorm 0 4", "layernorm", "layernorm 4 4", "add", "add 0", "avgpool 2", "groupnorm 2 4 nobias"} {
		if _, err := ParseLayers(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestNewNetworkNamesTheLayer(t *testing.T) {
	cases := []struct {
		layers string
		input  []int
		want   string
	}{
		{"linear 3 4, relu, linear 5 2", []int{3}, "layer 2 (linear 5 2): it takes 5 columns and gets 4"},
		{"maxpool 2", []int{1, 4, 4}, "layer 0 (maxpool 2): pooling is computed with the convolution before it"},
		{"conv 1 2 5, relu, maxpool 2", []int{1, 8, 8}, "layer 2 (maxpool 2)"},
		{"conv 1 2 5, maxpool 2", []int{1, 8, 9}, "cannot be pooled"},
		{"conv 1 2 5, maxpool 3", []int{1, 10, 10}, "cannot be pooled by 3"},
		{"conv 2 2 5", []int{1, 8, 8}, "takes images of 2 channels"},
		{"conv 1 2 5", []int{64}, "takes images of 1 channels"},
		{"conv 1 2 9", []int{1, 8, 8}, "kernel is larger"},
		{"conv 1 2 4 same", []int{1, 8, 8}, "only kernels of an odd side"},
		{"groupnorm 1 2", []int{2}, "takes images of 2 channels"},
		{"conv 1 4 3, groupnorm 3 4", []int{1, 8, 8}, "4 channels do not fall into 3 groups"},
		{"layernorm 4", []int{5}, "takes 4 columns and gets 5"},
		{"avgpool", []int{5}, "takes images"},
		{"linear 3 3, relu, add 1", []int{3}, "layer 2 (add 1): no layer, or one that is computed with the layer before it"},
		{"linear 3 3, add 2", []int{3}, "that far back"},
		{"linear 3 4, add 1", []int{3}, "gets rows of shape [4], and is to add rows of shape [3]"},
	}
	for _, c := range cases {
		specs, err := ParseLayers(c.layers)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewNetwork(specs, c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.layers, c.want, err)
		}
	}
}

func TestInitHasPyTorchsSpread(t *testing.T) {
	specs, _ := ParseLayers("conv 3 40 5, linear 23040 25, relu, linear 25 300")
	n, err := NewNetwork(specs, []int{3, 28, 28})
	if err != nil {
		t.Fatal(err)
	}
	n.Init(rand.New(rand.NewPCG(1, 1)))
	want := []float64{0.02, 1 / math.Sqrt(3*75), 1 / math.Sqrt(3*23040), 1 / math.Sqrt(3*23040), 1 / math.Sqrt(3*25), 1 / math.Sqrt(3*25)}
	for i, tensor := range n.Tensors {
		var square float64
		for _, v := range tensor.of(n.Params) {
			square += float64(v) * float64(v)
		}
		got := math.Sqrt(square / float64(tensor.Size))
		if tolerance := 2.5 / math.Sqrt(float64(tensor.Size)); math.Abs(got/want[i]-1) > tolerance {
			t.Errorf("%d.%s: deviation %g, not %g", tensor.Layer, tensor.Name, got, want[i])
		}
	}
}

func TestImportUndoesExport(t *testing.T) {
	specs, _ := ParseLayers("conv 1 2 3, linear 18 4, relu")
	n, err := NewNetwork(specs, []int{1, 5, 5})
	if err != nil {
		t.Fatal(err)
	}
	n.Init(rand.New(rand.NewPCG(1, 1)))
	m := n.Clone()
	clear(m.Params)
	for _, tensor := range n.Tensors {
		m.Import(tensor, m.Params, n.Export(tensor, n.Params))
	}
	if !slices.Equal(m.Params, n.Params) {
		t.Error("parameters changed on the way out and in")
	}
}
