package ensemble

import (
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Predict to a graph, for rows x of float32. Its tensors have the names that Put gives
// them with the same prefix.
func (m *Model) ONNX(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	var sum onnx.Value
	for _, k := range m.members {
		p := k.calibrator.ONNX(g, k.onnx(g, prefix+k.name+".", x))
		if m.discriminant() {
			return p
		}
		logs := g.Op("Mul", labelshift.LogONNX(g, p, minPosterior), g.Scalar(k.weight))
		if sum == "" {
			sum = logs
		} else {
			sum = g.Op("Add", sum, logs)
		}
	}
	return g.Cast(g.Softmax(sum), onnx.Float)
}

func (l linear) onnx(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	w := l.model.Weights
	weights, bias := g.Tensor(prefix+"weights", w.Data, w.Rows, w.Cols), g.Tensor(prefix+"bias", l.model.Bias, w.Cols)
	return g.Softmax(g.Op("Gemm", x, weights, bias))
}

func (r ridge) onnx(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	return g.Softmax(g.Op("Mul", r.model.ONNX(g, prefix, x), g.Floats([]float32{sharpness}, 1)))
}

// onnx spreads the posteriors of the classes that had rows over all.
func (n network) onnx(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	if n.model == nil { // one class is certain, whatever the row
		bias := make([]float32, n.classes)
		bias[n.present[0]] = 1
		return g.Op("Gemm", x, g.Floats(make([]float32, n.inputs*n.classes), n.inputs, n.classes), g.Floats(bias, n.classes))
	}
	_, p := n.model.ONNX(g, prefix, x)
	if len(n.present) == n.classes {
		return p
	}
	spread := dense.New(len(n.present), n.classes)
	for j, k := range n.present {
		dense.Row(spread, j)[k] = 1
	}
	return g.Op("MatMul", p, g.Floats(spread.Data, spread.Rows, spread.Cols))
}
