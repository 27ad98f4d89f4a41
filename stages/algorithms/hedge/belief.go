package hedge

import (
	"context"

	"mars.dev/mars/stages/algorithms/gate"
)

// A belief is what follows from an assumption of package gate. A classifier learns from the source's rows where the
// belief has them, and p_T follows by EM of its posteriors of the target.
type belief struct {
	// move returns the source's rows where the belief has them; nil where the target shows no such movement. Beliefs
	// without it leave the rows where they are, and share a classifier.
	move func(*fit, context.Context) (*learner, error)
	// apiece is whether classes, or their parts, are looked for in the target one by one. That gives p_T, and takes
	// the longest.
	apiece bool
	// still is whether posteriors stay as they are: other rows of the same kinds were chosen, so that p_T is the mean posterior.
	still bool
}

var beliefs = map[string]belief{
	"same":     {still: true},
	"balance":  {},
	"together": {move: (*fit).together},
	"classes":  {move: (*fit).byClass, apiece: true},
	"parts":    {move: (*fit).byPart, apiece: true},
}

func (v *View) belief() belief { return beliefs[v.Name] }

// moves reports whether the view takes the source's rows to have moved.
func (v *View) moves() bool { return gate.Of(v.Name).Moves }
