package label

import "strings"

// Typical is a row that is typical of its class: of all with the label that of the highest product of
// confidence and typicality, the first of equals.
type Typical struct {
	Row
	Typicality float64 // 1 where it is not known
}

// exemplify keeps a row if it is the most typical of its class so far. Of very many classes of wide rows
// none are kept, and none of rows that are like none of the source.
func (t *Tally) exemplify(label string, confidence, typicality float64, about func() Row) {
	if !t.looked || t.Labels.Unknown > 0 && label == Unknown || len(t.Labels.classes)*t.values.width() > mostKept {
		return
	}
	class := t.classes[label]
	if best := class.typical; best != nil && confidence*typicality <= best.Confidence*best.Typicality {
		return
	}
	row := about()
	row.ID, row.Label, row.Confidence = strings.Clone(row.ID), strings.Clone(label), confidence
	class.typical = &Typical{row, typicality}
}

// Typical are rows that are typical of a class each, that of the most rows first.
func (t *Tally) Typical() (rows []Typical) {
	for _, name := range t.byRows() {
		if row := t.classes[name].typical; row != nil {
			rows = append(rows, *row)
		}
	}
	return rows
}

// Judged reports whether it is known how typical rows are.
func (t *Tally) Judged() bool { return t.judged }
