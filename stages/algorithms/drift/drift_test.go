package drift

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mars.dev/mars/internal/race"
)

func draw(rng *rand.Rand, n, scores int, shift, scale float64) []float32 {
	rows := make([]float32, n*scores)
	for i := range rows {
		rows[i] = float32(rng.NormFloat64())
		if i%scores == 0 {
			rows[i] = float32(shift + scale*rng.NormFloat64())
		}
		if i%scores == 1 { // ties
			rows[i] = float32(math.Floor(3 * rng.Float64()))
		}
	}
	return rows
}

// Over 1,000 windows without drift, a stream has an alarm with the probability of the
// level at most.
func TestLevelOverThousandWindows(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	const streams, windows, rows, scores, level = 100, 1000, 50, 3, 0.1
	alarms, steps := 0, 0
	for s := range streams {
		rng := rand.New(rand.NewPCG(uint64(s), 1))
		before := draw(rng, rows, scores, 0, 1)
		test := NewTest(before, scores, nil, uint64(s))
		stepped := false
		for w := range windows {
			now := draw(rng, rows, scores, 0, 1)
			test.Add(now)
			stepped = stepped || Between(before, now, scores, nil, int64(w+1), uint64(s)).P <= level
			before = now
		}
		if test.P() <= level {
			alarms++
		}
		if stepped {
			steps++
		}
	}
	t.Logf("%d streams of %d windows: %d alarms since the reference, %d between windows, at level %g", streams, windows, alarms, steps, level)
	// Of 100 with probability 0.1, 18 or more are one in 100.
	if alarms > 17 || steps > 17 {
		t.Errorf("%d and %d alarms of %d streams at level %g", alarms, steps, streams, level)
	}
}

// A change is found, late in the life too, and in the score that changed.
func TestDelay(t *testing.T) {
	for _, c := range []struct {
		name         string
		quiet        int
		shift, scale float64
		most         int // windows until the alarm
	}{
		{"large", 100, 1, 1, 1},
		{"half a deviation", 100, 0.5, 1, 1},
		{"a fifth, early", 1, 0.2, 1, 2},
		{"a fifth, late", 1000, 0.2, 1, 3},
		{"a twentieth", 100, 0.05, 1, 60},
		{"wider", 100, 0, 1.5, 1},
		{"narrower", 100, 0, 0.7, 1},
	} {
		rng := rand.New(rand.NewPCG(7, 1))
		test := NewTest(draw(rng, 2000, 3, 0, 1), 3, nil, 1)
		for range c.quiet {
			test.Add(draw(rng, 1000, 3, 0, 1))
		}
		if p := test.P(); p < 0.001 {
			t.Fatalf("%s: p %g without a change", c.name, p)
		}
		delay := 0
		for test.P() > 0.01 && delay < 1000 {
			test.Add(draw(rng, 1000, 3, c.shift, c.scale))
			delay++
		}
		t.Logf("%s after %d windows of 1000 rows: %d windows", c.name, c.quiet, delay)
		if delay > c.most || test.Most() != 0 {
			t.Errorf("%s: found after %d windows in score %d, want %d in score 0", c.name, delay, test.Most(), c.most)
		}
	}
}

// What was found once stays found, however long all is well after it, and a p-value is at most 1.
func TestAlarmStays(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	test := NewTest(draw(rng, 1000, 3, 0, 1), 3, nil, 1)
	for _, shift := range []float64{0, 0, 1, 0} {
		last := test.P()
		for range 20 {
			test.Add(draw(rng, 200, 3, shift, 1))
			if p := test.P(); p > last || p > 1 {
				t.Fatalf("p rises from %g to %g", last, p)
			}
			last = test.P()
		}
	}
}

func TestBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	before := draw(rng, 1000, 3, 0, 1)
	if s := Between(before, draw(rng, 1000, 3, 0.5, 1), 3, nil, 1000, 1); s.P > 0.01 || s.Most != 0 {
		t.Errorf("a jump of half a deviation at window 1000: %+v", s)
	}
	if s := Between(before, before, 3, nil, 1, 1); s.P < 0.1 {
		t.Errorf("equal windows: %+v", s)
	}
}

