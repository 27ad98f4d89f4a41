package watch

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/internal/models"
)

// apart is how many deviations two neighbouring classes of lines are from one another.
const apart = 2.5

var prior = []float64{0.5, 0.3, 0.2}

// lines is a model of three classes on the first of two numbers, right in all but the
// proportions.
func lines() *models.Labeller {
	return &models.Labeller{Classes: []string{"a", "b", "c"}, Width: 2, Prior: prior,
		Predict: func(_ context.Context, x blas32.General) (blas32.General, error) {
			p := blas32.General{Rows: x.Rows, Cols: 3, Stride: 3, Data: make([]float32, 3*x.Rows)}
			for i := range x.Rows {
				total, q := 0.0, [3]float64{}
				for k := range q {
					d := float64(x.Data[i*x.Stride]) - apart*float64(k)
					q[k] = prior[k] * math.Exp(-d*d/2)
					total += q[k]
				}
				for k := range q {
					p.Data[3*i+k] = float32(q[k] / total)
				}
			}
			return p, nil
		}}
}

func newWatcher(t *testing.T, o Options) *Watcher {
	t.Helper()
	if o.Level == 0 {
		o.Level, o.FalseAlarm = 0.9, 0.01
	}
	w := &Watcher{options: o, model: lines(), Classes: lines().Classes}
	if err := w.divide(); err != nil {
		t.Fatal(err)
	}
	if err := w.nameScores(); err != nil {
		t.Fatal(err)
	}
	return w
}

func drawRows(rng *rand.Rand, n int, shares []float64) blas32.General {
	x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
	for i := range n {
		u, y := rng.Float64(), 0
		for y < 2 && u >= shares[y] {
			u -= shares[y]
			y++
		}
		x.Data[2*i] = float32(apart*float64(y) + rng.NormFloat64())
		x.Data[2*i+1] = float32(rng.NormFloat64())
	}
	return x
}

func part(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride : hi*x.Stride]}
}

// feed gives rows in parts, and takes the watcher through a checkpoint's text before parts
// whose bit is set.
func feed(t *testing.T, o Options, x blas32.General, times []int64, cuts []int, restarts bool) []*Row {
	t.Helper()
	var rows []*Row
	write := func(r *Row) error { rows = append(rows, r); return nil }
	w, lo := newWatcher(t, o), 0
	for _, hi := range append(cuts, x.Rows) {
		var some []int64
		if times != nil {
			some = times[lo:hi]
		}
		if n, err := w.Add(context.Background(), part(x, lo, hi), some, nil, write); err != nil || n != hi-lo {
			t.Fatalf("%d of %d rows: %v", n, hi-lo, err)
		}
		if lo = hi; restarts {
			text, err := json.Marshal(w.State)
			if err != nil {
				t.Fatal(err)
			}
			w = newWatcher(t, o)
			if err := json.Unmarshal(text, &w.State); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Finish(context.Background(), write); err != nil {
		t.Fatal(err)
	}
	return rows
}

// What is written does not depend on how rows arrive, nor on restarts.
func TestPartsAndRestarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		n := 1 + rng.IntN(3000)
		x := drawRows(rng, n, prior)
		slides := 1 + rng.IntN(4)
		step := 1 + rng.IntN(400)
		o := Options{Window: Span{Rows: int64(slides * step)}, Slide: Span{Rows: int64(step)}, Seed: rng.Uint64()}
		var times []int64
		if rng.IntN(2) == 0 {
			at := int64(1.7e18)
			for range n {
				at += rng.Int64N(2e9)
				times = append(times, at-rng.Int64N(20e9))
			}
			o.Window = Span{Time: time.Duration(slides*step) * time.Second}
			o.Slide = Span{Time: time.Duration(step) * time.Second}
			o.Late = time.Duration(rng.IntN(30)) * time.Second
		}
		var cuts []int
		for range rng.IntN(12) {
			cuts = append(cuts, rng.IntN(n+1))
		}
		slices.Sort(cuts)
		whole := feed(t, o, x, times, nil, false)
		parts := feed(t, o, x, times, cuts, false)
		resumed := feed(t, o, x, times, cuts, true)
		if !reflect.DeepEqual(whole, parts) || !reflect.DeepEqual(whole, resumed) {
			t.Fatalf("%+v, cuts %v: %d, %d and %d windows differ", o, cuts, len(whole), len(parts), len(resumed))
		}
		if slides == 1 { // each row is in a window, or late
			sum := int64(0)
			for _, r := range whole {
				sum += r.Rows + r.Late
			}
			if sum > int64(n) || times == nil && sum != int64(n) {
				t.Fatalf("%+v: %d of %d rows are in windows or late", o, sum, n)
			}
		}
	}
}

