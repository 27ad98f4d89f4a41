package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/embed"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/proportions"
)

// proportionsCommand answers what the target's class proportions are.
func proportionsCommand() *cobra.Command {
	var files featurizeFlags
	var o proportions.Options
	var h hedgeFlags
	var asJSON bool
	var epochs int
	cmd := &cobra.Command{
		Use:   "proportions --source FILE --target FILE [flags]",
		Short: "Estimate the class proportions of a target, with intervals and whether to believe them",
		Long: `Reads labelled rows (--source) and rows without labels (--target) from any files that
mars featurize reads, or a stream of it, and prints for each class its share of the
source, the estimate of its share of the target and an interval, then whether to believe
it, and what other estimators say.

Nobody has to know how the target differs from the source. The estimate is the mean of what
five assumptions give, from "nothing has changed" to "each part of a class has moved by
itself", weighed by how well each brings the source's own labels back. --assume says what is
known. How far off the estimate is expected to be comes from how far apart the assumptions
are; by more than 0.2 in L1 it is not to be believed. docs/default.md says what this does and
where it fails.

--method mte is match–translate–EM alone, under which classes may change their proportions,
move, and change their look, with the opinions of other estimators. It is what images get:
they are first given an embedding that is learnt by self-training on both domains.

The name of --output says how the report is written: .csv, .tsv, .jsonl, .parquet and .arrow get
a row a class, .json the whole report.

--truth compares with labels that the target has, for checking alone: the estimate does
not look at them.`,
		Example: `  mars proportions --source patients.csv --target new.csv --label celltype
  mars proportions --source a.npz --target b.npz --json --level 0.95
  mars proportions --source patients.csv --target new.csv --label celltype --assume move
  mars featurize toy --shift 8 --target-proportions 0.66,0.17,0.17 --truth | mars proportions --truth`,
		Args: cobra.MaximumNArgs(1),
	}
	c := newCommon(cmd, "mars-proportions", "domain", "features", "embedding")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Truth = files.truth
		switch {
		case !(o.Level > 0 && o.Level < 1):
			return usagef("--level %g: want a probability between 0 and 1, such as 0.9", o.Level)
		case o.Bootstrap < 2 || o.Bootstrap > 100_000: // they are kept
			return usagef("--bootstrap %d: want at least 2 replicates, and at most 100,000", o.Bootstrap)
		}
		if err := h.refuseUnless(cmd, o.Method != "mte", o.Method); err != nil {
			return err
		}
		o.Assume, o.Classifiers = h.views(), h.members()
		if err := c.check(); err != nil {
			return err
		}
		images := embed.Options{Method: selftrain.Method, Arch: "auto"}
		if cmd.Flags().Changed("epochs") {
			images.Tune = append(images.Tune, func(c *adapt.Config) { c.SetEpochs(epochs) })
		}
		q := question{files: &files, common: c, embed: embed.Images(images)}
		if err := q.check(args); err != nil {
			return err
		}
		if _, err := outputFormat("", c.output); err != nil {
			return err
		}
		if c.cached != "" && c.output != "" {
			return usagef("--cached keeps what is printed: leave --output out, or --cached")
		}
		c.input = append(args, "")[0]
		if handled, err := c.hosted(cmd); handled {
			return err
		}
		if c.output != "" {
			if err := arrowio.CheckOutput(c.output, arrowio.WriteOptions{Force: c.force}); err != nil {
				return err
			}
		}
		q.answer = func(ctx context.Context, env stages.Env, in arrowio.Stream) error {
			r, err := proportions.Estimate(ctx, env, in, o)
			if err != nil {
				return err
			}
			return c.writeReport(cmd, r, asJSON)
		}
		return q.ask(cmd, args)
	}
	f := cmd.Flags()
	files.registerFiles(f)
	o.Method = "auto"
	f.Var(oneOf{&o.Method, proportions.Methods}, "method", "how to estimate: auto is hedge for tables and embeddings, mte for images")
	h.register(f)
	f.IntVar(&epochs, "epochs", 0, "length of the training that gives images an embedding, for a first look (default: the method's)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.Float64Var(&o.Level, "level", 0.9, "probability with which an interval is to hold the true share")
	f.IntVar(&o.Bootstrap, "bootstrap", 200, "replicates of the bootstrap behind the intervals")
	c.outputFlags(f)
	c.runFlags(f)
	return newCommand(cmd)
}

// writeReport prints a report, and writes it to the output file if one is named.
func (c *common) writeReport(cmd *cobra.Command, r *proportions.Report, asJSON bool) error {
	if err := unchanged(cmd); err != nil {
		return err
	}
	if err := c.saveReport(cmd, r); err != nil {
		return err
	}
	switch {
	case c.output == "-":
		return nil
	case asJSON:
		return r.WriteJSON(cmd.OutOrStdout())
	}
	return r.WriteTable(cmd.OutOrStdout())
}

// saveReport writes a report as the output's name says.
func (c *common) saveReport(cmd *cobra.Command, r *proportions.Report) error {
	format, err := outputFormat("", c.output)
	switch {
	case err != nil || c.output == "":
		return err
	case format.Name == label.Arrow:
		return c.write(cmd, func(_ context.Context, env stages.Env, out arrowio.Sink) error { return r.Write(env, out) })
	}
	env, done := c.env(cmd)
	defer done()
	return r.Save(cmd.Context(), env, c.output, format)
}
