package cli

import (
	"math"

	"github.com/spf13/cobra"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/cluster"
)

// Cluster is the command of the stage that estimates the target's mixture.
func Cluster() *cobra.Command {
	var o cluster.Options
	var load, covariance string
	cmd := &cobra.Command{
		Use:   "mars-cluster",
		Short: "Divide the target rows into the components of a mixture",
		Long: `Estimates a mixture of as many components as there are classes from the embeddings of
the target rows (Algorithm 2, line 1) and adds the column component. Method ward is the
paper's MARSc, gmm its MARSg. With --load, rows get the components of a saved state.

How healthy the mixture is (sizes, likelihood and ambiguity of gmm, gap of the merge heights
of ward) is logged and kept in the metadata key mars.diagnostics.`,
		Example: `  mars-featurize toy | mars-embed | mars-cluster --method gmm -o clustered.arrow
  mars-cluster --method ward --save components.arrow embedded.arrow -o clustered.arrow
  mars-cluster --load components.arrow more-embedded.arrow -o more-clustered.arrow`,
	}
	o.Method, covariance = "ward", "full"
	f := cmd.Flags()
	f.Var(oneOf{&o.Method, cluster.Methods}, "method", "how to cluster")
	f.IntVar(&o.Components, "components", 0, "number of components (0: the number of classes)")
	f.Var(oneOf{&covariance, []string{"full", "tied", "diagonal", "spherical"}}, "covariance", "form of the covariances of gmm")
	f.IntVar(&o.Starts, "starts", 0, "initialisations of gmm and kmeans, of which the best wins (0: 10)")
	f.IntVar(&o.Iterations, "iterations", 0, "at most so many iterations a start (0: 100 for gmm, 300 for kmeans)")
	f.Float64Var(&o.Floor, "covariance-floor", 0, "added to every variance of gmm, in squared units of the embedding (0: 1e-6)")
	f.IntVar(&o.MaxRows, "max-rows", mixture.DefaultMaxRows, "of more rows, cluster a seeded sample of this size and assign the rest")
	f.StringVar(&o.Save, "save", "", "keep the components in this Arrow file")
	f.StringVar(&load, "load", "", "give rows the components in this file instead")
	return streamCommand(cmd, []string{"domain", "label", "embedding", "component"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return cluster.Apply(load), refuse(cmd, "--load applies components and fits none",
				[]string{"method", "components", "covariance", "starts", "iterations", "covariance-floor", "max-rows", "save"})
		}
		if o.Components < 0 || o.Starts < 0 || o.Iterations < 0 || o.MaxRows < 1 || !(o.Floor >= 0 && o.Floor <= math.MaxFloat64) {
			return nil, usagef("--components, --starts, --iterations, --covariance-floor and --max-rows cannot be negative, nor --max-rows 0")
		}
		if o.Method != "gmm" {
			if err := refuse(cmd, "they belong to --method gmm", []string{"covariance", "covariance-floor"}); err != nil {
				return nil, err
			}
		}
		var err error
		o.Covariance, err = mixture.ParseCovariance(covariance)
		return cluster.Fit(o), err
	})
}