// The order of rows within --late does not change shares, and rows beyond it are counted.
func TestLateRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	x := drawRows(rng, 400, prior)
	var times []int64
	for i := range 400 {
		times = append(times, int64(1.7e18)+int64(i)*1e9)
	}
	o := Options{Window: Span{Time: 100 * time.Second}, Late: 10 * time.Second}
	straight := feed(t, o, x, times, nil, false)
	// Neighbours within nine seconds change places.
	y, moved := drawRows(rng, 400, prior), slices.Clone(times)
	copy(y.Data, x.Data)
	for i := 0; i+9 < 400; i += 10 {
		slices.Reverse(moved[i : i+10])
		for a, b := i, i+9; a < b; a, b = a+1, b-1 {
			for c := range 2 {
				y.Data[2*a+c], y.Data[2*b+c] = y.Data[2*b+c], y.Data[2*a+c]
			}
		}
	}
	for k, r := range feed(t, o, y, moved, nil, false) {
		if r.Rows != straight[k].Rows || r.Late != 0 || distance(r.Shares, straight[k].Shares) > 1e-6 {
			t.Errorf("window %d: %+v, want %+v", k+1, r, straight[k])
		}
	}
	times[399] = times[0]
	late := feed(t, o, x, times, nil, false)
	if sum := late[len(late)-1].Late; sum != 1 {
		t.Errorf("%d late rows, want 1", sum)
	}
}

