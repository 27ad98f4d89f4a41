package featurize

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
	"mars.dev/mars/tables/encode"
)

// gappy is a table of n rows, of which each lacks the columns of a pattern with the pattern's
// probability.
func gappy(rng *rand.Rand, n int, patterns map[float64][]int) *tables.Table {
	names := []string{"a", "b", "c", "d"}
	t := &tables.Table{Name: "t.csv", Columns: names}
	t.Features.Cols, t.Features.Stride = len(names), len(names)
	for range n {
		row := make([]float32, len(names))
		for j := range row {
			row[j] = rng.Float32()
		}
		for p, columns := range patterns {
			if rng.Float64() < p {
				for _, j := range columns {
					row[j] = float32(math.NaN())
				}
			}
		}
		t.Features.Data = append(t.Features.Data, row...)
		t.Features.Rows++
	}
	return t
}

// lackOf is the share of rows that lack all these columns.
func lackOf(t *tables.Table, columns ...int) float64 {
	n := 0
	for i := range t.Features.Rows {
		if !slices.ContainsFunc(columns, func(j int) bool { return t.Row(i)[j] == t.Row(i)[j] }) {
			n++
		}
	}
	return float64(n) / float64(t.Features.Rows)
}

// The source lacks as many values as the target afterwards, and those together that the target
// lacks together. What it lacks more than the target, or hardly less, stays.
func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	target := gappy(rng, 20000, map[float64][]int{0.3: {0, 1}, 0.1: {2}, 0.015: {3}})
	source := gappy(rng, 20000, map[float64][]int{0.12: {0}, 0.4: {2}})
	before := slices.Clone(source.Features.Data)
	g := newGaps(4)
	g.add(target)
	if taken := g.take(source, 1); !slices.Equal(taken, []int{0, 1}) {
		t.Errorf("columns %v are taken from", taken)
	}
	for _, c := range []struct {
		columns []int
		want    float64
	}{{[]int{0}, 0.3}, {[]int{1}, 0.3}, {[]int{2}, 0.4}, {[]int{3}, 0}} {
		if got := lackOf(source, c.columns...); math.Abs(got-c.want) > 0.015 {
			t.Errorf("columns %v: %.3f of the rows lack them, want %.3f", c.columns, got, c.want)
		}
	}
	if got := lackOf(source, 0, 1); got < 0.2 {
		t.Errorf("%.3f of the rows lack two columns together that the target lacks together", got)
	}
	for i, v := range source.Features.Data {
		if v == v && v != before[i] {
			t.Fatal("a value has changed")
		}
	}
	few := newGaps(4)
	few.add(gappy(rng, minIdentityRows-1, map[float64][]int{0.5: {0}}))
	if taken := few.take(source, 1); taken != nil {
		t.Errorf("of few rows columns %v are taken from", taken)
	}
	again := gappy(rng, 100, nil)
	other := *again
	other.Features.Data = slices.Clone(again.Features.Data)
	g.take(again, 7)
	g.take(&other, 7)
	if !slices.EqualFunc(again.Features.Data, other.Features.Data, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
		t.Error("the same seed takes other values away")
	}
}

// Features that say which values are missing are there if the target lacks enough of them.
func TestLikeTarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	st := &recipe{Encoder: &encode.Encoder{}}
	for _, name := range []string{"a", "b", "c", "d"} {
		st.Encoder.Columns = append(st.Encoder.Columns, encode.Column{Field: tables.Field{Name: name}})
	}
	g := newGaps(4)
	g.add(gappy(rng, 2000, map[float64][]int{0.3: {0}, 0.03: {1}}))
	var log bytes.Buffer
	st.likeTarget(logged(&log), g, gappy(rng, 2000, nil), "t.csv", 0.05)
	if c := st.Encoder.Columns; !c[0].Gaps || c[1].Gaps || c[2].Gaps {
		t.Errorf("features for gaps: %v, %v, %v", c[0].Gaps, c[1].Gaps, c[2].Gaps)
	}
	if !strings.Contains(log.String(), "as many are missing as in t.csv: a (") || !strings.Contains(log.String(), "b (") || strings.Contains(log.String(), "c (") {
		t.Errorf("said %s", log.String())
	}
}

// Rows of numbers without names are refused beside a table that has columns of other kinds.
func TestArraysBesideATable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	st := &recipe{Encoder: &encode.Encoder{Columns: make([]encode.Column, 2)}}
	array := gappy(rng, 5, nil)
	array.Name, array.Columns = "x.npz", nil
	err := st.encodeBoth(t.Context(), stages.Env{}, map[arrowio.Domain]*tables.Table{arrowio.SourceDomain: gappy(rng, 5, nil), arrowio.TargetDomain: array})
	if err == nil || !strings.HasPrefix(err.Error(), "x.npz: its rows are 4 numbers without names") {
		t.Errorf("error %v", err)
	}
	array.Lists = []string{"z"}
	err = st.encodeBoth(t.Context(), stages.Env{}, map[arrowio.Domain]*tables.Table{arrowio.SourceDomain: gappy(rng, 5, nil), arrowio.TargetDomain: array})
	if err == nil || !strings.HasPrefix(err.Error(), "x.npz: column z has lists of numbers") || !strings.HasSuffix(err.Error(), "(--exclude z)") {
		t.Errorf("error %v", err)
	}
}
