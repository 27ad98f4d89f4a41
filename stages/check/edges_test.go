package check

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/accuracy"
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/windows"
)

// Classes may be written otherwise than the reference does, where one alone can be meant.
func TestIndexOfClass(t *testing.T) {
	for _, c := range []struct {
		names []string
		text  string
		want  int
	}{
		{[]string{"0", "1", "1.5"}, "1.5", 2},
		{[]string{"0", "1", "1.5"}, "0.0", 0},
		{[]string{"0", "1", "1.5"}, "1.00", 1},
		{[]string{"0", "1", "1.5"}, "1.", 1},
		{[]string{"0", "1", "1.5"}, "1.50", -1},
		{[]string{"0", "1", "1.5"}, "2.0", -1},
		{[]string{"0", "1", "1.5"}, "1.05", -1},
		{[]string{"0.0", "1.0"}, "0", 0},
		{[]string{"0.0", "1.0"}, "1", 1},
		{[]string{"0.0", "1.0"}, "2", -1},
		{[]string{"true", "false"}, "True", 0},
		{[]string{"true", "false"}, "FALSE", 1},
		{[]string{"NK", "Nk", "B"}, "nk", -1},
		{[]string{"B", "NK", "Nk"}, "nk", -1},
		{[]string{"NK", "Nk", "B"}, "Nk", 1},
		{[]string{"NK", "Nk", "B"}, "b", 2},
	} {
		s := newClasses(c.names, nil)
		for range 2 { // the second time it is known
			if got := s.index(c.text); got != c.want {
				t.Errorf("%q of %q: %d, want %d", c.text, c.names, got, c.want)
			}
		}
	}
	c := newClasses([]string{"1", "2"}, []string{"1.0", "3", "3.0"})
	if !slices.Equal(c.names, []string{"1", "2", "3"}) || c.predictable != 2 {
		t.Errorf("%q, of which %d are predictable", c.names, c.predictable)
	}
}

// As many classes as are allowed are taken, and no more.
func TestMaxClasses(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference, "p.csv": predictions, "hard.csv": "predicted_class,label\na,a\nb,b\nc,c\n", "said.csv": "predicted_class\na\n",
		"guess.csv": "predicted_class,label\na,a\nb,b\nc,a\n"})
	for _, c := range []struct {
		ref, p string
		max    int
		want   string
	}{
		{"ref.csv", "p.csv", 2, ""},
		{"ref.csv", "p.csv", 1, "ref.csv: has more than 1 classes: name the column of labels with --label, or raise --max-classes"},
		{"hard.csv", "said.csv", 3, ""},
		{"hard.csv", "said.csv", 2, "hard.csv: has more than 2 classes: name the column of labels with --label, or raise --max-classes"},
		{"guess.csv", "said.csv", 3, ""},
		{"guess.csv", "said.csv", 2, "guess.csv: has more than 2 classes: name the column of labels with --label, or raise --max-classes"},
	} {
		_, err := Run(t.Context(), stages.Env{MaxClasses: c.max}, c.p, c.ref, options(nil))
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s, %d: %v\nwant %s", c.ref, c.max, err, c.want)
		}
	}
}

// A score is that of the class that is named, the first too, and of the second one otherwise.
func TestPositive(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": scoring, "p.csv": "p\n.9\n.8\n", "turned.csv": strings.NewReplacer("no", "yes", "yes", "no").Replace(scoring)})
	share := func(ref, positive string) float64 {
		report, err := Run(t.Context(), stages.Env{}, "p.csv", ref, options(func(o *Options) { o.Columns.Score, o.Columns.Positive = "p", positive }))
		if err != nil {
			t.Fatal(err)
		}
		return report.Windows[0].Shares[slices.Index(report.Classes, "yes")]
	}
	if a, b := share("ref.csv", ""), share("ref.csv", "yes"); a != b || a < .5 {
		t.Errorf("%g without a name, and %g with it", a, b)
	}
	if no := share("turned.csv", "no"); no > .5 {
		t.Errorf("a score of the first class gives the second a share of %g", no)
	}
}

