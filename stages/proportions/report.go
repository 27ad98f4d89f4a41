package proportions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/tables/write"
)

// Report is the answer. Slices have a value a class, in the order of Classes.
type Report struct {
	Classes     []string `json:"classes"`
	Proportions struct {
		Source    []float64 `json:"source"`
		Estimated []float64 `json:"estimated"`
		True      []float64 `json:"true,omitempty"`
	} `json:"proportions"`
	TargetRows int      `json:"target_rows"`
	Method     string   `json:"method"` // one of Methods but "auto"
	Interval   Interval `json:"interval"`
	// Estimators are the proportions by estimator. Of the method hedge they are those by
	// assumption. Of mte they are the panel's (mte, which is the estimate, adapt, refit,
	// cc), aligned, which is mte after the domains have been given the same mean and
	// covariance, and those of askOthers.
	Estimators map[string][]float64 `json:"estimators"`
	// ExpectedError is the L1 error, 0 to 2, that is expected. Disagreement is the mean
	// L1 distance of mte to adapt and refit; Alignment is that to aligned.
	ExpectedError float64 `json:"expected_error"`
	Disagreement  float64 `json:"disagreement,omitempty"`
	Alignment     float64 `json:"alignment,omitempty"`
	// Verdict says in words whether to believe the estimate, Judgement in one word of the scale
	// (believe, care, unjudged, doubt), Grounds why, and Advice what to do next.
	Verdict   string              `json:"verdict"`
	Judgement diagnostics.Verdict `json:"judgement,omitempty"`
	Grounds   string              `json:"grounds,omitempty"`
	Advice    string              `json:"advice"`
	Warnings  []string            `json:"warnings"`
	// Next is the command that comes next, for the shell, which who asked fills in: it draws rows to
	// label where the answer is Doubtful. "" is none. It is for who reads the report now: what is kept
	// says the same wherever the rows were.
	Next string `json:"-"`
	// Diagnostics are what else there is to say of the estimates.
	Diagnostics *Diagnostics `json:"diagnostics"`
	// L1 is the L1 error, where the truth is known; L1s those of all estimators, and of
	// the source's own proportions as "source".
	L1  *float64           `json:"proportions_l1,omitempty"`
	L1s map[string]float64 `json:"estimators_l1,omitempty"`

	// Levels are the shares of the classes of all levels, the coarsest first; nil if there is one level.
	Levels []LevelShares `json:"levels,omitempty"`

	// Labelled is there if a person has labelled some target rows: the estimate, the interval and
	// the verdict are then by these.
	Labelled *Labelled `json:"labelled,omitempty"`

	// EveryRow is there if the answer is of all rows, by sums, and not of a sample.
	EveryRow *EveryRow `json:"every_row,omitempty"`

	tree     *levels.Tree       // of the classes; nil if there is one level
	bounds   []levelBounds      // of its coarser levels
	model    *hedge.Model       // of the method hedge
	evidence *labelled.Evidence // of labelled rows; nil if there are none
	doubts   []string           // what was said against the rows before
	steps    []arrowio.Step     // that led to the rows
}

// Interval bounds each share with a probability of Level, and all together.
type Interval struct {
	Level  float64   `json:"level"`
	Lower  []float64 `json:"lower"`
	Upper  []float64 `json:"upper"`
	Region *Region   `json:"region,omitempty"` // of mte
}

// Region is the ellipsoid of labelshift.Region: proportions are in it if their
// log-ratios log(p_k/p_reference), k in Classes, are within Radius of Mean in
// Mahalanobis distance under Covariance. Shares below Least count as Least.
type Region struct {
	Reference  int         `json:"reference"`
	Classes    []int       `json:"classes"`
	Mean       []float64   `json:"mean"`
	Covariance [][]float64 `json:"covariance"`
	Radius     float64     `json:"radius"`
	Least      float64     `json:"least"`
}

