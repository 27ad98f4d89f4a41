package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages"
	"mars/stages/algorithms/adapt"
	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/translate"
)

// ProportionNames are the estimators of p_T on the embedding as it trains: mars,
// Algorithm 2 with the method's clustering; stream, which keeps what weight or
// matched say; and those of labelshift.
func ProportionNames() []string { return append([]string{"mars", "stream"}, labelshift.Names...) }

// estimator is the one that the options ask for. Start is what the stream says of
// p_T, nil if nothing.
func estimator(ctx context.Context, env stages.Env, o Options, start []float64) (adapt.Estimator, error) {
	switch {
	case o.Proportions == "" || o.Proportions == "mars":
		return matched(o, env), nil
	case o.Proportions == "stream" && start == nil:
		return nil, errors.New("there is no column weight or matched to take the target's proportions from: run mars-reweight before, or choose another --proportions")
	case o.Proportions == "stream":
		return func(context.Context, adapt.Snapshot) ([]float64, error) { return start, nil }, nil
	case !slices.Contains(labelshift.Names, o.Proportions):
		return nil, fmt.Errorf("there is no estimator %q: choose one of %v", o.Proportions, ProportionNames())
	}
	return named(ctx, env, o.Proportions), nil
}

// matched is Algorithm 2: by Ward's clustering for marsc, by a Gaussian mixture
// for marsg.
func matched(o Options, env stages.Env) adapt.Estimator {
	switch {
	case o.Method != "marsg":
		return algorithm2(func(x blas32.General, k int) (*mixture.Result, error) {
			return mixture.Ward(context.TODO(), x, k, mixture.WardOptions{Seed: env.Seed})
		})
	case o.AsPublishedCode:
		return averaged(algorithm2(publishedMixture(env)))
	}
	return algorithm2(func(x blas32.General, k int) (*mixture.Result, error) {
		return mixture.GMM(context.TODO(), x, k, mixture.GMMOptions{Seed: env.Seed})
	})
}

func algorithm2(cluster labelshift.Cluster) adapt.Estimator {
	return func(_ context.Context, s adapt.Snapshot) ([]float64, error) {
		m, err := labelshift.Matched(s.Source, s.Labels, s.Target, s.Classes, cluster)
		if err != nil {
			return nil, fmt.Errorf("estimating the target's proportions before epoch %d: %w", s.Epoch+1, err)
		}
		return m.Proportions, nil
	}
}

// named is an estimator of labelshift on the embeddings or on the posteriors.
// Those of the source are of rows that the classifier is trained on.
func named(ctx context.Context, env stages.Env, name string) adapt.Estimator {
	return func(_ context.Context, s adapt.Snapshot) ([]float64, error) {
		e := labelshift.Evidence{
			Problem: labelshift.Problem{Source: s.Source, Labels: s.Labels, Target: labelshift.InMemory(s.Target), Classes: s.Classes},
			Train:   translate.Classifier(ctx, env.Seed, env.Jobs), Options: labelshift.MTEOptions{Seed: env.Seed},
		}
		if labelshift.UsesPosteriors(name) {
			e.SourcePosteriors, e.TargetPosteriors = s.SourcePosteriors(), s.TargetPosteriors()
		}
		found, err := e.Estimate(name)
		if err != nil {
			return nil, fmt.Errorf("estimating the target's proportions before epoch %d: %w", s.Epoch+1, err)
		}
		return found.Proportions, nil
	}
}
