package rows

import (
	"encoding/json"
	"fmt"

	"mars/stages"
	"mars/stages/reweight/labelshift"
)

// Diagnostics is what the stream's metadata say of an estimate of p_T, under
// mars.diagnostics.
type Diagnostics struct {
	Estimator string `json:"estimator"`
	// Estimators are the proportions by each member of the panel; they and the
	// next two are there if it was asked.
	Estimators   map[string][]float64 `json:"estimators,omitempty"`
	Disagreement *float64             `json:"disagreement,omitempty"` // mean L1 distance, 0 to 2
	Alignment    *float64             `json:"alignment,omitempty"`    // L1 distance after alignment of the domains
	Warnings     []string             `json:"warnings"`
}

// PanelDiagnostics is what a panel says.
func PanelDiagnostics(estimator string, p *labelshift.Panel) *Diagnostics {
	return &Diagnostics{Estimator: estimator, Estimators: p.Opinions(), Disagreement: &p.Disagreement, Alignment: &p.Alignment, Warnings: p.Warnings}
}

// Log tells the user.
func (d *Diagnostics) Log(env stages.Env) {
	if d.Disagreement != nil {
		env.Logger().Info(fmt.Sprintf("four estimators disagree by %.3f in L1; above %.1f the proportions are not to be believed", *d.Disagreement, labelshift.Threshold))
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