func newReport(classes []string, source []float64, e *labelshift.Result) *Report {
	panel, v := e.Panel, e.Interval
	r := &Report{Classes: classes, Method: "mte", Estimators: panel.Estimates(), ExpectedError: v.ExpectedError, Disagreement: panel.Disagreement, Alignment: panel.Alignment,
		Interval: Interval{Level: v.Level, Lower: v.Lower, Upper: v.Upper, Region: newRegion(v.Region)},
		Warnings: append([]string{}, e.Warnings...)}
	r.Proportions.Source, r.Proportions.Estimated = source, e.Proportions
	for _, g := range v.Groups {
		r.bounds = append(r.bounds, levelBounds{Lower: g.Lower, Upper: g.Upper})
	}
	return r
}

func newRegion(v *labelshift.Region) *Region {
	r := &Region{Reference: v.Reference, Classes: v.Classes, Mean: v.Mean, Radius: v.Radius, Least: v.Least}
	for i := range v.Mean {
		row := make([]float64, len(v.Mean))
		for j := range row {
			row[j] = v.Covariance.At(i, j)
		}
		r.Covariance = append(r.Covariance, row)
	}
	return r
}

// counts is the number of target rows that the estimate gives each class: whole numbers
// that add up, by largest remainders.
func (r *Report) counts() []float64 {
	rows, order, left := make([]float64, len(r.Classes)), make([]int, len(r.Classes)), float64(r.TargetRows)
	remainder := func(k int) float64 { return r.Proportions.Estimated[k]*float64(r.TargetRows) - rows[k] }
	for k, p := range r.Proportions.Estimated {
		rows[k], order[k] = math.Floor(p*float64(r.TargetRows)), k
		left -= rows[k]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder(b), remainder(a)) })
	for _, k := range order[:min(max(int(left), 0), len(order))] {
		rows[k]++
	}
	return rows
}

// Listed are the classes in the order in which a person reads them: of more than
// spelling.MaxListed that of the largest share first.
func (r *Report) Listed() []int {
	return byShare(r.Proportions.Estimated, len(r.Classes) > spelling.MaxListed)
}

// Assumed is an assumption with what it counts for.
type Assumed = diagnostics.Assumed

// Weights are what each of the estimators counts for: all alike where nobody weighs them.
func (r *Report) Weights() map[string]float64 {
	weights := map[string]float64{}
	for name := range r.Estimators {
		weights[name] = 1
	}
	if r.Diagnostics != nil && r.Diagnostics.Hedge != nil {
		for _, v := range r.Diagnostics.Hedge.Views {
			weights[v.Name] = v.Weight
		}
	}
	return weights
}

// maxSaid is how many classes a sentence has.
const maxSaid = 6

// Sentence says the shares in a sentence, the largest first.
func (r *Report) Sentence() string {
	shares, order := r.Proportions.Estimated, r.Listed()
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	var parts []string
	for _, k := range order[:min(maxSaid, len(order))] {
		parts = append(parts, fmt.Sprintf("%.1f %% are %s (%.1f–%.1f %%)", 100*shares[k], r.Classes[k], 100*r.Interval.Lower[k], 100*r.Interval.Upper[k]))
	}
	if more := len(order) - maxSaid; more > 0 {
		parts = append(parts, spelling.Count(more, "more class", "more classes"))
	}
	return fmt.Sprintf("Of %s, %s.", spelling.Count(r.TargetRows, "target row", "target rows"), strings.Join(parts, ", "))
}

// order is the estimators besides mte in the order in which they are shown.
func (r *Report) order() []string {
	names := slices.Sorted(maps.Keys(r.Estimators))
	return slices.DeleteFunc(names, func(name string) bool { return name == "mte" })
}

// MarshalJSON adds rows, the target rows that the estimate gives each class.
func (r *Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(struct {
		*plain
		Rows []float64 `json:"rows"`
	}{(*plain)(r), r.counts()})
}

// WriteJSON writes the report as one object.
func (r *Report) WriteJSON(w io.Writer) error { return write.Object(w, r) }

// record makes a record with the report in its metadata.
func (r *Report) record(env stages.Env, t *arrowio.Table) (arrow.Record, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	meta := arrowio.Meta{Classes: r.Classes, Levels: r.tree.Text(), SourceProportions: r.Proportions.Source, TargetProportions: r.Proportions.Estimated,
		Diagnostics: text, Provenance: arrowio.WithStep(r.steps, env.Step)}
	return t.Record(meta), nil
}
