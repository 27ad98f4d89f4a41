package adapt

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Method describes a way of adapting: which alignment loss, and where the weights of
// the source's classes come from. The loop that trains is the same for all.
type Method struct {
	Name string
	// Beta is β of WD_β, the relaxation of the target's mass: its mean is scaled by
	// 1+β. It is 0 for every other method.
	Beta float64

	align   alignment
	weights weighting
}

// An alignment is the loss that brings the two embeddings together.
type alignment int

const (
	alignNone        alignment = iota
	alignWasserstein           // critic with gradient penalty
	alignAdversarial           // domain classifier behind a gradient reversal
	alignLabels                // classification of target rows with pseudo-labels
)

// A weighting says where the class weights of the source come from.
type weighting int

const (
	weightsUniform   weighting = iota
	weightsEstimated           // p_T by Config.Estimate
)

var methods = []Method{
	{Name: "source"},
	{Name: "dann", align: alignAdversarial},                             // Ganin et al. 2016
	{Name: "wd", align: alignWasserstein},                               // Shen et al. 2018; β: Wu et al. 2019
	{Name: "iw-wd", align: alignWasserstein, weights: weightsEstimated}, // Tachet des Combes et al. 2020
	{Name: "marsg", align: alignWasserstein, weights: weightsEstimated}, // Gaussian mixture and matching
	{Name: "marsc", align: alignWasserstein, weights: weightsEstimated}, // Ward clustering and matching
	{Name: SelfTraining, align: alignLabels},                            // see package selftrain
}

// SelfTraining is the name of the method that trains on target rows with labels of its
// own. Package selftrain has its settings and gives the labels.
const SelfTraining = "self-training"

// MethodNames returns the names that ParseMethod knows, for help texts.
func MethodNames() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.Name
	}
	return names
}

// ParseMethod returns the method of that name. Beta is β of wd and must be 0 for the
// rest. The methods marsg, marsc and iw-wd train alike: they differ in
// Config.Estimate.
func ParseMethod(name string, beta float64) (Method, error) {
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}, fmt.Errorf("adapt: method %q is unknown: want one of %s", name, strings.Join(MethodNames(), ", "))
	}
	m := methods[i]
	if beta != 0 && m.Name != "wd" {
		return Method{}, fmt.Errorf("adapt: method %s has no beta: leave it 0, or choose wd", name)
	}
	if math.IsNaN(beta) || math.IsInf(beta, 0) || beta < 0 {
		return Method{}, fmt.Errorf("adapt: beta %g: want a number that is not negative", beta)
	}
	m.Beta = beta
	return m, nil
}

// Aligns reports whether the method uses target rows in training.
func (m Method) Aligns() bool { return m.align != alignNone }

// SelfTrains reports whether the method needs Config.Relabel.
func (m Method) SelfTrains() bool { return m.align == alignLabels }

// NeedsEstimate reports whether the method needs Config.Estimate.
func (m Method) NeedsEstimate() bool { return m.weights == weightsEstimated }
