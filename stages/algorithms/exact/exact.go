// Package exact adds up floating-point numbers without rounding, so that a sum does not
// depend on the order of its terms, nor on how they were divided among parts whose sums
// were added. Only its value as a float64 is rounded, once.
//
// A sum is a long fixed-point number, as in Kulisch & Miranker, The Arithmetic of the
// Digital Computer: A New Approach (1986), with digits whose carries wait (Neal, Fast Exact
// Summation Using Small and Large Superaccumulators, 2015).
package exact

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Sum is an exact sum of float64. The zero value is 0.
type Sum struct {
	low    int     // exponent of digits[0], in digits above the least float64
	digits []int64 // of 32 bits each; their carries wait
	adds   int     // since the carries were last taken
}

const (
	digitBits = 32
	digitMask = 1<<digitBits - 1
	// maxAdds is how many terms a digit has room for: each adds less than 2³² to it.
	maxAdds = 1 << 29
	// leastExponent is that of the least float64 above 0.
	leastExponent = -1074
	mantissaBits  = 52
	exponentMask  = 0x7ff
)

// Add adds v, which must be finite: it panics for others.
func (s *Sum) Add(v float64) {
	bits := math.Float64bits(v)
	mantissa, e := bits&(1<<mantissaBits-1), int(bits>>mantissaBits)&exponentMask
	switch {
	case e == exponentMask:
		panic("exact: the sum of a number that is not finite")
	case e > 0:
		mantissa |= 1 << mantissaBits
		e--
	case mantissa == 0:
		return
	}
	i, shift := e/digitBits, uint(e%digitBits)
	if i < s.low || i+3 > s.low+len(s.digits) || s.digits == nil {
		s.reach(i)
	}
	d := s.digits[i-s.low : i-s.low+3 : i-s.low+3]
	lowest, highest := mantissa<<shift, mantissa>>(64-shift)
	if v < 0 {
		d[0] -= int64(lowest & digitMask)
		d[1] -= int64(lowest >> digitBits)
		d[2] -= int64(highest)
	} else {
		d[0] += int64(lowest & digitMask)
		d[1] += int64(lowest >> digitBits)
		d[2] += int64(highest)
	}
	if s.adds++; s.adds == maxAdds {
		s.carry()
	}
}

// reach makes room for three digits from i on.
func (s *Sum) reach(i int) {
	if s.digits == nil {
		s.low, s.digits = i, make([]int64, 4)
		return
	}
	low, high := min(s.low, i), max(s.low+len(s.digits), i+4)
	digits := make([]int64, high-low)
	copy(digits[s.low-low:], s.digits)
	s.low, s.digits = low, digits
}

// carry takes the carries, so that all digits but the last are from 0 to 2³²−1.
func (s *Sum) carry() {
	s.adds = 0
	for i := range s.digits {
		c := s.digits[i] >> digitBits
		if c == 0 {
			continue
		}
		if i == len(s.digits)-1 {
			if c == -1 { // the sign
				continue
			}
			s.digits = append(s.digits, 0)
		}
		s.digits[i] &= digitMask
		s.digits[i+1] += c
	}
}

// AddSum adds another sum.
func (s *Sum) AddSum(o *Sum) {
	if o.digits == nil {
		return
	}
	o.carry()
	s.carry()
	s.reach(o.low)
	if need := o.low + len(o.digits) + 1; need > s.low+len(s.digits) {
		s.digits = append(s.digits, make([]int64, need-s.low-len(s.digits))...)
	}
	for i, d := range o.digits {
		s.digits[o.low-s.low+i] += d
	}
	s.carry()
}

// integer returns the sum in units of the digit s.low.
func (s *Sum) integer() *big.Int {
	n, digit := new(big.Int), new(big.Int)
	for i := len(s.digits) - 1; i >= 0; i-- {
		n.Lsh(n, digitBits)
		n.Add(n, digit.SetInt64(s.digits[i]))
	}
	return n
}

// Float64 is the sum, rounded once, to the nearest.
func (s *Sum) Float64() float64 {
	if s.digits == nil {
		return 0
	}
	f := new(big.Float).SetInt(s.integer())
	f.SetMantExp(f, s.low*digitBits+leastExponent)
	v, _ := f.Float64()
	return v
}

// String is the sum as text that Parse reads: the same text for the same sum, however it
// came about. It is a whole number in hexadecimal, which is odd, and the power of two that
// it is multiplied with: "3p-1" is 1.5.
func (s *Sum) String() string {
	n := s.integer()
	if n.Sign() == 0 {
		return "0"
	}
	zeros := n.TrailingZeroBits()
	n.Rsh(n, zeros)
	return n.Text(16) + "p" + strconv.Itoa(s.low*digitBits+leastExponent+int(zeros))
}

// maxBits is more than sums of float64 have.
const maxBits = 2200

// Parse reads what String writes.
func Parse(text string) (*Sum, error) {
	if text == "0" {
		return &Sum{}, nil
	}
	mantissa, power, ok := strings.Cut(text, "p")
	if !ok || len(mantissa) > maxBits/4+1 {
		return nil, fmt.Errorf("exact: %.40q is no sum", text)
	}
	n, ok := new(big.Int).SetString(mantissa, 16)
	e, err := strconv.Atoi(power)
	if !ok || err != nil || n.Sign() == 0 || n.Bit(0) == 0 || e < leastExponent || e+n.BitLen() > maxBits+leastExponent {
		return nil, fmt.Errorf("exact: %.40q is no sum", text)
	}
	s := &Sum{low: (e - leastExponent) / digitBits}
	rest := new(big.Int).Abs(n)
	rest.Lsh(rest, uint((e-leastExponent)%digitBits))
	for mask, digit := big.NewInt(digitMask), new(big.Int); rest.Sign() != 0; rest.Rsh(rest, digitBits) {
		s.digits = append(s.digits, int64(n.Sign())*digit.And(rest, mask).Int64())
	}
	if s.String() != text {
		return nil, fmt.Errorf("exact: %.40q is no sum as they are written", text)
	}
	return s, nil
}

// errNotFinite is the error of Check.
var errNotFinite = errors.New("exact: the sum is too large for a float64")

// Check returns an error if the sum is larger than a float64 can be.
func (s *Sum) Check() error {
	if math.IsInf(s.Float64(), 0) {
		return errNotFinite
	}
	return nil
}
