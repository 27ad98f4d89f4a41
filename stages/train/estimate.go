package train

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages"
	"mars/stages/cluster/mixture"
	"mars/stages/reweight/labelshift"
	"mars/stages/train/adapt"
)

// estimator is Algorithm 2 on the embedding as it trains: by Ward's clustering
// for marsc, by a Gaussian mixture for marsg.
func estimator(method string, env stages.Env) adapt.Estimator {
	cluster := func(x blas32.General, k int) (*mixture.Result, error) {
		if method == "marsg" {
			return mixture.GMM(x, k, mixture.GMMOptions{Seed: env.Seed})
		}
		return mixture.Ward(x, k, mixture.WardOptions{Seed: env.Seed})
	}
	return func(_ context.Context, s adapt.Snapshot) ([]float64, error) {
		m, err := labelshift.Matched(s.Source, s.Labels, s.Target, s.Classes, cluster)
		if err != nil {
			return nil, fmt.Errorf("estimating the target's proportions before epoch %d: %w", s.Epoch+1, err)
		}
		return m.Proportions, nil
	}
}
