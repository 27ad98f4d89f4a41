package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/accuracy"
	"mars.dev/mars/stages/internal/diagnostics"
)

// A Figure is what is expected of a window, or was of the reference. Values that cannot be said
// are nil.
type Figure struct {
	Name      string   `json:"name"`
	Value     *float64 `json:"value"`
	Lower     *float64 `json:"lower"`
	Upper     *float64 `json:"upper"`
	Reference *float64 `json:"reference,omitempty"`
	Change    *float64 `json:"change,omitempty"` // since the reference
}

// A Window is what is known of one.
type Window struct {
	Window   int    `json:"window"` // number, from 1
	Start    string `json:"start"`  // a time, or the number of its first row
	End      string `json:"end"`    // a time that is not in the window, or the number of its last row
	Complete bool   `json:"complete"`
	Counts   Counts `json:"rows"`
	// Figures are in the order of the reference's.
	Figures []Figure `json:"figures"`
	// Error is how far off the accuracy is expected to be, from 0 to 1.
	Error *float64 `json:"expected_error"`
	// Shares are those of the classes, as the assumptions are weighed.
	Shares []float64 `json:"shares"`
	// Assumptions are those that the figures rest on, with weights that add up to 1, and Rests the one
	// that counts most, in words.
	Assumptions []Assumption `json:"assumptions"`
	Rests       string       `json:"rests_on"`
	// Moved is the share of rows that would have to be elsewhere for the window to be as the
	// reference, and Unexplained the same once its classes have new proportions.
	Moved       float64             `json:"moved"`
	Unexplained float64             `json:"unexplained"`
	Verdict     diagnostics.Verdict `json:"verdict"`
	Sentence    string              `json:"sentence"`
	Warnings    []string            `json:"warnings"`
	// Alarm is true if the accuracy is below Options.Alert, as far as the interval can tell.
	Alarm bool `json:"alarm"`
	// Labelled is there if a person has labelled some rows: the accuracy and the verdict are then by these.
	Labelled *Labelled `json:"labelled,omitempty"`

	estimate *accuracy.Estimate
}

// Counts are numbers of rows of a window: all, those that the figures are made from, those without a
// prediction, and those whose predicted class the reference lacks.
type Counts struct {
	All     int64 `json:"all"`
	Used    int64 `json:"used"`
	Empty   int64 `json:"empty"`
	Unknown int64 `json:"unknown"`
	// Of a stream, since the window before, those of windows that were closed, and those that cannot be read. Both
	// are in no window.
	Late int64 `json:"late,omitempty"`
	Bad  int64 `json:"bad,omitempty"`
}

// An Assumption about what has changed since the reference, and the accuracy under it.
type Assumption struct {
	Name     string  `json:"name"`
	Weight   float64 `json:"weight"`
	Accuracy float64 `json:"accuracy"`
}

// names are those of the figures of some classes.
func names(classes []string) []string {
	all := make([]string, accuracy.Count(len(classes)))
	all[accuracy.Accuracy], all[accuracy.Balanced], all[accuracy.LogLoss], all[accuracy.AUC] = "accuracy", "balanced_accuracy", "log_loss", "auc"
	for k, class := range classes {
		all[accuracy.F1(k)] = "f1_" + class
	}
	if len(classes) == 2 {
		for k, truth := range classes {
			for j, said := range classes {
				all[accuracy.Confusion(k, j)] = "true_" + truth + "_predicted_" + said
			}
		}
	}
	return all
}

