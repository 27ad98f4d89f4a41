package adapt

import (
	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Embed and Predict to a graph, for rows x of Width columns of float32. The names of
// tensors are those of Save after a prefix.
func (m *Model) ONNX(g *onnx.Graph, prefix string, x onnx.Value) (embedding, posteriors onnx.Value) {
	x = m.input.onnx(g, prefix, x)
	if len(m.arch.Input) == 3 {
		x = g.Op("Reshape", x, g.Ints(append([]int{0}, m.arch.Input...)...))
	}
	embedding = networkONNX(g, m.g, prefix+networkNames[0]+".", x, m.arch.Input)
	logits := networkONNX(g, m.h, prefix+networkNames[1]+".", embedding, []int{m.g.Outputs})
	return embedding, g.Softmax(logits)
}

// onnx adds apply to a graph.
func (in input) onnx(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	if in.byRow {
		mean := func(v onnx.Value) onnx.Value {
			return g.Node("ReduceMean", []onnx.Value{v}, onnx.Ints("axes", 1))
		}
		x = g.Op("Sub", x, mean(x))
		deviation := g.Op("Sqrt", mean(g.Op("Mul", x, x)))
		return g.Op("Div", x, g.Op("Add", deviation, g.Tensor(prefix+rowTensor, []float32{rowEpsilon}, 1)))
	}
	if len(in.scale) == 0 {
		return x
	}
	offset := g.Tensor(prefix+offsetTensor, in.offset, len(in.offset))
	return g.Op("Mul", g.Op("Sub", x, offset), g.Tensor(prefix+scaleTensor, in.scale, len(in.scale)))
}

// DecideONNX adds Decide to a graph, for posteriors of Predict.
func (m *Model) DecideONNX(g *onnx.Graph, posteriors onnx.Value) (onnx.Value, error) {
	prior, target, err := m.shares()
	if err != nil || m.Decision == nil {
		return posteriors, err
	}
	return m.Decision.ONNX(g, posteriors, prior, target)
}
