package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"mars.dev/mars/pipeline/report"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/label"
)

// Eval is the command that compares with the truth.
func Eval() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mars-eval",
		Short: "Compare predictions and estimated proportions with the truth",
		Long: `Reads the column truth of the target rows, which mars-featurize --truth writes,
and prints accuracy, balanced accuracy, the recall of each class, the confusion matrix and,
where they were estimated, the class proportions beside the true ones.

The name of --output says how that is written: .csv, .tsv, .jsonl and .parquet get a row a
class, .json the whole.`,
		Example: `  mars-featurize toy --shift 8 --truth | mars-train --method marsc | mars-eval
  mars-eval --json labelled.arrow
  mars-eval labelled.arrow -o recall.csv
  mars-eval --prediction matched matched.arrow`,
	}
	e := evaluator{common: newCommon(cmd, cmd.Use, "domain", "label", "truth", "prediction", "weight")}
	cmd.Use += " [flags] [FILE]"
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = e.run
	f, c := cmd.Flags(), e.common
	f.StringVarP(&c.output, "output", "o", "", "write it to this file too: .json the whole, .csv, .tsv, .jsonl and .parquet a row a class")
	pageFlag(f, &e.page)
	f.BoolVar(&e.asJSON, "json", false, "print one JSON object with scikit-learn's names")
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
	if c.output != "" && c.output != "-" {
		if err := m.Save(cmd.Context(), c.output, format); err != nil {
			return err
		}
	}
	if e.page != "" {
		part, err := report.Evaluation(m)
		if err := pageOf(cmd, e.page, part, err); err != nil {
			return err
		}
	}
	if e.asJSON {
		return m.WriteJSON(cmd.OutOrStdout())
	}
	return m.WriteTable(cmd.OutOrStdout())
}

func (e *evaluator) evaluate(cmd *cobra.Command) (*eval.Metrics, error) {
	in, closeInput, err := e.common.open(cmd, e.common.input)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	env, done := e.common.env(cmd)
	defer done()
	m, err := eval.Evaluate(cmd.Context(), env, in)
	if err != nil {
		return nil, err
	}
	return m, unchanged(cmd)
}
