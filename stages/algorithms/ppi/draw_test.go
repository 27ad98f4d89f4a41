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
func TestInclusion(t *testing.T) {
	for _, test := range []struct {
		sizes []float64
		draws int
		want  []float64
	}{
		{[]float64{1, 1, 2}, 2, []float64{0.5, 0.5, 1}},
		{[]float64{1, 1, 100, 3}, 2, []float64{0.2, 0.2, 1, 0.6}},
		{[]float64{10, 9, 1, 0}, 3, []float64{1, 1, 1, 0}},
		{[]float64{0, 0}, 1, []float64{0, 0}},
		{[]float64{1, 3}, 5, []float64{1, 1}},
		{nil, 3, nil},
	} {
		got := Inclusion(test.sizes, test.draws)
		for i := range test.want {
			if math.Abs(got[i]-test.want[i]) > 1e-15 {
				t.Errorf("%v, %d draws: %v, want %v", test.sizes, test.draws, got, test.want)
				break
			}
		}
	}
	for _, draws := range []int{1, 7, 50, 300} {
		sum := 0.0
		for _, p := range Inclusion(sizes(600), draws) {
			sum += p
		}
		if math.Abs(sum-float64(draws)) > 1e-9 {
			t.Errorf("the probabilities of %d draws add up to %v", draws, sum)
		}
	}
}

// As many rows are drawn as was asked for, none twice, with the probabilities that are told.
func TestTake(t *testing.T) {
	s, left := sizes(600), 0.0
	for _, v := range s {
		left += v
	}
	for seed := range uint64(20) {
		draws := Take(s, 25, 24, seed)
		seen := map[int]bool{}
		for i, d := range draws {
			if seen[d.Row] {
				t.Fatalf("seed %d: row %d is drawn twice", seed, d.Row)
			}
			seen[d.Row] = true
			if d.Part != PartOf(i, 25, 24) {
				t.Fatalf("seed %d: draw %d is of part %d", seed, i, d.Part)
			}
			if d.Part == Uniform && d.Probability != 25.0/600 || d.Part == Chosen && s[d.Row] == 0 {
				t.Fatalf("seed %d: draw %+v of size %v", seed, d, s[d.Row])
			}
		}
		if len(draws) != 49 {
			t.Fatalf("seed %d: %d draws", seed, len(draws))
		}
		if again := Take(s, 25, 24, seed); !slices.Equal(again, draws) {
			t.Fatal("the same seed draws other rows")
		}
	}
	if all := Take(make([]float64, 5), 9, 3, 0); len(all) != 5 {
		t.Errorf("of 5 rows %d were drawn", len(all))
	}
}

// Any number of first draws is a fair sample: of each part, a row is as often among them as its
// probability says, and totals that are estimated from them are right in the mean.
func TestPrefixesAreFair(t *testing.T) {
	const n, draws, repeats = 40, 12, 30_000
	s := sizes(n)
	for i := range s {
		if s[i] > 0 {
			s[i] = max(s[i], 0.05) // the rarest of all would need more repeats
		}
	}
	for _, prefix := range []int{3, 7, draws} {
		u, c := 0, 0
		for i := range prefix {
			if PartOf(i, draws/2, draws/2) == Uniform {
				u++
			} else {
				c++
			}
		}
		uniform := make([]float64, n)
		total := 0.0 // of i over the rows, by those chosen beside the uniform draws
		for r := range repeats {
			all := Take(s, draws/2, draws/2, uint64(r))
			drawn := map[int]bool{}
			for _, d := range all {
				if d.Part == Uniform {
					drawn[d.Row] = true
				}
			}
			for i := range n {
				if drawn[i] || s[i] == 0 {
					total += float64(i)
				}
			}
			for _, d := range all[:prefix] {
				if d.Part == Uniform {
					uniform[d.Row]++
				} else {
					total += float64(d.Row) / (d.Probability * float64(c) / (draws / 2))
				}
			}
		}
		for i, count := range uniform {
			want := float64(u) / n
			if sd := math.Sqrt(want * (1 - want) / repeats); math.Abs(count/repeats-want) > 5*sd {
				t.Errorf("of %d draws, row %d is uniformly drawn with probability %v, want %v", prefix, i, count/repeats, want)
			}
		}
		if c > 0 && math.Abs(total/repeats-n*(n-1)/2) > 0.01*n*(n-1)/2 {
			t.Errorf("of %d draws, the total is estimated as %v, want %v", prefix, total/repeats, n*(n-1)/2)
		}
	}
}

// Parts are spread evenly, and PartOf knows them without their rows.
func TestPartOf(t *testing.T) {
	for _, test := range []struct {
		u, c int
		want string
	}{{2, 2, "ucuc"}, {3, 2, "uucuc"}, {4, 0, "uuuu"}, {0, 3, "ccc"}, {4, 2, "uucuuc"}, {1, 4, "ucccc"}} {
		got := ""
		for i := range test.u + test.c {
			got += string("uc"[PartOf(i, test.u, test.c)])
		}
		if got != test.want {
			t.Errorf("%d and %d: %s, want %s", test.u, test.c, got, test.want)
		}
	}
}
