package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/internal/stream"
)

// ProportionNames are the estimators of p_T on the embedding as it trains: mars,
// Algorithm 2 with the method's clustering; stream, which keeps what weight or
// matched say; given, which keeps what the user states; and those of labelshift.
func ProportionNames() []string {
	return append([]string{"mars", "stream", "given"}, labelshift.Names(labelshift.Rows, labelshift.Posteriors)...)
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

// estimated names the estimator and what it depends on beside the embedding.
func (o Options) estimated(start []float64, rows *stream.Samples) string {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, rows.Held.Data) // a hash's Write never fails
	_ = binary.Write(h, binary.LittleEndian, rows.HeldLabels)
	return fmt.Sprintf("%s from %v, published %v, held out %x", o.estimatorName(), start, o.AsPublishedCode, h.Sum(nil))
}

// DefaultHoldOut is how many source rows there are to one that an estimator by the
// classifier's mistakes looks at.
const DefaultHoldOut = 3

// needsHeldOut reports whether the estimator looks at the classifier's posteriors of
// source rows. Those of iw-wd are, as published, of rows that are trained on.
func (o Options) needsHeldOut() bool {
	method, err := adapt.ParseMethod(o.Method, o.Beta)
	return err == nil && method.NeedsEstimate() && o.Method != "iw-wd" && labelshift.NeedsUnseen(o.estimatorName())
}

// estimator is the one that the options ask for, on the embedding as it trains.
// start is what the stream says of p_T, nil if nothing; rows are those of the stream.
func (o Options) estimator(env stages.Env, start []float64, rows *stream.Samples) (adapt.Estimator, error) {
	name := o.estimatorName()
	needs, err := labelshift.NeedsOf(name)
	if err != nil {
		return nil, err
	}
	if name == "stream" && start == nil {
		return nil, errors.New("there is no column weight or matched to take the target's proportions from: run mars-reweight before, or choose another --proportions")
	}
	inputs := labelshift.Inputs{Known: start, Train: translate.Classifier(env.Seed, env.Jobs), Seed: env.Seed}
	heldOut, bcts := o.needsHeldOut(), labelshift.BCTS
	if heldOut {
		inputs.Calibration = &bcts
	}
	published := o.AsPublishedCode && name == "marsg"
	if published {
		inputs.Cluster = publishedMixture(env.Seed)
	}
	estimate := func(ctx context.Context, s adapt.Snapshot) ([]float64, error) {
		in := inputs
		in.Problem = mte.Problem{Source: s.Source, Labels: s.Labels, Target: mte.InMemory(s.Target), Classes: s.Classes}
		in.Before = s.Proportions
		if needs == labelshift.Posteriors {
			in.TargetPosteriors = s.TargetPosteriors()
			if heldOut {
				in.Labels, in.SourcePosteriors = rows.HeldLabels, s.Predict(rows.Held)
			} else {
				in.SourcePosteriors = s.SourcePosteriors()
			}
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
