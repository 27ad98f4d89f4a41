package rows

import (
	"encoding/json"
	"fmt"
	"slices"

	"mars/stages"
	"mars/stages/reweight/labelshift"
)

// Diagnostics is what the stream's metadata say of an estimate of p_T, under
// mars.diagnostics.
type Diagnostics struct {
	Estimator string `json:"estimator"`
	// Estimators are the proportions by each member of the panel; they and the
	// next three are there if it was asked.
	Estimators    map[string][]float64 `json:"estimators,omitempty"`
	ExpectedError *float64             `json:"expected_error,omitempty"` // in L1, 0 to 2
	Disagreement  *float64             `json:"disagreement,omitempty"`   // mean L1 distance, 0 to 2
	Alignment     *float64             `json:"alignment,omitempty"`      // L1 distance after alignment of the domains
	Warnings      []string             `json:"warnings"`
}

// Consult asks a panel, and how far off its proportions may be.
func Consult(p labelshift.Problem, train labelshift.Classifier, o labelshift.MTEOptions) (*labelshift.Estimate, *Diagnostics, error) {
	panel, err := labelshift.Consult(p, train, o)
	if err != nil {
		return nil, nil, err
	}
	v, err := panel.Interval(labelshift.IntervalOptions{Seed: o.Seed})
	if err != nil {
		return nil, nil, err
	}
	return panel.Members[0], &Diagnostics{Estimator: "auto", Estimators: panel.Opinions(), ExpectedError: &v.ExpectedError,
		Disagreement: &panel.Disagreement, Alignment: &panel.Alignment, Warnings: slices.Concat(v.Doubts(), panel.Warnings)}, nil
}

// Log tells the user.
func (d *Diagnostics) Log(env stages.Env) {
	if d.ExpectedError != nil {
		env.Logger().Info(fmt.Sprintf("the proportions are expected to be off by %.3f in L1; above %.1f they are not to be believed", *d.ExpectedError, labelshift.Threshold))
	}
	for _, warning := range d.Warnings {
		env.Logger().Warn(warning)
	}
}

// JSON is the metadata's value; nil of nil.
func (d *Diagnostics) JSON() json.RawMessage {
	if d == nil {
		return nil
	}
	said := *d
	said.Warnings = append([]string{}, d.Warnings...)
	text, err := json.Marshal(said)
	if err != nil { // only a proportion that is NaN or infinite
		panic("rows: diagnostics: " + err.Error())
	}
	return text
}
