package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func sumOf(values []float64) *Sum {
	s := &Sum{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// reference adds with more bits than any sum of float64 has.
func reference(values []float64) float64 {
	f := new(big.Float).SetPrec(4000)
	for _, v := range values {
		f.Add(f, new(big.Float).SetPrec(4000).SetFloat64(v))
	}
	v, _ := f.Float64()
	return v
}

// wild are numbers of all magnitudes and both signs, many of which cancel.
func wild(rng *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		switch {
		case i > 0 && rng.IntN(4) == 0:
			values[i] = -values[rng.IntN(i)]
		case rng.IntN(3) == 0:
			values[i] = rng.NormFloat64()
		default:
			values[i] = math.Float64frombits(rng.Uint64())
			for math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
				values[i] = math.Float64frombits(rng.Uint64())
			}
		}
	}
	return values
}

// A sum is the exact one, rounded once, and its text does not depend on the order of the
// terms or on how they were divided.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values := wild(rng, 1+rng.IntN(60))
		want, whole := reference(values), sumOf(values)
		if got := whole.Float64(); got != want {
			t.Fatalf("the sum of %v is %v, want %v", values, got, want)
		}
		text := whole.String()
		rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		total := &Sum{}
		for lo := 0; lo < len(values); {
			hi := min(len(values), lo+1+rng.IntN(9))
			total.AddSum(sumOf(values[lo:hi]))
			lo = hi
		}
		if got := total.String(); got != text {
			t.Fatalf("parts give %s, want %s", got, text)
		}
		parsed, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed.Add(1)
		total.Add(1)
		if parsed.String() != total.String() {
			t.Fatalf("what was read adds up to %s, want %s", parsed, total)
		}
	}
}

func TestCarries(t *testing.T) {
	s := &Sum{}
	for i := range 100_000 {
		s.Add(-math.MaxFloat64 / 2)
		s.Add(3)
		if i%1000 == 0 {
			s.carry()
		}
	}
	for range 100_000 {
		s.Add(math.MaxFloat64 / 2)
	}
	if got := s.Float64(); got != 300_000 {
		t.Errorf("the sum is %v", got)
	}
	if got := (&Sum{}).String(); got != "0" {
		t.Errorf("0 is %s", got)
	}
	for _, x := range []float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 2 * math.SmallestNonzeroFloat64} {
		if got := sumOf([]float64{x, 1, -1}).Float64(); got != x {
			t.Errorf("the sum is %v, want %v", got, x)
		}
	}
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64} {
		if err := sumOf([]float64{x, x}).Check(); err == nil {
			t.Errorf("twice %v, which no float64 holds, passes", x)
		}
		if err := sumOf([]float64{x}).Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "p0", "2p0", "1p-1075", "0p0", "+1p0", "1p3000", "01p0", "1.5p0", "-0", "xp1", "1p"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// FuzzParse reads any text: what it takes, it writes the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"0", "3p-1", "-ffp-1074", "1p1023"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); err == nil && s.String() != text {
			t.Errorf("%q is %q", text, s)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	s := &Sum{}
	for i := range b.N {
		s.Add(float64(i&1023) * 1e-4)
	}
}

// A sum of as many bits as there may be is read, and one of a bit more is not.
func TestGreatestSum(t *testing.T) {
	most := strings.Repeat("f", maxBits/4) + "p-1074"
	for text, read := range map[string]bool{most: true, "-" + most: true, "1" + most: false} {
		s, err := Parse(text)
		if (err == nil) != read || read && s.String() != text {
			t.Errorf("%.20s… of %d characters: %v", text, len(text), err)
		}
	}
}

// A carry out of the last digit makes room for itself.
func TestCarryOfTheLastDigit(t *testing.T) {
	for _, last := range []int64{1 << 40, -1 << 40} {
		s := &Sum{digits: []int64{1, last}}
		want := s.String()
		s.carry()
		if got := s.String(); got != want || len(s.digits) != 3 {
			t.Errorf("%s becomes %s, of %d digits", want, got, len(s.digits))
		}
	}
}
