package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/tables"
)

// An eachTarget asks the question of each target by itself: of each file of --target, or of the rows
// with each value of a column. It is "" if all rows are one target.
type eachTarget string

// eachFile is the value of --each-target without a value.
const eachFile eachTarget = "files"

func (e *eachTarget) register(f *pflag.FlagSet, answers string) {
	f.StringVar((*string)(e), "each-target", "", "answer for each file of --target by itself, not for all together, or with --each-target=patient for the rows of each value of the column patient: "+answers)
	f.Lookup("each-target").NoOptDefVal = string(eachFile)
}

// check refuses the named flags, of which there is one for all targets.
func (e eachTarget) check(cmd *cobra.Command, files *featurizeFlags, names ...string) error {
	if e == "" {
		return nil
	}
	if err := refuse(cmd, "--each-target answers each target by itself", append(names, "labels", "domain-column")); err != nil {
		return err
	}
	switch path, args := files.target.Path, cmd.Flags().Args(); {
	case e == eachFile && len(args) > 0:
		return usagef("--each-target %s: for the rows of each value of a column write --each-target=%[1]s", safetext.Escape(args[0]))
	case path == "":
		return usagef("--each-target answers for each target: give --source and --target")
	case e != eachFile && isPipe(path):
		return usagef("--each-target=%s: the target is read once for each value: give --target a file", e)
	}
	return nil
}

// column is that which names the target in tables of answers.
func (e eachTarget) column() string {
	if e == eachFile {
		return "file"
	}
	return string(e)
}

// ask asks for each target, by its name, which its log's lines have too.
func (e eachTarget) ask(ctx context.Context, c *common, files *featurizeFlags, ask func(name string) error) error {
	names, err := tables.Expand(files.target.Path)
	if e != eachFile {
		names, err = e.values(ctx, files)
	}
	if err != nil {
		return err
	}
	c.ofSource = &unrepeated{source: files.source.Path}
	for _, name := range names {
		c.ofSource.next()
		if e == eachFile {
			files.target.Path = name
		} else {
			files.target.Column, files.target.Domains = string(e), []string{name}
		}
		c.target = name
		if err := ask(name); err != nil {
			// What failed may name this file, that of the source, or none.
			return fmt.Errorf("target %s: %w", safetext.Escape(name), err)
		}
	}
	return nil
}

// values are those of the column. It is no feature of the source either.
func (e eachTarget) values(ctx context.Context, files *featurizeFlags) ([]string, error) {
	options, err := files.options()
	if err != nil {
		return nil, err
	}
	source := options.Source
	columns, _, err := tables.Columns(ctx, source.Path, source.Format)
	if err != nil {
		return nil, err
	}
	has := func(f arrow.Field) bool { return f.Name == string(e) }
	if slices.ContainsFunc(columns, has) && source.Format.Batch != string(e) {
		files.how.Exclude = append(files.how.Exclude, string(e))
	}
	return tables.Values(ctx, options.Target.Path, options.Target.Format, string(e))
}

// askEach labels each target by itself, and writes one table of all.
func (l *labeller) askEach(cmd *cobra.Command, q *question, format label.Format) error {
	c := l.common
	if l.each == eachFile && l.files.FileColumn == "" {
		l.files.FileColumn = l.each.column()
	}
	e := &labelledEach{labeller: l, cmd: cmd, question: q}
	page := func() error {
		if c.page == "" {
			return nil
		}
		return pageOf(cmd, c.page, nil, e.pages...)
	}
	return pipeline.Join(cmd.Context(), l.files.target.Path, nil, []pipeline.Filter{e.labels}, func(_ context.Context, rows arrowio.Stream) error {
		return c.saveRows(cmd, format, rows, label.Write, page)
	})
}

// labelledEach is the labels of targets, one after another.
type labelledEach struct {
	*labeller
	cmd      *cobra.Command
	question *question
	schema   *arrow.Schema // of the labels so far; nil: there are none
	pages    []*report.Part
}

// labels labels all targets.
func (e *labelledEach) labels(ctx context.Context, _ arrowio.Stream, out arrowio.Sink) error {
	return e.each.ask(ctx, e.common, &e.files, func(name string) error {
		if err := e.keepColumns(ctx); err != nil {
			return err
		}
		e.question.answer = func(ctx context.Context, env stages.Env, in arrowio.Stream) error {
			return e.add(ctx, env, name, in, out)
		}
		return e.question.ask(e.cmd, nil)
	})
}

// add adds the labels of the target of that name to those of all.
func (e *labelledEach) add(ctx context.Context, env stages.Env, name string, in arrowio.Stream, out arrowio.Sink) error {
	labels, err := label.New(env, in, e.labeller.labels)
	if err != nil {
		return err
	}
	tally, err := e.common.tally(labels)
	if err != nil {
		return err
	}
	if err := e.common.eachRow(ctx, env, tally, func(rows arrowio.Stream) error { return e.write(ctx, rows, out) }); err != nil {
		return err
	}
	if e.common.page != "" {
		part, err := report.Labels(tally)
		if err != nil {
			return fmt.Errorf("--report %s: %w", e.common.page, err)
		}
		part.Title = name
		e.pages = append(e.pages, part)
	}
	e.common.tell(env, tally)
	return unchanged(e.cmd)
}

// write writes the labels of a target, which have the columns of those before.
func (e *labelledEach) write(ctx context.Context, rows arrowio.Stream, out arrowio.Sink) error {
	if e.schema == nil {
		e.schema = rows.Schema()
		if err := out.Begin(e.schema); err != nil {
			return err
		}
	} else if !rows.Schema().Equal(e.schema) {
		return errors.New("its labels have other columns than those of the targets before: answer for it by itself")
	}
	return arrowio.Each(ctx, rows, out.Write)
}
