package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/embed"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/proportions"
)

// proportionsCommand answers what the target's class proportions are.
func proportionsCommand() *cobra.Command {
	p := estimator{options: proportions.Options{Method: "auto"}, files: featurizeFlags{Options: featurize.Options{Nameless: true}}}
	cmd := &cobra.Command{
		Use:   "proportions --source FILE --target FILE [flags]",
		Short: "Estimate the class proportions of a target, with intervals and whether to believe them",
		Long: `Reads labelled rows (--source) and rows without labels (--target) from any files that
mars featurize reads, or a stream of it, and prints for each class the estimate of its share of
the target, an interval, the rows that this makes, and its share of the source; then whether to
believe it, why, and what to do next. --details shows what the estimate rests on.

Nobody has to know how the target differs from the source. The estimate is the weighted mean of
what five assumptions give, from "nothing has changed" to "each part of a class has moved by
itself". An assumption has the more weight the less the target's rows can be told from those that
it expects, beside other signs. The weights, and how far off the estimate is expected to be, were
fitted to many tasks whose truth is known; if the estimate is expected to be off
by more than 0.2 in L1 it is not to be believed. --assume says what is known. docs/default.md says
what this does and where it fails.

--method mte is match–translate–EM alone, under which classes may change their proportions,
move, and change their look, with the opinions of other estimators. It is what images get:
they are first given an embedding that is learnt by self-training on both domains.

--method unmix is for rows that are mixtures of the classes, such as wells or spots with several
cells, or pixels with several materials. The classes have to look as in the source.

The name of --output says how the report is written: .csv, .tsv, .jsonl, .parquet and .arrow get
a row a class, .json the whole report.

For more rows than one machine or one sample has: --source and --target may be sketches of parts (mars
sketch). --parts names the parts of the target instead, of which a sketch is made, and with
--passes the proportions are those of all their rows, and the interval too, by exact sums. --model
and --sums answer from sums that mars respond left elsewhere. --model alone answers from what mars
label --save kept, without another fit.

--truth compares with labels that the target has, for checking alone: the estimate does
not look at them.`,
		Example: `  mars proportions --source patients.csv --target new.csv --label celltype
  mars proportions --source patients.csv --target new.csv --label celltype -o shares.csv
  mars proportions --source a.npz --target b.npz --json --level 0.95
  mars proportions --source patients.csv --target new.csv --label celltype --assume move --details
  mars proportions --source patients.csv --parts 'shard-*.parquet' --label celltype --passes 5 --jobs 4
  mars proportions --model model.safetensors -o shares.csv
  mars proportions --model model.safetensors --sums pass-3.arrow
  mars featurize toy --shift 8 --target-proportions 0.66,0.17,0.17 --truth | mars proportions --truth`,
		Args: oneStream,
	}
	p.common = newCommon(cmd, "mars-proportions", "domain", "features", "embedding")
	cmd.RunE = p.run
	f := cmd.Flags()
	p.files.registerFiles(f)
	f.Var(oneOf{&p.options.Method, proportions.Methods}, "method", "how to estimate: auto is hedge for tables and embeddings, mte for images")
	p.hedge.register(f)
	countVar(f, &p.epochs, "epochs", 0, 1, "length of the training that gives images an embedding, for a first look (default: the method's)")
	f.StringVar(&p.augment, "augment", "", imageAugmentHelp)
	p.given.register(f)
	f.BoolVar(&p.options.Simultaneous, "simultaneous", false, "by --labels: intervals that hold for all classes at once, not for each")
	p.each.register(f, "a line a target, and with -o a row a target and class")
	f.BoolVar(&p.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&p.details, "details", false, "print also what the estimate rests on: assumptions, other estimators, diagnostics")
	f.Float64Var(&p.options.Level, "level", 0.9, "probability with which an interval is to hold the true share")
	f.IntVar(&p.options.Bootstrap, "bootstrap", 200, "replicates of the bootstrap behind the intervals")
	pageFlag(f, &p.page)
	p.all.register(f)
	p.common.outputFlags(f)
	writesTables(f, "write the report to this file too")
	p.common.runFlags(f)
	return newCommand(cmd)
}

type estimator struct {
	common          *common
	files           featurizeFlags
	options         proportions.Options
	hedge           hedgeFlags
	given           givenLabels
	all             everyRow
	epochs          int
	augment, page   string
	asJSON, details bool
	each            eachTarget
}

