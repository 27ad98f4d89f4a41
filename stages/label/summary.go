package label

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/survey"
)

const (
	headRows   = 10   // labels that Summarise shows
	fewRows    = 20   // up to which one class for all rows is not odd
	maxNamed   = 12   // classes that a line names
	doubtful   = 0.6  // confidence below which a label should be looked at
	strangeRow = 0.01 // typicality below which a row should be looked at
)

// A Tally counts the labels that pass through it.
type Tally struct {
	*Labels
	rows     int
	classes  map[string]*classTally
	strange  int // rows whose typicality is below strangeRow
	unlike   int // rows whose typicality is below hedge.UntypicalRate
	judged   bool
	head     []string // lines of cells
	wantHead bool
	survey   Survey
	looked   bool                     // at rows, for a page
	missing  int                      // rows without any value, which have no label
	likest   map[string]*likest       // rows by their likeliest class
	ended    map[string]int           // rows by the level of their label, "" for none; nil: all have the finest
	said     *diagnostics.Diagnostics // by whoever labelled the rows
	meta     arrowio.Meta             // of the rows
}

// Survey is a count of labels by their confidence.
type Survey = survey.Survey

// Row is what is known of a row whose label is looked at.
type Row = survey.Row

type classTally struct {
	rows, doubtful int
	confidence     float64   // sum
	expected       []float64 // rows of each class, by their posteriors; nil: not counted
	typical        *Typical
}

// NewTally counts labels.
func NewTally(labels *Labels) *Tally {
	t := NewCount(labels.schema)
	t.Labels = labels
	return t
}

// NewCount is a tally of labels that Count gives it. The metadata of a schema may say how they came
// to be; nil says nothing.
func NewCount(schema *arrow.Schema) *Tally {
	t := &Tally{Labels: &Labels{}, classes: map[string]*classTally{}, likest: map[string]*likest{}, said: &diagnostics.Diagnostics{}}
	if schema != nil {
		if meta, err := arrowio.ReadMeta(schema); err == nil {
			t.meta, t.said = meta, diagnostics.Read(meta)
		}
	}
	return t
}

// Verdict says in a sentence whether to believe the labels; "" where nobody can tell.
func (t *Tally) Verdict() string {
	_, sentence := t.said.Labels()
	return sentence
}

// Judgement is the verdict in a word; "" where nobody can tell.
func (t *Tally) Judgement() diagnostics.Verdict {
	verdict, _ := t.said.Labels()
	return verdict
}

// Assumed are the assumptions under which rows were labelled; nil if there were none.
func (t *Tally) Assumed() []diagnostics.Assumed {
	if t.said.Hedge == nil {
		return nil
	}
	return t.said.Hedge.Assumed()
}

// ExpectedAccuracy is the share of labels that is expected to be right; nil where the method does not know it.
func (t *Tally) ExpectedAccuracy() *float64 {
	if t.said.Hedge == nil {
		return nil
	}
	return &t.said.Hedge.ExpectedAccuracy
}

// Warnings are what speaks against the labels.
func (t *Tally) Warnings() []string {
	return append(slices.Clone(t.said.AllWarnings()), t.Noticed()...)
}

// Miss counts a row without any value, which has no label.
func (t *Tally) Miss() { t.missing++ }

// Count counts a label. What else is known of its row is asked where the label is in doubt; truth is "" if
// it is not known.
func (t *Tally) Count(about func() Row, label string, confidence float64, truth string) error {
	if err := t.survey.Add(confidence, label, truth, about); err != nil {
		return err
	}
	class := t.classes[label]
	if class == nil {
		class = &classTally{}
		t.classes[strings.Clone(label)] = class
	}
	t.rows++
	class.rows++
	class.confidence += confidence
	if confidence < doubtful {
		class.doubtful++
	}
	return nil
}

// Next gives the next labels.
func (t *Tally) Next() (arrow.Record, error) {
	rec, err := t.Labels.Next()
	if err != nil {
		return nil, err
	}
	return rec, t.add(rec)
}

