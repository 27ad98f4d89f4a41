package scale

import "mars.dev/mars/stages/algorithms/onnx"

// onnx adds Apply to a graph: column by column the share of rows below a value, and then the
// normal scores of all.
func (q *Quantiles) onnx(g *onnx.Graph, x onnx.Value) onnx.Value {
	var shares []onnx.Value
	varies := make([]bool, len(q.Values))
	x = g.Cast(x, onnx.Double)
	for j, values := range q.Values {
		shares = append(shares, shareONNX(g, g.Columns(x, []int{j}), values))
		varies[j] = values[0] != values[len(values)-1]
	}
	p := g.Node("Concat", shares, onnx.Int("axis", 1))
	p = g.Op("Min", g.Op("Max", p, g.Scalar(leastShare)), g.Scalar(1-leastShare))
	z := g.Op("Where", g.Bools(varies), normalONNX(g, p), g.Scalar(0))
	return g.Cast(z, onnx.Float)
}

// shareONNX adds the share of score, of a column v (n×1).
func shareONNX(g *onnx.Graph, v onnx.Value, quantiles []float64) onnx.Value {
	last := len(quantiles) - 1
	row := g.Doubles(quantiles, 1, last+1)
	count := func(comparison string) onnx.Value {
		return g.RowSums(g.Cast(g.Op(comparison, v, row), onnx.Double))
	}
	below, notAbove := count("Greater"), count("GreaterOrEqual")
	at := func(k onnx.Value) onnx.Value {
		k = g.Op("Min", g.Op("Max", k, g.Scalar(0)), g.Scalar(float64(last)))
		return g.Op("Gather", g.Doubles(quantiles, last+1), g.Cast(k, onnx.Int64))
	}
	before := g.Op("Sub", below, g.Scalar(1))
	low, high := at(before), at(below)
	between := g.Op("Add", before, g.Op("Div", g.Op("Sub", v, low), g.Op("Sub", high, low)))
	middle := g.Op("Mul", g.Op("Add", before, notAbove), g.Scalar(0.5)) // of the quantiles that v is
	share := g.Op("Where", g.Op("Greater", notAbove, below), middle, between)
	share = g.Op("Div", share, g.Scalar(float64(max(last, 1))))
	share = g.Op("Where", g.Op("GreaterOrEqual", v, g.Scalar(quantiles[last])), g.Scalar(1), share)
	return g.Op("Where", g.Op("LessOrEqual", v, g.Scalar(quantiles[0])), g.Scalar(0), share)
}

// The normal quantile of p is q·A(r)/B(r) of q = p − ½ and r = central² − q² where |q| is at most
// central, and ±C(r)/D(r) of r = √(−log min(p, 1−p)) − 1.6 beyond, as far as 1e-11 (Wichura 1988,
// algorithm AS 241). Of each polynomial the constant is first.
const (
	central = 0.425
	tail    = 1.6
)

var (
	centralOver = []float64{3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
		45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727}
	centralUnder = []float64{1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
		21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}
	tailOver = []float64{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4}
	tailUnder = []float64{1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
		0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
)

// normalONNX adds the normal quantiles of p, float64 from leastShare to 1 less that.
func normalONNX(g *onnx.Graph, p onnx.Value) onnx.Value {
	polynomial := func(r onnx.Value, c []float64) onnx.Value {
		y := g.Scalar(c[len(c)-1])
		for k := len(c) - 2; k >= 0; k-- {
			y = g.Op("Add", g.Op("Mul", y, r), g.Scalar(c[k]))
		}
		return y
	}
	q := g.Op("Sub", p, g.Scalar(0.5))
	r := g.Op("Sub", g.Scalar(central*central), g.Op("Mul", q, q))
	inner := g.Op("Mul", q, g.Op("Div", polynomial(r, centralOver), polynomial(r, centralUnder)))
	end := g.Op("Min", p, g.Op("Sub", g.Scalar(1), p))
	r = g.Op("Sub", g.Op("Sqrt", g.Op("Neg", g.Op("Log", end))), g.Scalar(tail))
	outer := g.Op("Mul", g.Op("Sign", q), g.Op("Div", polynomial(r, tailOver), polynomial(r, tailUnder)))
	return g.Op("Where", g.Op("LessOrEqual", g.Op("Abs", q), g.Scalar(central)), inner, outer)
}
