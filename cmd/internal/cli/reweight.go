package cli

import (
	"github.com/spf13/cobra"

	"mars/stages"
	"mars/stages/featurize/shift"
	"mars/stages/reweight"
)

// Reweight is the command of the stage that weights the source rows.
func Reweight() *cobra.Command {
	var o reweight.Options
	var load, proportions string
	cmd := &cobra.Command{
		Use:   "mars-reweight",
		Short: "Estimate the target's class proportions and weight the source rows by them",
		Long: `Estimates p_T and adds the column weight: p_T(y)/p_S(y) on source rows of class y, 1 on
target rows. A class that the target lacks gets weight 0. The estimator mars counts
target rows by matched; plan takes what mars-match worked out from its transport plan,
which differs where there are not as many components as classes; given takes the
proportions from --proportions.`,
		Example: `  mars-featurize toy | mars-embed | mars-cluster | mars-match | mars-reweight -o weighted.arrow
  mars-featurize toy | mars-reweight --estimator given --proportions 0.66,0.17,0.17 -o weighted.arrow
  mars-reweight --load weights.arrow more.arrow -o more-weighted.arrow`,
	}
	o.Estimator = "mars"
	cmd.Flags().Var(oneOf{&o.Estimator, reweight.Estimators}, "estimator", "how to estimate p_T")
	cmd.Flags().StringVar(&proportions, "proportions", "", "p_T for --estimator given: 0.5,0.3,0.2 or a=0.7,b=0.3")
	cmd.Flags().StringVar(&o.Save, "save", "", "keep p_S, p_T and the weights in this Arrow file")
	cmd.Flags().StringVar(&load, "load", "", "use the weights in this file instead")
	return streamCommand(cmd, []string{"domain", "label", "matched", "weight"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return reweight.Apply(load), refuse(cmd, "--load applies weights and estimates none", []string{"estimator", "proportions", "save"})
		}
		if (o.Estimator == "given") != (proportions != "") {
			return nil, usagef("--estimator given and --proportions go together")
		}
		o.Proportions = func(classes []string) ([]float64, error) { return shift.ParseProportions(proportions, classes) }
		return reweight.Fit(o), nil
	})
}