func (t *Tally) add(rec arrow.Record) error {
	names, at := t.in.Columns, func(name string) arrow.Array {
		if i := rec.Schema().FieldIndices(name); len(i) == 1 {
			return rec.Column(i[0])
		}
		return nil
	}
	ids := at(names.ID)
	classes, isText := at(names.PredictedClass).(*array.String)
	confidence, isFloat := at(Confidence).(*array.Float32)
	if !isText || !isFloat {
		return t.in.Fail(names.PredictedClass, errors.New("is not text, or confidence is not float32"), "run mars label anew")
	}
	truth, known := at(names.Truth).(*array.String)
	level, chosen := at(PredictedLevel).(*array.String)
	typicality, judged := at(names.Typicality).(*array.Float32)
	t.judged = judged
	posteriors := t.Labels.posteriors
	if len(t.Labels.classes) != posteriors.Width { // nobody knows of which classes they are
		posteriors = arrowio.Vectors{}
	}
	if t.wantHead && t.head == nil {
		t.head = []string{strings.Join([]string{names.ID, names.PredictedClass, Confidence}, "\t")}
	}
	for i := range int(rec.NumRows()) {
		if classes.IsNull(i) {
			t.Miss()
			continue
		}
		sure := float64(confidence.Value(i))
		right := ""
		if known && truth.IsValid(i) {
			right = truth.Value(i)
		}
		if chosen {
			t.endLevel(level.Value(i))
			if right != "" && level.IsValid(i) {
				right = t.above(level.Value(i), right)
			}
		}
		about := func() Row {
			return Row{ID: ids.ValueStr(i), Next: t.next(posteriors, i, classes.Value(i)), Values: t.values.row(i)}
		}
		if err := t.Count(about, classes.Value(i), sure, right); err != nil {
			return t.in.Fail(Confidence, fmt.Errorf("row %d holds %w", t.rows+t.missing+1, err), "run mars label anew")
		}
		if !chosen || level.Value(i) == t.tree.Last().Name { // a coarser label is right of all its parts
			t.expect(classes.Value(i), posteriors, i)
		}
		usual := 1.0
		if judged {
			usual = float64(typicality.Value(i))
		}
		t.exemplify(classes.Value(i), sure, usual, about)
		if judged && posteriors.Width > 0 {
			t.compare(t.likeliest(posteriors.Row(i)), usual, t.values.peek(i))
		}
		if judged && typicality.Value(i) < strangeRow {
			t.strange++
		}
		if judged && typicality.Value(i) < hedge.UntypicalRate {
			t.unlike++
		}
		if t.wantHead && t.rows <= headRows {
			t.head = append(t.head, fmt.Sprintf("%s\t%s\t%.3f", safetext.Escape(ids.ValueStr(i)), safetext.Escape(classes.Value(i)), sure))
		}
	}
	return nil
}

// next is the likeliest class of a row but its label, with its posterior; "" if that is not known.
func (t *Tally) next(posteriors arrowio.Vectors, row int, label string) string {
	if posteriors.Width < 2 {
		return ""
	}
	best, most := "", float32(-1)
	for k, p := range posteriors.Row(row) {
		if class := t.Labels.classes[k]; class != label && p > most {
			best, most = class, p
		}
	}
	return fmt.Sprintf("%s (%.0f %%)", best, 100*most)
}

// Survey says how sure the labels are, and which are most in doubt; nil without labels.
func (t *Tally) Survey() *Survey { return t.survey.Finish() }

// Counts are the classes that rows have, that of the most rows first, and how many rows each has.
func (t *Tally) Counts() (classes []string, rows []int) {
	classes = t.byRows()
	for _, class := range classes {
		rows = append(rows, t.classes[class].rows)
	}
	return classes, rows
}

// byRows are the classes, that of the most rows first.
func (t *Tally) byRows() []string {
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(t.classes))), func(a, b string) int {
		return cmp.Compare(t.classes[b].rows, t.classes[a].rows)
	})
}

// Line says how many rows have each class.
func (t *Tally) Line() string {
	var parts []string
	names := t.byRows()
	for _, name := range names[:min(len(names), maxNamed)] {
		n := t.classes[name].rows
		parts = append(parts, fmt.Sprintf("%s (%d, %.1f %%)", name, n, 100*float64(n)/float64(t.rows)))
	}
	if more := len(names) - maxNamed; more > 0 {
		parts = append(parts, spelling.Count(more, "more class", "more classes"))
	}
	if t.missing > 0 {
		parts = append(parts, "and "+without(t.missing))
	}
	return fmt.Sprintf("labelled %s: %s", spelling.Count(t.rows, "row", "rows"), strings.Join(parts, ", "))
}

