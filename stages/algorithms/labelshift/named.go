package labelshift

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Names are the estimators that Evidence.Estimate knows: those of features,
// then those of posteriors.
var Names = []string{"mte", "refit", "cc", "bbse", "bbse-soft", "rlls", "em"}

// UsesPosteriors reports whether the estimator of that name works on the
// posteriors of a classifier rather than on features.
func UsesPosteriors(name string) bool { return slices.Contains(Names[2:], name) }

// Evidence is what estimators go by; each looks at what it needs.
type Evidence struct {
	Problem                         // Labels and Classes for all, rows for mte and refit
	SourcePosteriors blas32.General // n_S×C, of a classifier that was not trained on these rows
	TargetPosteriors blas32.General // n_T×C
	Train            Classifier     // for refit
	Options          MTEOptions     // of mte and refit
	Calibration      *Calibration   // of posteriors before em; nil leaves them as they are
}

// Estimate runs the estimator of one of Names. Errors and warnings are that
// estimator's.
func (e Evidence) Estimate(name string) (*Estimate, error) {
	switch name {
	case "mte":
		return MTE(e.Problem, e.Options)
	case "refit":
		return Refit(e.Problem, e.Train, e.Options)
	case "cc":
		return CC(e.TargetPosteriors)
	case "bbse", "bbse-soft":
		return BBSE(e.SourcePosteriors, e.Labels, e.TargetPosteriors, BBSEOptions{Soft: name == "bbse-soft"})
	case "rlls":
		return RLLS(e.SourcePosteriors, e.Labels, e.TargetPosteriors, RLLSOptions{})
	case "em":
		return e.em()
	}
	return nil, fmt.Errorf("labelshift: there is no estimator %q: choose one of %v", name, Names)
}

// em is EM after calibration on the source.
func (e Evidence) em() (*Estimate, error) {
	shares, err := Shares(e.Labels, e.Classes)
	if err != nil {
		return nil, err
	}
	target := e.TargetPosteriors
	if e.Calibration != nil {
		c, err := Calibrate(e.SourcePosteriors, e.Labels, *e.Calibration)
		if err != nil {
			return nil, err
		}
		target = c.Apply(target)
	}
	return EM(target, shares, EMOptions{})
}
