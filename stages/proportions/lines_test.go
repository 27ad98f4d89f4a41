package proportions

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/levels"
)

// reported is a report of n classes c0, c1, … of 100 rows, the share of each of which is given.
func reported(shares ...float64) *Report {
	r := &Report{TargetRows: 100, Interval: Interval{Level: .9}, Warnings: []string{}, Diagnostics: &Diagnostics{}}
	for k, p := range shares {
		r.Classes = append(r.Classes, fmt.Sprint("c", k))
		r.Interval.Lower, r.Interval.Upper = append(r.Interval.Lower, p/2), append(r.Interval.Upper, (1+p)/2)
	}
	r.Proportions.Source, r.Proportions.Estimated = shares, shares
	return r
}

// rising are n shares, each larger than the one before.
func rising(n int) []float64 {
	p := make([]float64, n)
	for k := range p {
		p[k] = float64(2*(k+1)) / float64(n*(n+1))
	}
	return p
}

// names are those of lines, each after the spaces of its level.
func names(lines []Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.indented())
	}
	return strings.Join(all, ",")
}

// upTo are the names from one class to another, each after some text.
func upTo(first, last int, before string) string {
	var all []string
	for step, k := (last-first)/max(1, first-last, last-first), first; ; k += step {
		if all = append(all, fmt.Sprint(before, "c", k)); k == last {
			return strings.Join(all, ",")
		}
	}
}

