package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

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
where they were estimated, the class proportions beside the true ones.`,
		Example: `  mars-featurize toy --shift 8 --truth | mars-train --method marsc | mars-eval
  mars-eval --json labelled.arrow
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
		if handled, err := c.hosted(cmd); handled {
			return err
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
		if !asJSON {
			return m.WriteTable(cmd.OutOrStdout())
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(m)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object with scikit-learn's names")
	c.limitFlag(cmd.Flags())
	c.classesFlag(cmd.Flags())
	c.cacheFlag(cmd.Flags())
	c.logFlags(cmd.Flags())
	return newCommand(cmd)
}