// A class that only labels have needs no column of posteriors.
func TestClassOfLabels(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference + "7,.5,.5,c\n", "p.csv": predictions})
	report, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", options(nil))
	if err != nil || !slices.Equal(report.Classes, []string{"a", "b", "c"}) {
		t.Errorf("%+v, %v", report, err)
	}
}

// Numbers of text may have blanks around them, and a decimal comma.
func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{".5": .5, " .5 ": .5, "0,5": .5, " 0,5": .5, "1e-3": .001, "": math.NaN(), " ": math.NaN(), " NA ": math.NaN()} {
		if got, err := parseNumber(text); err != nil || got != want && (got == got || want == want) {
			t.Errorf("%q: %g, %v, want %g", text, got, err, want)
		}
	}
	if _, err := parseNumber(" 1,000,5 "); err == nil || err.Error() != `"1,000,5" is not a number: mend or drop the row` {
		t.Error(err)
	}
}

// Open windows keep half as many rows, a hundred at least, once they keep more numbers than there is room for.
func TestShrink(t *testing.T) {
	filled := func(width, rows int) *pane {
		return &pane{Kept: drift.Sample{Width: width, Most: 1 << 20, Keys: make([]uint64, rows), Values: make([]float32, width*rows)}}
	}
	for _, c := range []struct {
		name       string
		rows       int64
		more       int // numbers than there is room for
		most, want int
	}{
		{"as many as there is room for", 0, 0, 250, 250},
		{"one more", 1 << 14, 1, 250, 125},
		{"one more, at a row at which nobody looks", 1, 1, 250, 250},
		{"few rows", 0, 1, 150, 100},
		{"no fewer", 0, 1, 100, 100},
	} {
		few := filled(1, 200)
		wide := filled(mostValues-200+c.more, 1)
		k := &checker{state: state{Most: c.most, Panes: panes(few, wide)}}
		k.state.Rows = c.rows
		k.shrink()
		if k.state.Most != c.want {
			t.Errorf("%s: %d rows, want %d", c.name, k.state.Most, c.want)
		}
		if shrunk := c.name == "few rows" || c.name == "no fewer" || c.want < c.most; shrunk && (few.Kept.Most != c.want || len(few.Kept.Keys) != c.want) {
			t.Errorf("%s: a window keeps %d rows of %d, want %d", c.name, len(few.Kept.Keys), few.Kept.Most, c.want)
		}
	}
}

// A window is not as believable where labels say so, and an alarm where even the upper end is too low.
func TestBelieveLabels(t *testing.T) {
	reference := .9
	for _, c := range []struct {
		name    string
		refuted []labelled.Refuted
		alert   float64
		verdict diagnostics.Verdict
		want    string
		alarm   bool
	}{
		{"nothing refuted", nil, 0, diagnostics.Believe, "", false},
		{"one refuted", []labelled.Refuted{{Name: accuracy.Same, P: .0123}}, .7, diagnostics.Believe, " That predictions mean what they meant in the reference is refuted (p = 0.012).", false},
		{"all refuted", []labelled.Refuted{{Name: accuracy.Same, P: .01}, {Name: accuracy.Balance, P: .02}}, .71, diagnostics.Care,
			" That predictions mean what they meant in the reference is refuted (p = 0.01). That only the proportions of the classes have changed (label shift) is refuted (p = 0.02). The labels refute every assumption, so do not believe the other figures.", true},
	} {
		w := &Window{Figures: []Figure{{Reference: &reference}}}
		w.believe(&Labelled{Rows: 7, Before: .8, Accuracy: .6, Sharper: ppi.Interval{Lower: .5, Upper: .7}, Assumptions: make([]Weighed, 2), Refuted: c.refuted}, c.alert)
		want := "Believe the accuracy within its interval: it is by 7 labels. Without them it was expected to be 0.800." + c.want
		if a := w.Accuracy(); w.Sentence != want || w.Verdict != c.verdict || w.Alarm != c.alarm || *a.Value != .6 || *a.Lower != .5 || *a.Upper != .7 || math.Abs(*a.Change+.3) > 1e-9 {
			t.Errorf("%s: %+v\nwant %s", c.name, w, want)
		}
	}
}

