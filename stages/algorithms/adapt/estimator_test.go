package adapt

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/transport"
)

// algorithm2 is the paper's estimator of p_T, with the given way to fit a mixture.
func algorithm2(fit func(z blas32.General, classes int) (*mixture.Result, error)) Estimator {
	return func(_ context.Context, s Snapshot) ([]float64, error) {
		r, err := fit(s.Target, s.Classes)
		if err != nil {
			return nil, err
		}
		classes := transport.NewPrototypes(s.Classes, s.Source.Cols)
		if err := classes.Add(s.Source, s.Labels); err != nil {
			return nil, err
		}
		m, err := transport.MatchPrototypes(classes.Means(), classes.Counts(), r.Means, r.Proportions)
		if err != nil {
			return nil, err
		}
		return m.Proportions, nil
	}
}

func ward(z blas32.General, classes int) (*mixture.Result, error) {
	return mixture.Ward(z, classes, mixture.WardOptions{})
}

func gaussians(z blas32.General, classes int) (*mixture.Result, error) {
	return mixture.GMM(z, classes, mixture.GMMOptions{MaxRows: 2000})
}

// estimators of the methods that need one.
var estimators = map[string]Estimator{"marsc": algorithm2(ward), "marsg": algorithm2(gaussians)}