// Of streams of 200 windows in which nothing changes, few ever have a pair with a small p-value.
func TestLevelOfPairs(t *testing.T) {
	const streams, windows, rows, level = 100, 200, 60, 0.1
	alarmed := 0
	for stream := range uint64(streams) {
		rng := rand.New(rand.NewPCG(stream, 7))
		before, least := draw(rng, rows, 1, 0, 1), 1.0
		for s := range int64(windows) {
			now := draw(rng, rows, 1, 0, 1)
			least = min(least, Between(before, now, 1, nil, s+1, stream).P)
			before = now
		}
		if least <= level {
			alarmed++
		}
	}
	if alarmed > 17 { // 2.3 deviations
		t.Errorf("%d of %d streams have an alarm at the level %.1f", alarmed, streams, level)
	}
}

// A sample does not depend on the batches, and keeps each row as often.
func TestSample(t *testing.T) {
	const n, most = 10_000, 100
	kept := make([]int, 10)
	for seed := range uint64(200) {
		a, b := Sample{Width: 1, Most: most}, Sample{Width: 1, Most: most}
		for i := range n {
			a.Add(Hash(seed, uint64(i)), []float32{float32(i)})
			b.Add(Hash(seed, uint64(i)), []float32{float32(i)})
			if i%777 == 0 {
				b.Settle()
			}
		}
		a.Settle()
		b.Settle()
		if !slices.Equal(a.Values, b.Values) || len(a.Values) != most || a.Rows != n || !slices.IsSorted(a.Values) {
			t.Fatalf("seed %d: samples differ, or hold %d of %d", seed, len(a.Values), a.Rows)
		}
		for _, v := range a.Values {
			kept[int(v)*10/n]++
		}
	}
	for part, got := range kept {
		if math.Abs(float64(got)-2000) > 5*math.Sqrt(2000) {
			t.Errorf("part %d of the rows was kept %d times, want about 2000", part, got)
		}
	}
}

func TestConstantScores(t *testing.T) {
	test := NewTest(make([]float32, 100), 1, nil, 1)
	for range 50 {
		test.Add(make([]float32, 100))
	}
	if test.P() < 0.05 {
		t.Errorf("scores that are all equal: p %g", test.P())
	}
	test.Add(slices.Repeat([]float32{1}, 100))
	if test.P() > 0.01 {
		t.Errorf("scores that were all equal and are others: p %g", test.P())
	}
}

// Ranks are what counting one by one gives, for ties, zeros of both signs, infinities and
// bins of any number.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45, float32(math.Inf(1)), float32(math.Inf(-1))}
	for range 300 {
		values := make([]float32, 1+rng.IntN(300))
		for i := range values {
			switch rng.IntN(3) {
			case 0:
				values[i] = special[rng.IntN(len(special))]
			case 1:
				values[i] = float32(rng.IntN(5))
			default:
				values[i] = float32(rng.NormFloat64())
			}
		}
		b := newBins(values)
		binOf := func(v float32) (at int) {
			for _, edge := range b.Edges {
				if edge <= v {
					at++
				}
			}
			return at
		}
		var r ranker
		r.load(&b)
		counts := make([]int64, len(b.Counts))
		for i, v := range append(values, special...) {
			at, below := binOf(v), int64(0)
			counts[at]++
			for _, n := range counts[:at] {
				below += n
			}
			want := (float64(below) + 0.25*float64(counts[at])) / float64(i+1)
			if got := r.rank(v, 0.25); got != want {
				t.Fatalf("edges %v: value %d, %g, ranks %g, want %g", b.Edges, i, v, got, want)
			}
			if i%50 == 49 { // as between windows
				r.save(&b)
				r.load(&b)
			}
		}
		r.save(&b)
		if !slices.Equal(b.Counts, counts) {
			t.Fatalf("counts %v, want %v", b.Counts, counts)
		}
	}
}
