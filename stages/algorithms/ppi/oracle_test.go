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
