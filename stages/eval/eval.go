// Package eval compares the predictions and the estimated proportions of a
// stream with the truth, where its target rows have one.
//
// Columns read: truth and prediction, or predicted_class where that is missing, and domain, label and weight where they
// are there. No stage before learns from truth; mars-reweight --estimator oracle
// and mars proportions --truth read it too, when a user asks for that.
package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// Evaluate reads all of in, in constant memory.
func Evaluate(ctx context.Context, env stages.Env, in arrowio.Stream) (*Metrics, error) {
	r := &stream.Rows{Env: env, Stream: in}
	c := &r.Columns
	if c.Prediction == arrowio.DefaultColumns().Prediction && !r.Has(c.Prediction) && r.Has(c.PredictedClass) {
		c.Prediction = c.PredictedClass // which is all that mars label writes
	}
	if err := r.Require("ask for it with mars-featurize --truth", c.Truth); err != nil {
		return nil, err
	}
	if err := r.Require("run mars label, mars-train or mars-predict before, or name a column of classes with --prediction", c.Prediction); err != nil {
		return nil, err
	}
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	t := tally{Rows: r, classes: meta.Classes}
	if err := r.Each(ctx, t.add); err != nil {
		return nil, err
	}
	return t.metrics(meta)
}

// tally counts (true, predicted) pairs of target rows and, to know p_S and p_T
// where the metadata were dropped, labels and weights of source rows.
type tally struct {
	*stream.Rows
	classes []string // nil: numbered as they come
	counts  map[[2]int32]int
	largest int32
	labels  map[int32]int
	weights map[int32]float64
	sources int
	rows    int // of batches before
	survey  Survey
}

func (t *tally) add(rec arrow.Record) error {
	c := t.Columns
	domains, err := t.Domains(rec)
	if err != nil {
		return err
	}
	truth, err := arrowio.LabelColumn(rec, c.Truth, t.classes)
	if err != nil {
		return err
	}
	predicted, err := arrowio.LabelColumn(rec, c.Prediction, t.classes)
	if err != nil {
		return err
	}
	confidence, ids, err := t.confidences(rec)
	if err != nil {
		return err
	}
	if t.counts == nil {
		t.counts, t.labels, t.weights = map[[2]int32]int{}, map[int32]int{}, map[int32]float64{}
	}
	for i, d := range domains {
		if d != arrowio.TargetDomain || truth.Null(i) {
			continue
		}
		if predicted.Null(i) {
			return t.fail(c.Prediction, fmt.Errorf("row %d of its batch has a truth and no prediction", i+1))
		}
		if truth.Values[i] < 0 {
			return t.negative(c.Truth, i)
		}
		if predicted.Values[i] < 0 {
			return t.negative(c.Prediction, i)
		}
		t.counts[[2]int32{truth.Values[i], predicted.Values[i]}]++
		t.largest = max(t.largest, truth.Values[i], predicted.Values[i])
		if confidence != nil {
			if err := t.survey.Add(confidence(i, predicted.Values[i]), t.className(predicted.Values[i]), t.className(truth.Values[i]), func() SurveyRow { return SurveyRow{ID: ids(i)} }); err != nil {
				return t.fail(c.Probability, fmt.Errorf("row %d of its batch has %w", i+1, err))
			}
		}
	}
	t.rows += int(rec.NumRows())
	return t.addSource(rec, domains)
}

// confidences gives the posterior of a class of a row of a batch, and its identity; nil if there
// are no posteriors.
func (t *tally) confidences(rec arrow.Record) (of func(i int, class int32) float64, ids func(i int) string, err error) {
	c := t.Columns
	if !arrowio.HasColumn(rec.Schema(), c.Probability) {
		return nil, nil, nil
	}
	p, err := arrowio.VectorColumn(rec, c.Probability)
	if err != nil {
		return nil, nil, err
	}
	if p.Width < len(t.classes) || p.Width == 0 {
		return nil, nil, nil // they are of other classes
	}
	ids = func(i int) string { return fmt.Sprint(t.rows + i + 1) }
	if at := rec.Schema().FieldIndices(c.ID); len(at) == 1 {
		ids = func(i int) string { return rec.Column(at[0]).ValueStr(i) }
	}
	return func(i int, class int32) float64 {
		if row := p.Row(i); int(class) < len(row) {
			return float64(row[class])
		}
		return 0
	}, ids, nil
}

