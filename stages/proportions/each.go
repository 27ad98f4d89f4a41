package proportions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables/write"
)

// Targets are the reports of several targets of one source.
type Targets struct {
	Column  string // what tables call the column that says which target a row is of
	Targets []Target
}

// A Target is one of them, by the name of its file, or the value of a column.
type Target struct {
	Name string
	*Report
}

// named is a report as JSON, with its target first.
type named struct {
	Target string          `json:"target"`
	Report json.RawMessage `json:"report"`
}

// WriteJSON writes a list of all reports.
func (t Targets) WriteJSON(w io.Writer) error {
	all := make([]named, len(t.Targets))
	for i, target := range t.Targets {
		text, err := json.Marshal(target.Report)
		if err != nil {
			return err
		}
		all[i] = named{target.Name, text}
	}
	return write.Object(w, all)
}

// Save writes all reports to a file: JSON as WriteJSON does, and in the other formats a row a target and class, which
// begins with the name of the target and ends with what is expected of the shares.
func (t Targets) Save(ctx context.Context, env stages.Env, path string, f write.Format) error {
	return write.SaveReport(ctx, path, f, t.WriteJSON, func() (arrow.Record, error) { return t.rows(env) })
}

// eachColumns are the numbers of such a row.
var eachColumns = []string{"source", "target", "lower", "upper", "rows", "expected_error"}

// Check refuses the name of a column that the table of Save has already.
func (t Targets) Check() error {
	if slices.Contains(slices.Concat(eachColumns, []string{"class", "level", "parent", "verdict"}), t.Column) {
		return fmt.Errorf("%s: the table of shares has a column %q of its own: rename that of the target", t.Column, t.Column)
	}
	return nil
}

func (t Targets) rows(env stages.Env) (arrow.Record, error) {
	text, values := make([][]string, 5), make([][]float64, 6)
	for _, target := range t.Targets {
		for _, n := range target.nodes() {
			for j, cell := range []string{target.Name, n.class, n.level, n.parent, string(target.Judgement)} {
				text[j] = append(text[j], cell)
			}
			for j, of := range [][]float64{n.of.Source, n.of.Estimated, n.of.Lower, n.of.Upper, n.of.Rows} {
				values[j] = append(values[j], of[n.at])
			}
			values[5] = append(values[5], target.ExpectedError)
		}
	}
	var table arrowio.Table
	table.Add(t.Column, arrowio.NewStringArray(text[0]))
	table.Add("class", arrowio.NewStringArray(text[1]))
	if t.Targets[0].Levels != nil {
		table.Add("level", arrowio.NewStringArray(text[2]))
		table.AddNullable("parent", arrowio.NewStringsOrNull(text[3]))
	}
	for j, name := range eachColumns {
		table.Add(name, arrowio.NewDoubleArray(values[j]))
	}
	table.Add("verdict", arrowio.NewStringArray(text[4]))
	return table.Record(arrowio.Meta{Classes: t.Targets[0].Classes, Provenance: arrowio.WithStep(t.Targets[0].steps, env.Step)}), nil
}

// WriteTable writes a line a target for a person to read, with the largest shares of all in columns of their own.
func (t Targets) WriteTable(w io.Writer) error {
	var b bytes.Buffer // which takes all, so that only w can fail
	t.table(&b)
	_, err := b.WriteTo(w)
	return err
}

func (t Targets) table(w *bytes.Buffer) {
	classes := t.Targets[0].Classes
	sums := make([]float64, len(classes))
	for _, target := range t.Targets {
		for k, p := range target.Proportions.Estimated {
			sums[k] += p
		}
	}
	shown := byShare(sums, true)[:min(len(classes), mostShown)]
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "target\trows\t")
	for _, k := range shown {
		fmt.Fprintf(tw, "%s\t", safetext.Escape(classes[k]))
	}
	fmt.Fprintln(tw, "expected L1 error\tverdict\t")
	for _, target := range t.Targets {
		fmt.Fprintf(tw, "%s\t%d\t", safetext.Escape(target.Name), target.TargetRows)
		for _, k := range shown {
			fmt.Fprintf(tw, "%.1f %% (%.1f–%.1f)\t", 100*target.Proportions.Estimated[k], 100*target.Interval.Lower[k], 100*target.Interval.Upper[k])
		}
		fmt.Fprintf(tw, "%.2f\t%s\t\n", target.ExpectedError, target.Judgement)
	}
	tw.Flush()
	if n := len(classes) - len(shown); n > 0 {
		fmt.Fprintf(w, "%s more, in the file of -o.\n", spelling.Count(n, "class is", "classes are"))
	}
	fmt.Fprintln(w, "The verdicts: believe; care, believe with care; unjudged, cannot be judged without labels; doubt, do not believe.")
}

// mostShown is how many classes fit beside one another.
const mostShown = 5
