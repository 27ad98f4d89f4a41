package adapt

import (
	"fmt"
	"math/rand/v2"

	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/nn"
)

// networks are g, h and, for methods that align, v, which is a Wasserstein critic or the
// domain classifier of DANN.
type networks struct {
	arch    nn.Arch
	g, h, v *nn.Network
}

// newNetworks makes the networks that the alignment needs, with all parameters 0.
func newNetworks(a nn.Arch, align alignment) (networks, error) {
	n := networks{arch: a}
	var err error
	if n.g, err = nn.NewNetwork(a.G, a.Input); err != nil {
		return n, err
	}
	embedding := []int{n.g.Outputs}
	if n.h, err = nn.NewNetwork(a.H, embedding); err != nil || align == alignNone || align == alignLabels {
		return n, err
	}
	v := a.V
	if align == alignAdversarial {
		v = domainClassifier(v)
	}
	n.v, err = nn.NewNetwork(v, embedding)
	return n, err
}

// domainClassifier is the critic with an output for each domain.
func domainClassifier(critic []nn.LayerSpec) []nn.LayerSpec {
	last := len(critic) - 1
	v := append([]nn.LayerSpec(nil), critic...)
	v[last].Out = 2
	return v
}

// initialise draws the parameters. Each network has random numbers of its own, so that g
// and h start the same with every method.
func (n networks) initialise(seed uint64) {
	for i, net := range n.all() {
		net.Init(rand.New(rand.NewPCG(seed, streamInit+uint64(i))))
	}
}

// copyFrom copies the parameters of networks with the same layers. A network that either
// side lacks is left as it is.
func (n networks) copyFrom(o networks) error {
	if o.g.Inputs != n.g.Inputs {
		return fmt.Errorf("adapt: the model to start from takes rows of %d features: these have %d", o.g.Inputs, n.g.Inputs)
	}
	from := o.all()
	for i, net := range n.all() {
		if i == len(from) {
			break
		}
		if got, want := nn.FormatLayers(from[i].Specs), nn.FormatLayers(net.Specs); got != want {
			return fmt.Errorf("adapt: the model to start from has network %s = %s: want %s", networkNames[i], got, want)
		}
		copy(net.Params, from[i].Params)
	}
	return nil
}

// all returns g, h and, if there is one, v.
func (n networks) all() []*nn.Network {
	if n.v == nil {
		return []*nn.Network{n.g, n.h}
	}
	return []*nn.Network{n.g, n.h, n.v}
}

// networkNames are the names of the networks in files, in the order of all.
var networkNames = []string{"g", "h", "v"}

// learner is a network in training: its optimiser and the gradients of each worker.
type learner struct {
	net       *nn.Network
	optimiser nn.Optimiser
	critic    bool
	grads     [][]float32 // by worker
	average   []float32   // running mean of the parameters, nil until averaging begins
	averaged  int         // number of parameter vectors in it
	decay     float64     // see Config.AverageDecay
}

// updateBlock is the number of parameters that are updated at once: few enough for them,
// their gradients and the optimiser's state to stay in the first-level cache over all
// loops of the update.
const updateBlock = 1024

// update sums the workers' gradients of the parameters [lo, hi) in the order of the
// workers, takes a step, and clears them.
func (l *learner) update(lo, hi int, rate float64) {
	for ; lo < hi; lo += updateBlock {
		l.updateSome(lo, min(lo+updateBlock, hi), rate)
	}
}

func (l *learner) updateSome(lo, hi int, rate float64) {
	total := l.grads[0][lo:hi]
	for _, g := range l.grads[1:] {
		kernel.Axpy(1, g[lo:hi], total)
		clear(g[lo:hi])
	}
	l.optimiser.Update(l.net.Params, l.grads[0], lo, hi, rate)
	clear(total)
	if l.averaged > 0 {
		mean, share := l.average[lo:hi], 1/float32(l.averaged)
		if l.decay > 0 {
			share = max(share, float32(1-l.decay))
		}
		kernel.Scale(1-share, mean)
		kernel.Axpy(share, l.net.Params[lo:hi], mean)
	}
}

// weights are the parameters that a model gets.
func (l *learner) weights() []float32 {
	if l.averaged > 0 {
		return l.average
	}
	return l.net.Params
}