// Thirty classes stay in their order. More are listed from the largest share on, and those after the
// thirtieth share lines: one of each class of which they are a part.
func TestLines(t *testing.T) {
	tree := func(classes []string, of func(k int) string) *levels.Tree {
		var cells []string
		for k := range classes {
			cells = append(cells, of(k))
		}
		l, err := levels.New([]string{"kind", "type"}, [][]string{cells, classes}, classes, func(int) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	thirds := func(k int) string { // of 62, of which 32 are small: of each kind there are some
		switch {
		case k == 0:
			return "tiny"
		case k < 16 || k > 46:
			return "ends"
		}
		return "middle"
	}
	for _, test := range []struct {
		name    string
		classes int
		of      func(k int) string
		all     bool
		want    string
		below   string // in the table
	}{
		{"thirty", 30, nil, false, upTo(0, 29, ""), ""},
		{"one more", 31, nil, false, upTo(30, 1, "") + ",and 1 smaller class, together 0.2 %", "\n  and 1 smaller class, together 0.2 % (--details and --json list all).\n"},
		{"all of many", 31, nil, true, upTo(30, 0, ""), ""},
		{"thirty in two levels", 30, func(k int) string { return fmt.Sprint("of ", k/15) }, false,
			"of 0," + upTo(0, 14, "  ") + ",of 1," + upTo(15, 29, "  "), ""},
		{"more in two levels", 62, thirds, false,
			"middle," + upTo(46, 32, "  ") + ",  and 16 smaller,ends," + upTo(61, 47, "  ") + ",  and 15 smaller,and 1 smaller class, together 0.1 %",
			"\n  The smallest classes share lines (--details and --json list all).\n"},
		{"all in two levels", 62, thirds, true, "middle," + upTo(46, 16, "  ") + ",ends," + upTo(61, 47, "  ") + "," + upTo(15, 1, "  ") + ",tiny,  c0", ""},
	} {
		r := reported(rising(test.classes)...)
		if test.of != nil {
			r.tree, r.bounds = tree(r.Classes, test.of), []levelBounds{{make([]float64, 3), make([]float64, 3), Bounds{}}}
		}
		if got := names(r.fillLevels().Lines(test.all)); got != test.want {
			t.Errorf("%s: lines\n%s\nwant\n%s", test.name, got, test.want)
		}
		var text bytes.Buffer
		r.writeShares(&text, test.all)
		if !strings.HasSuffix(text.String(), test.below) || strings.Contains(text.String(), "--details") != (test.below != "") {
			t.Errorf("%s: the table ends %q, want %q", test.name, text.String()[max(0, text.Len()-100):], test.below)
		}
		for line := range strings.Lines(text.String()) {
			if strings.HasPrefix(line, "    and 16 smaller ") && strings.Fields(line)[3] != "20.1" { // 17 + … + 32 of 1953
				t.Errorf("%s: sixteen classes have 20.1 %%: %s", test.name, line)
			}
		}
	}
}

// A sentence has the six largest classes.
func TestSentence(t *testing.T) {
	for n, want := range map[int]string{
		1: "Of 100 target rows, 100.0 % are c0 (50.0–100.0 %).",
		6: "Of 100 target rows, 28.6 % are c5 (14.3–64.3 %), 23.8 % are c4 (11.9–61.9 %), 19.0 % are c3 (9.5–59.5 %), 14.3 % are c2 (7.1–57.1 %), 9.5 % are c1 (4.8–54.8 %), 4.8 % are c0 (2.4–52.4 %).",
		7: "Of 100 target rows, 25.0 % are c6 (12.5–62.5 %), 21.4 % are c5 (10.7–60.7 %), 17.9 % are c4 (8.9–58.9 %), 14.3 % are c3 (7.1–57.1 %), 10.7 % are c2 (5.4–55.4 %), 7.1 % are c1 (3.6–53.6 %), 1 more class.",
	} {
		if got := reported(rising(n)...).Sentence(); got != want {
			t.Errorf("%d classes: %s\nwant %s", n, got, want)
		}
	}
}

// A report that was read has a value a class at each level.
func TestCheckLevels(t *testing.T) {
	for name, spoil := range map[string]func(r *Report, coarse, fine *LevelShares){
		"":              func(*Report, *LevelShares, *LevelShares) {},
		"source":        func(_ *Report, coarse, _ *LevelShares) { coarse.Source = nil },
		"estimated":     func(_ *Report, _, fine *LevelShares) { fine.Estimated = fine.Estimated[1:] },
		"lower":         func(_ *Report, _, fine *LevelShares) { fine.Lower = append(fine.Lower, 0) },
		"upper":         func(_ *Report, coarse, _ *LevelShares) { coarse.Upper = nil },
		"rows":          func(_ *Report, _, fine *LevelShares) { fine.Rows = nil },
		"parents":       func(_ *Report, _, fine *LevelShares) { fine.Parents = fine.Parents[1:] },
		"truths":        func(_ *Report, coarse, _ *LevelShares) { coarse.True = coarse.True[1:] },
		"no truths":     func(_ *Report, _, fine *LevelShares) { fine.True = nil },
		"of no truth":   func(r *Report, _, _ *LevelShares) { r.Proportions.True = nil },
		"truths for no": func(r *Report, coarse, fine *LevelShares) { r.Proportions.True, coarse.True, fine.True = nil, nil, nil },
	} {
		r := reported(rising(3)...)
		r.Proportions.True = rising(3)
		l, err := levels.New([]string{"kind", "type"}, [][]string{{"a", "a", "b"}, r.Classes}, r.Classes, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.tree, r.bounds = l, []levelBounds{{rising(2), rising(2), Bounds{}}}
		r.fillLevels()
		spoil(r, &r.Levels[0], &r.Levels[1])
		whole := name == "" || name == "truths for no"
		if err := r.CheckLevels(); (err == nil) != whole {
			t.Errorf("%q spoilt: %v", name, err)
		}
	}
}

// Targets are lines of a table, with the five classes of the largest shares of all targets.
func TestTargetsTable(t *testing.T) {
	few, many := reported(.5, .25, .25), []*Report{reported(.4, .05, .05, .1, .1, .1, .2), reported(.0, .05, .05, .1, .32, .38, .1)}
	more := reported(rising(6)...)
	for _, r := range append(many, few, more) {
		r.Judgement, r.ExpectedError = diagnostics.Care, .125
	}
	for _, test := range []struct {
		targets []*Report
		want    string
	}{
		{[]*Report{few}, `
  target  rows                 c0                 c1                 c2  expected L1 error  verdict
      t0   100  50.0 % (25.0–75.0)  25.0 % (12.5–62.5)  25.0 % (12.5–62.5)               0.12     care
`}, {many, `
  target  rows                 c5                 c4                 c0                 c6                c3  expected L1 error  verdict
      t0   100   10.0 % (5.0–55.0)   10.0 % (5.0–55.0)  40.0 % (20.0–70.0)  20.0 % (10.0–60.0)  10.0 % (5.0–55.0)               0.12     care
      t1   100  38.0 % (19.0–69.0)  32.0 % (16.0–66.0)    0.0 % (0.0–50.0)   10.0 % (5.0–55.0)  10.0 % (5.0–55.0)               0.12     care
2 classes are more, in the file of -o.
`}, {[]*Report{more}, `
  target  rows                  c5                  c4                 c3                 c2                c1  expected L1 error  verdict
      t0   100  28.6 % (14.3–64.3)  23.8 % (11.9–61.9)  19.0 % (9.5–59.5)  14.3 % (7.1–57.1)  9.5 % (4.8–54.8)               0.12     care
1 class is more, in the file of -o.
`}} {
		all := Targets{Column: "target"}
		for i, r := range test.targets {
			all.Targets = append(all.Targets, Target{fmt.Sprint("t", i), r})
		}
		var text bytes.Buffer
		if err := all.WriteTable(&text); err != nil {
			t.Fatal(err)
		}
		want := test.want[1:] + "The verdicts: believe; care, believe with care; unjudged, cannot be judged without labels; doubt, do not believe.\n"
		if got := text.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("the table is\n%swant\n%s", got, want)
		}
	}
}
