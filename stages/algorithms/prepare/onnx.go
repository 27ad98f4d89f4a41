package prepare

import (
	"slices"

	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Apply to a graph, for rows x of float32. Its tensors have the names that Put gives
// them with the same prefix.
func (p *Map) ONNX(g *onnx.Graph, prefix string, x onnx.Value) onnx.Value {
	if len(p.Kept) < p.Columns || !slices.IsSorted(p.Kept) {
		x = g.Columns(x, p.Kept)
	}
	z := g.Cast(x, onnx.Double)
	if p.Counts {
		z = logarithmsONNX(g, z)
	}
	d := len(p.Kept)
	z = g.Op("Mul", g.Op("Sub", z, g.Doubles(p.Mean, d)), g.Doubles(p.Scale, d))
	if !p.Together {
		z = g.Op("Max", g.Op("Min", z, g.Scalar(clipping)), g.Scalar(-clipping))
	}
	if p.Axes != nil {
		rows, cols := p.Axes.Dims()
		axes := g.Cast(g.Tensor(prefix+axesTensor, p.axes(), rows, cols), onnx.Double)
		z = g.Op("Add", g.Op("MatMul", z, axes), g.Doubles(p.Origin, cols))
	}
	return g.Cast(z, onnx.Float)
}

// logarithmsONNX is logarithms. It rounds where that does.
func logarithmsONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	l := g.Op("Log", g.Op("Add", g.Op("Max", x, g.Scalar(0)), g.Scalar(1)))
	squares := g.RowSums(g.Op("Mul", l, l))
	none := g.Cast(g.Op("Equal", squares, g.Scalar(0)), onnx.Double)
	length := g.Op("Sqrt", g.Op("Add", squares, none))
	l = g.Cast(g.Cast(l, onnx.Float), onnx.Double)
	return g.Cast(g.Cast(g.Op("Div", l, length), onnx.Float), onnx.Double)
}
