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
var bets = [2 * sides]bet{
	{0.1, false}, {-0.1, false}, {0.35, false}, {-0.35, false}, {0.98, false}, {-0.98, false},
	{0.15, true}, {-0.15, true}, {0.5, true}, {-0.5, true}, {1.6, true}, {-0.9, true},
}

// sides is how many bets are on the side, the first ones; as many are on the scale.
const sides = 6

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
		w[:sides].win(bets[:sides], side[:n])
		w[sides:].win(bets[sides:], scale[:n])
		p = p[n:]
	}
}

// win multiplies wealth by what the bets on a shape bring. The products wait for nothing of
// each other, so that a processor makes them side by side.
func (w wealth) win(bets []bet, shape []float64) {
	s0, s1, s2, s3, s4, s5 := bets[0].stake, bets[1].stake, bets[2].stake, bets[3].stake, bets[4].stake, bets[5].stake
	p0, p1, p2, p3, p4, p5 := 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
	for _, v := range shape {
		p0 *= 1 + s0*v
		p1 *= 1 + s1*v
		p2 *= 1 + s2*v
		p3 *= 1 + s3*v
		p4 *= 1 + s4*v
		p5 *= 1 + s5*v
	}
	for i, product := range [sides]float64{p0, p1, p2, p3, p4, p5} {
		w[i] = max(nothing, w[i]+math.Log(product))
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
