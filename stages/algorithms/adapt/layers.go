package adapt

import (
	"slices"
	"strconv"

	"mars.dev/mars/stages/algorithms/internal/nn"
	"mars.dev/mars/stages/algorithms/onnx"
)

// networkONNX adds a network, as it is after training, to a graph: x are rows of float32 of
// that shape, and the outputs n×Outputs. Tensors have PyTorch's names after a prefix.
func networkONNX(g *onnx.Graph, n *nn.Network, prefix string, x onnx.Value, shape []int) onnx.Value {
	tensors := map[string]onnx.Value{}
	for _, t := range n.Tensors {
		name := strconv.Itoa(t.Layer) + "." + t.Name
		tensors[name] = g.Tensor(prefix+name, n.Export(t, n.Params), t.Shape...)
	}
	flat := len(shape) != 3 // rows are columns, and no images any more
	flatten := func() {
		if !flat {
			x, flat = g.Node("Flatten", []onnx.Value{x}, onnx.Int("axis", 1)), true
		}
	}
	inputs := make([]onnx.Value, len(n.Specs))
	for i, layer := range n.Specs {
		if layer.Kind == nn.Linear || layer.Kind == nn.LayerNorm {
			flatten()
		}
		inputs[i] = x
		parameters := []onnx.Value{tensors[strconv.Itoa(i)+".weight"]}
		if bias, there := tensors[strconv.Itoa(i)+".bias"]; there {
			parameters = append(parameters, bias)
		}
		switch layer.Kind {
		case nn.GroupNorm:
			x = groupNormONNX(g, layer, x, parameters, n.InputSize(i))
		case nn.Add:
			x = g.Op("Add", x, inputs[i-layer.Back])
		case nn.Dropout: // does nothing after training
		default:
			x = layerONNX(g, layer, append([]onnx.Value{x}, parameters...))
		}
	}
	flatten()
	return x
}

// layerONNX adds a layer that is one operator: its input, then its parameters.
func layerONNX(g *onnx.Graph, s nn.LayerSpec, in []onnx.Value) onnx.Value {
	switch s.Kind {
	case nn.Linear:
		return g.Node("Gemm", in, onnx.Int("transB", 1))
	case nn.Conv:
		pad := 0
		if s.Same {
			pad = s.Side / 2
		}
		return g.Node("Conv", in, onnx.Ints("kernel_shape", s.Side, s.Side), onnx.Ints("pads", pad, pad, pad, pad))
	case nn.MaxPool:
		return g.Node("MaxPool", in[:1], onnx.Ints("kernel_shape", s.Side, s.Side), onnx.Ints("strides", s.Side, s.Side))
	case nn.AvgPool:
		return g.Op("GlobalAveragePool", in[0])
	case nn.ReLU:
		return g.Op("Relu", in[0])
	case nn.LayerNorm:
		return g.Node("LayerNormalization", in, onnx.Int("axis", -1), onnx.Number("epsilon", nn.NormEpsilon))
	}
	panic("adapt: no operator for the layer " + s.String())
}

// groupNormONNX normalises groups of channels as if each were a channel: opset 17 has no
// operator for groups. size is the number of values of a row.
func groupNormONNX(g *onnx.Graph, s nn.LayerSpec, x onnx.Value, parameters []onnx.Value, size int) onnx.Value {
	one, zero := g.Floats(slices.Repeat([]float32{1}, s.Groups), s.Groups), g.Floats(make([]float32, s.Groups), s.Groups)
	groups := g.Op("Reshape", x, g.Ints(0, s.Groups, size/s.Groups))
	normal := g.Node("InstanceNormalization", []onnx.Value{groups, one, zero}, onnx.Number("epsilon", nn.NormEpsilon))
	y := g.Op("Reshape", normal, g.Op("Shape", x))
	for i, op := range []string{"Mul", "Add"} {
		y = g.Op(op, y, g.Op("Reshape", parameters[i], g.Ints(-1, 1, 1)))
	}
	return y
}
