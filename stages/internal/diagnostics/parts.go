package diagnostics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/algorithms/wasserstein"
)

// Thresholds beyond which a part of the diagnostics warns. docs/measured/diagnostics.md
// says what each rests on.
const (
	minSeparation    = 0.5  // of a matching
	minHeightGap     = 0.1  // of Ward's clusters
	maxAmbiguity     = 0.03 // of a Gaussian mixture
	maxWeight        = 10   // of a source row
	minEffectiveRows = 100  // of the weighted source
	maxLeft          = 1.2  // times the floor, of the distance after translation
	maxApart         = 2    // times the floor, of the distance in the latent space
)

// A Part of the diagnostics is what one step found out about itself.
type Part interface {
	Line() string       // for a person to read
	Warnings() []string // in words
}

// warned is the warnings of a part.
type warned struct {
	Words []string `json:"warnings"`
}

// Warnings are in words.
func (w *warned) Warnings() []string { return w.Words }

func (w *warned) warn(format string, values ...any) {
	w.Words = append(w.Words, fmt.Sprintf(format, values...))
}

// Clustering is about the target's components.
type Clustering struct {
	Method        string   `json:"method"`
	Counts        []int    `json:"counts"`                   // rows of each component
	LogLikelihood *float64 `json:"log_likelihood,omitempty"` // mean of a row; gmm
	Ambiguity     *float64 `json:"ambiguity,omitempty"`      // expected share of rows in the wrong component; gmm
	HardSoft      *float64 `json:"hard_soft,omitempty"`      // L1 distance of hard to soft proportions; gmm
	HeightGap     *float64 `json:"height_gap,omitempty"`     // of the merges kept and undone, 0 to 1; ward
	warned
}

// NewClustering is the part of a mixture that the named method has fitted.
func NewClustering(method string, r *mixture.Result) *Clustering {
	m := &Clustering{Method: method, Counts: r.Counts, warned: warned{append([]string{}, r.Warnings...)}}
	if tiny := r.Tiny(); tiny != nil {
		m.warn("%d of %d components have fewer than 10 rows: they may be a few outliers, while two classes share a component", len(tiny), r.K())
	}
	switch method {
	case "gmm":
		hardSoft := r.HardSoft()
		m.LogLikelihood, m.Ambiguity, m.HardSoft = &r.LogLikelihood, &r.Ambiguity, &hardSoft
		if r.Ambiguity > maxAmbiguity {
			m.warn("the components overlap: %.1f %% of the rows are expected in the wrong one (more than %g %%)", 100*r.Ambiguity, 100*maxAmbiguity)
		}
	case "ward":
		m.HeightGap = &r.HeightGap
		if r.HeightGap < minHeightGap {
			m.warn("the rows do not fall into %d clusters by themselves: the first merge undone is hardly higher than the last one kept (gap %.3f, less than %g)", r.K(), r.HeightGap, minHeightGap)
		}
	}
	return m
}

// Line says it in one line.
func (m *Clustering) Line() string {
	least, total := m.Counts[0], 0
	for _, n := range m.Counts {
		least, total = min(least, n), total+n
	}
	text := fmt.Sprintf("mixture: %d components of %d rows by %s, the smallest of %d", len(m.Counts), total, m.Method, least)
	if m.Ambiguity != nil {
		text += fmt.Sprintf("; log-likelihood %.4g, %.2g %% of the rows ambiguous", *m.LogLikelihood, 100**m.Ambiguity)
	}
	if m.HeightGap != nil {
		text += fmt.Sprintf("; height gap %.3f", *m.HeightGap)
	}
	return text
}

// Matching is about the matching of components with classes. All but the first two
// values are there only if it is one to one.
type Matching struct {
	Cost       string          `json:"cost"` // the distance by which it was made
	OneToOne   bool            `json:"one_to_one"`
	Best       *float64        `json:"best,omitempty"`       // cost of the matching, a class
	Second     *float64        `json:"second,omitempty"`     // of the second best
	Separation *float64        `json:"separation,omitempty"` // see transport.Check
	Exchanged  []string        `json:"exchanged,omitempty"`  // classes in which the second best differs
	Nearest    *int            `json:"nearest,omitempty"`    // classes whose component is the nearest
	Monotone   map[string]bool `json:"monotone,omitempty"`   // cyclically monotone, by the distance
	warned
}

// NewMatching is the part of a matching by the named cost; c is its check, nil
// if there is none.
func NewMatching(cost string, c *transport.Check, classes []string) *Matching {
	m := &Matching{Cost: cost, warned: warned{[]string{}}}
	if c == nil {
		return m
	}
	m.OneToOne, m.Best, m.Second, m.Separation, m.Nearest, m.Monotone = true, &c.Cost, &c.Second, &c.Separation, &c.Nearest, c.Monotone
	for _, k := range c.Exchanged {
		m.Exchanged = append(m.Exchanged, classes[k])
	}
	if c.Separation < minSeparation {
		m.warn("the matching is hardly better than the second best, which exchanges %s (separation %.3f, less than %g): in a study four of five such proportions were off by more than 0.2 in L1",
			quoted(m.Exchanged), c.Separation, minSeparation)
	}
	for _, name := range []string{transport.Means, transport.Distances, transport.Bures} {
		if holds, known := c.Monotone[name]; known && !holds {
			m.warn("the matching is not cyclically monotone under the cost %s, which another one is better by: in a study, nine of ten proportions that squared and plain distances did not agree on were off by more than 0.2 in L1", name)
		}
	}
	return m
}

// quoted lists at most five names.
func quoted(names []string) string {
	var text []string
	for i, name := range names {
		if i == 5 {
			text = append(text, "…")
			break
		}
		text = append(text, strconv.Quote(name))
	}
	return strings.Join(text, ", ")
}

