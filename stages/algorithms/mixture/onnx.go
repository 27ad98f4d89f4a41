package mixture

import (
	"mars.dev/mars/stages/algorithms/onnx"
)

// A Density is Gaussian components as other programs evaluate them: the score of a row x for
// component k is Constants[k] − |(x − Means[k])·Whiten[k]|²/2, the logarithm of its weight
// times its density.
type Density struct {
	Constants []float64   // K
	Means     [][]float64 // K×d
	Whiten    [][]float64 // K×(d·d), row-major
}

// Density is what the assigner evaluates. It panics if the components are not Gaussian.
func (a *Assigner) Density() Density {
	g, ok := a.scorer.(*gaussians)
	if !ok {
		panic("mixture: Density: the components are not Gaussian")
	}
	var out Density
	for _, c := range g.components {
		whiten := make([]float64, a.d*a.d)
		for i := range a.d {
			if c.scale != nil {
				whiten[i*a.d+i] = c.scale[i]
				continue
			}
			copy(whiten[i*a.d+i:(i+1)*a.d], c.whiten.Data[i*c.whiten.Stride+i:])
		}
		out.Constants = append(out.Constants, c.constant)
		out.Means, out.Whiten = append(out.Means, c.mean), append(out.Whiten, whiten)
	}
	return out
}

// ONNX adds Responsibilities to a graph: those of rows x of float32 are n×K of float64.
func (a *Assigner) ONNX(g *onnx.Graph, x onnx.Value) onnx.Value {
	var means, whiten []float64
	density := a.Density()
	for k := range a.k {
		means, whiten = append(means, density.Means[k]...), append(whiten, density.Whiten[k]...)
	}
	deviation := g.Op("Sub", g.Cast(x, onnx.Double), g.Doubles(means, a.k, 1, a.d)) // K×n×d
	white := g.Op("MatMul", deviation, g.Doubles(whiten, a.k, a.d, a.d))
	squares := g.Node("ReduceSum", []onnx.Value{g.Op("Mul", white, white), g.Ints(2)}, onnx.Int("keepdims", 0))
	squares = g.Node("Transpose", []onnx.Value{squares}, onnx.Ints("perm", 1, 0))
	return g.Softmax(g.Op("Sub", g.Doubles(density.Constants, a.k), g.Op("Mul", squares, g.Scalar(0.5))))
}
