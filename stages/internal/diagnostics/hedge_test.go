package diagnostics

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/hedge"
)

// What speaks for the heaviest assumption is said of that one, and of none that nothing speaks for.
func TestBecause(t *testing.T) {
	views := []hedge.View{{Name: "same", Weight: 0.2}, {Name: "balance", Weight: 0.7}, {Name: "together", Weight: 0.1}}
	for want, why := range map[string][]string{
		"": nil,
		"What speaks most for it that only the proportions have changed: the classes overlap":                   {"the classes overlap"},
		"What speaks most for it that only the proportions have changed: the classes overlap, and rows are few": {"the classes overlap", "rows are few"},
	} {
		h := &Hedge{Views: views, Why: why}
		if got := h.Because(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if line := h.Line(); want != "" && !strings.Contains(line, ". "+want+". ") {
			t.Errorf("the line lacks %q: %s", want, line)
		}
	}
}

// The reasons are those of the model's own signs, the strongest first, and no weak ones.
func TestWhy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	draw := func(move float32) (x blas32.General, labels []int32) {
		x = blas32.General{Rows: 200, Cols: 2, Stride: 2, Data: make([]float32, 400)}
		for i := range x.Rows {
			y := int32(i % 2)
			x.Data[2*i], x.Data[2*i+1] = float32(rng.NormFloat64())+4*float32(y)+move, float32(rng.NormFloat64())
			labels = append(labels, y)
		}
		return x, labels
	}
	source, labels := draw(0)
	target, _ := draw(9)
	m, err := hedge.Fit(t.Context(), hedge.Problem{Source: source, Labels: labels, Target: target, Classes: []string{"a", "b"}}, hedge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := OfHedge(m).Hedge
	heaviest := slices.IndexFunc(m.Views, func(v hedge.View) bool { return v.Name == h.ByWeight()[0].Name })
	var want []string
	for _, r := range m.Why(heaviest) {
		if r.Value >= leastReason && len(want) < maxReasons {
			want = append(want, r.Text)
		}
	}
	if !slices.Equal(h.Why, want) || len(want) == 0 {
		t.Errorf("said is %q, and the signs say %q", h.Why, want)
	}
	if h.Stayed() {
		t.Errorf("rows that have moved by nine deviations are said to have stayed: %+v", h.Views)
	}
}

// A class seems to be absent where its share is next to nothing, and at most little beside that of an even class. Of
// more than ten such classes one line tells.
func TestAbsentClasses(t *testing.T) {
	one := func(class, most string) string {
		return "class " + class + " seems to be absent from the target: its share is at most " + most + " %"
	}
	var ten []string
	for k := range 10 {
		ten = append(ten, one(fmt.Sprint("c", k), "0.5"))
	}
	for _, c := range []struct {
		name                string
		classes, few        int // of which the first have the share and the bounds
		share, lower, upper float64
		want                []string
	}{
		{"next to nothing", 4, 1, .0009, 0, .00545, []string{one("c0", "0.5")}},
		{"nothing, of many classes", 100, 1, 0, 0, .0049, []string{one("c0", "0.5")}},
		{"as much as counts", 4, 1, .0009, 0, .01, nil},
		{"much beside an even share", 100, 1, .0009, 0, .005, nil},
		{"some rows for sure", 4, 1, .0009, .0001, .00545, nil},
		{"one of a thousand rows", 4, 1, .001, 0, .00545, nil},
		{"ten", 40, 10, 0, 0, .00545, ten},
		{"eleven", 40, 11, 0, 0, .0099, []string{"11 classes seem to be absent from the target, with shares of at most 0.99 %: c0, c1, c2, c3, c4 and 6 more"}},
		{"two of three", 3, 2, 0, 0, .00545, []string{one("c0", "0.5"), one("c1", "0.5")}},
	} {
		m := &hedge.Model{Interval: &hedge.Interval{}}
		for k := range c.classes {
			m.Classes = append(m.Classes, fmt.Sprint("c", k))
			share, lower, upper := c.share, c.lower, c.upper
			if k >= c.few {
				share, lower, upper = .3, .2, .4
			}
			m.Proportions = append(m.Proportions, share)
			m.Interval.Lower, m.Interval.Upper = append(m.Interval.Lower, lower), append(m.Interval.Upper, upper)
		}
		h := &Hedge{}
		if h.warnAbsent(m); !slices.Equal(h.Words, c.want) {
			t.Errorf("%s: %q\nwant %q", c.name, h.Words, c.want)
		}
	}
}

// Many rows that are unlike those of their class are warned of, and a few are by chance.
func TestUntypicalRowsOfAnswer(t *testing.T) {
	want := "30 % of the target's rows are unlike the source's rows of their class (5 % would be if nothing is new): the target may have a class that the source lacks; mars label --unknown marks such rows"
	for share, warned := range map[float64]bool{.05: false, .15: false, .3: true} {
		m := &hedge.Model{Views: []hedge.View{{Name: "balance", Weight: 1}}}
		m.Evidence.ExpectedAccuracy, m.Evidence.Untypical = .9, share
		if words := OfHedge(m).Hedge.Warnings(); slices.Contains(words, want) != warned || len(words) > 1 {
			t.Errorf("%g of the rows: %q", share, words)
		}
	}
}

// Labelled batches that were left out are a line each, with what was expected beside what is true.
func TestBatches(t *testing.T) {
	h, b := &Hedge{}, strings.Builder{}
	if err := h.WriteBatches(&b); err != nil || b.Len() > 0 || h.Experience() != "" {
		t.Errorf("without batches: %v, %q", err, b.String())
	}
	h.Left = []hedge.Left{{Batch: "monday", Rows: 90, L1: .125, ExpectedError: .25, Accuracy: .75, ExpectedAccuracy: .65, Best: "same"}, {Batch: "t\x1b", Rows: 9, L1: .375, Accuracy: 1, Best: "balance"}}
	if err := h.WriteBatches(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" monday 90 0.12 0.25 75 % 65 % same ", `t\u001b 9 0.38 0.00 100 % 0 % balance`} {
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if got, want := h.Experience(), "2 labelled batches were answered from the others, as if they had no labels: the shares were off by 0.25 in L1 (0.12 to 0.38), and 88 % of the labels were right. What is expected here goes by that too"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if err := h.WriteBatches(full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// The classes are said to have stayed where the assumptions that move nothing count most together.
func TestStayed(t *testing.T) {
	for _, c := range []struct {
		same, balance, classes float64
		want                   bool
	}{{0.3, 0.3, 0.4, true}, {0.2, 0.2, 0.6, false}, {0, 0.9, 0.1, true}, {0, 0, 1, false}} {
		h := &Hedge{Views: []hedge.View{{Name: "same", Weight: c.same}, {Name: "balance", Weight: c.balance}, {Name: "classes", Weight: c.classes}}}
		if got := h.Stayed(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Apart is 0 where trees do no better than chance, or worse, and 1 where they are always right.
func TestApart(t *testing.T) {
	for area, want := range map[float64]float64{0.4: 0, 0.5: 0, 0.75: 0.5, 1: 1} {
		if got := Apart(hedge.View{Apart: area}); got != want {
			t.Errorf("an area of %v is %v apart, want %v", area, got, want)
		}
	}
}
