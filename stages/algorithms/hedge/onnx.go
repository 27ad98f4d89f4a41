package hedge

import (
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Prepare, Predict and Decide to a graph, for rows x of float32. Its tensors have the
// names that Save gives them.
func (m *Model) ONNX(g *onnx.Graph, x onnx.Value) (onnx.Value, error) {
	z := m.preparation.ONNX(g, "", x)
	var sum onnx.Value
	total := 0.0
	for c, model := range m.classifiers {
		if model == nil {
			continue
		}
		mean := model.ONNX(g, prefix(c), z)
		for _, v := range m.Views {
			if v.Classifier != c {
				continue
			}
			q, err := labelshift.Accuracy.ONNX(g, mean, m.prior, v.Proportions)
			if err != nil {
				return "", err
			}
			q = g.Op("Mul", q, g.Floats([]float32{float32(v.Weight)}, 1))
			if sum != "" {
				q = g.Op("Add", sum, q)
			}
			sum = q
			total += v.Weight
		}
	}
	p := g.Op("Div", sum, g.Floats([]float32{float32(total)}, 1))
	if d, from, to := m.adjustment(); to != nil {
		return d.ONNX(g, p, from, to)
	}
	return p, nil
}
