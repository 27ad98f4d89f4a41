package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize"
	"mars.dev/mars/stages/predict"
	"mars.dev/mars/stages/respond"
	"mars.dev/mars/stages/sketch"
)

// respondCommand leaves sums of a model over parts.
func respondCommand() *cobra.Command {
	r := responder{common: newCommon(&cobra.Command{}, "mars-respond")}
	cmd := &cobra.Command{
		Use:   "respond --model MODEL [flags] FILE...",
		Short: "Add up what the proportions of all rows need, part by part",
		Long: `A fit looks at 20,000 rows of the target. Its model is good for all rows, but the proportions
of all rows are others by a little. mars respond maps the model over parts of the target, each of any
size, here or on many machines, and leaves sums; mars merge adds those of all parts; and mars
proportions --model MODEL --sums FILE answers from them. The answer is that of all rows: the exact
fixed point of EM for assumptions that have one, and an interval of that many rows.

The fixed point takes a few passes, three as a rule: each begins where the merged sums of the last
one lead (--after). mars proportions says when it is reached, and otherwise which command comes
next. mars proportions --parts does all of this on one machine.

FILE is what mars predict reads; --target FILE is a table for certain, and - is then a table in standard
input. The sums are exact: they do not depend on how rows are cut into
parts, nor on the order in which these are merged. The method is hedge; models of other methods are
refused.`,
		Example: `  mars label --source source.csv --target sample.csv --save model.safetensors -o sample-labels.csv
  mars respond --model model.safetensors 'shard-*.parquet' -o pass-1.arrow
  mars respond --model model.safetensors --after pass-1.arrow 'shard-*.parquet' -o pass-2.arrow
  mars proportions --model model.safetensors --sums pass-2.arrow`,
	}
	cmd.RunE = r.run
	f := cmd.Flags()
	f.StringVar(&r.target, "target", "", "a table, instead of FILE: - for standard input")
	f.StringVar(&r.model, "model", "", "file that mars label --save wrote, with the method hedge (required)")
	f.StringVar(&r.after, "after", "", "merged sums of the pass before (default: this is the first)")
	f.StringVarP(&r.common.output, "output", "o", "", "write the sums to this file (required)")
	f.StringVar(&r.part, "part", "", "what the part is called (default: as FILE is): parts of one name and content count once")
	r.files.registerID(f)
	r.files.registerText(f)
	f.IntVar(&r.common.jobs, "jobs", runtime.GOMAXPROCS(0), "number of parts that are read at a time (default: as many as processors)")
	r.common.columnFlags(f, []string{"features", "embedding"})
	r.common.limitFlag(f)
	r.common.logFlags(f)
	return newCommand(cmd)
}

type responder struct {
	common      *common
	files       featurizeFlags
	model, part string
	after       string
	target      string // a table
}

func (r *responder) run(cmd *cobra.Command, args []string) error {
	c := r.common
	if err := c.check(); err != nil {
		return err
	}
	if r.model == "" {
		return usagef("say which model: --model FILE")
	}
	if err := checkArrowFile(c.output); err != nil {
		return err
	}
	if (r.target == "") == (len(args) == 0) {
		return usagef("give either FILE, one or several, or --target FILE")
	}
	if r.target != "" {
		args = []string{r.target}
	}
	paths, err := expandAll(args)
	if err != nil {
		return err
	}
	if r.part != "" && len(paths) > 1 {
		return usagef("--part %s names one part, and %d are given: leave it out", r.part, len(paths))
	}
	pass, err := respond.Open(r.model, r.after)
	if err != nil {
		return err
	}
	text, classes, err := r.preparation(cmd.Context(), paths)
	if err != nil {
		return err
	}
	env, done := c.env(cmd)
	defer done()
	sums, err := partSums(cmd.Context(), env, c, &r.files, pass, text, classes, paths, r.part, r.target != "")
	if err != nil {
		return err
	}
	if err := unchanged(cmd); err != nil {
		return err
	}
	env.Logger().Info(fmt.Sprintf("pass %d: %s of %s", pass.Number(), spelling.Count(sums.Rows(), "row", "rows"), spelling.Count(len(paths), "part", "parts")))
	return sums.Save(c.output)
}

