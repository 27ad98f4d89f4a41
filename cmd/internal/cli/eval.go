package cli

import (
	"github.com/spf13/cobra"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/eval"
)

// Eval is the command that compares with the truth.
func Eval() *cobra.Command {
	var asJSON bool
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
	c := newCommon(cmd, cmd.Use, "domain", "label", "truth", "prediction", "weight")
	cmd.Use += " [flags] [FILE]"
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.check(); err != nil {
			return err
		}
		c.input = append(args, "")[0]
		format, err := c.reportFormat()
		if err != nil {
			return err
		}
		if handled, err := c.hosted(cmd); handled {
			return err
		}
		if c.output != "" {
			if err := arrowio.CheckOutput(c.output, arrowio.WriteOptions{}); err != nil {
				return err
			}
		}
		in, closeInput, err := c.open(cmd, c.input)
		if err != nil {
			return err
		}
		defer closeInput()
		env, done := c.env(cmd)
		m, err := eval.Evaluate(cmd.Context(), env, in)
		done()
		if err == nil {
			err = unchanged(cmd)
		}
		if err != nil {
			return err
		}
		if c.output != "" && c.output != "-" {
			if err := m.Save(cmd.Context(), c.output, format); err != nil {
				return err
			}
		}
		if asJSON {
			return m.WriteJSON(cmd.OutOrStdout())
		}
		return m.WriteTable(cmd.OutOrStdout())
	}
	cmd.Flags().StringVarP(&c.output, "output", "o", "", "write it to this file too: .json the whole, .csv, .tsv, .jsonl and .parquet a row a class")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object with scikit-learn's names")
	c.limitFlag(cmd.Flags())
	c.classesFlag(cmd.Flags())
	c.cacheFlag(cmd.Flags())
	c.logFlags(cmd.Flags())
	return newCommand(cmd)
}