// without says that rows without any value have no label.
func without(rows int) string {
	return spelling.Count(rows, "row without any value has", "rows without any value have") + " no label"
}

// Noticed are the warnings about the labels themselves: that all are of one class of several, and,
// where whoever labelled the rows has not said so, that many rows are untypical.
func (t *Tally) Noticed() (all []string) {
	if t.rows < fewRows {
		return nil
	}
	if len(t.classes) == 1 && len(t.Labels.classes) > 1 {
		all = append(all, fmt.Sprintf("all %d rows have the label %s: if the target has other classes too, do not believe it: train longer, or try another method", t.rows, t.byRows()[0]))
	}
	if text := diagnostics.UntypicalRows(float64(t.unlike) / float64(t.rows)); text != "" && t.said.Hedge == nil {
		all = append(all, text)
	}
	return all
}

// Check says which labels to look at first; "" for none.
func (t *Tally) Check() string {
	var parts []string
	most, all := "", 0
	for _, name := range t.byRows() {
		n := t.classes[name].doubtful
		if all += n; n > 0 && (most == "" || n > t.classes[most].doubtful) {
			most = name
		}
	}
	if all > 0 {
		parts = append(parts, fmt.Sprintf("labels with a confidence below %.1f: %d, most of class %s (%d)", doubtful, all, most, t.classes[most].doubtful))
	}
	if expected := strangeRow * float64(t.rows); float64(t.strange) > 2*expected {
		parts = append(parts, fmt.Sprintf("rows with a typicality below %g: %d, where %.0f are to be expected (mars label --unknown %g labels them so)", strangeRow, t.strange, expected, strangeRow))
	}
	if parts == nil {
		return ""
	}
	return "to check first: " + strings.Join(parts, "; ")
}

// Summarise writes for a person to read how many rows have each class, how sure their
// labels are, what to check, and the first of them.
func Summarise(ctx context.Context, w io.Writer, t *Tally) error {
	t.wantHead = true
	if err := arrowio.Each(ctx, t, func(arrow.Record) error { return nil }); err != nil {
		return err
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "class\trows\tshare\tmean confidence")
	listed, rest := t.byRows(), t.rows
	smaller := max(0, len(listed)-spelling.MaxListed)
	for _, name := range listed[:len(listed)-smaller] {
		class := t.classes[name]
		n := float64(class.rows)
		rest -= class.rows
		fmt.Fprintf(tw, "%s\t%d\t%.1f %%\t%.3f\n", safetext.Escape(name), class.rows, 100*n/float64(t.rows), class.confidence/n)
	}
	if smaller > 0 {
		fmt.Fprintln(tw, spelling.Smaller(smaller, float64(rest)/float64(t.rows)))
	}
	fmt.Fprintf(tw, "all\t%d\n\n", t.rows)
	for _, line := range t.head {
		fmt.Fprintln(tw, line)
	}
	if t.rows > headRows {
		fmt.Fprintf(tw, "… and %s more: write all with -o labels.csv\n", spelling.Count(t.rows-headRows, "row", "rows"))
	}
	tw.Flush()
	if t.missing > 0 {
		fmt.Fprintf(&b, "\n%s.\n", without(t.missing))
	}
	if line := t.LevelLine(); line != "" {
		fmt.Fprintf(&b, "\nLabels are of %s.\n", safetext.Escape(line))
	}
	if verdict := t.Verdict(); verdict != "" {
		fmt.Fprintf(&b, "\n%s\n", safetext.Escape(verdict))
	}
	for _, warning := range t.Warnings() {
		fmt.Fprintf(&b, "Warning: %s.\n", safetext.Escape(warning))
	}
	if check := t.Check(); check != "" {
		fmt.Fprintf(&b, "\nTo check first: %s.\n", safetext.Escape(strings.TrimPrefix(check, "to check first: ")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