func (t *tally) className(k int32) string {
	if int(k) < len(t.classes) {
		return t.classes[k]
	}
	return fmt.Sprint(k)
}

func (t *tally) addSource(rec arrow.Record, domains []arrowio.Domain) error {
	c := t.Columns
	if !arrowio.HasColumn(rec.Schema(), c.Label) {
		return nil
	}
	labels, err := arrowio.LabelColumn(rec, c.Label, t.classes)
	if err != nil {
		return err
	}
	var weights []float32
	if arrowio.HasColumn(rec.Schema(), c.Weight) {
		if weights, err = arrowio.FloatColumn(rec, c.Weight); err != nil {
			return err
		}
	}
	for i, d := range domains {
		if d != arrowio.SourceDomain || labels.Null(i) {
			continue
		}
		if labels.Values[i] < 0 {
			return t.negative(c.Label, i)
		}
		t.sources++
		t.labels[labels.Values[i]]++
		t.largest = max(t.largest, labels.Values[i])
		if weights != nil {
			t.weights[labels.Values[i]] += float64(weights[i])
		}
	}
	return nil
}

func (t *tally) metrics(meta arrowio.Meta) (*Metrics, error) {
	if len(t.counts) == 0 {
		return nil, t.fail(t.Columns.Truth, errors.New("no target row has a true class"))
	}
	classes := t.classes
	if classes == nil {
		if err := t.Env.CheckClasses(int(t.largest) + 1); err != nil {
			return nil, t.fail(t.Columns.Truth, err)
		}
		for k := range t.largest + 1 {
			classes = append(classes, fmt.Sprint(k))
		}
	}
	if int(t.largest) >= len(classes) {
		return nil, t.fail(t.Columns.Truth, fmt.Errorf("there is a class %d, and the stream names %d classes", t.largest, len(classes)))
	}
	confusion := make([][]int, len(classes))
	for k := range confusion {
		confusion[k] = make([]int, len(classes))
	}
	for pair, n := range t.counts {
		confusion[pair[0]][pair[1]] = n
	}
	m := newMetrics(classes, confusion)
	m.Survey = t.survey.Finish()
	source, estimated := t.proportions(meta, len(classes))
	if estimated != nil {
		m.setProportions(source, estimated)
	}
	if meta.Diagnostics != nil {
		m.Diagnostics = diagnostics.Read(meta)
	}
	for _, step := range meta.Provenance {
		if step.Selection != nil {
			m.Selection = step.Selection
		}
	}
	return m, nil
}

// proportions are p_S and the estimate of p_T: the metadata's, or what the
// labels and their weights say, since p_T(y) = w(y) p_S(y).
func (t *tally) proportions(meta arrowio.Meta, classes int) (source, estimated []float64) {
	source, estimated = meta.SourceProportions, meta.TargetProportions
	if len(source) != classes {
		source = nil
		if t.sources > 0 {
			source = make([]float64, classes)
			for k, n := range t.labels {
				source[k] = float64(n) / float64(t.sources)
			}
		}
	}
	if len(estimated) != classes {
		estimated = nil
		if len(t.weights) > 0 {
			estimated = make([]float64, classes)
			for k, w := range t.weights {
				estimated[k] = w / float64(t.sources)
			}
		}
	}
	return source, estimated
}

// negative is the error of a class of row i that is below 0.
func (t *tally) negative(column string, i int) error {
	return t.fail(column, fmt.Errorf("row %d of its batch has a negative class", i+1))
}

func (t *tally) fail(column string, err error) error {
	return t.Fail(column, err, "")
}
