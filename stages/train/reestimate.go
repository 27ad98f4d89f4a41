package train

import (
	"context"
	"errors"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
)

// ProportionNames are the estimators of p_T on the embedding as it trains: mars,
// Algorithm 2 with the method's clustering; stream, which keeps what weight or
// matched say; and those of labelshift.
func ProportionNames() []string {
	return append([]string{"mars", "stream"}, labelshift.Names(labelshift.Rows, labelshift.Posteriors)...)
}

// estimatorName is the one that the options ask for.
func (o Options) estimatorName() string {
	switch {
	case o.Method == "iw-wd":
		return o.Method
	case o.Proportions != "" && o.Proportions != "mars":
		return o.Proportions
	case o.Method == "marsg":
		return "marsg"
	}
	return "marsc"
}

// estimator is the one that the options ask for, on the embedding as it trains.
// start is what the stream says of p_T, nil if nothing.
func (o Options) estimator(env stages.Env, start []float64) (adapt.Estimator, error) {
	name := o.estimatorName()
	needs, err := labelshift.NeedsOf(name)
	if err != nil {
		return nil, err
	}
	if name == "stream" && start == nil {
		return nil, errors.New("there is no column weight or matched to take the target's proportions from: run mars-reweight before, or choose another --proportions")
	}
	inputs := labelshift.Inputs{Known: start, Train: translate.Classifier(env.Seed, env.Jobs), Seed: env.Seed}
	published := o.AsPublishedCode && name == "marsg"
	if published {
		inputs.Cluster = publishedMixture(env.Seed)
	}
	estimate := func(ctx context.Context, s adapt.Snapshot) ([]float64, error) {
		in := inputs
		in.Problem = mte.Problem{Source: s.Source, Labels: s.Labels, Target: mte.InMemory(s.Target), Classes: s.Classes}
		in.Before = s.Proportions
		if needs == labelshift.Posteriors { // of the source's, those of rows that the classifier is trained on
			in.SourcePosteriors, in.TargetPosteriors = s.SourcePosteriors(), s.TargetPosteriors()
		}
		found, err := labelshift.Estimate(ctx, name, in)
		if err != nil {
			return nil, err
		}
		return found.Proportions, nil
	}
	if published {
		return averaged(estimate), nil
	}
	return estimate, nil
}
