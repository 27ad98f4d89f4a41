package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/proportions"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/respond"
	"mars.dev/mars/stages/sketch"
)

// everyRow are the flags of mars proportions that lead to the proportions of all rows.
type everyRow struct {
	parts, model, sums, saveModel string
	passes                        int
	paths                         []string // of the parts
}

// everyRowFlags are their names. No pipeline file has them: parts are no stream.
var everyRowFlags = []string{"parts", "passes", "model", "sums", "save-model"}

func (a *everyRow) register(f *pflag.FlagSet) {
	f.Var((*fileList)(&a.parts), "parts", "files with the target's rows, instead of --target: each is read by itself, --jobs at a time, and a sketch of them is fitted to")
	countVar(f, &a.passes, "passes", 0, 0, "then go through all rows of --parts so often at most, for proportions and an interval of all of them (5 are enough as a rule; 0: those of the sketch)")
	f.StringVar(&a.model, "model", "", "answer from this model, which mars label saved, instead of --source: what its fit found, or by --sums or --labels")
	f.StringVar(&a.sums, "sums", "", "the merged sums of mars respond, for --model")
	f.StringVar(&a.saveModel, "save-model", "", "keep the model in this safetensors file, with the proportions of the answer, for mars predict")
}

// fromSums answers from a model, or from sums that were left elsewhere.
func (p *estimator) fromSums(cmd *cobra.Command, args []string) error {
	c, a := p.common, &p.all
	if err := refuse(cmd, "the answer is from --model", []string{"source", "target", "parts", "passes", "truth", "method", "assume", "classifier", "bootstrap", "label", "seed", "domain-column", "labels", "cached"}); err != nil {
		return err
	}
	switch {
	case a.model == "":
		return usagef("--sums are of a model: give it with --model")
	case len(args) > 0:
		return usagef("%s: the answer is from --model: leave the rows out", args[0])
	}
	format, err := c.reportFormat()
	if err != nil {
		return err
	}
	if err := c.checkReport(); err != nil {
		return err
	}
	var r *proportions.Report
	if a.sums == "" {
		r, err = proportions.FromModel(a.model, p.options.Level)
	} else {
		r, err = proportions.FromSums(a.model, a.sums, p.options.Level)
	}
	if err != nil {
		return err
	}
	return p.put(cmd, format, r)
}

// takeParts makes a sketch of the parts the target.
func (p *estimator) takeParts(cmd *cobra.Command, args []string) error {
	a, f := &p.all, &p.files
	switch {
	case a.saveModel != "" && !p.hedges():
		return usagef("--save-model: mars proportions --method %s keeps no model for mars predict: take hedge", p.options.Method)
	case a.parts == "" && a.passes > 0:
		return usagef("--passes goes through the rows of --parts: name the target's files with --parts instead of --target")
	case a.parts == "":
		return nil
	case f.target.Path != "" || len(args) > 0 || f.source.Path == "":
		return usagef("--parts are the target's rows: give --source FILE beside them, and nothing else")
	case !p.hedges():
		return usagef("--parts: --method %s has no sums over all rows: take hedge", p.options.Method)
	}
	if err := refuse(cmd, "--parts are read as they are", []string{"domain-column", "source-domain", "target-domain", "truth", "target-labels", "target-proportions", "target-rows", "max-target-rows", "image-column", "file-column",
		"disjoint", "cached", "labels", "classes", "shape", "resize", "crop", "target-resize", "hash-features", "load"}); err != nil {
		return err
	}
	var err error
	if a.paths, err = expandAll([]string{a.parts}); err != nil {
		return err
	}
	k := sketcher{common: p.common, files: *f, sample: sketch.DefaultSample}
	o, err := k.options()
	if err != nil {
		return err
	}
	o.Format.NoLabels, o.Format.OptionalLabel = true, true // they are no features, and nobody looks at them
	env, done := p.common.env(cmd)
	defer done()
	f.target.Path = a.parts
	if f.target.Sketch, err = sketch.Files(cmd.Context(), env, a.paths, o); err != nil {
		return err
	}
	if t := f.target.Sketch.Totals(); t.Overlap > 1 && a.passes > 0 {
		return fmt.Errorf("%s: parts have rows in common (a row is in %.3f of them, in the mean), and --passes would count them more than once: give each row in one part, or leave --passes out", a.parts, t.Overlap)
	}
	return nil
}

// passes goes through all rows of the parts until the sums are those of the fixed point.
func (p *estimator) passes(ctx context.Context, env stages.Env, r *proportions.Report) (*proportions.Report, error) {
	a := &p.all
	if a.passes == 0 {
		return r, nil
	}
	m := r.Model()
	if m == nil || m.Preparation == "" {
		return nil, fmt.Errorf("the method %s has no sums over all rows: leave --passes out", r.Method)
	}
	pass, err := respond.First(m, "")
	if err != nil {
		return nil, err
	}
	env.Step.Stage = ""
	for {
		sums, err := partSums(ctx, env, p.common, &p.files, pass, m.Preparation, m.Classes, a.paths, "", false)
		if err != nil {
			return nil, err
		}
		all, step, err := r.OfSums(sums)
		if err != nil || all != nil {
			return all, err
		}
		env.Logger().Info(fmt.Sprintf("pass %d of %s: EM's fixed point is %.2g further on, in L1", pass.Number(), spelling.Count(sums.Rows(), "row", "rows"), step))
		if pass.Number() == a.passes {
			return nil, fmt.Errorf("%d passes do not reach the fixed point: the last led on by %.2g, in L1: give more with --passes", a.passes, step)
		}
		if pass, _, err = pass.After(sums); err != nil {
			return nil, err
		}
	}
}

// put writes and prints a report, and saves its model if asked to.
func (p *estimator) put(cmd *cobra.Command, format label.Format, r *proportions.Report) error {
	if path := p.all.saveModel; path != "" {
		if r.Model() == nil {
			return fmt.Errorf("--save-model %s: the method %s has no model for mars predict: leave it out", path, r.Method)
		}
		if err := r.SaveModel(path); err != nil {
			return err
		}
	}
	if args := cmd.Flags().Args(); r.Doubtful() {
		r.Next = askLine(cmd, args)
	} else {
		r.Next = nextLine(cmd, args, labelCommand(), "-o", "labels.csv")
	}
	if p.page != "" {
		part, err := report.Proportions(r)
		if err := pageOf(cmd, p.page, err, part); err != nil {
			return err
		}
	}
	if err := p.save(cmd, format, r); err != nil {
		return err
	}
	return p.print(cmd, r.WriteJSON, func(w io.Writer) error { return r.WriteTable(w, p.details) })
}
