package cli

import (
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
)

// networkFlags are what learning a representation takes, whether it adapts or
// not. A flag that is not given leaves the architecture's measured default.
type networkFlags struct {
	arch, shape string
	holdOut     int
	tuning
}

// architectures are the values of --arch, but for auto and mlp.
var architectures = []string{"toy", "visda", "office", "digits", "ganin", "digits-gn", "resnet8", "identity"}

// names are those of all.
func (n *networkFlags) names() []string {
	return slices.Concat([]string{"arch", "shape"}, n.tuning.names, []string{"hold-out"})
}

func (n *networkFlags) register(f *pflag.FlagSet) {
	f.StringVar(&n.arch, "arch", "auto", "networks: "+strings.Join(architectures, ", ")+", mlp:2048-100-100, or auto: by the shape of the features, and toy for rows of mars-featurize toy")
	f.StringVar(&n.shape, "shape", "", shapeHelp)
	n.count(f, "epochs", 1, "passes over the source rows; parts of 90 steps in self-training (default: the schedule's)", (*adapt.Config).SetEpochs)
	n.count(f, "batch", 2, "rows of each domain in a batch (default: the schedule's)", func(c *adapt.Config, n int) { c.Batch = n })
	countVar(f, &n.holdOut, "hold-out", 0, 2, "keep one of so many source rows of each class from training, and mark it in the column unseen: mars-reweight counts the classifier's mistakes on these")
	n.choice(f, "optimiser", []string{"sgd", "adam"}, "update rule (default: the schedule's)", func(c *adapt.Config, name string) { c.Optimiser = adapt.Optimiser(name) })
	n.number(f, "learning-rate", math.MaxFloat32, "learning rate (default: the schedule's)", func(c *adapt.Config, rate float64) { c.LearningRate, c.CriticLearningRate = rate, rate })
	n.number(f, "momentum", 1, "momentum of sgd", func(c *adapt.Config, v float64) { c.Momentum = v })
	n.number(f, "weight-decay", math.MaxFloat32, "L2 penalty Ω on the weights of g and h (default: the schedule's)", func(c *adapt.Config, v float64) { c.WeightDecay = v })
	n.choice(f, "input", []string{"as-is", "symmetric", "standard", "row"}, "mapping of the features, kept in the model: as they are, [0,1] to [-1,1], each to mean 0 and deviation 1 over the source, or each row to mean 0 and deviation 1 (default: standard for tables, the architecture's for images, toy, visda and office)",
		func(c *adapt.Config, name string) { c.Input = adapt.InputScaling(name) })
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

// tuning is flags that change a configuration of training where they are given.
type tuning struct {
	names   []string
	changes []func(*adapt.Config)
}

func (t *tuning) add(name string, change func(*adapt.Config)) {
	t.names, t.changes = append(t.names, name), append(t.changes, change)
}

func (t *tuning) count(f *pflag.FlagSet, name string, least int, usage string, set func(*adapt.Config, int)) {
	v := new(int)
	countVar(f, v, name, 0, least, usage)
	t.add(name, func(c *adapt.Config) { set(c, *v) })
}

func (t *tuning) number(f *pflag.FlagSet, name string, most float64, usage string, set func(*adapt.Config, float64)) {
	v := new(float64)
	amountVar(f, v, name, most, usage)
	t.add(name, func(c *adapt.Config) { set(c, *v) })
}

func (t *tuning) choice(f *pflag.FlagSet, name string, from []string, usage string, set func(*adapt.Config, string)) {
	v := new(string)
	f.Var(oneOf{v, from}, name, usage)
	t.add(name, func(c *adapt.Config) { set(c, *v) })
}

// given are the changes of the flags that were given, in the order of these.
func (t *tuning) given(f *pflag.FlagSet) (picked []func(*adapt.Config)) {
	for i, name := range t.names {
		if f.Changed(name) {
			picked = append(picked, t.changes[i])
		}
	}
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
