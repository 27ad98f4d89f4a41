package kernelridge

import "mars.dev/mars/stages/algorithms/onnx"

// ONNX adds Scores to a graph, for rows x of float32. Its tensors are called landmarks, coefficients
// and mean after a prefix.
func (m *Model) ONNX(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	landmarks := g.Cast(g.Tensor(prefix+"landmarks", m.Landmarks.Data, m.Landmarks.Rows, m.Landmarks.Cols), onnx.Double)
	coefficients := g.Cast(g.Tensor(prefix+"coefficients", m.Coefficients.Data, m.Coefficients.Rows, m.Coefficients.Cols), onnx.Double)
	mean := g.Cast(g.Tensor(prefix+"mean", m.Mean, len(m.Mean)), onnx.Double)
	squares := SquaredDistancesONNX(g, g.Cast(x, onnx.Double), landmarks)
	kernel := g.Op("Exp", g.Op("Mul", squares, g.Scalar(-m.Gamma)))
	return g.Cast(g.Op("Add", g.Op("MatMul", kernel, coefficients), mean), onnx.Float)
}

// SquaredDistancesONNX adds SquaredDistances to a graph, for x and z of float64. They may be less than 0 by
// rounding.
func SquaredDistancesONNX(g *onnx.Graph, x, z onnx.Value) onnx.Value {
	transposed := func(v onnx.Value) onnx.Value { return g.Node("Transpose", []onnx.Value{v}, onnx.Ints("perm", 1, 0)) }
	squares := func(v onnx.Value) onnx.Value { return g.RowSums(g.Op("Mul", v, v)) }
	products := g.Op("Mul", g.Op("MatMul", x, transposed(z)), g.Scalar(2))
	return g.Op("Sub", g.Op("Add", squares(x), transposed(squares(z))), products)
}
