package sheet

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/ppi"
)

// A code says all of a row, whatever the numbers, and a change of anything shows.
func TestCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := Plan{Uniform: 25, Chosen: 24, Seed: math.MaxUint64, Target: letters("x", targetLetters)}
	for _, probability := range []float64{1, 0.5, 0.1, 0.999999, 0.0123456789, 1e-7, 3.14159e-12} {
		for range 50 {
			q := Rounded(probability * (1 - rng.Float64()/2))
			r := Row{Draw: ppi.Draw{Row: rng.IntN(1_000_000), Part: ppi.Part(rng.IntN(2)), Probability: q}, Order: 1 + rng.IntN(49), ID: "né 7"}
			code := p.Code(r)
			plan, row, ok := parseCode(code)
			if !ok || plan != p || row.Draw != r.Draw || row.Order != r.Order {
				t.Fatalf("%+v has the code %s, which is read as %+v %+v", r, code, plan, row)
			}
			if row.ID, row.code = r.ID, code; !(&Filled{Plan: plan}).known(row) {
				t.Fatalf("%s is not known", code)
			}
			for _, other := range []Row{{Draw: ppi.Draw{Row: r.Row + 1, Part: r.Part, Probability: q}, Order: r.Order, ID: r.ID},
				{Draw: r.Draw, Order: r.Order + 1, ID: r.ID}, {Draw: r.Draw, Order: r.Order, ID: "n"}} {
				if other.code = code; (&Filled{Plan: plan}).known(other) {
					t.Fatalf("%s passes for that of %+v", code, other)
				}
			}
			if last := code[strings.LastIndex(code, "-")+1:]; strings.ContainsAny(last, "aeiouy0123456789") {
				t.Fatalf("a spreadsheet may read a month in %s", code)
			}
		}
	}
	for _, text := range []string{"", "x", "25u24c0s-bcd-1u2-bb", "25u24c0s-bcd-1x2-bb-cc", strings.Repeat("9", 40) + "u1c0s-b-1u2-bb-cc", "1u1c0s-b-1u2-zzzzzzzzzzzzzzzz-cc"} {
		if _, _, ok := parseCode(text); ok {
			t.Errorf("%q passes for a code", text)
		}
	}
}

// Names that were typed otherwise are those of a class where only one can be meant.
func TestNames(t *testing.T) {
	classes := []string{"T cell", "monocyte", "1", "type2", "NK", "nk-like"}
	for label, want := range map[string]string{"t  CELL ": "T cell", "T\u00a0cell": "T cell", "1.0": "1", "nk": "NK", "Monocyte": "monocyte",
		"blast": "blast (new)", "type3": "type3 (new)", "2": "2 (new)", "?": "none", "NA": "none", "monocite": "slip", "T-cell": "slip"} {
		f := &Filled{Plan: Plan{Uniform: 2}, Rows: []Row{{Order: 1, Label: "T cell"}, {Order: 2, Label: label}}}
		a, err := f.Answers(classes, nil)
		got := "slip"
		switch {
		case err != nil:
		case len(a.Class) == 1:
			got = "none"
		case a.Class[1] >= len(classes):
			got = a.Classes[a.Class[1]] + " (new)"
		default:
			got = a.Classes[a.Class[1]]
		}
		if got != want {
			t.Errorf("%q is %s, want %s (%v)", label, got, want, err)
		}
	}
	f := &Filled{Plan: Plan{Uniform: 1}, Rows: []Row{{Order: 1, Label: "monocite"}}}
	if a, err := f.Answers(classes, []string{"monocite"}); err != nil || a.Fresh()[0] != "monocite" {
		t.Errorf("a class that the source lacks is not taken: %v", err)
	}
	// What --new-class names is a class of its own, however near it is to another, and the labels have it.
	f.Rows = []Row{{Order: 1, Label: "Nk"}, {Order: 2, Label: " Nk"}}
	if a, err := f.Answers(classes, []string{"Nk"}); err != nil || !slices.Equal(a.Fresh(), []string{"Nk"}) || a.Class[0] != len(classes) || a.Class[1] != len(classes) {
		t.Errorf("a class that differs in its letters' case is not taken: %+v, %v", a, err)
	}
	two := &Filled{Plan: Plan{Uniform: 3}, Rows: append(slices.Clone(f.Rows), Row{Order: 3, Label: "nK"}, Row{Order: 4, Label: "nK "})}
	if a, err := two.Answers(classes, []string{"Nk", "nK"}); err != nil || !slices.Equal(a.Class, []int{6, 6, 7, 7}) {
		t.Errorf("two classes that are spelt alike are %+v, %v", a, err)
	}
	if _, err := f.Answers(classes, []string{"Nk", "blast"}); err == nil || !strings.Contains(err.Error(), `no row has the label "blast", which --new-class names (classes that only labels have: Nk): write it as the table does`) {
		t.Errorf("got %v", err)
	}
	if _, err := f.Answers(classes, []string{"NK"}); err == nil || !strings.Contains(err.Error(), `the source has the class "NK", which --new-class names as one that it lacks`) {
		t.Errorf("got %v", err)
	}
	f.Rows = f.Rows[:1]
	if _, err := f.Answers([]string{"a", "A"}, nil); err != nil {
		t.Error(err)
	}
	f.Rows[0].Label = "aa "
	if _, err := f.Answers([]string{"aa", "AA"}, nil); err == nil || !strings.Contains(err.Error(), `may be "aa" or "AA"`) {
		t.Errorf("got %v", err)
	}
}

