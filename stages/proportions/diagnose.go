package proportions

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/classmap"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/algorithms/wasserstein"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// Diagnostics are signs of how far the estimates can be believed.
type Diagnostics struct {
	// Weights are those that the estimate gives the source's rows, and
	// Translation how far it leaves the moved source from the target.
	Weights     *diagnostics.Weights     `json:"weights,omitempty"`
	Translation *diagnostics.Translation `json:"translation,omitempty"`
	// SelfTraining is about the embedding of the rows, if it was learnt so.
	SelfTraining *diagnostics.SelfTraining `json:"self_training,omitempty"`
	// Mixture and Matching are those of marsc and marsg, by name.
	Mixture  map[string]*diagnostics.Clustering `json:"mixture,omitempty"`
	Matching map[string]*diagnostics.Matching   `json:"matching,omitempty"`
	// Hedge is about the assumptions of that method.
	Hedge *diagnostics.Hedge `json:"hedge,omitempty"`
}

// diagnose says how far the estimate e can be believed. What cannot be measured
// is left out with a line in the log.
func diagnose(ctx context.Context, env stages.Env, s *sample, e *labelshift.Result) *Diagnostics {
	d := &Diagnostics{Mixture: map[string]*diagnostics.Clustering{}, Matching: map[string]*diagnostics.Matching{}}
	counts := stream.Counts(s.Labels, s.Classes)
	if weights, err := labelshift.Weights(e.Proportions, stream.Shares(counts)); err == nil {
		d.Weights = diagnostics.NewWeights(s.Names, weights, counts)
	}
	var err error
	if d.Translation, err = translation(ctx, env, s, e); err != nil {
		env.Logger().Info(fmt.Sprintf("no distance after translation: %v", err))
	}
	return d
}

// maxColumns is the number of columns up to which the residuals of classes are
// moved too: that takes the square roots of two matrices of that size.
const maxColumns = 300

// translation moves the source as mars-train --method translate does, but for
// rows of very many columns only the means of the classes.
func translation(ctx context.Context, env stages.Env, s *sample, e *labelshift.Result) (*diagnostics.Translation, error) {
	responsibilities, err := evenly(mte.InMemory(e.Responsibilities), maxRows)
	if err != nil {
		return nil, err
	}
	reference, err := wasserstein.NewReference(ctx, s.target, wasserstein.Options{Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	before, err := reference.To(ctx, s.Source, s.Labels, e.Proportions)
	if err != nil {
		return nil, err
	}
	learn := classmap.Fit
	if s.target.Cols > maxColumns {
		learn = classmap.Displace
	}
	way, err := learn(ctx, s.Source, s.Labels, s.Target, responsibilities, classmap.Options{})
	if err != nil {
		return nil, err
	}
	moved := blas32.General{Rows: s.Source.Rows, Cols: s.Source.Cols, Stride: s.Source.Cols, Data: make([]float32, s.Source.Rows*s.Source.Cols)}
	if err := way.Apply(ctx, moved, s.Source, s.Labels); err != nil {
		return nil, err
	}
	after, err := reference.To(ctx, moved, s.Labels, e.Proportions)
	if err != nil {
		return nil, err
	}
	return diagnostics.NewTranslation(before, after), nil
}

// judge adds the diagnostics to the report. The verdict heeds what is left after
// translation; whether weights are too large depends on what they are used for.
func (r *Report) judge(d *Diagnostics) {
	r.Diagnostics = d
	if d.Translation != nil {
		r.Warnings = append(r.Warnings, d.Translation.Warnings()...)
	}
	r.believe("two other estimators that also let the classes move differ from these by " + diagnostics.OfHundred(r.Disagreement))
}

// heedRows adds what was known of the target's rows before they were looked at: the share of them
// that has no value at all, and what else speaks against them.
func (r *Report) heedRows(missing float64, doubts []string) {
	r.Warnings = append(append([]string{}, doubts...), r.Warnings...)
	if missing > 0 {
		r.Warnings = append(r.Warnings, diagnostics.MissingRows(missing))
		r.ExpectedError = labelshift.MissingError(r.ExpectedError, missing)
		labelshift.Widen(r.Interval.Lower, r.Interval.Upper, missing)
		for _, b := range r.bounds {
			labelshift.Widen(b.Lower, b.Upper, missing)
		}
	}
	r.believe(r.Grounds)
}

// heed adds what self-training said when it made the embedding. Classes that it has
// exchanged stay exchanged in everything that follows, however well that fits.
func (r *Report) heed(s *diagnostics.SelfTraining) {
	if s == nil {
		return
	}
	r.Diagnostics.SelfTraining = s
	if len(s.Warnings()) == 0 {
		return
	}
	r.Warnings = append(r.Warnings, s.Warnings()...)
	r.Verdict, r.Grounds, r.Advice = notYet+"the rows were embedded by self-training, which gave warnings.", "", adviceCheck
}

// add says how one of the paper's estimators clustered and matched.
func (d *Diagnostics) add(ctx context.Context, s *sample, e *labelshift.Result) error {
	classes := transport.NewPrototypes(s.Classes, s.Source.Cols)
	if err := classes.Add(ctx, s.Source, s.Labels); err != nil {
		return err
	}
	components := transport.Moments{Means: e.Clustering.Means, Counts: e.Clustering.Counts}
	check, err := transport.NewCheck(ctx, e.Matching, classes.Moments(), components, transport.Means)
	if err != nil {
		return err
	}
	method := map[string]string{"marsc": "ward", "marsg": "gmm"}[e.Estimator]
	d.Mixture[e.Estimator] = diagnostics.NewClustering(method, e.Clustering)
	d.Matching[e.Estimator] = diagnostics.NewMatching(transport.Means, check, s.Names)
	return nil
}

// write writes them for a person to read. The doubts about the translation are
// among the report's warnings.
func (d *Diagnostics) write(w *bytes.Buffer) {
	fmt.Fprintln(w, "\nDiagnostics (docs/measured/diagnostics.md):")
	if d.Translation != nil {
		fmt.Fprintln(w, safetext.Escape(d.Translation.Line()))
	}
	say := func(of string, part diagnostics.Part) {
		fmt.Fprintf(w, "%s%s\n", of, safetext.Escape(part.Line()))
		for _, warning := range part.Warnings() {
			fmt.Fprintf(w, "  Warning: %s.\n", safetext.Escape(warning))
		}
	}
	if h := d.Hedge; h != nil { // its warnings are among the report's
		fmt.Fprintf(w, "labels: %.0f %% are expected to be right; %.0f %% of the rows are untypical of their class (5 %% would be if nothing is new)\n", 100*h.ExpectedAccuracy, 100*h.Untypical)
	}
	if d.Weights != nil {
		say("", d.Weights)
	}
	if d.SelfTraining != nil {
		fmt.Fprintln(w, d.SelfTraining.Line()) // its warnings are the report's
	}
	for _, name := range slices.Sorted(maps.Keys(d.Mixture)) {
		say(name+": ", d.Mixture[name])
		say(name+": ", d.Matching[name])
	}
}
