package adapt

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A DivergedError says that training broke down. Train returns it together with the
// model of the last good epoch.
type DivergedError struct {
	Epoch    int    // in which it happened, from 0
	LastGood int    // epoch at whose end the returned model was, from 0; −1 for the initial weights
	Reason   string // what was seen
}

// Error counts the epoch from 1, as the log does.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("adapt: training diverged in epoch %d: %s: lower the learning rate or lambda", e.Epoch+1, e.Reason)
}

// maxGrowth is how many times its first value a loss may reach before training counts
// as diverged. The swings of adversarial training stay far below it.
const maxGrowth = 1e4

// maxLoss is the class loss that counts as diverged in any epoch, also the first. That
// of a network with random weights is ln C on scaled rows, and some thousands on rows
// that are not.
const maxLoss = 1e8

// divergence says what broke down in an epoch, or "".
func (t *trainer) divergence(m EpochMetrics) string {
	for _, loss := range []struct {
		name  string
		value float64
	}{{"class loss", m.ClassLoss}, {"critic distance", m.CriticDistance}, {"gradient penalty", m.GradientPenalty}} {
		if loss.value-loss.value != 0 {
			return fmt.Sprintf("the %s is %g", loss.name, loss.value)
		}
	}
	for i, net := range t.all() {
		if !dense.Finite(net.Params) {
			return fmt.Sprintf("a weight of network %s is not finite", networkNames[i])
		}
	}
	if t.firstLoss == 0 {
		t.firstLoss = max(1, m.ClassLoss)
	}
	if m.ClassLoss > min(maxGrowth*t.firstLoss, maxLoss) {
		return fmt.Sprintf("the class loss exploded to %g", m.ClassLoss)
	}
	if m.GradientPenalty > maxGrowth {
		return fmt.Sprintf("the gradient penalty exploded to %g", m.GradientPenalty)
	}
	return ""
}

func (s sums) finite() bool {
	return dense.Finite([]float64{s.class, s.distance, s.penalty})
}
