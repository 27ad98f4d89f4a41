package labelshift

import "mars.dev/mars/stages/algorithms/onnx"

// ONNX adds Adjust to a graph, for posteriors p of float32. Its errors are those of shares;
// a row that Adjust refuses becomes NaN.
func (d Decision) ONNX(g *onnx.Graph, p onnx.Value, source, target []float64) (onnx.Value, error) {
	factors, err := d.factors(len(source), source, target)
	if err != nil {
		return "", err
	}
	q := g.Op("Mul", g.Cast(p, onnx.Double), g.Doubles(factors, len(factors)))
	return g.Cast(g.Op("Div", q, g.RowSums(q)), onnx.Float), nil
}

// ONNX adds Apply to a graph, for posteriors p of float32.
func (c *Calibrator) ONNX(g *onnx.Graph, p onnx.Value) onnx.Value {
	logs := LogONNX(g, p, minPosterior)
	logs = g.Op("Add", g.Op("Div", logs, g.Scalar(c.Temperature)), g.Doubles(c.Bias, len(c.Bias)))
	return g.Cast(g.Softmax(logs), onnx.Float)
}

// LogONNX adds the logarithms of posteriors p of float32 to a graph, in float64. A posterior
// counts as least if it is less.
func LogONNX(g *onnx.Graph, p onnx.Value, least float64) onnx.Value {
	return g.Op("Log", g.Op("Max", g.Cast(p, onnx.Double), g.Scalar(least)))
}
