package scale

import "mars.dev/mars/stages/algorithms/onnx"

// ONNX adds Of to a graph, for x of float32.
func (t Transform) ONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	if t.None() {
		return x
	}
	v := g.Cast(x, onnx.Double)
	if t.Log1p {
		return g.Cast(g.Op("Log", g.Op("Add", v, g.Scalar(1))), onnx.Float)
	}
	v = g.Op("Div", v, g.Scalar(t.Cofactor))
	size := g.Op("Abs", v) // asinh is odd, and log(|v| + √(v² + 1)) loses nothing
	root := g.Op("Sqrt", g.Op("Add", g.Op("Mul", v, v), g.Scalar(1)))
	return g.Cast(g.Op("Mul", g.Op("Sign", v), g.Op("Log", g.Op("Add", size, root))), onnx.Float)
}

// ONNX adds Apply to a graph, for rows x of float32.
func (s Scaling) ONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	switch {
	case s.Quantiles != nil:
		return s.Quantiles.onnx(g, x)
	case s.Standard == nil:
		return x
	}
	z := g.Op("Sub", g.Cast(x, onnx.Double), g.Doubles(s.Standard.Mean, len(s.Standard.Mean)))
	by := s.Standard.Scales()
	return g.Cast(g.Op("Mul", z, g.Doubles(by, len(by))), onnx.Float)
}
