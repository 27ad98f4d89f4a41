package diagnostics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Thresholds beyond which an answer under several assumptions warns.
const (
	minExpectedAccuracy = 0.6
	maxAbsent           = 0.01 // upper bound of the share of a class that may be absent
	absentShare         = 1e-3 // its share, at most
	maxAbsentPart       = 0.5  // of an even share, beside which maxAbsent is much where classes are many
	maxUntypical        = 0.15 // share of untypical rows; a twentieth is expected
	maxNew              = 0.05 // share of rows of no class of the source, if these have stayed
	mostWeight          = 0.5  // from which on they are said to have stayed
	leastReason         = 0.5  // what a sign adds to the logarithm of a weight, so that it is named
	maxReasons          = 2
	minShown            = 0.02 // weight of a view that is shown in a line
	maxMissing          = 0.05 // share of rows without any value
)

// Hedge is about the assumptions that an answer is the mean of.
type Hedge struct {
	Views            []hedge.View `json:"views"`
	ExpectedAccuracy float64      `json:"expected_accuracy"` // of labels, 0 to 1
	// Untypical is the share of target rows whose typicality is below 0.05, which a
	// twentieth of known rows have.
	Untypical float64 `json:"untypical"`
	// Missing is the share of target rows that have no value at all, and Unknown how much of what
	// could be known of the target is not: hedge.Evidence.
	Missing float64 `json:"missing,omitempty"`
	Unknown float64 `json:"unknown,omitempty"`
	// Problem is what is seen of the source and the target, by which the views are weighed.
	Problem gate.Problem `json:"signs"`
	// Why are the signs that speak most for the heaviest view, in words: nil of models of versions
	// that did not keep them.
	Why []string `json:"why,omitempty"`
	// Noise is what the target has and the source was given; nil if there is none.
	Noise *hedge.Noise `json:"noise,omitempty"`
	// Left are labelled batches that were left out; nil where nobody says which rows are of one.
	Left []hedge.Left `json:"batches,omitempty"`
	warned
}

// OfHedge is what an answer under several assumptions says of itself.
func OfHedge(m *hedge.Model) *Diagnostics {
	d := &Diagnostics{Estimator: hedge.Method, Estimators: map[string][]float64{}, ExpectedError: &m.Evidence.ExpectedError,
		Hedge: &Hedge{Views: m.Views, ExpectedAccuracy: m.Evidence.ExpectedAccuracy, Untypical: m.Evidence.Untypical, Missing: m.Evidence.Missing, Unknown: m.Evidence.Unknown, Problem: m.Problem, Why: why(m), Noise: m.Noise, Left: m.Left}}
	for _, v := range m.Views {
		d.Estimators[v.Name] = v.Proportions
	}
	h := d.Hedge
	h.Words = append(h.Words, m.Warnings...)
	if h.Missing > 0 {
		h.Words = append(h.Words, MissingRows(h.Missing))
	}
	switch far := 100 * m.Problem.Novelty; {
	case m.Strange():
		h.warn("the target lies farther from the source's rows than any that was learnt from (%.0f %% of its rows are farther off than nearly all of the source's): nothing is known of their classes", far)
	case m.Far():
		h.warn("%.0f %% of the target's rows lie where the source has none: the classes are taken to have moved there without changing places, which only labels can show", far)
	}
	if doubt := labelshift.Doubt(m.Evidence.ExpectedError); doubt != "" {
		h.Words = append(h.Words, doubt)
	}
	if a := m.Evidence.ExpectedAccuracy; a < minExpectedAccuracy {
		h.warn("only %.0f %% of the labels are expected to be right: check some of them before relying on them", 100*a)
	}
	switch u := h.Untypical; {
	case h.Stayed() && h.Problem.New > maxNew:
		h.warn("%.0f %% of the target's rows seem to be of no class of the source, and are counted as one of them: mars label --unknown marks such rows", 100*h.Problem.New)
	case u > maxUntypical:
		h.Words = append(h.Words, UntypicalRows(u))
	}
	if m.Interval != nil {
		h.warnAbsent(m)
	}
	return d
}

// warnAbsent warns of classes whose greatest share is next to nothing: beside that of an even class
// too, of which 50 and more have so little.
func (h *Hedge) warnAbsent(m *hedge.Model) {
	lower, upper := m.Interval.Lower, m.Interval.Upper
	even := 1 / float64(len(m.Classes))
	var absent []int
	var names []string
	most := 0.0
	for k, class := range m.Classes {
		if upper[k] < min(maxAbsent, maxAbsentPart*even) && lower[k] == 0 && m.Proportions[k] < absentShare {
			absent, names, most = append(absent, k), append(names, class), max(most, upper[k])
		}
	}
	if len(absent) > spelling.MaxNamed {
		h.warn("%d classes seem to be absent from the target, with shares of at most %.2g %%: %s", len(absent), 100*most, spelling.List(names))
		return
	}
	for i, k := range absent {
		h.warn("class %s seems to be absent from the target: its share is at most %.1f %%", names[i], 100*upper[k])
	}
}

