package toy

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
)

// Balanced accuracies of the Bayes rules by shift, to three decimals, from the
// same constants by an independent program.
var bayesTable = []struct {
	noise    Noise
	shift    float64
	possible float64
	source   float64
}{
	{Low, 0, 1.000, 1.000}, {Low, 2, 1.000, .999}, {Low, 5, 1.000, .986}, {Low, 8, 1.000, .646}, {Low, 11, 1.000, .228},
	{Mid, 0, .996, .996}, {Mid, 2, .996, .989}, {Mid, 5, .995, .911}, {Mid, 8, .994, .744}, {Mid, 11, .995, .641},
	{High, 0, .952, .952}, {High, 2, .950, .936}, {High, 5, .943, .781}, {High, 8, .934, .502}, {High, 11, .925, .360},
}

func TestBayes(t *testing.T) {
	for _, tc := range bayesTable {
		got, err := Bayes(t.Context(), Options{Noise: tc.noise, Shift: tc.shift}, 0)
		if err != nil {
			t.Fatal(err)
		}
		// Four standard errors of the difference from a table made in the same way, and
		// its rounding.
		tolerance := 4*math.Sqrt2*got.StdError + .0005
		if math.Abs(got.Possible-tc.possible) > tolerance || math.Abs(got.SourceRule-tc.source) > tolerance {
			t.Errorf("%s, shift %v: possible %.4f, source's rule %.4f; want %.3f and %.3f within %.4f",
				tc.noise, tc.shift, got.Possible, got.SourceRule, tc.possible, tc.source, tolerance)
		}
	}
}

func TestBayesOfPublishedCode(t *testing.T) {
	_, err := Bayes(t.Context(), Options{PublishedCodeVariances: true}, 10)
	if err == nil || !strings.Contains(err.Error(), "variances are 0") {
		t.Errorf("error %v", err)
	}
}

func TestGenerate(t *testing.T) {
	o := Options{Noise: High, Shift: 8, TargetProportions: []float64{.66, .17, .17}, Seed: 1}
	source, target, err := Generate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSample(t, "source", source, []int{990, 990, 1020}, [3][2]float64{{.25, 0}, {0, 1}, {1, 1.5}})
	checkSample(t, "target", target, []int{1980, 510, 510}, [3][2]float64{{-.15, -.4}, {-.4, .6}, {.2, 1.496}})
}

// checkSample compares counts exactly, and moments within 5 standard errors,
// with those of the high noise.
func checkSample(t *testing.T, side string, s Sample, counts []int, centres [3][2]float64) {
	t.Helper()
	if s.X.Rows != 3000 || s.X.Cols != 2 || len(s.Labels) != 3000 {
		t.Fatalf("%s: %d×%d with %d labels", side, s.X.Rows, s.X.Cols, len(s.Labels))
	}
	if slices.IsSorted(s.Labels) {
		t.Errorf("%s: rows are sorted by class", side)
	}
	for c := range Classes {
		for a := range Dim {
			var n, sum, squares float64
			for i, y := range s.Labels {
				if int(y) == c {
					v := float64(s.X.Data[i*s.X.Stride+a]) - centres[c][a]
					n, sum, squares = n+1, sum+v, squares+v*v
				}
			}
			if int(n) != counts[c] {
				t.Fatalf("%s: class %d has %v rows, want %d", side, c, n, counts[c])
			}
			variance := variances[High][c][a]
			if math.Abs(sum/n) > 5*math.Sqrt(variance/n) {
				t.Errorf("%s: class %d, axis %d: mean off by %v", side, c, a, sum/n)
			}
			if math.Abs(squares/n/variance-1) > 5*math.Sqrt(2/n) {
				t.Errorf("%s: class %d, axis %d: variance %v, want %v", side, c, a, squares/n, variance)
			}
		}
	}
}