// A slip is a name of at least four letters in which one of each four may be another, and no digit.
func TestNearestClass(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"abc", ""}, {"abcx", "abcd"}, {"abxx", ""}, {"monocito", "monocyte"}, {"monicyto", "monocyte"}, {"minicyto", ""},
		{"type3", ""}, {"tipe2", "type2"}, {"tipe", ""}, {"plasmacelx", "plasmacell"}, {"plasmacelly", "plasmacell"}, {"plasmablasx", "plasmablast"},
	} {
		if got := nearestOf(c.name, []string{"abd", "abcd", "monocyte", "type2", "plasmablast", "plasmacell"}); got != c.want {
			t.Errorf("%s is near %q, want %q", c.name, got, c.want)
		}
	}
	if got := nearestOf("abcdefgx", []string{"abcdefxx", "abcdefgh", "abcdefgy"}); got != "abcdefxx" {
		t.Errorf("of classes that are alike near %q is taken", got)
	}
	if got := nearestOf("abcdefxx", []string{"abcdefgh", "abcdefxh"}); got != "abcdefxh" {
		t.Errorf("of two near classes %q is taken", got)
	}
	if got := digits("0a9/:-12"); got != "0912" {
		t.Errorf("the digits are %s", got)
	}
}

// What the same label is taken for is told once, and a class that the source lacks is one class.
func TestLabelsAgain(t *testing.T) {
	f := &Filled{Plan: Plan{Uniform: 4}, Rows: []Row{{Order: 1, Label: "nk cell"}, {Order: 2, Label: "nk cell"}, {Order: 3, Label: "blast"}, {Order: 4, Label: "blast"}}}
	a, err := f.Answers([]string{"NK cell", "B"}, nil)
	if err != nil || !slices.Equal(a.Class, []int{0, 0, 2, 2}) || !slices.Equal(a.Fresh(), []string{"blast"}) {
		t.Fatalf("got %+v, %v", a, err)
	}
	if told := strings.Count(strings.Join(a.Told, "\n"), `the label "nk cell" is taken for the class "NK cell"`); told != 1 {
		t.Errorf("it is told %d times: %q", told, a.Told)
	}
}

// Gaps are the rows without a label before the last one with one, in the file or not.
func TestGaps(t *testing.T) {
	f := &Filled{Plan: Plan{Uniform: 4, Chosen: 4}, Rows: []Row{{Order: 1, Label: "a"}, {Order: 2}, {Order: 4, Label: "b"}, {Order: 6, Label: "a"}, {Order: 7}}}
	a, err := f.Answers([]string{"a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Gaps) != 3 || a.Gaps[0] != 2 || a.Gaps[1] != 3 || a.Gaps[2] != 5 || a.Told[0] != "3 of 8 rows have a label" {
		t.Errorf("%v %v", a.Gaps, a.Told)
	}
	if u, c := a.Reached(); u != 3 || c != 3 {
		t.Errorf("%d and %d rows are reached", u, c)
	}
}
