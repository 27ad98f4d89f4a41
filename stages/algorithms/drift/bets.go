package drift

import "math"

// A bet multiplies wealth by 1 + stake·shape(p), which is never negative and has the mean
// 1 for a uniform p.
type bet struct {
	stake float64
	scale bool // on how far p is from the middle, not on which side
}

// bets are on p-values that are too high or too low, and too near the middle or too near
// the ends. A small stake wins most, per row, on a small change.
var bets = []bet{
	{0.1, false}, {-0.1, false}, {0.35, false}, {-0.35, false}, {0.98, false}, {-0.98, false},
	{0.15, true}, {-0.15, true}, {0.5, true}, {-0.5, true}, {1.6, true}, {-0.9, true},
}

// shapes are Legendre's polynomials of degree 1 and 2 of 2p − 1: from −1 to 1, and from
// −1/2 to 1.
func shapes(p float64) (side, scale float64) {
	u := 2*p - 1
	return u, (3*u*u - 1) / 2
}

// nothing is the logarithm of no wealth; it is a number, so that it can be saved as JSON.
const nothing = -1e300

// wealth is what bets have won, by its logarithm.
type wealth []float64

func newWealth() wealth {
	w := make(wealth, len(bets))
	for i := range w {
		w[i] = nothing
	}
	return w
}

// invest divides an amount, a logarithm, among the bets.
func (w wealth) invest(amount float64) {
	share := amount - math.Log(float64(len(w)))
	for i := range w {
		w[i] = logAdd(w[i], share)
	}
}

// block is how many p-values are bet on before a logarithm is taken: no product of so many
// factors overflows or vanishes.
const block = 64

// play bets on p-values.
func (w wealth) play(p []float64) {
	for len(p) > 0 {
		n := min(block, len(p))
		var side, scale [block]float64
		for i, v := range p[:n] {
			side[i], scale[i] = shapes(v)
		}
		for i, b := range bets {
			on, product := &side, 1.0
			if b.scale {
				on = &scale
			}
			for _, v := range on[:n] {
				product *= 1 + b.stake*v
			}
			w[i] = max(nothing, w[i]+math.Log(product))
		}
		p = p[n:]
	}
}

// total is the logarithm of the sum.
func (w wealth) total() float64 {
	sum := nothing
	for _, v := range w {
		sum = logAdd(sum, v)
	}
	return sum
}

// logAdd is log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
