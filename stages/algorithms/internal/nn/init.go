package nn

import (
	"math"
	"math/rand/v2"
)

// Init draws the parameters. Those of linear layers, and biases of convolutions, have
// PyTorch's default: they are uniform on ±1/√n, where n is the number of inputs of an
// output. Weights of convolutions are from N(0, 0.02²), as in the authors' code.
func (n *Network) Init(rng *rand.Rand) {
	for _, t := range n.Tensors {
		l := n.Specs[t.Layer]
		fanIn := l.In
		if l.Kind == Conv {
			fanIn = l.In * l.Side * l.Side
		}
		draw := uniform(rng, 1/math.Sqrt(float64(fanIn)))
		if l.Kind == Conv && t.Name == "weight" {
			draw = func() float64 { return 0.02 * rng.NormFloat64() }
		}
		values := t.of(n.Params)
		for i := range values {
			values[i] = float32(draw())
		}
	}
}

func uniform(rng *rand.Rand, bound float64) func() float64 {
	return func() float64 { return bound * (2*rng.Float64() - 1) }
}
