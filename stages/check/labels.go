package check

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/accuracy"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/sheet"
)

// Labels are labels that a person gave some rows. The zero value is none.
type Labels = labelled.Options

// Labelled is what the labels of some rows say of the accuracy.
type Labelled struct {
	Rows    int     `json:"rows"`    // with a label and a prediction
	Uniform int     `json:"uniform"` // of them, those that were drawn uniformly
	Drawn   int     `json:"drawn"`   // that were to be labelled
	Before  float64 `json:"before"`  // the accuracy without the labels
	// Accuracy is by all labelled rows, with an interval that is approximate; Holds holds whatever has
	// changed, by the uniform rows alone.
	Accuracy float64      `json:"accuracy"`
	Sharper  ppi.Interval `json:"sharper"`
	Holds    ppi.Interval `json:"holds"`
	// Assumptions are weighed anew, and Refuted those of them that the labels speak against.
	Assumptions []Weighed          `json:"assumptions"`
	Refuted     []labelled.Refuted `json:"refuted"`
}

// Weighed is how much an assumption weighs without the labels, and with them.
type Weighed struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// A drawn is a row that a person was to label.
type drawn struct {
	row  []float32 // of predictions; nil: it has none
	name string
}

// A given is the labels, and the rows that they are of.
type given struct {
	answers *sheet.Answers
	target  *sheet.Target
	rows    map[int64]*drawn
}

// give takes the labels of the options, if there are any.
func (c *checker) give(tell func(string)) (err error) {
	o := c.options.Labels
	if o.Sheet == nil {
		return nil
	}
	c.given = &given{target: sheet.OfFile(c.options.Target, c.options.TargetHash), rows: map[int64]*drawn{}}
	if c.given.answers, err = o.Sheet.Answers(c.classes.names, o.New); err != nil {
		return err
	}
	for _, text := range c.given.answers.Told {
		tell(o.Sheet.Path + ": " + text)
	}
	for _, row := range o.Sheet.Rows {
		c.given.rows[int64(row.Row)] = &drawn{}
	}
	return nil
}

// see looks at the row that comes next: whether a person was to label it.
func (g *given) see(number int64, ids arrow.Array, i int, row []float32, said int) {
	name := fmt.Sprint(number)
	if ids != nil {
		name = text(ids, i)
	}
	g.target.Name(name)
	d := g.rows[number]
	if d == nil {
		return
	}
	if d.name = name; said >= 0 {
		d.row = slices.Clone(row)
	}
}

// check checks that the labels are of these rows.
func (g *given) check() error {
	names := map[int]string{}
	for number, d := range g.rows {
		names[int(number)] = d.name
	}
	return g.answers.Check(g.target, names)
}

// heed says what the labels say of the only window.
func (c *checker) heed(w *Window) error {
	if c.given == nil {
		return nil
	}
	if err := c.given.check(); err != nil {
		return err
	}
	if w.estimate == nil {
		return fmt.Errorf("%s: no row has a prediction, so that labels say nothing: give predictions", c.options.Target)
	}
	all, rows := c.found()
	if len(all.Class) == 0 {
		return fmt.Errorf("%s: no row with a label has a prediction: give the predictions that mars ask drew from", all.Path)
	}
	evidence, right := c.evidence(w.estimate, rows), c.rightness(w.estimate, all, rows)
	l := &Labelled{Rows: len(all.Class), Drawn: all.Plan.Rows(), Before: w.estimate.Figures[accuracy.Accuracy], Refuted: all.Refuted(evidence)}
	after := all.Reweigh(evidence)
	for i, weight := range after {
		l.Assumptions = append(l.Assumptions, Weighed{evidence[i].Name, evidence[i].Weight, weight})
	}
	sample := right.rows.Sample(&right.evidence, right.rows.Learner(&right.evidence, 0))
	estimate := sample.Difference(c.options.Level)
	l.Uniform, l.Sharper = sample.Uniform, estimate.Intervals[0]
	l.Accuracy = min(max(estimate.Value[0], l.Sharper.Lower), l.Sharper.Upper)
	reached, _ := all.Reached()
	l.Holds = ppi.Exact(right.hits, right.hits+reached-l.Uniform, reached, int(c.state.Rows), c.options.Level)
	c.reference.Reweigh(w.estimate, after, int(w.Counts.Used))
	w.fill(c, w.estimate)
	w.believe(l, c.report.alert)
	return nil
}

