package shift

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
)

func TestCounts(t *testing.T) {
	for _, tc := range []struct {
		rows        int
		proportions []float64
		want        []int
	}{
		{100, []float64{.66, .17, .17}, []int{66, 17, 17}},
		{3000, []float64{.33, .33, .34}, []int{990, 990, 1020}},
		{100, []float64{.29, .71}, []int{29, 71}}, // 0.29·100 rounds below 29
		{10, []float64{1. / 3, 1. / 3, 1. / 3}, []int{4, 3, 3}},
		{2, []float64{.5, 0, .5}, []int{1, 0, 1}},
		{1, []float64{.4, .6}, []int{0, 1}},
		{0, []float64{.4, .6}, []int{0, 0}},
	} {
		if got := Counts(tc.rows, tc.proportions); !slices.Equal(got, tc.want) {
			t.Errorf("Counts(%d, %v) = %v, want %v", tc.rows, tc.proportions, got, tc.want)
		}
	}
}

// Every count is the exact share rounded up or down, and they sum to the rows.
func TestCountsProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		p := randomProportions(rng, 1+rng.IntN(12))
		rows := rng.IntN(5000)
		sum := 0
		for c, n := range Counts(rows, p) {
			sum += n
			if math.Abs(float64(n)-float64(rows)*p[c]) > 1 {
				t.Fatalf("%d rows of %v: class %d got %d", rows, p, c, n)
			}
		}
		if sum != rows {
			t.Fatalf("%d rows of %v: counts sum to %d", rows, p, sum)
		}
	}
}

func randomProportions(rng *rand.Rand, classes int) []float64 {
	p := make([]float64, classes)
	var sum float64
	for c := range p {
		if p[c] = rng.ExpFloat64(); c > 0 && rng.IntN(5) == 0 {
			p[c] = 0
		}
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// Largest agrees with a search through all numbers of rows.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		classes := 1 + rng.IntN(5)
		p := randomProportions(rng, classes)
		have := make([]int, classes)
		total := 0
		for c := range have {
			have[c] = 1 + rng.IntN(40)
			total += have[c]
		}
		want := 0
		for n := 1; n <= total; n++ {
			if short(have, Counts(n, p)) < 0 {
				want = n
			}
		}
		if got := Largest(have, p); got != want {
			t.Fatalf("Largest(%v, %v) = %d, want %d", have, p, got, want)
		}
	}
	if got := Largest([]int{0, 10}, []float64{.01, .99}); got != 0 {
		t.Errorf("with an empty class: Largest = %d, want 0", got)
	}
}

var names = []string{"a", "b", "c"}

func testLabels(n int) []int32 {
	rng := rand.New(rand.NewPCG(3, 3))
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(rng.IntN(4)) - 1 // -1 is unknown
	}
	return labels
}

func TestSample(t *testing.T) {
	labels := testLabels(3000)
	d := Draw{Proportions: []float64{.6, .1, .3}, Rows: 500, Seed: 7}
	rows, err := Sample(t.Context(), labels, names, d)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 3)
	seen := map[int]bool{}
	for _, i := range rows {
		if seen[i] {
			t.Fatalf("row %d drawn twice", i)
		}
		seen[i] = true
		counts[labels[i]]++
	}
	if want := []int{300, 50, 150}; !slices.Equal(counts, want) {
		t.Errorf("counts %v, want %v", counts, want)
	}
	if slices.IsSorted(rows) {
		t.Error("rows are in the order of the data, not shuffled")
	}
	again, _ := Sample(t.Context(), labels, names, d)
	if !slices.Equal(rows, again) {
		t.Error("the same seed gave other rows")
	}
	d.Seed++
	other, _ := Sample(t.Context(), labels, names, d)
	if slices.Equal(rows, other) {
		t.Error("another seed gave the same rows")
	}
}

// Every row of a class is drawn equally often over many seeds.
func TestSampleUniform(t *testing.T) {
	labels := []int32{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}
	drawn := make([]float64, len(labels))
	const seeds = 4000
	for seed := range uint64(seeds) {
		rows, err := Sample(t.Context(), labels, names[:2], Draw{Proportions: []float64{.5, .5}, Rows: 4, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			drawn[i]++
		}
	}
	for i, n := range drawn {
		// 2 of 5 a seed: mean .4, standard error sqrt(.24/4000) = .0077.
		if share := n / seeds; math.Abs(share-.4) > .04 {
			t.Errorf("row %d drawn with frequency %.3f, want .4", i, share)
		}
	}
}

func TestSampleLargest(t *testing.T) {
	labels := make([]int32, 100) // 80 of a, 20 of b
	for i := range 20 {
		labels[i] = 1
	}
	rows, err := Sample(t.Context(), labels, names[:2], Draw{Proportions: []float64{.5, .5}})
	if err != nil || len(rows) != 41 { // 21 and 20: the odd row goes to the lower class
		t.Errorf("%d rows, %v; want 41", len(rows), err)
	}
	rows, err = Sample(t.Context(), labels, names[:2], Draw{})
	slices.Sort(rows)
	if err != nil || len(rows) != 100 || rows[0] != 0 || rows[99] != 99 {
		t.Errorf("without proportions: %d rows, %v; want each of 100 once", len(rows), err)
	}
}

// Shuffle draws what rng.Shuffle draws.
func TestShuffleIsThatOfTheLibrary(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, stepRows + 1} {
		want := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
		got := make([]int, n)
		for i := range got {
			got[i] = i
		}
		if err := Shuffle(t.Context(), got, rand.New(rand.NewPCG(1, uint64(n)))); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d values: another order than that of the library; error %v", n, err)
		}
	}
}