// preparation is how tables among the paths have to be prepared; "" if there are none.
func (r *responder) preparation(ctx context.Context, paths []string) (text string, classes []string, err error) {
	if r.target != "" {
		return predict.Preparation(ctx, r.model)
	}
	for _, path := range paths {
		if isTable(path, r.common.columns) {
			return predict.Preparation(ctx, r.model)
		}
	}
	return "", nil, nil
}

// partSums are the merged sums of a pass over parts, which are tables or streams, or tables for
// certain. Tables are prepared as the text says.
func partSums(ctx context.Context, env stages.Env, c *common, files *featurizeFlags, pass *respond.Pass, text string, classes, paths []string, part string, tables bool) (*respond.Sums, error) {
	all := make([]*respond.Sums, len(paths))
	err := eachPart(ctx, env, c.jobs, paths, func(ctx context.Context, env stages.Env, i int) (err error) {
		name := part
		if name == "" {
			name = filepath.Base(paths[i])
		}
		all[i], err = onePart(ctx, env, files, pass, text, classes, paths[i], name, tables || isTable(paths[i], c.columns))
		return err
	})
	if err != nil {
		return nil, err
	}
	return respond.Union(all, paths)
}

func onePart(ctx context.Context, env stages.Env, files *featurizeFlags, pass *respond.Pass, text string, classes []string, path, name string, table bool) (sums *respond.Sums, err error) {
	if sketch.Is(path) {
		return nil, fmt.Errorf("is a sketch, which has a sample of the rows: give the part itself")
	}
	if !table {
		in, err := arrowio.Open(path, arrowio.ReadOptions{})
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return pass.Rows(ctx, env, in, name)
	}
	how, err := files.written()
	if err != nil {
		return nil, err
	}
	how.Compensated = featurize.Compensated(text)
	options := featurize.Options{Target: featurize.SideOptions{Path: path, Format: how}, Classes: classes, Prepared: text, Nameless: true}
	inner := env
	inner.Log = nil // of many parts nobody reads it
	err = pipeline.Join(ctx, path, nil, []pipeline.Filter{filter(featurized(options), inner)}, func(ctx context.Context, in arrowio.Stream) error {
		sums, err = pass.Rows(ctx, env, in, name)
		return err
	})
	return sums, err
}

// mergeCommand merges sketches, or sums.
func mergeCommand() *cobra.Command {
	c := newCommon(&cobra.Command{}, "mars-merge")
	cmd := &cobra.Command{
		Use:   "merge [flags] FILE...",
		Short: "Merge sketches of parts, or sums over parts",
		Long: `FILE are sketches (mars sketch) of parts of one domain, or sums (mars respond) of one pass over parts
of the target. What is written is of the union of the parts: the same bytes in whatever order
the files are given, and a part that is in two of them counts once. Merged files may be merged
again.

Sketches must be of the same columns, --sample, --seed and identities, and sums of one model and one
pass: others are refused.`,
		Example: `  mars merge part-*.sketch.arrow -o target.sketch.arrow
  mars merge sums-*.arrow -o pass-1.arrow`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&c.output, "output", "o", "", "write to this file (required)")
	c.logFlags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkArrowFile(c.output); err != nil {
			return err
		}
		paths, err := expandAll(args)
		if err != nil {
			return err
		}
		env, done := c.env(cmd)
		defer done()
		return guarded(func() error { return merge(cmd, env, paths, c.output) })
	}
	return newCommand(cmd)
}

// merge merges the files.
func merge(cmd *cobra.Command, env stages.Env, paths []string, output string) error {
	var merged interface{ Save(path string) error }
	var err error
	if sketch.Is(paths[0]) {
		merged, err = sketch.Merge(env, paths)
	} else {
		merged, err = respond.Merge(env, paths)
	}
	if err != nil {
		return err
	}
	if err := unchanged(cmd); err != nil {
		return err
	}
	return merged.Save(output)
}
