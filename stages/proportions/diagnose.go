package proportions

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages"
	"mars/stages/algorithms/classmap"
	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/transport"
	"mars/stages/algorithms/wasserstein"
	"mars/stages/internal/diagnostics"
	"mars/stages/internal/stream"
)

// Diagnostics are signs of how far the estimates can be believed.
type Diagnostics struct {
	// Weights are those that the estimate gives the source's rows, and
	// Translation how far it leaves the moved source from the target.
	Weights     *diagnostics.Weights     `json:"weights,omitempty"`
	Translation *diagnostics.Translation `json:"translation,omitempty"`
	// Mixture and Matching are those of marsc and marsg, by name.
	Mixture  map[string]*diagnostics.Clustering `json:"mixture"`
	Matching map[string]*diagnostics.Matching   `json:"matching"`
}

// diagnose says what there is to say of the estimate e. p is the source and target
// its sample, both standardised. What cannot be measured is left out with a
// line in the log.
func diagnose(env stages.Env, p labelshift.Problem, target blas32.General, e *labelshift.Estimate) *Diagnostics {
	d := &Diagnostics{Mixture: map[string]*diagnostics.Clustering{}, Matching: map[string]*diagnostics.Matching{}}
	counts := stream.Counts(p.Labels, p.Classes)
	if weights, err := labelshift.Weights(e.Proportions, stream.Shares(counts)); err == nil {
		d.Weights = diagnostics.NewWeights(p.Names, weights, counts)
	}
	var err error
	if d.Translation, err = translation(env, p, target, e); err != nil {
		env.Logger().Info(fmt.Sprintf("no distance after translation: %v", err))
	}
	return d
}

// mostColumns is up to how many columns the residuals of classes are moved too:
// that takes the square roots of two matrices of as many rows and columns.
const mostColumns = 300

// translation moves the source as mars-train --method translate does, but for
// rows of very many columns only the means of the classes.
func translation(env stages.Env, p labelshift.Problem, target blas32.General, e *labelshift.Estimate) (*diagnostics.Translation, error) {
	responsibilities, err := sample(labelshift.InMemory(e.Responsibilities), mostRows)
	if err != nil {
		return nil, err
	}
	reference, err := wasserstein.NewReference(context.TODO(), target, wasserstein.Options{Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	before, err := reference.To(context.TODO(), p.Source, p.Labels, e.Proportions)
	if err != nil {
		return nil, err
	}
	learn := classmap.Fit
	if target.Cols > mostColumns {
		learn = classmap.Displace
	}
	way, err := learn(context.TODO(), p.Source, p.Labels, labelshift.InMemory(target), responsibilities, classmap.Options{})
	if err != nil {
		return nil, err
	}
	moved := blas32.General{Rows: p.Source.Rows, Cols: p.Source.Cols, Stride: p.Source.Cols, Data: make([]float32, p.Source.Rows*p.Source.Cols)}
	if err := way.Apply(context.TODO(), moved, p.Source, p.Labels); err != nil {
		return nil, err
	}
	after, err := reference.To(context.TODO(), moved, p.Labels, e.Proportions)
	if err != nil {
		return nil, err
	}
	return diagnostics.NewTranslation(before, after), nil
}

// doubt adds what there is to say of the estimate. Its verdict heeds what is
// left after translation; weights are a matter of what they are used for.
func (r *Report) doubt(d *Diagnostics) {
	r.Diagnostics = d
	if d.Translation != nil {
		r.Warnings = append(r.Warnings, d.Translation.Warnings()...)
	}
	r.Verdict = verdict(r.ExpectedError, len(r.Warnings) > 0)
}

// add says how the named one of the paper's estimators clustered and matched.
func (d *Diagnostics) add(name string, source blas32.General, p labelshift.Problem, fit *mixture.Result, m *transport.Matching) error {
	classes := transport.NewPrototypes(p.Classes, source.Cols)
	if err := classes.Add(context.TODO(), source, p.Labels); err != nil {
		return err
	}
	check, err := transport.NewCheck(context.TODO(), m, classes.Moments(), transport.Moments{Means: fit.Means, Counts: fit.Counts}, transport.Means)
	if err != nil {
		return err
	}
	method := map[string]string{"marsc": "ward", "marsg": "gmm"}[name]
	d.Mixture[name], d.Matching[name] = diagnostics.NewClustering(method, fit), diagnostics.NewMatching(transport.Means, check, p.Names)
	return nil
}

// write writes them for a person to read. The doubts about the translation are
// among the report's warnings.
func (d *Diagnostics) write(w io.Writer) {
	fmt.Fprintln(w, "\nDiagnostics (docs/diagnostics.md):")
	if d.Translation != nil {
		fmt.Fprintln(w, d.Translation.Line())
	}
	say := func(of string, part diagnostics.Part) {
		fmt.Fprintf(w, "%s%s\n", of, part.Line())
		for _, warning := range part.Warnings() {
			fmt.Fprintf(w, "  Warning: %s.\n", warning)
		}
	}
	if d.Weights != nil {
		say("", d.Weights)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Mixture)) {
		say(name+": ", d.Mixture[name])
		say(name+": ", d.Matching[name])
	}
}
