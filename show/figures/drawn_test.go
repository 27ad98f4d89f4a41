package figures

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mars.dev/mars/stages/eval"
	"mars.dev/mars/stages/proportions"
)

var (
	drawnText = regexp.MustCompile(`>([^<>]+)</text>`)
	blueBar   = regexp.MustCompile(`d="M([\d.]+),[\d.]+L([\d.]+),[^"]*Z" style="fill:#0072B2"`)
)

// What is drawn is what was found: bars are as long as shares, and the source's are not taken
// for the target's.
func TestBarsAreShares(t *testing.T) {
	r := &proportions.Report{Classes: []string{"a", "b", "c"}, TargetRows: 100}
	r.Proportions.Estimated, r.Proportions.Source = []float64{.5, .3, .2}, []float64{.2, .2, .6}
	r.Interval.Level, r.Interval.Lower, r.Interval.Upper = .9, []float64{.4, .25, .15}, []float64{.55, .35, .25}
	f, err := Shares(r)
	if err != nil {
		t.Fatal(err)
	}
	var lengths []float64
	for _, m := range blueBar.FindAllStringSubmatch(write(t, f), -1)[1:] { // the first is the key's
		from, _ := strconv.ParseFloat(m[1], 64)
		to, _ := strconv.ParseFloat(m[2], 64)
		lengths = append(lengths, to-from)
	}
	if len(lengths) != 3 || math.Abs(lengths[0]/lengths[1]-5./3) > .01 || math.Abs(lengths[0]/lengths[2]-2.5) > .01 {
		t.Errorf("the bars of .5, .3 and .2 are %v long", lengths)
	}
	if want := []string{"a", "50.0 %", "40.0 % to 55.0 %", "20.0 %"}; !slices.Equal(strip(f.Table.Rows[0]), want) {
		t.Errorf("the table says %q, want %q", f.Table.Rows[0], want)
	}
}

// strip leaves the spaces away that align numbers.
func strip(cells []string) (bare []string) {
	for _, c := range cells {
		bare = append(bare, strings.Join(strings.Fields(c), " "))
	}
	return bare
}

// Rows of a confusion matrix are true classes, and columns are labels: in its cells and in its
// table.
func TestConfusionIsNotTransposed(t *testing.T) {
	f, err := Confusion(&eval.Metrics{Classes: []string{"a", "b"}, Confusion: [][]int{{11, 12}, {13, 14}}, N: 50})
	if err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, m := range drawnText.FindAllStringSubmatch(write(t, f), -1) {
		if _, err := strconv.Atoi(m[1]); err == nil {
			cells = append(cells, m[1])
		}
	}
	if want := []string{"11", "12", "13", "14"}; !slices.Equal(cells, want) {
		t.Errorf("drawn are %v, want %v", cells, want)
	}
	if want := []string{"b", "13", "14"}; !slices.Equal(f.Table.Rows[1], want) {
		t.Errorf("the table says %v, want %v", f.Table.Rows[1], want)
	}
}

// A bar is over methods whose ranks differ by less than the critical difference, the first and
// the last of them, and not over some that another bar is over.
func TestBarsOfRanks(t *testing.T) {
	ranks := []float64{4.5, 1, 3.2, 1.8, 2.6}
	if got, want := alike(ranks, []int{1, 3, 4, 2, 0}, 1.5), [][2]int{{0, 1}, {1, 3}, {3, 4}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := alike(ranks, []int{1, 3, 4, 2, 0}, .5); got != nil {
		t.Errorf("all differ, and there are bars over %v", got)
	}
}

// Each epoch has the proportions that it had, and none where there were none.
func TestTraceOfEpochs(t *testing.T) {
	f, err := Trace(&Epochs{Classes: []string{"a", "b"}, Epoch: []float64{1, 2, 3}, Proportions: [][]float64{nil, {.5, .5}, {.8, .2}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"1", "", ""}, {"2", "0.5", "0.5"}, {"3", "0.8", "0.2"}} {
		if !slices.Equal(f.Table.Rows[i], want) {
			t.Errorf("epoch %d: %q, want %q", i+1, f.Table.Rows[i], want)
		}
	}
}
