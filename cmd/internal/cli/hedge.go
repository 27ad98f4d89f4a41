package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mars.dev/mars/stages/algorithms/ensemble"
	"mars.dev/mars/stages/algorithms/hedge"
)

// hedgeFlags are the settings of the method hedge.
type hedgeFlags struct{ assume, classifier string }

// assumptions are the values of --assume and the views that each lets have weight.
var assumptions = map[string][]string{
	"auto": nil,
	"stay": {"balance"},
	"move": {"classes", "parts"},
}

// The values of --classifier that are several: the usual classifiers, and all.
const (
	usualClassifiers = "ensemble"
	allClassifiers   = "all"
)

func (h *hedgeFlags) register(f *pflag.FlagSet) {
	h.assume, h.classifier = "auto", usualClassifiers
	f.Var(oneOf{&h.assume, append([]string{"auto", "stay", "move"}, hedge.Views...)}, "assume",
		"what has happened to the classes: they stay where they are and only their proportions change (stay), they move (move), or one assumption; auto weighs all by how well they explain the target")
	f.Var(oneOf{&h.classifier, append([]string{usualClassifiers, allClassifiers}, ensemble.Names...)}, "classifier",
		"what learns the source's labels: logistic, kernel and network together, and trees where no rows have moved (ensemble), all four everywhere, or one")
}

// views are those that may have weight; nil means all.
func (h *hedgeFlags) views() []string {
	if views, known := assumptions[h.assume]; known {
		return views
	}
	return []string{h.assume}
}

// members are those of the ensemble; nil means the usual ones.
func (h *hedgeFlags) members() []string {
	switch h.classifier {
	case usualClassifiers:
		return nil
	case allClassifiers:
		return ensemble.Names
	}
	return []string{h.classifier}
}

// refuseUnless refuses the flags for other methods than hedge.
func (h *hedgeFlags) refuseUnless(cmd *cobra.Command, isHedge bool, method string) error {
	if isHedge {
		return nil
	}
	return refuse(cmd, "--method "+method+" makes one assumption only", []string{"assume", "classifier"})
}