// A clock that is set back ends the watch.
func TestClockSetBack(t *testing.T) {
	w := newWatcher(t, Options{Window: Span{Time: time.Minute}})
	x := drawRows(rand.New(rand.NewPCG(1, 1)), 1, prior)
	write := func(*Row) error { return nil }
	for i := range maxStray + 10 {
		at := int64(1.7e18)
		if i >= 5 {
			at -= 1e15
		}
		_, err := w.Add(context.Background(), x, []int64{at}, nil, write)
		if late := (*LateError)(nil); errors.As(err, &late) {
			if i != maxStray+4 {
				t.Errorf("the error comes at row %d", i)
			}
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("there is no error")
}

// Over 1,000 windows of a stream without drift, few streams have an alarm; after a change of the
// shares, and of a column that has nothing to do with the class, all have one soon.
func TestAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const streams, windows, rows = 20, 1000, 100
	for _, c := range []struct {
		name   string
		change func(blas32.General) blas32.General
		moved  string
	}{
		{"shares", nil, "class "},
		{"column", func(x blas32.General) blas32.General {
			for i := range x.Rows {
				x.Data[2*i+1]++
			}
			return x
		}, "feature 2"},
	} {
		alarms, delay := 0, 0
		for s := range streams {
			rng := rand.New(rand.NewPCG(uint64(s), 3))
			w := newWatcher(t, Options{Window: Span{Rows: rows}, Seed: uint64(s)})
			var last *Row
			write := func(r *Row) error { last = r; return nil }
			quiet := windows
			if c.change != nil {
				quiet = 50
			}
			for range quiet {
				if _, err := w.Add(context.Background(), drawRows(rng, rows, prior), nil, nil, write); err != nil {
					t.Fatal(err)
				}
				if last.Verdict.Alarm() {
					alarms++
					break
				}
			}
			if last.Verdict.Alarm() {
				continue
			}
			for last.Verdict.Alarm() == false {
				x := drawRows(rng, rows, []float64{0.2, 0.3, 0.5})
				if c.change != nil {
					x = c.change(drawRows(rng, rows, prior))
				}
				if _, err := w.Add(context.Background(), x, nil, nil, write); err != nil {
					t.Fatal(err)
				}
				if delay++; delay > 10*streams {
					t.Fatalf("%s: no alarm", c.name)
				}
			}
			if !strings.HasPrefix(last.Moved, c.moved) && !(c.change == nil && last.Moved == "feature 1") {
				t.Errorf("%s: %q has moved", c.name, last.Moved)
			}
		}
		t.Logf("%s: %d of %d streams had a false alarm at level 0.01; mean delay %.1f windows of %d rows", c.name, alarms, streams, float64(delay)/float64(streams-alarms), rows)
		if alarms > 2 { // of 20 with probability 0.01, 3 are one in 1,000
			t.Errorf("%s: %d false alarms", c.name, alarms)
		}
		if float64(delay) > 5*float64(streams) {
			t.Errorf("%s: a delay of %d windows in %d streams", c.name, delay, streams)
		}
	}
}

// The intervals of many windows of known shares hold these as often as they say.
func TestCoverage(t *testing.T) {
	shares := []float64{0.2, 0.2, 0.6}
	for _, rows := range []int{5, 20, 100, 1000} {
		x := drawRows(rand.New(rand.NewPCG(uint64(rows), 9)), rows*300, shares)
		held, width := 0, 0.0
		all := feed(t, Options{Window: Span{Rows: int64(rows)}}, x, nil, nil, false)
		for _, r := range all {
			for k, p := range shares {
				if r.Lower[k] <= p && p <= r.Upper[k] {
					held++
				}
				width += r.Upper[k] - r.Lower[k]
			}
		}
		n := float64(3 * len(all))
		t.Logf("windows of %d rows: %.3f of intervals of 90 %% hold the share, mean width %.3f", rows, float64(held)/n, width/n)
		if float64(held)/n < 0.87 {
			t.Errorf("windows of %d rows: %d of %g intervals hold the share", rows, held, n)
		}
	}
}

// The state does not grow.
func TestBoundedState(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := newWatcher(t, Options{Window: Span{Rows: 200_000}, Slide: Span{Rows: 100_000}})
	write := func(*Row) error { return nil }
	most := 0
	for range 12 {
		if _, err := w.Add(context.Background(), drawRows(rng, 50_000, prior), nil, nil, write); err != nil {
			t.Fatal(err)
		}
		values := 0
		for _, p := range append(slices.Clone(w.State.Open), w.State.Recent...) {
			values += cap(p.Posteriors.Values)
		}
		most = max(most, values)
	}
	if limit := 2 * 3 * 3 * 2 * maxUsed; most > limit {
		t.Errorf("%d values are held, want at most %d", most, limit)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"2026-03-01T12:00:00Z": 1772366400e9, "2026-03-01T13:00:00+01:00": 1772366400e9, "2026-03-01 12:00:00": 1772366400e9,
		"2026-03-01 12:00": 1772366400e9, "2026-03-01": 1772323200e9, "1772366400": 1772366400e9, "1772366400.5": 1772366400.5e9,
		"1772366400000": 1772366400e9, "1772366400000000": 1772366400e9, "1772366400000000000": 1772366400e9, "0": 0, " 1 ": 1e9,
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "noon", "-5", "NaN", "1e30", "2300-01-01", "1960-01-01", "9223372036854775807", "2026-13-01"} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-03-01T12:00:00Z", "1772366400000", "1.5", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ns, err := ParseTime(text); err == nil && (ns < 0 || time.Unix(0, ns).UTC().Year() > lastYear) {
			t.Errorf("%q: %d", text, ns)
		}
	})
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{"10": {Rows: 10}, "1h": {Time: time.Hour}, "7d": {Time: 168 * time.Hour}, "90s": {Time: 90 * time.Second}} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1y", "1ns", "-1h", "99999999999999999999"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