func TestSampleStopsWithItsContext(t *testing.T) {
	labels := testLabels(8 * stepRows) // a quarter of them in each class
	for want, d := range map[int]Draw{7: {}, 6: {Proportions: []float64{.5, .2, .3}}} {
		contexttest.Stops(t, want, func(ctx context.Context) error {
			_, err := Sample(ctx, labels, names, d)
			return err
		})
	}
}

func TestSampleErrors(t *testing.T) {
	labels := []int32{0, 0, 0, 0, 0, 0, 1, 1, -1}
	for _, tc := range []struct {
		d    Draw
		want string
	}{
		{Draw{Proportions: []float64{.5, .5}, Rows: 8}, `class "b" has 2 rows, 4 are needed for 8 rows with proportion 0.5: ask for at most 5 rows`},
		{Draw{Proportions: []float64{.5, .5, 0}, Rows: 4}, "3 for 2 classes"},
		{Draw{Proportions: []float64{.5, .4}}, "sum to 0.9: they must sum to 1"},
		{Draw{Rows: 10}, "10 asked for of 9: ask for at most 9"},
		{Draw{Rows: -1}, "-1 is negative"},
	} {
		_, err := Sample(t.Context(), labels, names[:2], tc.d)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want %q", tc.d, err, tc.want)
		}
	}
	_, err := Sample(t.Context(), labels, names, Draw{Proportions: []float64{.5, .4, .1}, Rows: 4})
	if want := `class "c" has no rows but a proportion of 0.1: give it proportion 0`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestParseProportions(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []float64
	}{
		{"0.66,0.17,0.17", []float64{.66, .17, .17}},
		{" 1/3, 1/3 ,1/3", []float64{1. / 3, 1. / 3, 1. / 3}},
		{"0.333333,0.333333,0.333333", []float64{1. / 3, 1. / 3, 1. / 3}},
		{"c=0.25,a=3/4", []float64{.75, 0, .25}},
		{"0,0,1", []float64{0, 0, 1}},
	} {
		got, err := ParseProportions(tc.text, names)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		for c := range got {
			if math.Abs(got[c]-tc.want[c]) > 1e-15 {
				t.Errorf("%q: %v, want %v", tc.text, got, tc.want)
			}
		}
	}
}

func TestParseProportionsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"0.5,0.5":         "2 numbers for 3 classes (a, b, c): give one a class, or class=number pairs",
		"0.5,0.3,0.1":     "sum to 0.9: they must sum to 1",
		"0.5,0.7,-0.2":    "number 3 is -0.2: a proportion is at least 0",
		"a=0.5,d=0.5":     `class "d" is not in the data: its classes are a, b, c`,
		"a=0.5,a=0.5":     `class "a" is named twice`,
		"a=0.5,0.5":       `"0.5" has no class`,
		"a=0.5,=0.5":      `"=0.5" has no class`,
		"a=x":             `"x" is not a number`,
		"1/0,0,0":         `"1/0" is not a number`,
		"nan,0,0":         `"nan" is not a number`,
		"0.5,0.25,0.2499": "sum to 0.9999",
	} {
		_, err := ParseProportions(text, names)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParseProportions(f *testing.F) {
	for _, text := range []string{"0.66,0.17,0.17", "a=1/2,b=1/2", "=", "1e308,1e308,-1", "a=1/0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProportions(text, names)
		if err != nil {
			return
		}
		var sum float64
		for _, v := range p {
			if !(v >= 0) {
				t.Fatalf("%q: negative %v", text, p)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-12 || len(p) != 3 {
			t.Fatalf("%q: %v", text, p)
		}
	})
}

// Each class keeps its fraction, rounded, and one row at least; the rows stay in order.
func TestThin(t *testing.T) {
	labels := make([]int32, 0, 203)
	for i := range 100 {
		labels = append(labels, 0, 1)
		if i == 50 {
			labels = append(labels, 2, 3, -1)
		}
	}
	classes := []string{"a", "b", "c", "d"}
	fractions, err := ParseFractions("a=0.3,b=4/5,c=0.01,d=0", classes)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Thin(t.Context(), labels, fractions, 1)
	if err != nil || !slices.IsSorted(rows) {
		t.Fatal(rows, err)
	}
	counts := make([]int, 4)
	for _, i := range rows {
		counts[labels[i]]++
	}
	if !slices.Equal(counts, []int{30, 80, 1, 0}) {
		t.Errorf("of 100, 100, 1 and 1 rows there are %v", counts)
	}
	if other, _ := Thin(t.Context(), labels, fractions, 2); slices.Equal(other, rows) {
		t.Error("another seed keeps the same rows")
	}
	if f, err := ParseFractions("b=0.5", classes); err != nil || !slices.Equal(f, []float64{1, .5, 1, 1}) {
		t.Errorf("of classes without a fraction: %v, %v", f, err)
	}
	for _, text := range []string{"0.5", "1,1,1,1.5", "a=-1", "e=1", "a=NaN", "a=1,a=1"} {
		if f, err := ParseFractions(text, classes); err == nil {
			t.Errorf("%q are %v", text, f)
		}
	}
}
