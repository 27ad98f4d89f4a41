package cli

import (
	"github.com/spf13/cobra"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/match"
)

// Match is the command of the stage that matches components with classes.
func Match() *cobra.Command {
	var o match.Options
	var load string
	cmd := &cobra.Command{
		Use:   "mars-match",
		Short: "Match each mixture component of the target with a class of the source",
		Long: `Finds the optimal transport between the source's classes and the target's components
(Algorithm 2, lines 2 and 3) and adds the column matched, the class of each target row's
component. With as many components as classes this is the best assignment; otherwise each
component's share is divided among classes by the plan.

The cost is the squared distance of the means, or with --cost bures the Bures–Wasserstein
distance of the Gaussians that have the means and covariances of classes and components,
which tells classes apart that lie one in the other.

How much better the best assignment is than the second best, and whether it is cyclically
monotone, is logged and kept in the metadata key mars.diagnostics.`,
		Example: `  mars-featurize toy | mars-embed | mars-cluster | mars-match --save matching.arrow -o matched.arrow
  mars-match --cost bures clustered.arrow -o matched.arrow
  mars-match --load matching.arrow more-clustered.arrow -o more-matched.arrow`,
	}
	o.Cost = transport.Means
	cmd.Flags().Var(oneOf{&o.Cost, match.Costs}, "cost", "distance between a class and a component: of their means, or of Gaussians with their means and covariances")
	cmd.Flags().StringVar(&o.Save, "save", "", "keep class means, p_T and the transport plan in this Arrow file")
	cmd.Flags().StringVar(&load, "load", "", "use the matching in this file instead")
	return streamCommand(cmd, []string{"domain", "label", "embedding", "component", "matched"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return match.Apply(load), refuse(cmd, "--load applies a matching and makes none", []string{"cost", "save"})
		}
		return match.Fit(o), nil
	})
}
