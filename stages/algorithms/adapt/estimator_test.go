package adapt

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
)

// algorithm2 is the paper's estimator of p_T, with the given way to fit a mixture.
func algorithm2(fit func(ctx context.Context, z blas32.General, classes int) (*mixture.Result, error)) Estimator {
	return func(ctx context.Context, s Snapshot) ([]float64, error) {
		r, err := fit(ctx, s.Target, s.Classes)
		if err != nil {
			return nil, err
		}
		classes := transport.NewPrototypes(s.Classes, s.Source.Cols)
		if err := classes.Add(ctx, s.Source, s.Labels); err != nil {
			return nil, err
		}
		m, err := transport.MatchPrototypes(ctx, classes.Means(), classes.Counts(), r.Means, r.Proportions)
		if err != nil {
			return nil, err
		}
		return m.Proportions, nil
	}
}

func ward(ctx context.Context, z blas32.General, classes int) (*mixture.Result, error) {
	return mixture.Ward(ctx, z, classes, mixture.WardOptions{})
}

func gaussians(ctx context.Context, z blas32.General, classes int) (*mixture.Result, error) {
	return mixture.GMM(ctx, z, classes, mixture.GMMOptions{MaxRows: 2000})
}

// estimators of the methods that need one.
var estimators = map[string]Estimator{"marsc": algorithm2(ward), "marsg": algorithm2(gaussians)}
