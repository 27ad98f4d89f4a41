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
	Logicle  Logicle `json:"logicle,omitzero"`
}

// Check returns an error if there is no such function.
func (t Transform) Check() error {
	several := t.Log1p && t.Cofactor != 0 || t.Logicle != Logicle{} && (t.Log1p || t.Cofactor != 0)
	switch {
	case several || !(t.Cofactor >= 0) || math.IsInf(t.Cofactor, 0):
		return fmt.Errorf("transform: log1p %v with the cofactor %v and logicle %v: want one of them, and a cofactor above 0", t.Log1p, t.Cofactor, t.Logicle)
	case t.Logicle != Logicle{}:
		return t.Logicle.Check()
	}
	return nil
}

// None reports whether numbers stay as they are.
func (t Transform) None() bool { return t == Transform{} }

// String names the function.
func (t Transform) String() string {
	switch {
	case t.Log1p:
		return "log1p"
	case t.Cofactor != 0:
		return fmt.Sprintf("arcsinh with the cofactor %g", t.Cofactor)
	case !t.None():
		return fmt.Sprintf("logicle with T %g, W %g, M %g and A %g", t.Logicle.T, t.Logicle.W, t.Logicle.M, t.Logicle.A)
	}
	return "nothing"
}

// Func is the function. It is not finite where there is no value: for log1p at -1 and below.
func (t Transform) Func() func(float32) float32 {
	var f func(float64) float64
	switch {
	case t.Log1p:
		f = math.Log1p
	case t.Cofactor != 0:
		f = func(v float64) float64 { return math.Asinh(v / t.Cofactor) }
	case !t.None():
		f = t.Logicle.of()
	default:
		return func(v float32) float32 { return v }
	}
	return func(v float32) float32 { return float32(f(float64(v))) }
}
