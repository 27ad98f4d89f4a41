package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mantissaBits is the number of bits of the mantissa, without its leading 1.
func (e element) mantissaBits() uint64 {
	if e.bytes == 4 {
		return 23
	}
	return 52
}

func (e element) exponentBias() uint64 {
	if e.bytes == 4 {
		return 127
	}
	return 1023
}

// rounder is 1.5·2^mantissaBits: a number of moderate size plus rounder has the
// number, rounded to an integer, in its low bits.
func (e element) rounder() float64 { return 1.5 * math.Ldexp(1, int(e.mantissaBits())) }

// split writes x as the sum of its rounding to the type and a correction. For
// float64 the caller knows the correction.
func (e element) split(x float64, correction float64) (high, low float64) {
	if e.bytes == 4 {
		high = float64(float32(x))
		return high, x - high
	}
	return x, correction
}

// ln2Correction is ln 2 - float64(ln 2).
const ln2Correction = 2.319046813846299e-17

// exp computes e^x = 2^n·e^r with n the integer nearest to x/ln 2, so that
// |r| <= ln 2 / 2, and e^r by its Taylor polynomial. Below low the result is 0,
// and above high it is infinite.
func exp(e element) *loop {
	name, degree, low, high := "exp", 7, -104.0, 89.0
	if e.bytes == 8 {
		name, degree, low, high = "exp64", 13, -746, 710
	}
	return &loop{
		name: name, doc: "sets dst = exp(x).",
		signature: "func(dst, x []%[1]s)",
		elem:      e, slices: []string{"x", "dst"}, work: 4,
		constants: []constant{{name: "low", value: low}, {name: "high", value: high}, {name: "rounder", value: e.rounder()}},
		body:      func(v *iteration) { emitExp(v, e, degree) },
	}
}

func emitExp(v *iteration, e element, degree int) {
	c, x, n, p, bits := v.Context, v.r(0), v.r(1), v.r(2), v.r(3)
	v.load("x", x)
	e.min(c, x, v.k("high"), x) // the first operand if one is NaN
	e.max(c, x, v.k("low"), x)
	if v.l.masks {
		const nearest = 8 // whole number, and no exception if x is none
		e.mul(c, v.real(math.Log2E), x, n)
		e.roundScale(c, operand.Imm(nearest), n, n)
	} else {
		v.round(v.real(math.Log2E), x, bits, n)
	}
	high, low := e.split(math.Ln2, ln2Correction)
	e.fnma(c, v.real(high), n, x)
	e.fnma(c, v.real(low), n, x)
	factorial := 1.0
	for k := 2; k <= degree; k++ {
		factorial *= float64(k)
	}
	e.move(c, v.real(1/factorial), p)
	for k := degree; k > 0; k-- {
		factorial /= float64(k)
		e.fmaInto(c, v.real(1/factorial), x, p)
	}
	if v.l.masks {
		e.timesPower2(c, n, p, p)
		v.store(p, "dst")
		return
	}
	// 2^n is applied in two factors, neither of which overflows. Results below the
	// normal range round once more.
	v.round(v.real(0.5), n, bits, x)
	e.sub(c, x, n, n)
	v.timesPower(bits, p)
	e.add(c, v.k("rounder"), n, n)
	v.timesPower(n, p)
	v.store(p, "dst")
}

// round sets to to the integer nearest to factor·x, and the low bits of bits
// to the same as an integer.
func (v *iteration) round(factor operand.Op, x, bits, to reg.VecPhysical) {
	v.f.elem.move(v.Context, v.k("rounder"), bits)
	v.f.elem.fma(v.Context, factor, x, bits)
	v.f.elem.sub(v.Context, v.k("rounder"), bits, to)
}

// timesPower multiplies p by 2^n, n an integer in the low bits of bits.
func (v *iteration) timesPower(bits, p reg.VecPhysical) {
	e := v.f.elem
	e.addInt(v.Context, v.whole(e.exponentBias()), bits, bits)
	e.shiftLeft(v.Context, operand.Imm(e.mantissaBits()), bits, bits)
	e.mul(v.Context, bits, p, p)
}

// logarithm computes log x = n·ln 2 + log m with √½ <= m < √2 and, for f = m-1
// and s = f/(2+f), log m = f - f²/2 + s·(f²/2 + R(s²)): R is the rest of the
// series of 2·artanh s after its first term.
var logarithm = &loop{
	name: "log64", doc: "sets dst = log(x).",
	signature: "func(dst, x []%[1]s)",
	elem:      float64s, slices: []string{"x", "dst"}, work: 6,
	body: emitLog,
}

// artanhTerms is the number of terms of R.
const artanhTerms = 10

func emitLog(v *iteration) {
	c, e := v.Context, v.f.elem
	x, n, f, s, square, r := v.r(0), v.r(1), v.r(2), v.r(3), v.r(4), v.r(5)
	v.load("x", x)
	v.splitExponent(x, n, f, s, r)
	e.sub(c, v.real(1), f, f)
	e.add(c, v.real(2), f, s)
	e.div(c, s, f, s)
	e.mul(c, s, s, square)
	e.move(c, v.real(2/float64(2*artanhTerms+1)), r)
	for k := artanhTerms - 1; k > 0; k-- {
		e.fmaInto(c, v.real(2/float64(2*k+1)), square, r)
	}
	e.mul(c, square, r, r)
	e.mul(c, f, f, square)
	e.mul(c, v.real(0.5), square, square)
	e.add(c, square, r, r)
	e.mul(c, s, r, r)
	high, low := e.split(math.Ln2, ln2Correction)
	e.fma(c, v.real(low), n, r)
	e.sub(c, square, r, r)
	e.add(c, f, r, r)
	e.fma(c, v.real(high), n, r)
	v.replaceWhere(notLess, v.real(math.Inf(1)), x, x, r, s)
	v.replaceWhere(equal, v.real(0), x, v.real(math.Inf(-1)), r, s)
	v.replaceWhere(lessThan, v.real(0), x, v.real(math.NaN()), r, s)
	v.store(r, "dst")
}

// splitExponent writes x = m·2^n with √½ <= m < √2, and n as a floating-point
// number. s and t are scratch.
func (v *iteration) splitExponent(x, n, m, s, t reg.VecPhysical) {
	e, c := v.f.elem, v.Context
	const smallest, lift = 0x1p-1022, 54
	one, root := math.Float64bits(1), math.Float64bits(math.Sqrt(0.5))
	big := math.Ldexp(1, int(e.mantissaBits()))
	bias := big + float64(e.exponentBias())
	// Numbers below the normal range are multiplied by a power of 2 first.
	e.move(c, x, m)
	e.mul(c, v.real(math.Ldexp(1, lift)), x, s)
	e.move(c, v.real(bias), n)
	v.replaceWhere(lessThan, v.real(smallest), x, s, m, t)
	v.replaceWhere(lessThan, v.real(smallest), x, v.real(bias+float64(lift)), n, t)
	// t is the exponent with its bias, and then the same as a number plus big.
	e.addInt(c, v.whole(one-root), m, t)
	e.shiftRight(c, operand.Imm(e.mantissaBits()), t, t)
	e.shiftLeft(c, operand.Imm(e.mantissaBits()), t, s)
	e.subInt(c, s, m, m)
	e.addInt(c, v.whole(one), m, m)
	e.addInt(c, v.real(big), t, t)
	e.sub(c, n, t, n)
}