// What is warned of, and from where on.
func TestJudge(t *testing.T) {
	off := 0.01
	for _, c := range []struct {
		name   string
		rows   int64
		shares []float64
		counts Counts
		moved  float64
		want   []string
	}{
		{"nothing", 100, []float64{.5, .5}, Counts{All: 100}, .03, nil},
		{"few rows", 99, []float64{0, 1}, Counts{All: 100}, 0, []string{"the reference has 99 rows"}},
		{"other shares", 100, []float64{1, 0}, Counts{All: 100}, 0, []string{"the proportions of the classes seem to be very different from the reference's (75 of 100 rows), which classes that have changed places look like too"}},
		{"elsewhere", 100, []float64{.5, .5}, Counts{All: 100}, .7, []string{"the predictions are not spread as in the reference, and no new proportions of the classes explain it (70 of 100 rows would have to be elsewhere): the classes may look otherwise now"}},
		{"left out", 100, []float64{.5, .5}, Counts{All: 100, Empty: 1, Unknown: 2}, 0, []string{"1 row has no prediction: the figures are those of the others", "2 predictions are of a class that the reference lacks: how right they are is not known"}},
	} {
		w := &Window{Figures: []Figure{{}}, Counts: c.counts, Error: &off, Shares: c.shares, Unexplained: c.moved}
		w.judge(&Report{Rows: c.rows, Shares: []float64{.25, .75}})
		verdict := diagnostics.Care
		if c.want == nil {
			verdict = diagnostics.Believe
		}
		if !slices.Equal(w.Warnings, c.want) || w.Verdict != verdict || w.Alarm {
			t.Errorf("%s: %s, %q\nwant %q", c.name, w.Verdict, w.Warnings, c.want)
		}
	}
	for verdict, want := range map[diagnostics.Verdict]bool{diagnostics.Believe: true, diagnostics.Care: true, diagnostics.Unjudged: false, diagnostics.Doubt: false} {
		if w := (&Window{Verdict: verdict}); w.Believed() != want {
			t.Errorf("%s: believed %v", verdict, w.Believed())
		}
	}
}

// reporting is a report of a window with so many figures.
func reporting(figures int) *Report {
	value, w := .5, &Window{Window: 1, Start: "1", End: "9", Alarm: true, Sentence: "So it is."}
	for j := range figures {
		w.Figures = append(w.Figures, Figure{Name: fmt.Sprintf("figure %d", j), Value: &value})
	}
	return &Report{Windows: []*Window{w}, Reference: w.Figures}
}

// A table for a person has the figures of thirty classes at most, and of a window without more classes all.
func TestFiguresOfTable(t *testing.T) {
	for figures, want := range map[int]int{4: 4, 33: 33, 34: 34, 35: 34, 50: 34} {
		var b strings.Builder
		if err := reporting(figures).WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "figure ") - 1; got != want || !strings.Contains(b.String(), fmt.Sprintf("figure %d ", want-1)) { // and the head
			t.Errorf("%d figures: %d are there, want %d:\n%s", figures, got, want, &b)
		}
	}
}

// What cannot be written is an error, of each way to write.
func TestFullDisk(t *testing.T) {
	r := reporting(4)
	full := full{}
	for name, err := range map[string]error{
		"a table": r.WriteTable(full), "a line": r.WriteLine(full, r.Windows[0]), "metrics": r.WriteMetrics(full, r.Windows[0]), "JSON": r.WriteJSON(full),
	} {
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// The metrics say whether there is an alarm.
func TestAlarmOfMetrics(t *testing.T) {
	for alarm, want := range map[bool]string{false: "\nmars_check_alarm 0\n", true: "\nmars_check_alarm 1\n"} {
		r, b := reporting(4), strings.Builder{}
		r.Windows[0].Alarm = alarm
		if err := r.WriteMetrics(&b, r.Windows[0]); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %v in\n%s", alarm, err, &b)
		}
	}
}

// A stream whose windows keep one row can be gone on with.
func TestStateOfOneRow(t *testing.T) {
	s := newStream(t, Options{Window: Span{Rows: 20}})
	p := s.c.newPane(0)
	p.Kept.Most = 1
	if !s.fits(&state{Panes: panes(p), Most: 1}) {
		t.Error("it is refused")
	}
}

func panes(open ...*pane) windows.Panes[*pane] { return windows.Panes[*pane]{Open: open} }