func (p *estimator) run(cmd *cobra.Command, args []string) error {
	c := p.common
	if err := p.checkOptions(cmd); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	if p.all.model != "" && p.given.path != "" {
		return p.fromModel(cmd, args)
	}
	if p.all.sums != "" || p.all.model != "" {
		return p.fromSums(cmd, args)
	}
	if err := p.takeParts(cmd, args); err != nil {
		return err
	}
	images := embed.Options{Method: selftrain.Method, Arch: "auto", Augment: p.augment}
	if cmd.Flags().Changed("epochs") {
		images.Tune = append(images.Tune, func(c *adapt.Config) { c.SetEpochs(p.epochs) })
	}
	q := question{files: &p.files, common: c, embed: embed.Images(images), augmented: p.augment != ""}
	if err := q.check(args); err != nil {
		return err
	}
	format, err := c.reportFormat()
	if err != nil {
		return err
	}
	c.input = append(args, "")[0]
	if handled, err := c.hosted(cmd); handled {
		return err
	}
	if err := cmp.Or(c.checkReport(), checkPage(p.page)); err != nil {
		return err
	}
	if err := p.given.read(cmd, labelName(&p.files), c); err != nil {
		return err
	}
	p.options.Labels = p.given.Labels
	if p.each != "" {
		return p.askEach(cmd, q, format)
	}
	q.answer = func(ctx context.Context, env stages.Env, in arrowio.Stream) error {
		r, err := proportions.Estimate(ctx, env, in, p.options)
		if err != nil {
			return err
		}
		if r, err = p.passes(ctx, env, r); err != nil {
			return err
		}
		if err := unchanged(cmd); err != nil {
			return err
		}
		return p.put(cmd, format, r)
	}
	return q.ask(cmd, args)
}

// hedges reports whether the method may be hedge.
func (p *estimator) hedges() bool {
	return p.options.Method == "auto" || p.options.Method == hedge.Method
}

// checkOptions checks the flags that are this command's own.
func (p *estimator) checkOptions(cmd *cobra.Command) error {
	o := &p.options
	o.Truth = p.files.Truth
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return usagef("--level %g: want a probability between 0 and 1, such as 0.9", o.Level)
	case o.Bootstrap < 2 || o.Bootstrap > 100_000: // they are kept
		return usagef("--bootstrap %d: want at least 2 replicates, and at most 100,000", o.Bootstrap)
	}
	if o.Simultaneous && p.given.path == "" {
		return usagef("--simultaneous is for intervals by --labels: give both")
	}
	if err := p.each.check(cmd, &p.files, "simultaneous", "truth", "sums", "model", "save-model", "parts", "details"); err != nil {
		return err
	}
	if p.given.path != "" && o.Method == unmix.Method {
		return usagef("--labels: with --method unmix a row has no one class: leave it out")
	}
	if err := p.hedge.refuseUnless(cmd, p.hedges(), o.Method); err != nil {
		return err
	}
	o.Assume, o.Classifiers = p.hedge.views(), p.hedge.members()
	return nil
}

// print prints a report as JSON or as a table, unless the output file is standard output, or it is to be
// quiet and has one.
func (p *estimator) print(cmd *cobra.Command, asJSON, asTable func(io.Writer) error) error {
	switch {
	case p.common.output == "-":
		return nil
	case p.asJSON:
		return asJSON(cmd.OutOrStdout())
	case p.common.quiet && p.common.output != "":
		return nil
	}
	return asTable(cmd.OutOrStdout())
}

// askEach answers for each target by itself.
func (p *estimator) askEach(cmd *cobra.Command, q question, format label.Format) error {
	if output := p.common.output; output != "" && format.Name == label.Arrow {
		return usagef("-o %s: the reports of several targets are no Arrow stream: give a name that ends in .csv, .json or .parquet", output)
	}
	p.options.Field = &hedge.Field{}
	all := proportions.Targets{Column: p.each.column()}
	if err := all.Check(); err != nil {
		return usagef("--each-target=%w", err)
	}
	err := p.each.ask(cmd.Context(), p.common, &p.files, func(name string) error {
		q.answer = func(ctx context.Context, env stages.Env, in arrowio.Stream) error {
			r, err := proportions.Estimate(ctx, env, in, p.options)
			all.Targets = append(all.Targets, proportions.Target{Name: name, Report: r})
			return cmp.Or(err, unchanged(cmd))
		}
		return q.ask(cmd, nil)
	})
	if err != nil {
		return err
	}
	return p.putEach(cmd, format, all)
}

// putEach prints and keeps the reports of several targets.
func (p *estimator) putEach(cmd *cobra.Command, format label.Format, t proportions.Targets) error {
	c := p.common
	if p.page != "" {
		var parts []*report.Part
		for _, target := range t.Targets {
			part, err := report.Proportions(target.Report)
			if err != nil {
				return fmt.Errorf("--report %s: %w", p.page, err)
			}
			part.Title = target.Name
			parts = append(parts, part)
		}
		if err := pageOf(cmd, p.page, nil, parts...); err != nil {
			return err
		}
	}
	if c.output != "" {
		env, done := c.env(cmd)
		defer done()
		if err := t.Save(cmd.Context(), env, c.output, format); err != nil {
			return err
		}
	}
	return p.print(cmd, t.WriteJSON, t.WriteTable)
}

// save writes a report to the output file, if one is named, as its name says.
func (p *estimator) save(cmd *cobra.Command, format label.Format, r *proportions.Report) error {
	c := p.common
	switch {
	case c.output == "":
		return nil
	case format.Name == label.Arrow:
		return c.write(cmd, func(_ context.Context, env stages.Env, out arrowio.Sink) error { return r.Write(env, out) })
	}
	env, done := c.env(cmd)
	defer done()
	return r.Save(cmd.Context(), env, c.output, format)
}
