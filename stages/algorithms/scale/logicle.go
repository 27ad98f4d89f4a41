package scale

import (
	"fmt"
	"math"
)

// A Logicle is the scale of that name for the intensities of a flow cytometer, which is linear
// around 0, so that what compensation leaves below 0 has a place, and logarithmic far from it:
// Parks, Roederer and Moore, Cytometry A 69 (2006) 541; Moore and Parks, Cytometry A 81 (2012)
// 273, whose parameters these are. The zero value is none.
type Logicle struct {
	T float64 `json:"t"` // the top of the scale, which becomes 1
	W float64 `json:"w"` // decades that are about linear
	M float64 `json:"m"` // decades of the whole scale, if it were logarithmic
	A float64 `json:"a"` // further decades below 0
}

// Check returns an error if the parameters make no scale.
func (l Logicle) Check() error {
	switch finite := l.T - l.T + l.W - l.W + l.M - l.M + l.A - l.A; {
	case finite != 0 || !(l.T > 0 && l.M > 0):
		return fmt.Errorf("logicle: T %v and M %v: want numbers above 0", l.T, l.M)
	case !(l.W >= 0 && 2*l.W <= l.M):
		return fmt.Errorf("logicle: W %v: want a number from 0 to M/2, %v", l.W, l.M/2)
	case !(l.A >= -l.W && l.A <= l.M-2*l.W):
		return fmt.Errorf("logicle: A %v: want a number from -W to M - 2W, %v to %v", l.A, -l.W, l.M-2*l.W)
	case l.M+l.A > maxDecades:
		return fmt.Errorf("logicle: M and A are %v decades together: want at most %d", l.M+l.A, maxDecades)
	}
	return nil
}

// maxDecades are far more than any instrument has, and few enough for float64.
const maxDecades = 50

// of is the scale as a function. It is the inverse of
//
//	B(y) = a·exp(b·y) − c·exp(−d·y) − f
//
// which is found by Newton's method. B is odd around (x1, 0), and convex above it, where
// a·(exp(b·y) − exp(b·x1)) lies below it. The root of that is a start from which each step
// comes nearer, and none goes too far.
func (l Logicle) of() func(float64) float64 {
	whole := l.M + l.A
	w, x2 := l.W/whole, l.A/whole
	x1, x0 := x2+w, x2+2*w
	b := whole * math.Ln10
	d := linearRate(b, w)
	c := math.Exp(x0 * (b + d)) // for a of 1
	f := math.Exp(b*x1) - c*math.Exp(-d*x1)
	a := l.T / (math.Exp(b) - c*math.Exp(-d) - f)
	c, f = a*c, a*f
	least := math.Exp(b * x1)
	return func(x float64) float64 {
		size := math.Abs(x)
		y := math.Log(size/a+least) / b
		for range maxNewton {
			up, down := a*math.Exp(b*y), c*math.Exp(-d*y)
			step := (up - down - f - size) / (b*up + d*down)
			y -= step
			if !(math.Abs(step) > 1e-10) { // as steps square, the next one would be below the rounding of float64
				break
			}
		}
		if x < 0 {
			return 2*x1 - y
		}
		return y
	}
}

// maxNewton is more steps than are ever needed, which are about five.
const maxNewton = 50

// linearRate is the d of B by which the width of its linear part is w: the root of
// 2·log(d/b) + w·(b + d), which grows with d.
func linearRate(b, w float64) float64 {
	low, high := 0.0, b
	for range 200 {
		d := (low + high) / 2
		if 2*math.Log(d/b)+w*(b+d) < 0 {
			low = d
		} else {
			high = d
		}
	}
	return high
}