// Stayed reports whether what counts most is that the classes have stayed where they are.
func (h *Hedge) Stayed() bool { return hedge.Unmoved(h.Views) >= mostWeight }

// MissingRows says what a share of target rows without any value means for the answer.
func MissingRows(share float64) string {
	return fmt.Sprintf("%.1f %% of the target's rows have no value at all: the shares are those of the others, as if values were missing in all classes alike, and the intervals hold whatever class such rows are of", 100*share)
}

// UntypicalRows says what a share of target rows that are untypical of their class means; "" where it
// means nothing.
func UntypicalRows(share float64) string {
	if share <= maxUntypical {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the target's rows are unlike the source's rows of their class (%.0f %% would be if nothing is new): the target may have a class that the source lacks; mars label --unknown marks such rows", 100*share, 100*hedge.UntypicalRate)
}

// Signs are what a verdict rests on.
func (h *Hedge) Signs(expectedError float64, warned bool) Signs {
	return Signs{ExpectedError: expectedError, Accuracy: 1, Warned: warned,
		Against: h.Unknown >= 0.5 || h.Missing > maxMissing || h.Stayed() && h.Problem.New > maxNew || h.Untypical > maxUntypical}
}

// Assumption says in words what a view assumes.
func Assumption(view string) string { return gate.Of(view).Words }

// An Assumed is an assumption with what it counts for.
type Assumed struct {
	Name, Words string
	Weight      float64
	Apart       float64 // how well trees tell the target's rows from those it expects: 0 not at all, 1 always
}

// Assumed are the assumptions, the heaviest first.
func (h *Hedge) Assumed() (all []Assumed) {
	for _, v := range h.ByWeight() {
		all = append(all, Assumed{v.Name, Assumption(v.Name), v.Weight, Apart(v)})
	}
	return all
}

// ByWeight returns the views, the heaviest first.
func (h *Hedge) ByWeight() []hedge.View {
	views := slices.Clone(h.Views)
	slices.SortStableFunc(views, func(a, b hedge.View) int { return cmp.Compare(b.Weight, a.Weight) })
	return views
}

// Noisy says in words that the source was given the target's noise; "" if it was not.
func (h *Hedge) Noisy() string {
	if h.Noise == nil {
		return ""
	}
	return fmt.Sprintf("The target has noise in %s that the source has not, at most %.1f times the deviation within a class: the source was given the same noise",
		spelling.Count(h.Noise.Columns, "column", "columns"), h.Noise.Ratio)
}

// Apart is how well boosted trees tell the target's rows from those that a view expects: 0 if they
// do not, and 1 if they always do.
func Apart(v hedge.View) float64 { return max(0, 2*v.Apart-1) }

// why says what speaks most for the heaviest view, where others have weight beside it.
func why(m *hedge.Model) (said []string) {
	heaviest := 0
	for i, v := range m.Views {
		if v.Weight > m.Views[heaviest].Weight {
			heaviest = i
		}
	}
	if m.Views[heaviest].Weight == 1 {
		return nil
	}
	for _, r := range m.Why(heaviest) {
		if r.Value >= leastReason && len(said) < maxReasons {
			said = append(said, r.Text)
		}
	}
	return said
}

// Because says in words what speaks most for what counts most; "" if nothing does.
func (h *Hedge) Because() string {
	if len(h.Why) == 0 {
		return ""
	}
	return fmt.Sprintf("What speaks most for it that %s: %s", Assumption(h.ByWeight()[0].Name), strings.Join(h.Why, ", and "))
}

// Line says it in one line.
func (h *Hedge) Line() string {
	var parts []string
	for _, v := range h.ByWeight() {
		if v.Weight >= minShown {
			parts = append(parts, fmt.Sprintf("%s (weight %.2f)", Assumption(v.Name), v.Weight))
		}
	}
	why := ""
	if n := h.Noisy(); n != "" {
		why = ". " + n
	}
	if because := h.Because(); because != "" {
		why += ". " + because
	}
	if experience := h.Experience(); experience != "" {
		why += ". " + experience
	}
	return fmt.Sprintf("assumed: %s%s. %.0f %% of the labels are expected to be right; %.0f %% of the rows are untypical of their class (%.0f %% would be if nothing is new)",
		strings.Join(parts, "; "), why, 100*h.ExpectedAccuracy, 100*h.Untypical, 100*hedge.UntypicalRate)
}