// The source depends on the seed, not on the options of the target.
func TestGenerateStreams(t *testing.T) {
	first, target, _ := Generate(t.Context(), Options{Seed: 5})
	second, moved, _ := Generate(t.Context(), Options{Seed: 5, Shift: 3, TargetRows: 50})
	if !slices.Equal(first.X.Data, second.X.Data) || !slices.Equal(first.Labels, second.Labels) {
		t.Error("the source changed with the target")
	}
	if slices.Equal(target.X.Data, moved.X.Data) {
		t.Error("the target did not change")
	}
	if slices.Equal(first.X.Data, target.X.Data) {
		t.Error("source and target share their random numbers")
	}
	other, _, _ := Generate(t.Context(), Options{Seed: 6})
	if slices.Equal(first.X.Data, other.X.Data) {
		t.Error("another seed gave the same rows")
	}
}

func TestFunctionsStopWithTheirContext(t *testing.T) {
	contexttest.Stops(t, 8, func(ctx context.Context) error {
		_, _, err := Generate(ctx, Options{SourceRows: 2 * stepRows, TargetRows: 2 * stepRows})
		return err
	})
	contexttest.Stops(t, 6, func(ctx context.Context) error {
		_, err := Bayes(ctx, Options{}, 2*stepRows)
		return err
	})
}

func TestPublishedCodeVariances(t *testing.T) {
	source, _, err := Generate(t.Context(), Options{PublishedCodeVariances: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range source.Labels {
		if got, want := source.X.Data[2*i+1], float32(sourceCentres[y][1]); got != want {
			t.Fatalf("row %d: second axis %v, want the centre %v", i, got, want)
		}
	}
}

func TestSetting(t *testing.T) {
	for _, tc := range []struct {
		number    int
		parameter float64
		want      Options
	}{
		{0, 3, Options{Noise: Low, Shift: 3}},
		{1, 3, Options{Noise: Low, Shift: 3, TargetProportions: []float64{.6, .2, .2}}},
		{2, 3, Options{Noise: Low, Shift: 3, TargetProportions: []float64{.8, .1, .1}}},
		{3, 0, Options{Noise: Low, Shift: 8, TargetProportions: []float64{.34, .33, .33}}},
		{4, 5, Options{Noise: Mid, Shift: 8, TargetProportions: []float64{.66, .17, .17}}},
		{5, 2, Options{Noise: Mid, Shift: 2, TargetProportions: []float64{.8, .1, .1}}},
		{6, 1, Options{Noise: High, Shift: 8, TargetProportions: []float64{.40, .30, .30}}},
		{6, 9, Options{Noise: High, Shift: 8, TargetProportions: []float64{.91, .04, .05}}},
	} {
		got, err := Setting(tc.number, tc.parameter)
		if err != nil {
			t.Fatal(err)
		}
		if got.Noise != tc.want.Noise || got.Shift != tc.want.Shift || !slices.Equal(got.TargetProportions, tc.want.TargetProportions) {
			t.Errorf("Setting(%d, %v) = %+v, want %+v", tc.number, tc.parameter, got, tc.want)
		}
	}
}

func TestErrors(t *testing.T) {
	_, settingErr := Setting(7, 0)
	_, imbalanceErr := Setting(4, 11)
	_, _, noiseErr := Generate(t.Context(), Options{Noise: "loud"})
	_, _, rowsErr := Generate(t.Context(), Options{TargetRows: -1})
	_, _, sumErr := Generate(t.Context(), Options{TargetProportions: []float64{.5, .5, .5}})
	_, _, countErr := Generate(t.Context(), Options{SourceProportions: []float64{.5, .5}})
	_, _, shiftErr := Generate(t.Context(), Options{Shift: math.NaN()})
	for want, err := range map[string]error{
		"toy setting 7: there is none: the paper's are 0 to 6":          settingErr,
		"imbalance 11: it lies between 0":                               imbalanceErr,
		`toy noise "loud": there is none: choose low, mid or high`:      noiseErr,
		"toy target: -1 rows: ask for at least 1":                       rowsErr,
		"toy target: proportions: they sum to 1.5: they must sum to 1":  sumErr,
		"toy source: 2 proportions: give one for each of the 3 classes": countErr,
		"toy shift NaN: it must be a finite number":                     shiftErr,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
