package label

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// headRows is how many labels Summarise shows.
const headRows = 10

// Summarise writes for a person to read how many rows have each class, how sure their
// labels are, and the first of them.
func Summarise(ctx context.Context, w io.Writer, labels *Labels) error {
	s := summary{counts: map[string]int{}, confidence: map[string]float64{}}
	if err := arrowio.Each(ctx, labels, s.add); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "class\trows\tshare\tmean confidence")
	for _, class := range slices.Sorted(maps.Keys(s.counts)) {
		n := float64(s.counts[class])
		fmt.Fprintf(tw, "%s\t%d\t%.1f %%\t%.3f\n", class, s.counts[class], 100*n/float64(s.rows), s.confidence[class]/n)
	}
	fmt.Fprintf(tw, "\t%d\n\n", s.rows)
	for _, line := range s.head {
		fmt.Fprintln(tw, line)
	}
	if s.rows > headRows {
		fmt.Fprintf(tw, "… and %d rows more: write all with -o labels.csv\n", s.rows-headRows)
	}
	return tw.Flush()
}

type summary struct {
	rows       int
	counts     map[string]int
	confidence map[string]float64 // sums
	head       []string           // lines of cells
}

func (s *summary) add(rec arrow.Record) error {
	names := rec.Schema()
	classes, ok := rec.Column(1).(*array.String)
	confidence, numbers := rec.Column(names.FieldIndices(Confidence)[0]).(*array.Float32)
	if !ok || !numbers {
		return fmt.Errorf("the column %q is not text", names.Field(1).Name)
	}
	if s.head == nil {
		s.head = []string{strings.Join([]string{names.Field(0).Name, names.Field(1).Name, Confidence}, "\t")}
	}
	for i := range int(rec.NumRows()) {
		s.counts[classes.Value(i)]++
		s.confidence[classes.Value(i)] += float64(confidence.Value(i))
		if s.rows++; s.rows <= headRows {
			s.head = append(s.head, fmt.Sprintf("%s\t%s\t%.3f", rec.Column(0).ValueStr(i), classes.Value(i), confidence.Value(i)))
		}
	}
	return nil
}
