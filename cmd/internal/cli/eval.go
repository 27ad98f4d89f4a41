package cli

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/show/report"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/label"
)

// Eval is the command that compares with the truth.
func Eval() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mars-eval",
		Short: "Compare predictions and estimated proportions with the truth",
		Long: `Reads the column truth of the target rows, which mars-featurize --truth writes, and the labels
of mars label or mars train, and prints accuracy, balanced accuracy, the recall of each class, the confusion matrix and,
where they were estimated, the class proportions beside the true ones.

--scores adds what can be said without the truth, to compare several labellings of one target
(higher is better): entropy of the posteriors, density (soft neighbourhood density) and, where
mars-train --hold-out has marked source rows in the column unseen, importance (accuracy on these,
weighted by how likely they are in the target) and dev (deep embedded validation). With it the
column truth may be missing. None of them tells how many rows are right.

The name of --output says how that is written: .csv, .tsv, .jsonl and .parquet get a row a
class, .json the whole.`,
		Example: `  mars-featurize toy --shift 8 --truth | mars-train --method marsc | mars-eval
  mars-eval --json labelled.arrow
  mars-eval labelled.arrow -o recall.csv
  mars-eval --scores labelled.arrow
  mars-eval --prediction matched matched.arrow`,
	}
	e := evaluator{common: newCommon(cmd, cmd.Use, "domain", "label", "truth", "prediction", "weight", "features", "probability", "unseen")}
	cmd.Use += " [flags] [FILE]"
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = e.run
	f, c := cmd.Flags(), e.common
	f.StringVarP(&c.output, "output", "o", "", "write it to this file too: .json the whole, .csv, .tsv, .jsonl and .parquet a row a class")
	pageFlag(f, &e.page)
	f.BoolVar(&e.asJSON, "json", false, "print one JSON object with scikit-learn's names")
	f.BoolVar(&e.scores, "scores", false, "also score the predictions without the truth, which may then be missing")
	c.limitFlag(f)
	c.classesFlag(f)
	c.cacheFlag(f)
	c.logFlags(f)
	return newCommand(cmd)
}

type evaluator struct {
	common *common
	asJSON bool
	page   string
	scores bool
}

// An evaluation is what is printed.
type evaluation interface {
	WriteTable(w io.Writer) error
	WriteJSON(w io.Writer) error
	Save(ctx context.Context, path string, f label.Format) error
}

func (e *evaluator) run(cmd *cobra.Command, args []string) error {
	c := e.common
	if err := c.check(); err != nil {
		return err
	}
	c.input = append(args, "")[0]
	format, err := c.reportFormat()
	switch {
	case err != nil:
		return err
	case c.output != "" && format.Name == label.Arrow:
		return usagef("--output %s: is no table: name it .json, .csv, .tsv, .jsonl or .parquet", c.output)
	}
	if handled, err := c.hosted(cmd); handled {
		return err
	}
	if err := cmp.Or(c.checkReport(), checkPage(e.page)); err != nil {
		return err
	}
	m, err := e.evaluate(cmd)
	if err != nil {
		return err
	}
	compared, _ := m.(*eval.Metrics)
	if e.page != "" && compared == nil {
		return usagef("--report %s: it compares with the truth, and these rows have none: leave it out", e.page)
	}
	if c.output != "" && c.output != "-" {
		if err := m.Save(cmd.Context(), c.output, format); err != nil {
			return err
		}
	}
	if e.page != "" {
		part, err := report.Evaluation(compared)
		if err := pageOf(cmd, e.page, err, part); err != nil {
			return err
		}
	}
	if e.asJSON {
		return m.WriteJSON(cmd.OutOrStdout())
	}
	return m.WriteTable(cmd.OutOrStdout())
}

func (e *evaluator) evaluate(cmd *cobra.Command) (evaluation, error) {
	in, closeInput, err := e.common.open(cmd, e.common.input)
	if bad := (*arrowio.Error)(nil); errors.As(err, &bad) && errors.As(bad.Err, new(arrowio.NotArrow)) {
		bad.Advice = "give labels with the truth beside them, as mars label --truth -o labels.arrow writes them"
	}
	if err != nil {
		return nil, err
	}
	defer closeInput()
	env, done := e.common.env(cmd)
	defer done()
	evaluate := evaluateTruth
	if e.scores {
		evaluate = evaluateScores
	}
	m, err := evaluate(cmd.Context(), env, in)
	if err != nil {
		return nil, err
	}
	return m, unchanged(cmd)
}

func evaluateTruth(ctx context.Context, env stages.Env, in arrowio.Stream) (evaluation, error) {
	return eval.Evaluate(ctx, env, in)
}

// evaluateScores scores, and compares with the truth if there is one.
func evaluateScores(ctx context.Context, env stages.Env, in arrowio.Stream) (evaluation, error) {
	spool := arrowio.NewSpool(in, 0)
	defer spool.Close()
	scores, err := eval.Score(ctx, env, spool)
	if err != nil || !arrowio.HasColumn(in.Schema(), env.Columns.Truth) {
		return scores, err
	}
	if err := spool.Rewind(); err != nil {
		return nil, err
	}
	m, err := eval.Evaluate(ctx, env, spool)
	if err != nil {
		return nil, err
	}
	m.Scores = scores
	return m, nil
}
