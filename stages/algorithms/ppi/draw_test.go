package ppi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sizes are those of rows of all kinds: many of 0, many alike, a few large.
func sizes(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	s := make([]float64, n)
	for i := range s {
		switch i % 4 {
		case 1:
			s[i] = 0.1
		case 2:
			s[i] = rng.Float64()
		case 3:
			s[i] = math.Pow(rng.Float64(), 8)
		}
	}
	return s
}

// Probabilities are proportional to sizes, at most 1, and add up to the number of draws.
func TestProportional(t *testing.T) {
	for _, test := range []struct {
		sizes []float64
		draws float64
		want  []float64
	}{
		{[]float64{1, 1, 2}, 2, []float64{0.5, 0.5, 1}},
		{[]float64{1, 1, 100, 3}, 2, []float64{0.2, 0.2, 1, 0.6}},
		{[]float64{10, 9, 1, 0}, 3, []float64{1, 1, 1, 0}},
		{[]float64{1, 1, 2}, 0.5, []float64{0.125, 0.125, 0.25}},
		{[]float64{0, 0}, 1, []float64{0, 0}},
		{[]float64{1, 3}, 5, []float64{1, 1}},
		{nil, 3, nil},
	} {
		got := proportional(test.sizes, test.draws)
		for i := range test.want {
			if math.Abs(got[i]-test.want[i]) > 1e-15 {
				t.Errorf("%v, %v draws: %v, want %v", test.sizes, test.draws, got, test.want)
				break
			}
		}
	}
	for _, draws := range []int{1, 7, 50, 300} {
		sum := 0.0
		for _, p := range Inclusion(floored(sizes(600)), draws-draws/2, draws/2) {
			sum += p
		}
		if math.Abs(sum-float64(draws)) > 1e-9 {
			t.Errorf("the probabilities of %d draws add up to %v", draws, sum)
		}
	}
}

// As many rows are drawn as was asked for, none twice, and the same by the same seed.
func TestTake(t *testing.T) {
	s := sizes(600)
	for seed := range uint64(20) {
		draws := Take(s, 25, 24, seed)
		seen := map[int]bool{}
		for i, d := range draws {
			if seen[d.Row] {
				t.Fatalf("seed %d: row %d is drawn twice", seed, d.Row)
			}
			seen[d.Row] = true
			if d.Part != PartOf(i, 25, 24) || !(d.Probability >= 25.0/600 && d.Probability <= 1) {
				t.Fatalf("seed %d: draw %d is %+v", seed, i, d)
			}
		}
		if len(draws) != 49 {
			t.Fatalf("seed %d: %d draws", seed, len(draws))
		}
		if again := Take(s, 25, 24, seed); !slices.Equal(again, draws) {
			t.Fatal("the same seed draws other rows")
		}
	}
	for _, test := range [][3]int{{5, 9, 3}, {5, 3, 2}, {5, 0, 5}, {1, 1, 0}} {
		if all := Take(make([]float64, test[0]), test[1], test[2], 0); len(all) != test[0] || all[0].Probability != 1 {
			t.Errorf("of %v %+v were drawn", test, all)
		}
	}
}

// Any number of first draws is a fair sample again: a row is as often among them, by each part,
// as its probability says.
func TestPrefixesAreFair(t *testing.T) {
	const n, draws, repeats = 40, 12, 20_000
	s := sizes(n)
	p := Inclusion(floored(s), draws/2, draws/2)
	for _, prefix := range []int{3, 7, draws} {
		uniform, chosen := Reached(prefix, draws/2, draws/2)
		count := [2][]float64{make([]float64, n), make([]float64, n)}
		for r := range repeats {
			for _, d := range Take(s, draws/2, draws/2, uint64(r))[:prefix] {
				count[d.Part][d.Row]++
			}
		}
		for i := range n {
			want := float64(uniform) / n
			if sd := math.Sqrt(want * (1 - want) / repeats); math.Abs(count[Uniform][i]/repeats-want) > 4.5*sd {
				t.Errorf("of %d draws, row %d is uniformly drawn with probability %v, want %v", prefix, i, count[Uniform][i]/repeats, want)
			}
			// Which rows are left is chance too, so that these are approximate.
			want = (p[i] - draws/2.0/n) * float64(chosen) / (draws / 2)
			if got := count[Chosen][i] / repeats; math.Abs(got-want) > 0.05*want+0.008 {
				t.Errorf("of %d draws, row %d is chosen with probability %v, want %v", prefix, i, got, want)
			}
		}
	}
}

// Parts are spread evenly, and PartOf knows them without their rows.
func TestPartOf(t *testing.T) {
	for _, test := range []struct {
		u, c int
		want string
	}{{2, 2, "ucuc"}, {3, 2, "ucucu"}, {4, 0, "uuuu"}, {0, 3, "ccc"}, {4, 2, "ucuucu"}, {1, 4, "ccucc"}} {
		got := ""
		for i := range test.u + test.c {
			got += string("uc"[PartOf(i, test.u, test.c)])
		}
		if got != test.want {
			t.Errorf("%d and %d: %s, want %s", test.u, test.c, got, test.want)
		}
		if u, c := Reached(len(test.want), test.u, test.c); u != test.u || c != test.c {
			t.Errorf("%d and %d: all are %d and %d", test.u, test.c, u, c)
		}
	}
}
