package cli

import (
	"github.com/spf13/cobra"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/featurize/shift"
	"mars.dev/mars/stages/reweight"
)

const reweightHelp = `Estimates p_T and adds the column weight: p_T(y)/p_S(y) on source rows of class y, 1 on
target rows. A class that the target lacks gets weight 0. Estimators:

  mars    counts target rows by matched, the paper's Algorithm 2 (default)
  plan    what mars-match worked out from its transport plan, which differs where there
          are not as many components as classes
  mte     match, translate, EM: classes may move and change their look; works on
          features, or on the embedding of images (--features embedding: on it anyway)
  refit   a classifier retrained where mte says that the classes have moved, then EM
  auto    mte, with a warning where it is expected to be off by more than 0.2 in L1
  cc, bbse, bbse-soft, rlls, em
          work on probability: classify and count, black box shift estimation by counts
          or posteriors, its regularised form, maximum likelihood (--calibration). They
          take classes to look the same in both domains. All but cc look at the source
          rows of the column unseen: a classifier makes too few mistakes on rows that it
          was trained on
  given   the proportions of --proportions
  oracle  counts truth, to see what perfect proportions would do; needs --i-know

Doubts are logged, and kept in the metadata key mars.diagnostics.`

// Reweight is the command of the stage that weights the source rows.
func Reweight() *cobra.Command {
	var o reweight.Options
	var load, proportions, shape string
	var iKnow bool
	calibration := "bcts"
	cmd := &cobra.Command{
		Use:   "mars-reweight",
		Short: "Estimate the target's class proportions and weight the source rows by them",
		Long:  reweightHelp,
		Example: `  mars-featurize toy | mars-embed | mars-cluster | mars-match | mars-reweight -o weighted.arrow
  mars-featurize toy | mars-reweight --estimator auto -o weighted.arrow
  mars-featurize toy | mars-reweight --estimator given --proportions 0.66,0.17,0.17 -o weighted.arrow
  mars-featurize toy | mars-embed --hold-out 3 --save g.safetensors | mars-predict --model g.safetensors |
    mars-reweight --estimator em -o weighted.arrow
  mars-reweight --load weights.arrow more.arrow -o more-weighted.arrow`,
	}
	o.Estimator = "mars"
	cmd.Flags().Var(oneOf{&o.Estimator, reweight.Estimators()}, "estimator", "how to estimate p_T")
	cmd.Flags().StringVar(&proportions, "proportions", "", "p_T for --estimator given: 0.5,0.3,0.2 or a=0.7,b=0.3")
	cmd.Flags().Var(oneOf{&calibration, []string{"none", "temperature", "bcts"}}, "calibration", "how to calibrate posteriors on the held-out source rows for --estimator em")
	cmd.Flags().BoolVar(&o.AllUnseen, "all-unseen", false, "the classifier was trained on no source row, or each has the posteriors of one that was not trained on it: look at all instead of the column unseen")
	cmd.Flags().BoolVar(&iKnow, "i-know", false, "let --estimator oracle read the truth")
	cmd.Flags().StringVar(&shape, "shape", "", shapeHelp)
	cmd.Flags().StringVar(&o.Save, "save", "", "keep p_S, p_T and the weights in this Arrow file")
	cmd.Flags().StringVar(&load, "load", "", "use the weights in this file instead")
	return streamCommand(cmd, []string{"domain", "label", "matched", "features", "embedding", "probability", "unseen", "truth", "weight"}, func(cmd *cobra.Command, c *common) (stages.Func, error) {
		if load != "" {
			return reweight.Apply(load), refuse(cmd, "--load applies weights and estimates none", []string{"estimator", "proportions", "calibration", "all-unseen", "i-know", "save", "shape"})
		}
		if (o.Estimator == "given") != (proportions != "") {
			return nil, usagef("--estimator given and --proportions go together")
		}
		if (o.Estimator == "oracle") != iKnow {
			return nil, usagef("--estimator oracle reads the true classes of the target, which no honest estimate can: it and --i-know go together")
		}
		if o.Estimator != "em" && cmd.Flags().Changed("calibration") {
			return nil, usagef("--calibration is for --estimator em")
		}
		if o.AllUnseen && !labelshift.NeedsUnseen(o.Estimator) {
			return nil, usagef("--all-unseen is for the estimators bbse, bbse-soft, rlls and em, which look at posteriors of source rows")
		}
		if calibration != "none" {
			kind, err := labelshift.ParseCalibration(calibration)
			if err != nil {
				return nil, usageError{err}
			}
			o.Calibration = &kind
		}
		var err error
		if o.Shape, err = parseShape(shape); err != nil {
			return nil, err
		}
		o.Proportions = func(classes []string) ([]float64, error) { return shift.ParseProportions(proportions, classes) }
		return reweight.Fit(o), nil
	})
}
