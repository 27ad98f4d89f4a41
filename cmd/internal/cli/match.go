package cli

import (
	"github.com/spf13/cobra"

	"mars/stages"
	"mars/stages/match"
)

// Match is the command of the stage that matches components with classes.
func Match() *cobra.Command {
	var o match.Options
	var load string
	cmd := &cobra.Command{
		Use:   "mars-match",
		Short: "Match each mixture component of the target with a class of the source",
		Long: `Finds the optimal transport between the means of the source's classes and of the
target's components (Algorithm 2, lines 2 and 3) and adds the column matched, the class of
each target row's component. With as many components as classes this is the best
assignment; otherwise each component's share is divided among classes by the plan.`,
		Example: `  mars-featurize toy | mars-embed | mars-cluster | mars-match --save matching.arrow -o matched.arrow
  mars-match --load matching.arrow more-clustered.arrow -o more-matched.arrow`,
	}
	cmd.Flags().StringVar(&o.Save, "save", "", "keep class means, p_T and the transport plan in this Arrow file")
	cmd.Flags().StringVar(&load, "load", "", "use the matching in this file instead")
	return streamCommand(cmd, []string{"domain", "label", "embedding", "component", "matched"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return match.Apply(load), refuse(cmd, "--load applies a matching and makes none", []string{"save"})
		}
		return match.Fit(o), nil
	})
}