// Line says it in one line.
func (m *Matching) Line() string {
	if !m.OneToOne {
		return fmt.Sprintf("matching by %s: shared out, not one to one", m.Cost)
	}
	var monotone []string
	for _, name := range []string{transport.Means, transport.Distances, transport.Bures} {
		if m.Monotone[name] {
			monotone = append(monotone, name)
		}
	}
	return fmt.Sprintf("matching by %s: cost %.4g, the second best %.4g (separation %.3f; exchanges %s); cyclically monotone under %s",
		m.Cost, *m.Best, *m.Second, *m.Separation, quoted(m.Exchanged), strings.Join(monotone, ", "))
}

// Weights is about the weights of the source's rows.
type Weights struct {
	Max           float64 `json:"max"`
	Class         string  `json:"class"` // that has it
	Rows          int     `json:"rows"`
	EffectiveRows float64 `json:"effective_rows"` // Kish's effective sample size
	warned
}

// NewWeights is the part of the weights of the classes, which have counts rows.
func NewWeights(classes []string, weights []float64, counts []int) *Weights {
	w := &Weights{EffectiveRows: labelshift.EffectiveRows(weights, counts), warned: warned{[]string{}}}
	for k, n := range counts {
		w.Rows += n
		if k == 0 || weights[k] > w.Max {
			w.Max, w.Class = weights[k], classes[k]
		}
	}
	if w.Max > maxWeight {
		w.warn("rows of class %q weigh %.1f each (more than %d): little of the source speaks for much of the target", w.Class, w.Max, maxWeight)
	}
	if w.EffectiveRows < minEffectiveRows {
		w.warn("the weighted source is worth %.0f rows (fewer than %d): an error rate measured on it has a standard error of up to %.2g",
			w.EffectiveRows, minEffectiveRows, 0.5/math.Sqrt(w.EffectiveRows))
	}
	return w
}

// Line says it in one line.
func (w *Weights) Line() string {
	return fmt.Sprintf("weights: at most %.3g (class %q); %d source rows are worth %.0f", w.Max, w.Class, w.Rows, w.EffectiveRows)
}

// Translation is how far the moved source is from the target, in the space of
// the standardised columns in which it was moved: the Wasserstein-1 distance of
// package gap, classes weighted to the estimated proportions.
type Translation struct {
	Before float64 `json:"before"` // of the source as it came
	After  float64 `json:"after"`  // of the moved source
	Floor  float64 `json:"floor"`  // of the target from itself
	Rows   int     `json:"rows"`   // that were compared
	warned
}

// NewTranslation is the part of the distances before and after.
func NewTranslation(before, after wasserstein.Distance) *Translation {
	t := &Translation{Before: before.Value, After: after.Value, Floor: after.Floor, Rows: after.Rows, warned: warned{[]string{}}}
	if ratio := after.Ratio(); ratio > maxLeft {
		t.warn("after translation the source is still %.2f times as far from the target as the target from itself (more than %g): classes have changed in ways that translation does not follow", ratio, maxLeft)
	}
	return t
}

// Line says it in one line.
func (t *Translation) Line() string {
	return fmt.Sprintf("translation: Wasserstein-1 distance from the target %.4g before, %.4g after, %.4g of the target from itself (%d rows)", t.Before, t.After, t.Floor, t.Rows)
}

// Bound is the terms of the paper's Theorem 1 that can be computed, for the
// source weighted to the estimated proportions (as it came, if there are none;
// as it was moved, if it was). The others are the error of the best
// classifier and of the labelling function, which nobody knows without the target's
// labels, and the Lipschitz constant K.
type Bound struct {
	// SourceError is the share of the source's rows, those of training, whose
	// class is not the most probable one; WeightedError weights them.
	SourceError   float64 `json:"source_error"`
	WeightedError float64 `json:"weighted_source_error"`
	// Distance is WD_1 of the weighted source from the target in the latent
	// space, exact for a sample of Rows rows, and Floor that of the target from
	// itself.
	Distance float64 `json:"wasserstein"`
	Floor    float64 `json:"wasserstein_floor"`
	Rows     int     `json:"rows"`
	// CriticDistance is the critic's dual value Σ w v(z^s) − mean v(z^t) over
	// the last epoch, where there is one. Its gradient penalty is soft and it
	// is trained on batches, so it bounds WD_1 from neither side.
	CriticDistance *float64 `json:"critic_distance,omitempty"`
	// MaxWeight is the greatest p_T/p_S, a lower bound of the theorem's
	// sup w·S for the source as it is; weighting makes it 1.
	MaxWeight float64 `json:"max_weight"`
	warned
}

// NewBound is the part of the distance, the other terms to be filled in.
func NewBound(d wasserstein.Distance) *Bound {
	b := &Bound{Distance: d.Value, Floor: d.Floor, Rows: d.Rows, warned: warned{[]string{}}}
	if ratio := d.Ratio(); ratio > maxApart {
		b.warn("in the latent space the weighted source is %.2f times as far from the target as the target from itself (more than %d): the domains are not aligned", ratio, maxApart)
	}
	return b
}

// Line says it in one line.
func (b *Bound) Line() string {
	text := fmt.Sprintf("Theorem 1: source error %.4f, weighted %.4f; Wasserstein-1 distance in the latent space %.4g, %.4g of the target from itself (%d rows); greatest weight %.3g",
		b.SourceError, b.WeightedError, b.Distance, b.Floor, b.Rows, b.MaxWeight)
	if b.CriticDistance != nil {
		text += fmt.Sprintf("; critic's value %.4g", *b.CriticDistance)
	}
	return text
}
