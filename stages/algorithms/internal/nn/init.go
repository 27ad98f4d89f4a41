package nn

import (
	"math"
	"math/rand/v2"
)

// Init draws the parameters. Those of linear layers, and biases of convolutions, have
// PyTorch's default: they are uniform on ±1/√n, where n is the number of inputs of an
// output. So have the weights of convolutions without a bias, whose outputs a norm brings
// to one scale. The others' are from N(0, 0.02²), as in the authors' code. Norms start with
// weights of 1 and biases of 0.
func (n *Network) Init(rng *rand.Rand) {
	for _, t := range n.Tensors {
		draw := n.Specs[t.Layer].draw(t.Name, rng)
		values := t.of(n.Params)
		for i := range values {
			values[i] = float32(draw())
		}
	}
}

// draw returns what draws a parameter of the layer's named tensor.
func (s LayerSpec) draw(tensor string, rng *rand.Rand) func() float64 {
	switch {
	case s.Kind == GroupNorm || s.Kind == LayerNorm:
		start := 0.0
		if tensor == "weight" {
			start = 1
		}
		return func() float64 { return start }
	case s.Kind == Conv && tensor == "weight" && !s.NoBias:
		return func() float64 { return 0.02 * rng.NormFloat64() }
	}
	fanIn := s.In
	if s.Kind == Conv {
		fanIn *= s.Side * s.Side
	}
	return uniform(rng, 1/math.Sqrt(float64(fanIn)))
}

func uniform(rng *rand.Rand, bound float64) func() float64 {
	return func() float64 { return bound * (2*rng.Float64() - 1) }
}
