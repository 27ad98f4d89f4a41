package labelshift

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/stages/algorithms/mte"
)

// Needs says what an estimator works on.
type Needs int

// What estimators work on.
const (
	Known      Needs = iota // proportions that others have found
	Rows                    // the rows of both domains
	Posteriors              // the posteriors of a classifier
)

// An Estimator is a way to p_T.
type Estimator struct {
	Name  string
	Needs Needs
	run   func(context.Context, *Inputs) (*Result, error)
}

// estimators are all ways to p_T, in the order of Names.
var estimators = []Estimator{
	{"mars", Known, known}, {"plan", Known, known}, {"given", Known, known}, {"oracle", Known, known}, {"stream", Known, known},
	{"marsc", Rows, func(ctx context.Context, in *Inputs) (*Result, error) { return matched(ctx, in, ward(in.Seed)) }},
	{"marsg", Rows, func(ctx context.Context, in *Inputs) (*Result, error) { return matched(ctx, in, gmm(in.Seed)) }},
	{"mte", Rows, byMTE}, {"refit", Rows, refit}, {"auto", Rows, auto},
	{"cc", Posteriors, func(_ context.Context, in *Inputs) (*Result, error) { return CC(in.TargetPosteriors) }},
	{"bbse", Posteriors, func(_ context.Context, in *Inputs) (*Result, error) { return bbse(in, false) }},
	{"bbse-soft", Posteriors, func(_ context.Context, in *Inputs) (*Result, error) { return bbse(in, true) }},
	{"rlls", Posteriors, rlls}, {"em", Posteriors, calibratedEM}, {"iw-wd", Posteriors, importanceWeighted},
}

// Names are those of all estimators that need one of needs.
func Names(needs ...Needs) []string {
	var names []string
	for _, e := range estimators {
		if slices.Contains(needs, e.Needs) {
			names = append(names, e.Name)
		}
	}
	return names
}

// NeedsOf says what the named estimator works on.
func NeedsOf(name string) (Needs, error) {
	for _, e := range estimators {
		if e.Name == name {
			return e.Needs, nil
		}
	}
	return 0, fmt.Errorf("there is no estimator %q: choose one of %s", name, strings.Join(Names(Known, Rows, Posteriors), ", "))
}

// NeedsUnseen reports whether the named estimator looks at posteriors of source rows,
// which have to be rows that the classifier was not trained on. em does for its
// calibration.
func NeedsUnseen(name string) bool {
	needs, err := NeedsOf(name)
	return err == nil && needs == Posteriors && name != "cc"
}

// Estimate estimates p_T by the named estimator. This is the one way to an
// estimate by name:
//
//   - mars, plan, given, oracle and stream return Inputs.Known, which says where
//     it is from: components counted by their class, a transport plan, the user,
//     the truth, the weights of a stream.
//   - marsc and marsg are Algorithm 2 of the paper (see Matched).
//   - mte is match–translate–EM (package mte), refit a classifier that is
//     retrained where mte has found the classes (see Refit), and auto is mte
//     with a panel and an interval that say how far off it may be (see Consult).
//   - cc, bbse, bbse-soft, rlls and em work on posteriors (see CC, BBSE, RLLS,
//     EM), and iw-wd is what the method of that name moves its weights by.
//
// Errors and warnings are those of the estimator. The end of ctx ends it.
func Estimate(ctx context.Context, name string, in Inputs) (*Result, error) {
	if _, err := NeedsOf(name); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(estimators, func(e Estimator) bool { return e.Name == name })
	r, err := estimators[i].run(ctx, &in)
	if err != nil {
		return nil, err
	}
	r.Estimator = name
	return r, nil
}

func known(_ context.Context, in *Inputs) (*Result, error) {
	if err := checkProportions("target", in.Known, in.Classes); err != nil {
		return nil, err
	}
	return &Result{Proportions: slices.Clone(in.Known), Converged: true}, nil
}

func matched(ctx context.Context, in *Inputs, cluster Cluster) (*Result, error) {
	if in.Cluster != nil {
		cluster = in.Cluster
	}
	return Matched(ctx, in, cluster)
}

func byMTE(ctx context.Context, in *Inputs) (*Result, error) {
	m, err := mte.Fit(ctx, in.Problem, mte.Options{Seed: in.Seed})
	if err != nil {
		return nil, err
	}
	return found("mte", m.Estimate, m.Warnings), nil
}

func refit(ctx context.Context, in *Inputs) (*Result, error) {
	return Refit(ctx, in.Problem, in.Train, mte.Options{Seed: in.Seed})
}

// auto is mte, with how far off it may be. Refit is about as good on some tasks
// and worse on others (docs/measured/estimators.md), and where it differs from
// mte it is one of two opinions that tell how far off mte may be.
func auto(ctx context.Context, in *Inputs) (*Result, error) {
	panel, err := Consult(ctx, in.Problem, in.Train, mte.Options{Seed: in.Seed})
	if err != nil {
		return nil, err
	}
	o := in.Interval
	o.Seed = in.Seed
	r := *panel.Members[0]
	r.Panel = panel
	if r.Interval, err = panel.Interval(ctx, o); err != nil {
		return nil, err
	}
	r.Warnings = slices.Concat(r.Interval.Warnings(), panel.Warnings)
	return &r, nil
}

func bbse(in *Inputs, soft bool) (*Result, error) {
	return BBSE(in.SourcePosteriors, in.Labels, in.TargetPosteriors, BBSEOptions{Soft: soft})
}

func rlls(_ context.Context, in *Inputs) (*Result, error) {
	return RLLS(in.SourcePosteriors, in.Labels, in.TargetPosteriors)
}

// calibratedEM is EM after calibration on the source.
func calibratedEM(ctx context.Context, in *Inputs) (*Result, error) {
	shares, err := Shares(in.Labels, in.Classes)
	if err != nil {
		return nil, err
	}
	target := in.TargetPosteriors
	if in.Calibration != nil {
		c, err := Calibrate(ctx, in.SourcePosteriors, in.Labels, *in.Calibration)
		if err != nil {
			return nil, err
		}
		target = c.Apply(target)
	}
	return EM(target, shares, EMOptions{})
}

// importanceWeighted is the estimate of IW-WD (Tachet des Combes, Zhao, Wang &
// Gordon 2020): BBSE on posteriors, averaged half and half with the proportions
// before.
func importanceWeighted(_ context.Context, in *Inputs) (*Result, error) {
	r, err := bbse(in, true)
	if err != nil {
		return nil, err
	}
	before := in.Before
	if before == nil {
		if before, err = Shares(in.Labels, in.Classes); err != nil {
			return nil, err
		}
	}
	for k := range r.Proportions {
		r.Proportions[k] = (r.Proportions[k] + before[k]) / 2
	}
	return r, nil
}
