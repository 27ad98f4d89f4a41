package hedge

import (
	"strconv"

	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
)

// ONNX adds Prepare, Predict and Decide to a graph, for rows x of float32, and returns the prepared
// rows too. Its tensors have the names that Save gives them.
func (m *Model) ONNX(g *onnx.Graph, x onnx.Value) (z, posteriors onnx.Value, err error) {
	z = m.mapping.ONNX(g, "", x)
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
			q, err := labelshift.Accuracy.ONNX(g, mean, m.prior, v.carried())
			if err != nil {
				return z, "", err
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
		p, err = d.ONNX(g, p, from, to)
	}
	return z, p, err
}

// TypicalityONNX adds Typicality to a graph, for prepared rows z and the number of the class of
// each: a list of float32.
func (m *Model) TypicalityONNX(g *onnx.Graph, z, class onnx.Value) onnx.Value {
	var sum onnx.Value
	total := 0.0
	for c, t := range m.typicality {
		if t == nil {
			continue
		}
		w := m.typicalWeight(c)
		total += w
		p := g.Op("Mul", t.onnx(g, prefix(c)+typicalPrefix, z), g.Scalar(w))
		if sum != "" {
			p = g.Op("Add", sum, p)
		}
		sum = p
	}
	numbers := make([]int, len(m.Classes))
	for k := range numbers {
		numbers[k] = k
	}
	is := g.Cast(g.Op("Equal", g.Op("Unsqueeze", class, g.Ints(1)), g.Ints(numbers...)), onnx.Double)
	of := g.Node("ReduceSum", []onnx.Value{g.Op("Mul", sum, is), g.Ints(1)}, onnx.Int("keepdims", 0))
	return g.Cast(g.Op("Div", of, g.Scalar(total)), onnx.Float)
}

// onnx adds the p-values of rows z as rows of each class, n×C of float64.
func (t *typicality) onnx(g *onnx.Graph, prefix string, z onnx.Value) onnx.Value {
	d := t.axes.directions
	along := g.Op("Gemm", z, g.Tensor(prefix+"axes", d.Data, d.Rows, d.Cols), g.Tensor(prefix+"offset", t.axes.offset, d.Cols))
	along = g.Cast(along, onnx.Double)
	var all []onnx.Value
	for k, c := range t.classes {
		number := strconv.Itoa(k)
		rows := g.Cast(g.Tensor(prefix+"rows."+number, c.rows.Data, c.rows.Rows, c.rows.Cols), onnx.Double)
		squares := g.Op("Max", kernelridge.SquaredDistancesONNX(g, along, rows), g.Scalar(0))
		least := g.Least(squares, min(neighbours, c.rows.Rows))
		mean := g.Cast(g.Node("ReduceMean", []onnx.Value{least}, onnx.Ints("axes", 1)), onnx.Float)
		notBelow := g.RowSums(g.Cast(g.Op("GreaterOrEqual", g.Tensor(prefix+"scores."+number, c.scores, len(c.scores)), mean), onnx.Double))
		all = append(all, g.Op("Div", g.Op("Add", notBelow, g.Scalar(1)), g.Scalar(float64(len(c.scores)+1))))
	}
	return g.Node("Concat", all, onnx.Int("axis", 1))
}
