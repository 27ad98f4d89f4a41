package eval

import (
	"context"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/survey"
	"mars.dev/mars/tables/write"
)

// Metrics compare predicted with true classes; the names are scikit-learn's.
type Metrics struct {
	Classes          []string   `json:"classes"`
	N                int        `json:"n"`                 // rows with a known truth
	Accuracy         float64    `json:"accuracy"`          // share of rows predicted right
	BalancedAccuracy float64    `json:"balanced_accuracy"` // mean recall of the classes that have rows
	Recall           []*float64 `json:"recall"`            // share of a class' rows predicted right; null if it has none
	Confusion        [][]int    `json:"confusion_matrix"`  // rows: true class, columns: predicted class

	// Survey says how sure the predictions are, how often those of a confidence are right, and
	// which are most in doubt; nil without posteriors.
	Survey *Survey `json:"confidence,omitempty"`

	Proportions   *Proportions `json:"proportions,omitempty"`
	ProportionsL1 *float64     `json:"proportions_l1,omitempty"` // Σ |estimated − true|, 0 to 2

	// Diagnostics are what the stages before said of themselves; they know no truth.
	Diagnostics *diagnostics.Diagnostics `json:"diagnostics,omitempty"`
	// Scores are those that know no truth either; nil unless asked for.
	Scores *Scores `json:"label_free,omitempty"`
	// Selection is what the last stage that chose its settings chose from; nil if none did.
	Selection *arrowio.Selection `json:"selection,omitempty"`
}

// Survey is a count of predictions by their confidence.
type Survey = survey.Survey

// SurveyRow is a label in doubt.
type SurveyRow = survey.Row

// Proportions are shares of the classes.
type Proportions struct {
	Source    []float64 `json:"source,omitempty"`
	Estimated []float64 `json:"estimated"`
	True      []float64 `json:"true"`
}

// newMetrics summarises a confusion matrix (C×C, true by predicted class) of at least a row.
func newMetrics(classes []string, confusion [][]int) *Metrics {
	m := &Metrics{Classes: classes, Confusion: confusion, Recall: make([]*float64, len(classes))}
	right, present, sum := 0, 0, 0.0
	for k, row := range confusion {
		n := 0
		for _, c := range row {
			n += c
		}
		m.N += n
		right += row[k]
		if n > 0 {
			recall := float64(row[k]) / float64(n)
			m.Recall[k] = &recall
			sum += recall
			present++
		}
	}
	m.Accuracy = float64(right) / float64(m.N)
	m.BalancedAccuracy = sum / float64(present)
	return m
}

// Save writes m to a file: as JSON whole, and in the other formats a row a class, with its
// rows, its recall and, where they are known, its shares. It does not write Arrow.
func (m *Metrics) Save(ctx context.Context, path string, f write.Format) error {
	return write.SaveReport(ctx, path, f, m.WriteJSON, m.record)
}

// WriteJSON writes m as one object.
func (m *Metrics) WriteJSON(w io.Writer) error { return write.Object(w, m) }

// record is a row a class.
func (m *Metrics) record() (arrow.Record, error) {
	rows := make([]int64, len(m.Classes))
	for k := range m.Classes {
		rows[k] = int64(sum(m.Confusion[k]))
	}
	var t arrowio.Table
	t.Add("class", arrowio.NewStringArray(m.Classes))
	t.Add("rows", arrowio.NewInt64Array(rows))
	t.AddNullable("recall", arrowio.NewDoublesOrNull(m.Recall))
	if p := m.Proportions; p != nil {
		for _, shares := range []struct {
			name   string
			values []float64
		}{{"source", p.Source}, {"estimated", p.Estimated}, {"true", p.True}} {
			if shares.values != nil {
				t.Add(shares.name, arrowio.NewDoubleArray(shares.values))
			}
		}
	}
	return t.Record(arrowio.Meta{}), nil
}

// trueProportions are the shares of the true classes.
func (m *Metrics) trueProportions() []float64 {
	p := make([]float64, len(m.Classes))
	for k, row := range m.Confusion {
		for _, c := range row {
			p[k] += float64(c) / float64(m.N)
		}
	}
	return p
}

// setProportions puts estimated proportions beside the true ones.
func (m *Metrics) setProportions(source, estimated []float64) {
	m.Proportions = &Proportions{Source: source, Estimated: estimated, True: m.trueProportions()}
	l1 := 0.0
	for k, p := range estimated {
		l1 += math.Abs(p - m.Proportions.True[k])
	}
	m.ProportionsL1 = &l1
}