// number is nil for what is none.
func number(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// figures are those of values with intervals, and those of the reference beside them.
func figures(names []string, values accuracy.Figures, v accuracy.Interval, reference accuracy.Figures) []Figure {
	all := make([]Figure, len(names))
	for j, name := range names {
		f := Figure{Name: name}
		if values != nil {
			f.Value, f.Lower, f.Upper = number(values[j]), number(v.Lower[j]), number(v.Upper[j])
		}
		if reference != nil {
			f.Reference = number(reference[j])
			if f.Value != nil && f.Reference != nil {
				f.Change = number(*f.Value - *f.Reference)
			}
		}
		all[j] = f
	}
	return all
}

func (c *checker) newWindow(p *pane, complete bool) *Window {
	w := &Window{Window: c.state.Written, Complete: complete, Warnings: []string{}, Assumptions: []Assumption{},
		Counts: Counts{All: p.Kept.Rows + p.Empty + p.Unknown, Used: int64(len(p.Kept.Keys)), Empty: p.Empty, Unknown: p.Unknown, Late: c.state.Late, Bad: c.state.Bad}}
	w.Start, w.End = c.place(p)
	if c.tooFew(p) {
		w.Warnings = append(w.Warnings, fmt.Sprintf("there are fewer than %d rows, too few to judge by their columns: the figures are by the predictions alone", leastJudged))
	}
	w.Figures = figures(names(c.classes.names), nil, accuracy.Interval{}, c.reference.Figures)
	return w
}

// fill takes what was estimated.
func (w *Window) fill(c *checker, e *accuracy.Estimate) {
	w.estimate = e
	w.Figures = figures(names(c.classes.names), e.Figures, e.Interval, c.reference.Figures)
	w.Error, w.Shares, w.Moved, w.Unexplained = number(e.Error), e.Proportions, e.Moved, e.Unexplained
	w.Assumptions = []Assumption{}
	for _, a := range e.Assumptions {
		w.Assumptions = append(w.Assumptions, Assumption{a.Name, a.Weight, a.Figures[accuracy.Accuracy]})
	}
	w.Rests = words[e.Leading().Name]
}

// words say what the assumptions are.
var words = map[string]string{
	accuracy.Same:    "predictions mean what they meant in the reference",
	accuracy.Balance: "only the proportions of the classes have changed (label shift)",
	accuracy.Columns: "the rows are of the classes that mars label gives them by their columns",
}

// Believed reports whether the figures can be believed, with care at least.
func (w *Window) Believed() bool {
	return w.Verdict == diagnostics.Believe || w.Verdict == diagnostics.Care
}

// Accuracy is the first figure.
func (w *Window) Accuracy() Figure { return w.Figures[accuracy.Accuracy] }

const (
	// mostUnexplained is the share of rows elsewhere, by no new proportions, without a warning, and
	// mostUnknown that of rows without a prediction, or of a class that the reference lacks, up to
	// which they do not speak against the figures.
	mostUnexplained = 0.03
	mostUnknown     = 0.05
	// mostShift is by how much proportions may be new, as half the L1 distance, without a warning: those of
	// classes that have changed places are.
	mostShift = 0.25
	// fewRows are so few rows of the reference that a warning says so.
	fewRows = 100
)

// judge says whether to believe a window.
func (w *Window) judge(r *Report) {
	left := float64(w.Counts.Empty+w.Counts.Unknown) / float64(max(w.Counts.All, 1))
	warn := func(format string, values ...any) { w.Warnings = append(w.Warnings, fmt.Sprintf(format, values...)) }
	if w.Counts.Empty > 0 {
		warn("%s no prediction: the figures are those of the others", spelling.Count(w.Counts.Empty, "row has", "rows have"))
	}
	if w.Counts.Unknown > 0 {
		warn("%s of a class that the reference lacks: how right they are is not known", spelling.Count(w.Counts.Unknown, "prediction is", "predictions are"))
	}
	if w.Unexplained > mostUnexplained {
		warn("the predictions are not spread as in the reference, and no new proportions of the classes explain it (%.0f of 100 rows would have to be elsewhere): the classes may look otherwise now", 100*w.Unexplained)
	}
	if shift := w.shift(r); shift > mostShift {
		warn("the proportions of the classes seem to be very different from the reference's (%.0f of 100 rows), which classes that have changed places look like too", 100*shift)
	}
	if r.Rows < fewRows {
		warn("the reference has %s", spelling.Count(r.Rows, "row", "rows"))
	}
	expected := 1.0
	if w.Error != nil {
		expected = min(*w.Error+left, 1)
	}
	signs := diagnostics.Signs{ExpectedError: 2 * expected, Accuracy: 1, Against: left > mostUnknown, Warned: len(w.Warnings) > 0}
	w.Verdict = diagnostics.Judge(signs)
	about := fmt.Sprintf("the accuracy is expected to be off by %.1f points", 100*expected)
	if w.Error == nil {
		about = "no row has a prediction that the reference has"
	}
	w.Sentence = signs.Sentence("figures", about)
	upper := w.Accuracy().Upper
	w.Alarm = r.alert > 0 && upper != nil && *upper < r.alert
}

// shift is how far the shares of the classes are from the reference's.
func (w *Window) shift(r *Report) (sum float64) {
	for k, p := range w.Shares {
		sum += math.Abs(p-r.Shares[k]) / 2
	}
	return sum
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
