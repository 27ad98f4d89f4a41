package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/embed"
	"mars.dev/mars/stages/featurize"
)

// A question is asked of two files, those of --source and --target in any format
// that mars-featurize reads, or of a stream of it. The stages that answer it run
// side by side in this process.
type question struct {
	files  *featurizeFlags
	common *common
	embed  stages.Func // gives images an embedding first; nil for none
	// augmented says that it was said how images are changed for that: other rows are an error.
	augmented bool
	stages    []stages.Func // that the rows go through
	answer    func(context.Context, stages.Env, arrowio.Stream) error
}

// oneStream takes one stream of rows: files of two domains are named by flags, as it matters
// which is which.
func oneStream(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return fmt.Errorf("%s takes one stream of rows: for two files write %s --source %s --target %s", cmd.Name(), cmd.CommandPath(), safetext.Escape(args[0]), safetext.Escape(args[1]))
}

// check checks what there is to read, before anything is read.
func (q *question) check(args []string) error {
	source, target := q.files.source.Path, q.files.target.Path
	switch {
	case source == "" && target == "":
		return q.files.completeSides()
	case len(args) > 0 || source == "" || target == "" && q.files.Domain == "":
		return usagef("give --source FILE and --target FILE, or one stream of mars-featurize, or one table with --domain-column NAME")
	}
	_, err := q.files.options()
	return err
}

func (q *question) ask(cmd *cobra.Command, args []string) error {
	env, done := q.common.env(cmd)
	defer done()
	in, closeInput, err := q.input(cmd, args)
	if err != nil {
		return err
	}
	defer closeInput()
	if in != nil {
		if q.files.Levels != nil || q.files.Tree != "" {
			return usagef("--levels and --tree are for tables: of rows of mars-featurize that says it")
		}
		if env.Shape, err = parseShape(q.files.shape); err != nil {
			return err
		}
	}
	ready, err := q.ready(cmd.Context(), &env, in)
	if err != nil {
		return err
	}
	name := q.files.source.Path
	if target := q.files.target.Path; target != name {
		name += " and " + target
	}
	if in != nil {
		name = in.Name()
		q.nameColumns(&env.Columns, in)
	}
	var filters []pipeline.Filter
	for _, stage := range ready {
		filters = append(filters, filter(stage, noted(env)))
	}
	for _, stage := range q.stages {
		filters = append(filters, filter(stage, env))
	}
	return pipeline.Join(cmd.Context(), name, in, filters, func(ctx context.Context, in arrowio.Stream) error {
		return q.answer(ctx, env, in)
	})
}

// nameColumns names the columns of a stream that the flags name. Featurize has renamed
// those of a table already.
func (q *question) nameColumns(columns *arrowio.Columns, in arrowio.Stream) {
	for _, c := range []struct{ field, asked *string }{{&columns.Label, &q.files.how.Label}, {&columns.ID, &q.files.how.ID}} {
		if *c.asked != "" && (arrowio.HasColumn(in.Schema(), *c.asked) || !arrowio.HasColumn(in.Schema(), *c.field)) {
			*c.field = *c.asked
		}
	}
}

func filter(stage stages.Func, env stages.Env) pipeline.Filter {
	return func(ctx context.Context, in arrowio.Stream, out arrowio.Sink) error { return stage(ctx, env, in, out) }
}

// noted are the surroundings of a stage inside a command: it notes in the command's step.
func noted(env stages.Env) stages.Env {
	env.Step = arrowio.Step{Options: env.Step.Options}
	return env
}

// featurized is the stage that reads the files of the options.
func featurized(o featurize.Options) stages.Func {
	return func(ctx context.Context, env stages.Env, _ arrowio.Stream, out arrowio.Sink) error {
		return featurize.Files(ctx, env, o, out)
	}
}

// input opens the stream that the rows come from; nil if they come from tables. One
// table is given as the stream is: it has a column of domains and no features.
func (q *question) input(cmd *cobra.Command, args []string) (in arrowio.Stream, done func(), err error) {
	path, columns := append(args, "")[0], q.common.columns
	piped := isPipe(path)
	switch {
	case q.files.source.Path != "":
		return nil, func() {}, nil
	case piped && q.files.Domain != "" && hostOf(cmd).streams.In == nil:
		q.files.source.Path = cmp.Or(path, "-")
		return nil, func() {}, nil
	case !piped && isTable(path, columns):
		q.files.source.Path = path
		q.files.Domain = cmp.Or(q.files.Domain, columns.Domain)
		return nil, func() {}, nil
	}
	in, done, err = q.common.open(cmd, path)
	if err != nil {
		if e := (*arrowio.Error)(nil); errors.As(err, &e) && piped {
			e.Advice = "a table in a pipe needs --domain-column NAME, a column that says which domain a row is of"
		}
		return nil, nil, err
	}
	schema := in.Schema()
	vectors := arrowio.HasColumn(schema, columns.Features) || arrowio.HasColumn(schema, columns.Embedding)
	if q.files.Domain == "" && (vectors || !arrowio.HasColumn(schema, columns.Domain)) {
		return in, done, nil
	}
	q.files.source.Path, q.files.source.Stream = in.Name(), in
	q.files.Domain = cmp.Or(q.files.Domain, columns.Domain)
	return nil, done, nil
}

// ready are the stages that make the rows ready.
func (q *question) ready(ctx context.Context, env *stages.Env, in arrowio.Stream) (ready []stages.Func, err error) {
	if in != nil {
		if q.embed != nil && (q.augmented || embed.Wanted(*env, in)) { // else the stages read the file itself, and need not hold it
			ready = append(ready, q.embed)
		}
		return ready, nil
	}
	options, err := q.files.options()
	if err != nil {
		return nil, err
	}
	keepInputs(ctx, env, options)
	ready = append(ready, featurized(options))
	if q.embed != nil {
		ready = append(ready, q.embed)
	}
	return ready, nil
}
