package cli

import (
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
)

// networkFlags are what learning a representation takes, whether it adapts or
// not. A flag that is not given leaves the architecture's measured default.
type networkFlags struct {
	arch, shape, optimiser, input string
	epochs, batch, holdOut        int
	rate, momentum, weightDecay   float64
}

// architectures are the values of --arch, but for auto and mlp.
var architectures = []string{"toy", "visda", "office", "digits", "ganin", "digits-gn", "resnet8", "identity"}

var networkFlagNames = []string{"arch", "shape", "epochs", "batch", "optimiser", "learning-rate", "momentum", "weight-decay", "input", "hold-out"}

func (n *networkFlags) register(f *pflag.FlagSet) {
	f.StringVar(&n.arch, "arch", "auto", "networks: "+strings.Join(architectures, ", ")+", mlp:2048-100-100, or auto: by the shape of the features, and toy for rows of mars-featurize toy")
	f.StringVar(&n.shape, "shape", "", shapeHelp)
	countVar(f, &n.epochs, "epochs", 0, 1, "passes over the source rows; parts of 90 steps in self-training (default: the schedule's)")
	countVar(f, &n.batch, "batch", 0, 2, "rows of each domain in a batch (default: the schedule's)")
	countVar(f, &n.holdOut, "hold-out", 0, 2, "keep one of so many source rows of each class from training, and mark it in the column unseen: mars-reweight counts the classifier's mistakes on these")
	f.Var(oneOf{&n.optimiser, []string{"sgd", "adam"}}, "optimiser", "update rule (default: the schedule's)")
	amountVar(f, &n.rate, "learning-rate", math.MaxFloat32, "learning rate (default: the schedule's)")
	amountVar(f, &n.momentum, "momentum", 1, "momentum of sgd")
	amountVar(f, &n.weightDecay, "weight-decay", math.MaxFloat32, "L2 penalty Ω on the weights of g and h (default: the schedule's)")
	f.Var(oneOf{&n.input, []string{"as-is", "symmetric", "standard", "row"}}, "input", "mapping of the features, kept in the model: as they are, [0,1] to [-1,1], each to mean 0 and deviation 1 over the source, or each row to mean 0 and deviation 1 (default: standard for tables, the architecture's for images, toy, visda and office)")
}

const shapeHelp = "shape of a row of features, CxHxW for images (default: what the stream says)"

func parseShape(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	shape, err := stages.ParseShape(text)
	if err != nil {
		return nil, usagef("--shape: %w", err)
	}
	return shape, nil
}

// tune gives the changes of a configuration that the flags ask for.
func (n *networkFlags) tune(f *pflag.FlagSet) []func(*adapt.Config) {
	return changed(f, map[string]func(*adapt.Config){
		"epochs":        func(c *adapt.Config) { c.SetEpochs(n.epochs) },
		"batch":         func(c *adapt.Config) { c.Batch = n.batch },
		"optimiser":     func(c *adapt.Config) { c.Optimiser = adapt.Optimiser(n.optimiser) },
		"learning-rate": func(c *adapt.Config) { c.LearningRate, c.CriticLearningRate = n.rate, n.rate },
		"momentum":      func(c *adapt.Config) { c.Momentum = n.momentum },
		"weight-decay":  func(c *adapt.Config) { c.WeightDecay = n.weightDecay },
		"input":         func(c *adapt.Config) { c.Input = adapt.InputScaling(n.input) },
	})
}

// changed picks, in the order of the flags, the changes whose flag was given.
func changed(f *pflag.FlagSet, tune map[string]func(*adapt.Config)) []func(*adapt.Config) {
	var picked []func(*adapt.Config)
	f.VisitAll(func(flag *pflag.Flag) {
		if change := tune[flag.Name]; change != nil && flag.Changed {
			picked = append(picked, change)
		}
	})
	return picked
}

// refuse reports flags that make no sense with another.
func refuse(cmd *cobra.Command, why string, names []string) error {
	var given []string
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			given = append(given, "--"+name)
		}
	}
	if given == nil {
		return nil
	}
	return usagef("%s: leave out %s", why, strings.Join(given, " "))
}
