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

const allClassifiers = "ensemble"

func (h *hedgeFlags) register(f *pflag.FlagSet) {
	h.assume, h.classifier = "auto", allClassifiers
	f.Var(oneOf{&h.assume, append([]string{"auto", "stay", "move"}, hedge.Views...)}, "assume",
		"what has happened to the classes: they stay where they are and only their proportions change (stay), they move (move), or one assumption; auto tests whether they stay, and weighs all by how well they bring the source's labels back")
	f.Var(oneOf{&h.classifier, append([]string{allClassifiers}, ensemble.Names...)}, "classifier", "what learns the source's labels: several together, or one")
}

// views are those that may have weight; nil means all.
func (h *hedgeFlags) views() []string {
	if views, known := assumptions[h.assume]; known {
		return views
	}
	return []string{h.assume}
}

// members are those of the ensemble; nil means all.
func (h *hedgeFlags) members() []string {
	if h.classifier == allClassifiers {
		return nil
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
