package gmmot

import (
	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Predict and Decide to a graph, for rows x of float32.
func (m *Model) ONNX(g *onnx.Graph, x onnx.Value) (onnx.Value, error) {
	member := make([]float64, len(m.ClassOf)*len(m.Classes))
	for k, c := range m.ClassOf {
		member[k*len(m.Classes)+int(c)] = 1
	}
	p := g.Op("MatMul", m.assigner.ONNX(g, x), g.Doubles(member, len(m.ClassOf), len(m.Classes)))
	p = g.Cast(p, onnx.Float)
	if m.Decision == nil {
		return p, nil
	}
	return m.Decision.ONNX(g, p, m.prior(), m.Proportions)
}
