package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages/proportions"
)

// fromModel answers by labels of a target and a model that is there.
func (p *estimator) fromModel(cmd *cobra.Command, args []string) error {
	c, f := p.common, &p.files
	if err := refuse(cmd, "the answer is by --model, which knows its source", []string{"source", "source-labels", "source-domain", "columns", "exclude", "categorical", "classes", "method", "assume", "classifier", "bootstrap", "seed", "save-model", "truth", "sums", "parts", "cached",
		"target-labels", "target-proportions", "target-fractions", "target-rows", "max-target-rows", "disjoint", "standardize", "log1p", "arcsinh", "logicle"}); err != nil {
		return err
	}
	if len(args) > 0 || f.target.Path == "" {
		return usagef("--model with --labels needs the rows that were drawn from: give --target FILE")
	}
	format, err := c.reportFormat()
	if err != nil {
		return err
	}
	if err := cmp.Or(c.checkReport(), checkPage(p.page), p.given.read(cmd, labelName(f), c)); err != nil {
		return err
	}
	p.options.Labels = p.given.Labels
	options, err := f.prepared(cmd.Context(), p.all.model)
	if err != nil {
		return err
	}
	env, done := c.env(cmd)
	defer done()
	keepInputs(cmd.Context(), &env, options)
	return pipeline.Join(cmd.Context(), f.target.Path, nil, []pipeline.Filter{filter(featurized(options), noted(env))}, func(ctx context.Context, in arrowio.Stream) error {
		r, err := proportions.OfModel(ctx, env, in, p.all.model, p.options)
		if err == nil {
			err = unchanged(cmd)
		}
		if err != nil {
			return err
		}
		return p.put(cmd, format, r)
	})
}
