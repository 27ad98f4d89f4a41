package ppi

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// theirs is what SciPy, statsmodels and ppi_py say (testdata/oracle/ppi/generate.py).
type theirs struct {
	Binomial []struct {
		Hits, N       int
		Level         float64
		Exact, Wilson [2]float64
	}
	Normal []struct {
		Y, F, W        []float64
		Rows           int
		Mean, Variance float64
		At             []struct {
			Weighted                              bool
			Lambda, Level, Estimate, Lower, Upper float64
		}
	}
	Hypergeometric []struct {
		Hits, N, Total int
		Level          float64
		Exact          [2]float64
	}
	Samples []struct {
		Total, Known                       int
		Drawn, Labelled                    [2]int
		Probability, Inclusion, Prior      []float64
		Labels                             []int
		F                                  [][]float64
		Views                              [][][]float64
		ViewMeans, CrossFit, CrossFitMeans [][]float64
		Vectors, Posteriors                [][]float64 // of the labelled rows, and of others
		Near                               []float64
		Means, Estimate, Lower, Upper      []float64
		Plain, Floored, Weights, Shares    []float64
		Projected, Refuted                 []float64
		CrossFitted                        []float64
		Lambda                             float64
	}
	Forecasts []struct {
		Posteriors [][]float32
		Uniform    bool
		Accuracy   *float64
		Width      float64
		Inclusion  []float64
		Needed     int
	}
}

func readOracle(t *testing.T) (o theirs) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/oracle/ppi/ppi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// near fails unless two numbers agree to 1e-12.
func near(t *testing.T, got, want float64, format string, about ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12) {
		t.Errorf(format+": %v, want %v", append(about, got, want)...)
	}
}

func TestBinomialIntervals(t *testing.T) {
	for _, c := range readOracle(t).Binomial {
		for name, v := range map[string]struct {
			got  Interval
			want [2]float64
		}{"exact": {ClopperPearson(c.Hits, c.N, c.Level), c.Exact}, "Wilson": {Wilson(c.Hits, c.N, c.Level), c.Wilson}} {
			near(t, v.got.Lower, v.want[0], "%s, %d of %d at %v, lower", name, c.Hits, c.N, c.Level)
			near(t, v.got.Upper, v.want[1], "%s, %d of %d at %v, upper", name, c.Hits, c.N, c.Level)
		}
	}
}

func TestNormal(t *testing.T) {
	for _, c := range readOracle(t).Normal {
		for _, at := range c.At {
			w := c.W
			if !at.Weighted {
				w = nil
			}
			estimate, v := Normal(c.Y, c.F, w, Moments{c.Rows, c.Mean, c.Variance}, at.Lambda, at.Level)
			near(t, estimate, at.Estimate, "%d labels, λ %v, estimate", len(c.Y), at.Lambda)
			near(t, v.Lower, at.Lower, "%d labels, λ %v, lower", len(c.Y), at.Lambda)
			near(t, v.Upper, at.Upper, "%d labels, λ %v, upper", len(c.Y), at.Lambda)
		}
	}
}

func TestExact(t *testing.T) {
	for _, c := range readOracle(t).Hypergeometric {
		v := Exact(c.Hits, c.Hits, c.N, c.Total, c.Level)
		near(t, v.Lower, c.Exact[0], "%d of %d of %d at %v, lower", c.Hits, c.N, c.Total, c.Level)
		near(t, v.Upper, c.Exact[1], "%d of %d of %d at %v, upper", c.Hits, c.N, c.Total, c.Level)
	}
	some, all, none := Exact(3, 5, 10, 100, 0.9), Exact(5, 5, 10, 100, 0.9), Exact(3, 3, 10, 100, 0.9)
	if some.Lower != none.Lower || some.Upper != all.Upper {
		t.Errorf("with two rows that nobody knows: %v, want from %v to %v", some, none.Lower, all.Upper)
	}
}

