package scale

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Scaling is one of the maps of this package, or none.
type Scaling struct {
	Standard  *Standard  `json:"standard,omitempty"`
	Quantiles *Quantiles `json:"quantiles,omitempty"`
}

// A Method is how a Scaling is fitted.
type Method string

// Methods, of which Moments is also "".
const (
	Moments  Method = "standard" // Fit
	Robust   Method = "robust"   // FitRobust
	Quantile Method = "quantile" // FitQuantiles
)

// Methods are all there are.
var Methods = []Method{Moments, Robust, Quantile}

// FitBy returns what a method learns of the columns of x. Constant columns, errors and panics
// are as for Fit.
func FitBy(ctx context.Context, m Method, x blas32.General) (Scaling, []int, error) {
	if m == Quantile {
		q, constant, err := FitQuantiles(ctx, x)
		return Scaling{Quantiles: &q}, constant, err
	}
	fit := Fit
	if m == Robust {
		fit = FitRobust
	}
	s, constant, err := fit(ctx, x)
	return Scaling{Standard: &s}, constant, err
}

// None reports whether rows stay as they are.
func (s Scaling) None() bool { return s.Standard == nil && s.Quantiles == nil }

// Check returns an error if s cannot be applied to rows of d columns.
func (s Scaling) Check(d int) error {
	switch {
	case s.Standard != nil:
		return s.Standard.Check(d)
	case s.Quantiles != nil:
		return s.Quantiles.Check(d)
	}
	return nil
}

// Width is the number of columns, 0 of none.
func (s Scaling) Width() int {
	switch {
	case s.Standard != nil:
		return len(s.Standard.Mean)
	case s.Quantiles != nil:
		return len(s.Quantiles.Values)
	}
	return 0
}

// Apply changes the rows of x in place.
func (s Scaling) Apply(ctx context.Context, x blas32.General) error {
	switch {
	case s.Standard != nil:
		return s.Standard.Apply(ctx, x)
	case s.Quantiles != nil:
		return s.Quantiles.Apply(ctx, x)
	}
	return nil
}
