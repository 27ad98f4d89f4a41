// Package report makes pages and figures of what the programs wrote: reports of proportions,
// evaluations, labels, figures of training, transport plans and comparisons of methods.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/pipeline/compare"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/label"
	"mars.dev/mars/stages/proportions"
)

// A Part is what there is to see of one answer.
type Part struct {
	Title    string
	From     string // the file it was read from; "" for none
	Lead     string // whether to believe the answer, or the answer, in a sentence
	Judged   string // the same in one word of Scale; "" where nobody can tell
	Answer   string // in a sentence, where Lead is a verdict
	Text     []string
	Warnings []string
	Next     string // what to do next
	Command  string // that does it; "" if none is known
	Figures  []*figures.Figure
	Tables   []Table
	Pictures []Picture
	Basis    []string // what the answer rests on
	Assumed  *Table   // nil if nothing was assumed
}

// A Grade is a verdict on the scale of all pages.
type Grade struct{ Judged, Word, Sign string }

// Scale has the words of all verdicts, the best first.
var Scale = []Grade{{"believe", "Believe", "✓"}, {"care", "Believe with care", "!"}, {"unjudged", "Cannot be judged", "?"}, {"doubt", "Do not believe", "✕"}}

// Grade is the part's; nil where nobody can tell.
func (p *Part) Grade() *Grade {
	for _, g := range Scale {
		if g.Judged == p.Judged {
			return &g
		}
	}
	return nil
}

// A Picture is a file of an image, which the page holds.
type Picture struct {
	Path string
	Text string // under it
}

// A Table has a title.
type Table struct {
	Title string
	Text  string // what it shows, where the title does not say it; ""
	figures.Table
}

// figure adds a figure, if it can be drawn.
func (p *Part) figure(f *figures.Figure, err error) error {
	if err == nil {
		p.Figures = append(p.Figures, f)
	}
	return err
}

// Proportions is what there is to see of an estimate of proportions.
func Proportions(r *proportions.Report) (*Part, error) {
	p := &Part{Title: "Class proportions of the target", Lead: r.Verdict, Judged: string(r.Judgement), Answer: r.Sentence(), Command: r.Next}
	for _, warning := range r.Warnings {
		p.Warnings = append(p.Warnings, sentence(warning))
	}
	if r.Grounds != "" {
		p.Basis = append(p.Basis, sentence(r.Grounds))
	}
	if r.Advice != "" {
		p.Next = sentence(r.Advice)
	}
	if r.Diagnostics != nil && r.Diagnostics.Hedge != nil {
		p.assume(r.Diagnostics.Hedge.Assumed())
	}
	if r.L1 != nil {
		p.Text = append(p.Text, fmt.Sprintf("Against the truth: the shares are off by %.3f in all (L1 error); the source's own would be off by %.3f.", *r.L1, r.L1s["source"]))
	}
	if err := r.CheckLevels(); err != nil {
		return nil, err
	}
	if r.Levels != nil {
		p.Tables = append(p.Tables, levels(r))
	}
	return p, p.figure(figures.Shares(r))
}

// indent is what the name of a class has before it for each level above its own: spaces that pages keep.
const indent = "\u2003"