// All of a thousand rare rows are hardly drawn: a probability that underflows ends the sum.
func TestTailUnderflows(t *testing.T) {
	if p := tail(1000, 2000, 1000, 1_000_000, 1); p != 0 {
		t.Errorf("p = %v, want 0", p)
	}
}

func TestDifference(t *testing.T) {
	for i, c := range readOracle(t).Samples {
		all := func(got, want []float64, what string) {
			t.Helper()
			for k := range want {
				if !(math.Abs(got[k]-want[k]) <= 1e-9) {
					t.Errorf("sample %d, class %d, %s: %v, want %v", i, k, what, got[k], want[k])
				}
			}
		}
		s := &Sample{F: c.F, Inclusion: Stopped(c.Probability, c.Total, c.Drawn, c.Labelled), Uniform: c.Labelled[Uniform], Total: c.Total}
		for _, label := range c.Labels {
			y := make([]float64, len(c.Means))
			y[label] = 1
			s.Y, s.Means = append(s.Y, y), append(s.Means, c.Means)
		}
		all(s.Inclusion, c.Inclusion, "inclusion")
		e := s.Difference(0.9)
		var lower, upper []float64
		for _, v := range e.Intervals {
			lower, upper = append(lower, v.Lower), append(upper, v.Upper)
		}
		all([]float64{e.Lambda}, []float64{c.Lambda}, "lambda")
		all(e.Value, c.Estimate, "estimate")
		all(e.Variance, c.Plain, "variance")
		all(e.Floored, c.Floored, "floored variance")
		all(lower, c.Lower, "lower")
		all(upper, c.Upper, "upper")
		all(Reweigh(c.Prior, c.Views, c.Labels), c.Weights, "weights")
		var doubts []float64
		for _, p := range c.Posteriors {
			doubts = append(doubts, ErrorDoubt(p, len(c.Means)))
		}
		field := NewField(c.Vectors[:len(c.Labels)], doubts[:len(c.Labels)])
		for i, row := range c.Vectors {
			field.Show(row, doubts[i])
		}
		for i, want := range c.Near {
			all([]float64{field.Near(i)}, []float64{want}, "likeness to all rows")
		}
		l := &Learner{Weights: c.Prior, Views: c.Views, Means: c.ViewMeans, Labels: c.Labels, Known: c.Known, Field: field, Error: 0.3}
		f, means := l.CrossFit()
		for i := range f {
			all(f[i], c.CrossFit[i], "cross-fitted posteriors")
			all(means[i], c.CrossFitMeans[i], "cross-fitted means")
		}
		s.F, s.Means = f, means
		all(s.Difference(0.9).Value, c.CrossFitted, "cross-fitted estimate")
		shares := l.Shares(e, c.Total)
		all(shares, c.Shares, "shares")
		all(Project(shares, e.Intervals), c.Projected, "projected")
		for v, rows := range c.Views {
			all([]float64{Refute(rows, c.Labels)}, c.Refuted[v:v+1], "p-value of a view")
		}
	}
}

func TestForecast(t *testing.T) {
	for i, c := range readOracle(t).Forecasts {
		f := &Forecast{Posteriors: c.Posteriors, Accuracy: math.NaN(), Level: 0.9, Class: -1, Uniform: c.Uniform}
		if c.Accuracy != nil {
			f.Accuracy = *c.Accuracy
		}
		for _, p := range c.Posteriors {
			f.Sizes = append(f.Sizes, Doubt(p, -1))
		}
		uniform, chosen := Budget(15, c.Uniform)
		for k, p := range Inclusion(floored(f.Sizes), uniform, chosen) {
			if math.Abs(p-c.Inclusion[k]) > 1e-6 { // the posteriors are float32
				t.Errorf("forecast %d: row %d is drawn with probability %v, want %v", i, k, p, c.Inclusion[k])
			}
		}
		if n := f.Draws(c.Width); n != c.Needed {
			t.Errorf("forecast %d: %d rows for a width of %v, want %d", i, n, c.Width, c.Needed)
		}
	}
}
