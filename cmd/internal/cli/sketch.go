package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/sketch"
	"mars.dev/mars/tables"
)

// sketchCommand leaves sketches of parts.
func sketchCommand() *cobra.Command {
	k := sketcher{common: newCommon(&cobra.Command{}, "mars-sketch")}
	cmd := &cobra.Command{
		Use:   "sketch [flags] FILE...",
		Short: "Read parts of a domain once and keep a sample and sums of them",
		Long: `Each FILE is a part of one domain, source or target: any file that mars featurize reads. It is read
once, in bounded memory. What is left is a sketch, an Arrow file: how many rows each class has,
the exact moments of each column, and a uniform sample of rows. Sketches of several parts, made here or
on other machines, are merged by mars merge.

Where rows are read a sketch may be given: mars proportions, mars label and mars featurize take
--source and --target that are sketches, or patterns of them. They fit to the sample, which is what
they would draw of that many rows, and know how many there are. Then mars respond goes through all
rows.

A row is in the sample if the hash of its identity (--id) is among the smallest, or that of its
content where it has none. So the sample does not depend on how rows were cut into parts. With
identities, a row that is in two parts counts once. Without, rows of equal content are
different rows, unless the same part is merged twice.`,
		Example: `  mars sketch --label celltype patients.parquet -o source.sketch.arrow
  mars sketch 'shard-*.parquet' --jobs 4 -o target.sketch.arrow
  mars proportions --source source.sketch.arrow --target target.sketch.arrow`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.RunE = k.run
	f := cmd.Flags()
	f.StringVarP(&k.common.output, "output", "o", "", "write the sketch to this file (required)")
	f.StringVar(&k.files.how.Label, "label", "", "label column (default \"label\", if there is one)")
	f.StringVar(&k.files.how.ID, "id", "", "identity column (default \"id\", if there is one)")
	f.StringSliceVar(&k.files.how.Columns, "columns", nil, "columns to keep, in order, or patterns such as 'm*' (default: all)")
	f.StringSliceVar(&k.files.how.Exclude, "exclude", nil, "columns to leave out, or patterns such as 'x*'")
	f.StringSliceVar(&k.files.how.Categorical, "categorical", nil, "columns of numbers that are categories, or patterns")
	k.files.registerText(f)
	countVar(f, &k.sample, "sample", sketch.DefaultSample, 1, "rows of the sample; a fit of the default looks at 20,000")
	f.StringVar(&k.part, "part", "", "what the part is called (default: as FILE is): parts of one name and content count once")
	f.Uint64Var(&k.common.seed, "seed", 0, "seed of the hashes, which choose the sample")
	f.IntVar(&k.common.jobs, "jobs", runtime.GOMAXPROCS(0), "number of parts that are read at a time (default: as many as processors)")
	k.common.limitFlag(f)
	k.common.classesFlag(f)
	k.common.logFlags(f)
	return newCommand(cmd)
}

type sketcher struct {
	common *common
	files  featurizeFlags
	sample int
	part   string
}

func (k *sketcher) run(cmd *cobra.Command, args []string) error {
	c := k.common
	if err := c.check(); err != nil {
		return err
	}
	if err := checkArrowFile(c.output); err != nil {
		return err
	}
	paths, err := expandAll(args)
	if err != nil {
		return err
	}
	o, err := k.options()
	if err != nil {
		return err
	}
	if k.part != "" && len(paths) > 1 {
		return usagef("--part %s names one part, and %d are given: leave it out", k.part, len(paths))
	}
	env, done := c.env(cmd)
	defer done()
	return guarded(func() error {
		s, err := sketch.Files(cmd.Context(), env, paths, o)
		if err != nil {
			return err
		}
		if err := unchanged(cmd); err != nil {
			return err
		}
		return s.Save(c.output)
	})
}

// options say how parts are read.
func (k *sketcher) options() (sketch.Options, error) {
	text, err := k.files.text()
	if err != nil {
		return sketch.Options{}, err
	}
	text.Hash, text.LabelFromFile = 0, false // of mars proportions, for --source
	return sketch.Options{Format: text, Sample: k.sample, Part: k.part, Jobs: k.common.jobs}, nil
}

// checkArrowFile refuses a name that promises no Arrow file.
func checkArrowFile(path string) error {
	c := common{output: path}
	if path == "" || path == "-" {
		return usagef("say which file to write: -o FILE.arrow")
	}
	return c.checkName()
}

// expandAll are the files that the arguments name.
func expandAll(args []string) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	for _, arg := range args {
		paths, err := tables.Expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if seen[path] {
				return nil, usagef("%s is given twice: give each part once", path)
			}
			seen[path] = true
			all = append(all, path)
		}
	}
	return all, nil
}

// eachPart calls f for each path, as many at a time as jobs say, with the part of the log.
func eachPart(ctx context.Context, env stages.Env, jobs int, paths []string, f func(ctx context.Context, env stages.Env, i int) error) error {
	quiet := env
	quiet.Progress = nil
	return sketch.InParallel(ctx, jobs, len(paths), func(ctx context.Context, i int) error {
		if err := guarded(func() error { return f(ctx, quiet, i) }); err != nil {
			return fmt.Errorf("part %s: %w", paths[i], err)
		}
		return nil
	}, func(done int) { env.Report("parts", int64(done), int64(len(paths))) })
}