// found are the labelled rows that have a prediction.
func (c *checker) found() (*labelled.Rows, accuracy.Rows) {
	answers := *c.given.answers
	answers.Labelled, answers.Class = nil, nil
	classes := len(c.classes.names)
	rows := accuracy.Rows{Posteriors: blas32.General{Cols: classes, Stride: classes}, Hard: c.kind == hard}
	for i, row := range c.given.answers.Labelled {
		if d := c.given.rows[int64(row.Row)]; d.row != nil {
			answers.Labelled, answers.Class = append(answers.Labelled, row), append(answers.Class, c.given.answers.Class[i])
			c.unpackRow(&rows, d.row)
		}
	}
	return &labelled.Rows{Answers: &answers, Total: int(c.state.Rows)}, rows
}

// evidence is what the assumptions say of the classes of labelled rows.
func (c *checker) evidence(e *accuracy.Estimate, rows accuracy.Rows) (views []labelled.View) {
	for _, a := range e.Assumptions {
		v := labelled.View{Name: a.Name, Weight: a.Weight}
		p := c.reference.Under(a, rows)
		for i := range p.Rows {
			q := make([]float64, p.Cols)
			for k := range q {
				q[k] = float64(p.Data[i*p.Stride+k])
			}
			v.Labelled = append(v.Labelled, q)
		}
		views = append(views, v)
	}
	return views
}

// A rightness is labelled rows of two classes: right and wrong.
type rightness struct {
	rows     *labelled.Rows
	evidence labelled.Evidence
	hits     int // uniform rows that are right
}

// rightness says which labelled rows are right, and how likely the assumptions find that.
func (c *checker) rightness(e *accuracy.Estimate, all *labelled.Rows, rows accuracy.Rows) *rightness {
	answers := *all.Answers
	answers.Classes, answers.Source, answers.Class = []string{"right", "wrong"}, 2, make([]int, len(all.Class))
	r := &rightness{rows: &labelled.Rows{Answers: &answers, Total: all.Total}, evidence: labelled.Evidence{Rows: all.Total, Guessed: make([]int, 2)}}
	for i, class := range all.Class {
		if class != int(rows.Predicted[i]) {
			answers.Class[i] = 1
		} else if answers.Labelled[i].Part == ppi.Uniform {
			r.hits++
		}
	}
	for v, view := range c.evidence(e, rows) {
		share := e.Assumptions[v].Right
		is := labelled.View{Name: view.Name, Weight: view.Weight, Mean: []float64{share, 1 - share}}
		for i, p := range view.Labelled {
			q := p[rows.Predicted[i]]
			is.Labelled = append(is.Labelled, []float64{q, 1 - q})
		}
		r.evidence.Views = append(r.evidence.Views, is)
	}
	return r
}

// believe makes the accuracy and the verdict those of the labels.
func (w *Window) believe(l *Labelled, alert float64) {
	w.Labelled = l
	a := &w.Figures[accuracy.Accuracy]
	a.Value, a.Lower, a.Upper = &l.Accuracy, &l.Sharper.Lower, &l.Sharper.Upper
	if a.Reference != nil {
		a.Change = number(l.Accuracy - *a.Reference)
	}
	w.Verdict = diagnostics.Believe
	w.Sentence = fmt.Sprintf("Believe the accuracy within its interval: it is by %s. Without them it was expected to be %.3f.", spelling.Count(l.Rows, "label", "labels"), l.Before)
	for _, v := range l.Refuted {
		w.Sentence += fmt.Sprintf(" That %s is refuted (p = %.2g).", words[v.Name], v.P)
	}
	if len(l.Refuted) == len(l.Assumptions) {
		w.Verdict = diagnostics.Care
		w.Sentence += " The labels refute every assumption, so do not believe the other figures."
	}
	w.Alarm = alert > 0 && l.Sharper.Upper < alert
}

// write says what the two intervals are.
func (l *Labelled) write(out io.Writer, level float64) {
	fmt.Fprintf(out, "\nThe accuracy with %g %%:\n", 100*level)
	fmt.Fprintf(out, "  sharper     %.3f–%.3f, by all %s; it needs no assumption about the change, and is approximate\n", l.Sharper.Lower, l.Sharper.Upper, spelling.Count(l.Rows, "labelled row", "labelled rows"))
	fmt.Fprintf(out, "  guaranteed  %.3f–%.3f, by the %s alone; it holds whatever has changed\n", l.Holds.Lower, l.Holds.Upper, spelling.Count(l.Uniform, "uniform row", "uniform rows"))
	for _, v := range l.Assumptions {
		fmt.Fprintf(out, "  that %s has the weight %.2f, before %.2f\n", safetext.Escape(words[v.Name]), v.After, v.Before)
	}
}