// levels is the shares of the classes of all levels, each under that of which it is a part.
func levels(r *proportions.Report) Table {
	t := Table{Title: "Shares by level", Table: figures.Table{Head: []string{"class", "target", fmt.Sprintf("%g %% interval", 100*r.Interval.Level), "rows", "source"}}}
	if r.Proportions.True != nil {
		t.Head = append(t.Head, "true")
	}
	for _, line := range r.Lines(false) {
		name := strings.Repeat(indent, line.Depth) + line.Name()
		if line.Smaller != nil {
			t.Rows = append(t.Rows, append([]string{name, percent(line.Rest())}, make([]string, len(t.Head)-2)...))
			continue
		}
		of, k := line.Of, line.At
		row := []string{name, percent(of.Estimated[k]), fmt.Sprintf("%.1f–%.1f %%", 100*of.Lower[k], 100*of.Upper[k]), fmt.Sprintf("%.0f", of.Rows[k]), percent(of.Source[k])}
		if of.True != nil {
			row = append(row, percent(of.True[k]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Evaluation is what there is to see of labels beside the truth.
func Evaluation(m *eval.Metrics) (*Part, error) {
	p := &Part{Title: "Labels beside the truth", Lead: fmt.Sprintf("%.1f %% of %d rows have the right label (accuracy); the mean over classes is %.1f %% (balanced accuracy).", 100*m.Accuracy, m.N, 100*m.BalancedAccuracy)}
	if m.ProportionsL1 != nil {
		p.Text = append(p.Text, fmt.Sprintf("The estimated class proportions are off by %.3f (L1 error, 0 to 2).", *m.ProportionsL1))
	}
	if err := cmp.Or(p.figure(figures.Confusion(m)), p.figure(figures.Recall(m))); err != nil {
		return nil, err
	}
	return p, p.survey(m.Survey, nil)
}

// survey adds what there is to see of how sure labels are, with values of their rows; nothing of nil.
func (p *Part) survey(s *eval.Survey, v *label.Values) error {
	if s == nil {
		return nil
	}
	if s.Error != nil {
		if err := p.figure(figures.Calibration(s)); err != nil {
			return err
		}
	}
	doubts := Table{Title: "Labels most in doubt", Table: figures.Doubts(s)}
	var rows [][]float32
	for _, r := range s.Doubtful {
		rows = append(rows, r.Values)
	}
	doubts.show(v, rows)
	p.Tables = append(p.Tables, doubts)
	return p.figure(figures.Confidence(s))
}

// Labels is what there is to see of labels, of which the truth may be known.
func Labels(t *label.Tally) (*Part, error) {
	classes, rows := t.Counts()
	p := &Part{Title: "Labels of the target", Lead: sentence(t.Line()), Judged: string(t.Judgement())}
	if verdict := t.Verdict(); verdict != "" {
		p.Lead, p.Answer = verdict, p.Lead
	}
	p.assume(t.Assumed())
	for _, warning := range t.Warnings() {
		p.Warnings = append(p.Warnings, sentence(warning))
	}
	if line := t.LevelLine(); line != "" {
		p.Text = append(p.Text, sentence("labels are of "+line))
	}
	if check := t.Check(); check != "" {
		p.Text = append(p.Text, sentence(check))
	}
	return p, cmp.Or(p.figure(figures.Counts(classes, rows)), p.confusion(t), p.survey(t.Survey(), t.Values()), p.typical(t), p.unlike(t.Unlike()), p.moved(t.Values()))
}

// assume adds assumptions, with what they count for.
func (p *Part) assume(all []proportions.Assumed) {
	if all == nil {
		return
	}
	p.Assumed = &Table{Title: "Assumptions by weight", Table: figures.Table{Head: []string{"assumption", "name", "weight", "told apart"}}}
	for _, a := range all {
		p.Assumed.Rows = append(p.Assumed.Rows, []string{a.Words, a.Name, fmt.Sprintf("%.2f", a.Weight), fmt.Sprintf("%.0f %%", 100*a.Apart)})
	}
}

// Hear adds warnings of a log to those that the part has.
func (p *Part) Hear(warnings []string) {
	for _, warning := range warnings {
		if text := sentence(warning); !slices.Contains(p.Warnings, text) {
			p.Warnings = append(p.Warnings, text)
		}
	}
}

// sentence gives what a log says a capital and a full stop.
func sentence(text string) string {
	if !strings.HasPrefix(text, "mars ") { // which is a command
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
}

// Training is what there is to see of the epochs of a training.
func Training(e *figures.Epochs) (*Part, error) {
	p := &Part{Title: "Training", Lead: fmt.Sprintf("%d epochs.", len(e.Epoch))}
	if n := len(e.Epoch) - 1; n >= 0 && e.Accuracy[n] == e.Accuracy[n] {
		p.Lead = fmt.Sprintf("%d epochs. At the end the loss is %.3f, and %.1f %% of the source's rows have the right label.", n+1, e.Loss[n], 100*e.Accuracy[n])
	}
	if err := p.figure(figures.Losses(e)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(e.Proportions, func(p []float64) bool { return p != nil }) {
		if err := p.figure(figures.Trace(e)); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(e.Critic, func(v float64) bool { return v == v }) {
		return p, p.figure(figures.CriticDistance(e))
	}
	return p, nil
}

// Plan is what there is to see of a matching.
func Plan(classes []string, plan [][]float64) (*Part, error) {
	p := &Part{Title: "Matching", Lead: fmt.Sprintf("%d classes matched with the components of the target.", len(classes))}
	return p, p.figure(figures.Plan(classes, plan))
}

// Comparison is what there is to see of a comparison of methods.
func Comparison(c *compare.Comparison) (*Part, error) {
	p := &Part{Title: "Comparison of methods", Lead: fmt.Sprintf("%d methods in %d settings, by %s.", len(c.Methods), len(c.Settings), c.Number)}
	for _, note := range c.Notes {
		if strings.HasPrefix(note, "Missing and left out") {
			p.Warnings = append(p.Warnings, note)
		} else {
			p.Text = append(p.Text, note)
		}
	}
	t := Table{Title: "Means", Table: figures.Table{Head: append(slices.Clone(c.Columns), c.Methods...)}}
	for _, s := range c.Settings {
		row := slices.Clone(s.Values)
		for _, r := range s.Results {
			cell := ""
			if r.Runs > 0 {
				cell = fmt.Sprintf("%.3f", r.Mean)
				if r.Best {
					cell += " *"
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	p.Tables = append(p.Tables, t)
	p.Text = append(p.Text, "* marks the best of a setting, and all that are not significantly worse.")
	if c.Friedman == nil || len(c.Ranks) != len(c.Methods) || len(c.Methods) < 3 {
		p.Text = append(p.Text, "Ranks are compared where there are three methods or more, and several settings that have all of them.")
		return p, nil
	}
	return p, p.figure(figures.Ranks(c))
}

// Figure is the part's figure of a kind, "" for the first.
func (p *Part) Figure(kind string) (*figures.Figure, error) {
	var kinds []string
	for _, f := range p.Figures {
		if f.Kind == kind || kind == "" {
			return f, nil
		}
		kinds = append(kinds, f.Kind)
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("%s: holds nothing to draw", p.From)
	}
	return nil, fmt.Errorf("%s: has no figure %q: it has %s", p.From, kind, strings.Join(kinds, ", "))
}

// Selection is what there is to see of a choice among settings.
func Selection(c *figures.Candidates) (*Part, error) {
	f, err := figures.Scores(c)
	if err != nil {
		return nil, err
	}
	p := &Part{Title: "Choice of settings", Figures: []*figures.Figure{f}}
	p.Lead = fmt.Sprintf("%s is chosen of %d candidates, by %s (%.4f), without labels of the target.", c.Name(c.Chosen), len(c.Values), c.Scores[0], c.Of[c.Chosen][0])
	p.Text = append(p.Text, "A score is a guess. docs/how-to/select.md says what scores were worth where the truth is known.")
	for k, name := range c.Scores[1:] {
		best := -1
		for i := range c.Of {
			if v := c.Of[i][k+1]; v == v && (best < 0 || v > c.Of[best][k+1]) {
				best = i
			}
		}
		if best >= 0 && c.Of[best][k+1] > c.Of[c.Chosen][k+1] {
			p.Text = append(p.Text, fmt.Sprintf("By %s it would be %s.", name, c.Name(best)))
		}
	}
	failed := 0
	for _, why := range c.Failed {
		if why != "" {
			failed++
		}
	}
	if failed > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("Training failed for %d of %d candidates, which are left out: the table says why.", failed, len(c.Failed)))
	}
	return p, nil
}
