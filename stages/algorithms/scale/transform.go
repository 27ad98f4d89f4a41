package scale

import (
	"fmt"
	"math"
)

// A Transform is a function of numbers that lie orders of magnitude apart, such as counts
// and intensities. The zero value changes nothing.
type Transform struct {
	Log1p    bool    `json:"log1p,omitempty"`   // x → log(1 + x)
	Cofactor float64 `json:"arcsinh,omitempty"` // x → asinh(x / Cofactor)
}

// Check returns an error if there is no such function.
func (t Transform) Check() error {
	if t.Log1p && t.Cofactor != 0 || !(t.Cofactor >= 0) || math.IsInf(t.Cofactor, 0) {
		return fmt.Errorf("transform: log1p %v with the cofactor %v: want one of them, and a cofactor above 0", t.Log1p, t.Cofactor)
	}
	return nil
}

// None reports whether numbers stay as they are.
func (t Transform) None() bool { return !t.Log1p && t.Cofactor == 0 }

// String names the function.
func (t Transform) String() string {
	switch {
	case t.Log1p:
		return "log1p"
	case t.Cofactor != 0:
		return fmt.Sprintf("arcsinh with the cofactor %g", t.Cofactor)
	}
	return "nothing"
}

// Of is the function. It is not finite where there is no value: for log1p at -1 and below.
func (t Transform) Of(v float32) float32 {
	switch {
	case t.Log1p:
		return float32(math.Log1p(float64(v)))
	case t.Cofactor != 0:
		return float32(math.Asinh(float64(v) / t.Cofactor))
	}
	return v
}
