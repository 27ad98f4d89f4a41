package ranktest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

type oracle struct {
	SignedRanks []struct {
		Differences  []float64
		P, Statistic float64
	} `json:"signed_ranks"`
	Friedman []struct {
		Values     [][]float64
		ChiSquared float64 `json:"chi_squared"`
		P          float64
		PF         float64 `json:"p_f"`
		Ranks      []float64
	}
	Ranges []struct {
		K               int
		Level, Quantile float64
	}
	Holm []struct{ P, Corrected []float64 }
}

// theirs is what SciPy and statsmodels say (testdata/oracle/ranktest/generate.py).
func theirs(t *testing.T) (o oracle) {
	text, err := os.ReadFile("../../../testdata/oracle/ranktest/ranktest.json")
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*max(1e-12, math.Abs(b)) }

func TestSignedRanksAreSciPys(t *testing.T) {
	for _, c := range theirs(t).SignedRanks {
		w, err := SignedRanks(c.Differences)
		if err != nil {
			t.Fatal(err)
		}
		if !near(w.P, c.P, 1e-9) || min(w.Positive, w.Negative) != c.Statistic {
			t.Errorf("%d differences: p %v and statistic %v, SciPy has %v and %v", len(c.Differences), w.P, min(w.Positive, w.Negative), c.P, c.Statistic)
		}
		if w.Exact != (w.N <= 50) || w.N+w.Zeros != len(c.Differences) {
			t.Errorf("%d differences: %+v", len(c.Differences), w)
		}
	}
}

// The exact and the approximate p-values nearly agree where both are computed.
func TestApproximationIsNearExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		ranks, positive, sum := Ranks(make([]float64, 50)), 0.0, 0.0
		for i := range ranks {
			ranks[i] = float64(i + 1)
			sum += ranks[i]
			if rng.Float64() < 0.6 {
				positive += ranks[i]
			}
		}
		if e, n := exactP(ranks, min(positive, sum-positive)), normalP(ranks, positive); math.Abs(e-n) > 0.01 {
			t.Errorf("sum %v: exact %v, approximate %v", positive, e, n)
		}
	}
}

func TestSignedRanksOfNothing(t *testing.T) {
	for _, d := range [][]float64{nil, {0}, {0, 0, 0}} {
		if w, err := SignedRanks(d); err != nil || w.P != 1 || w.N != 0 {
			t.Errorf("%v: %+v, %v", d, w, err)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := SignedRanks([]float64{1, v}); err == nil {
			t.Errorf("%v is taken", v)
		}
	}
}

func TestMinPairs(t *testing.T) {
	for level, want := range map[float64]int{0.05: 6, 0.01: 8} {
		if n := MinPairs(level); n != want {
			t.Errorf("level %v: %d pairs, want %d", level, n, want)
		}
		d := make([]float64, want)
		for i := range d {
			d[i] = float64(i + 1)
		}
		if w, _ := SignedRanks(d); w.P >= level {
			t.Errorf("%d pairs: p %v is not below %v", want, w.P, level)
		}
		if w, _ := SignedRanks(d[1:]); w.P < level {
			t.Errorf("%d pairs: p %v is below %v", want-1, w.P, level)
		}
	}
}

func TestFriedmanIsSciPys(t *testing.T) {
	for _, c := range theirs(t).Friedman {
		f, err := CompareRanks(c.Values)
		if err != nil {
			t.Fatal(err)
		}
		if !near(f.ChiSquared, c.ChiSquared, 1e-9) || !near(f.P, c.P, 1e-9) || !near(f.PF, c.PF, 1e-8) {
			t.Errorf("%d tasks of %d: %v, p %v and %v; SciPy has %v, %v and %v", len(c.Values), len(c.Ranks), f.ChiSquared, f.P, f.PF, c.ChiSquared, c.P, c.PF)
		}
		for j, r := range c.Ranks {
			if !near(f.Ranks[j], r, 1e-12) {
				t.Errorf("rank %v, SciPy has %v", f.Ranks[j], r)
			}
		}
	}
}

func TestFriedmanAtItsEnds(t *testing.T) {
	if f, err := CompareRanks([][]float64{{1, 1, 1}, {2, 2, 2}}); err != nil || f.P != 1 || f.PF != 1 {
		t.Errorf("all equal: %+v, %v", f, err)
	}
	if f, err := CompareRanks([][]float64{{1, 2, 3}, {1, 2, 3}, {0, 5, 6}}); err != nil || !math.IsInf(f.F, 1) || f.PF != 0 {
		t.Errorf("the same order: %+v, %v", f, err)
	}
	// Demšar (2006, section 3.2.2) has 1.25 for 4 methods on 14 sets of data at .05.
	if cd := CriticalDifference(4, 14, 0.05); math.Abs(cd-1.25) > 0.005 {
		t.Errorf("critical difference %v, want 1.25", cd)
	}
	for _, bad := range [][][]float64{nil, {{1, 2, 3}}, {{1, 2}, {1, 2}}, {{1, 2, 3}, {1, 2}}} {
		if _, err := CompareRanks(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func TestStudentizedRangeIsSciPys(t *testing.T) {
	for _, c := range theirs(t).Ranges {
		if q := rangeQuantile(c.K, 1-c.Level); !near(q, c.Quantile, 1e-6) {
			t.Errorf("k %d, level %v: %v, SciPy has %v", c.K, c.Level, q, c.Quantile)
		}
	}
}

func TestHolmIsStatsmodels(t *testing.T) {
	for _, c := range theirs(t).Holm {
		for i, p := range Holm(c.P) {
			if !near(p, c.Corrected[i], 1e-12) {
				t.Errorf("%v: %v, statsmodels has %v", c.P[i], p, c.Corrected[i])
			}
		}
	}
}
