package kernel

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bits of precision of the reference values.
const precision = 120

// bigExp returns e^x by the Taylor series of e^(x/2^16), squared 16 times.
func bigExp(x float64) *big.Float {
	const halvings = 16
	real := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	r := new(big.Float).SetMantExp(real(x), -halvings)
	term, sum := real(1), real(1)
	for k := 1; k < 24; k++ {
		term.Mul(term, r).Quo(term, real(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog improves math.Log by one step of Newton's method: with L near log x
// and d = x·e^-L - 1, log x = L + d - d²/2 + ….
func bigLog(x float64) *big.Float {
	fraction, exponent := math.Frexp(x)
	near := math.Log(fraction) + float64(exponent)*math.Ln2
	d := bigExp(-near)
	d.Mul(d, new(big.Float).SetPrec(precision).SetFloat64(x))
	d.Sub(d, big.NewFloat(1))
	small, _ := d.Float64()
	sum := new(big.Float).SetPrec(precision).SetFloat64(near)
	sum.Add(sum, d)
	return sum.Sub(sum, big.NewFloat(small*small/2))
}

// reference is the logarithm of x, right below the normal range too: see log64Go.
func reference(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	return math.Log(fraction) + float64(exponent)*math.Ln2
}

// ulps returns the error of got in units of the last place of want, with the
// given bits in the mantissa and smallest exponent.
func ulps(got float64, want *big.Float, mantissa, smallest int) float64 {
	difference := new(big.Float).SetPrec(precision).SetFloat64(got)
	difference.Sub(difference, want)
	exponent := max(want.MantExp(nil)-1, smallest)
	difference.SetMantExp(difference, mantissa-exponent)
	u, _ := difference.Float64()
	return math.Abs(u)
}

func TestExpLogError(t *testing.T) {
	const samples = 3000
	r := rand.New(rand.NewPCG(9, 10))
	x, y := make([]float64, samples), make([]float64, samples)
	x32, y32 := make([]float32, samples), make([]float32, samples)
	eachLevel(t, func(t *testing.T) {
		worst := map[string]float64{}
		record := func(name string, u float64) { worst[name] = max(worst[name], u) }
		for i := range x {
			x[i] = r.Float64()*1450 - 740
			x32[i] = float32(x[i] / 8.2)
		}
		Exp64(y, x)
		active.exp(y32, x32)
		for i := range x {
			if want := bigExp(x[i]); want.MantExp(nil) <= 1024 {
				record("exp64", ulps(y[i], want, 52, -1022))
			}
			if want := bigExp(float64(x32[i])); want.MantExp(nil) <= 128 {
				record("exp", ulps(float64(y32[i]), want, 23, -126))
			}
		}
		for i := range x {
			x[i] = positive(r, i)
		}
		Log64(y, x)
		for i := range x {
			record("log64", ulps(y[i], bigLog(x[i]), 52, -1022))
		}
		limit := 1.0
		if Level() == "generic" {
			limit = 1.5
		}
		for name, u := range worst {
			t.Logf("%s: at most %.3f ulp", name, u)
			if u > limit {
				t.Errorf("%s: error of %v ulp, more than %v", name, u, limit)
			}
		}
	})
}

// positive samples the positive numbers: all exponents, numbers near 1, and
// numbers below the normal range.
func positive(r *rand.Rand, i int) float64 {
	switch i % 3 {
	case 0:
		return math.Exp(r.Float64()*1400 - 720)
	case 1:
		return 1 + (r.Float64()-0.5)*0.01
	}
	return math.Float64frombits(1 + r.Uint64N(1<<52)) // below the normal range
}

func TestExpLogSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{0, math.Copysign(0, -1), inf, -inf, nan, 710, -746, 1e300, -1e300, -1, 1, 5e-324}
	eachLevel(t, func(t *testing.T) {
		y := make([]float64, len(x))
		x32, y32 := make([]float32, len(x)), make([]float32, len(x))
		for i, v := range x {
			x32[i] = float32(v)
		}
		check := func(name string, got, want float64, v float64) {
			if math.IsNaN(got) != math.IsNaN(want) || !math.IsNaN(want) && math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Errorf("%s(%v) = %v, want %v", name, v, got, want)
			}
		}
		Exp64(y, x)
		active.exp(y32, x32)
		for i, v := range x {
			check("Exp64", y[i], math.Exp(v), v)
			check("exp", float64(y32[i]), float64(float32(math.Exp(float64(x32[i])))), v)
		}
		Log64(y, x)
		for i, v := range x {
			check("Log64", y[i], reference(v), v)
		}
	})
}

// FuzzExpLog tries any bits on the levels that do not use package math.
func FuzzExpLog(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 709.78, -745.13, 5e-324, math.MaxFloat64, math.Inf(-1), math.NaN()} {
		f.Add(math.Float64bits(x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		exponential, logarithm := math.Exp(x), math.Log(x)
		if math.Abs(x) < 750 {
			exponential, _ = bigExp(x).Float64()
		}
		if x > 0 && !math.IsInf(x, 1) {
			logarithm, _ = bigLog(x).Float64()
		}
		for _, l := range levels() {
			if l.name == generic.name {
				continue
			}
			var y [1]float64
			l.exp64(y[:], []float64{x})
			requireUlp(t, l.name+": exp64", x, y[0], exponential)
			l.log64(y[:], []float64{x})
			requireUlp(t, l.name+": log64", x, y[0], logarithm)
		}
	})
}

// requireUlp allows for one unit in the last place and compares NaN and
// infinities by kind.
func requireUlp(t *testing.T, name string, x, got, want float64) {
	t.Helper()
	if class(got) != class(want) {
		t.Fatalf("%s(%v) = %v, want %v", name, x, got, want)
	}
	unit := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
	if class(want) == "number" && math.Abs(got-want) > unit {
		t.Fatalf("%s(%v) = %v, want %v", name, x, got, want)
	}
}
