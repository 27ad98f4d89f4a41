package watch

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/windows"
)

// apart is how many deviations two neighbouring classes of lines are from one another.
const apart = 2.5

var prior = []float64{0.5, 0.3, 0.2}

// add predicts rows and adds them.
func add(w *Watcher, x blas32.General, times []int64, missing []int, write func(*Row) error) (int, error) {
	p, err := w.Predict(context.Background(), x)
	if err != nil {
		return 0, err
	}
	return w.Add(context.Background(), x, p, times, missing, write)
}

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
		if n, err := add(w, part(x, lo, hi), some, nil, write); err != nil || n != hi-lo {
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
		if r.Rows != straight[k].Rows || r.Late != 0 || floats.Distance(r.Shares, straight[k].Shares, 1) > 1e-6 {
			t.Errorf("window %d: %+v, want %+v", k+1, r, straight[k])
		}
	}
	for _, at := range []int{0, 250} { // in a window that was written long ago, and in the last one that was
		times[399] = times[at]
		late := feed(t, o, x, times, nil, false)
		if last := late[len(late)-1]; len(late) != 4 || last.Late != 1 || last.Rows != 99 {
			t.Errorf("%d windows, of which the last has %d rows and %d late ones: want 4, 99 and 1", len(late), last.Rows, last.Late)
		}
	}
}

// A row that is far ahead of all others closes no window, unless a second one agrees. It is
// counted and warned of, as late rows are.
func TestWrongClock(t *testing.T) {
	x := drawRows(rand.New(rand.NewPCG(5, 3)), 400, prior)
	var times []int64
	for i := range 400 {
		times = append(times, int64(1.7e18)+int64(i)*1e9)
	}
	warnings := []string{}
	o := Options{Window: Span{Time: 100 * time.Second}, Warn: func(text string) { warnings = append(warnings, text) }}
	for _, at := range []int{0, 150, 398} {
		wrong := slices.Clone(times)
		wrong[at] = 4e18
		for _, restarts := range []bool{false, true} {
			warnings = nil
			rows, late, taken := feed(t, o, x, wrong, []int{1, 151, 152, 399}, restarts), int64(0), int64(0)
			for _, r := range rows {
				late, taken = late+r.Late, taken+r.Rows
			}
			if len(rows) != 4 || late != 1 || taken != 399 {
				t.Errorf("row %d: %d windows of %d rows, %d late: want 4, 399 and 1", at, len(rows), taken, late)
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0], "a row of 2096-10-02T07:06:40Z is far ahead") {
				t.Errorf("row %d: warnings %q", at, warnings)
			}
		}
	}
	// All rows from one on are later: that is a pause.
	for i := 250; i < 400; i++ {
		times[i] += 1e15
	}
	warnings = nil
	if rows := feed(t, o, x, times, nil, false); len(rows) != 5 || rows[4].Rows+rows[3].Rows != 150 || rows[4].Late != 0 || len(warnings) > 0 {
		t.Errorf("after a pause: %d windows, the last %+v, warnings %q", len(rows), rows[len(rows)-1], warnings)
	}
	// Rows that are ten windows and more apart are all taken.
	for i := range times {
		times[i] = int64(1.7e18) + int64(i)*2e12
	}
	if rows := feed(t, o, x, times, nil, true); len(rows) != 400 {
		t.Errorf("%d windows of rows that are far apart", len(rows))
	}
	times[300] = times[10]
	warnings = nil
	feed(t, o, x, times, nil, false)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "is late") {
		t.Errorf("warnings %q", warnings)
	}
}

// A clock that is set back ends the watch.
func TestClockSetBack(t *testing.T) {
	w := newWatcher(t, Options{Window: Span{Time: time.Minute}})
	x := drawRows(rand.New(rand.NewPCG(1, 1)), 1, prior)
	write := func(*Row) error { return nil }
	for i := range windows.MaxStray + 10 {
		at := int64(1.7e18)
		if i >= 5 {
			at -= 1e15
		}
		_, err := add(w, x, []int64{at}, nil, write)
		if late := (*LateError)(nil); errors.As(err, &late) {
			if i != windows.MaxStray+4 {
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
				if _, err := add(w, drawRows(rng, rows, prior), nil, nil, write); err != nil {
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
				if _, err := add(w, x, nil, nil, write); err != nil {
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

// watch gives rows to a watcher whose model is changed first.
func watch(t *testing.T, o Options, change func(*models.Labeller), x blas32.General, times []int64) (rows []*Row) {
	t.Helper()
	w := newWatcher(t, o)
	change(w.model)
	write := func(r *Row) error { rows = append(rows, r); return nil }
	if n, err := add(w, x, times, nil, write); err != nil || n != x.Rows {
		t.Fatalf("%d of %d rows: %v", n, x.Rows, err)
	}
	return rows
}

func asItIs(*models.Labeller) {}

// A window that slides is the window of its rows: it has their number, place and shares. Its
// change is from the window before, and its shift from the shares that the model was fitted to.
func TestWindowsAreThoseOfTheirRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	x := drawRows(rng, 600, prior)
	x.Data = append(x.Data, drawRows(rng, 600, []float64{0.1, 0.2, 0.7}).Data...)
	x.Rows = 1200
	fitted := []float64{0.2, 0.2, 0.6}
	all := watch(t, Options{Window: Span{Rows: 400}, Slide: Span{Rows: 100}}, func(m *models.Labeller) { m.Shares = fitted }, x, nil)
	if len(all) != 9 {
		t.Fatalf("%d windows, want 9", len(all))
	}
	for k, r := range all {
		alone := watch(t, Options{Window: Span{Rows: 400}}, asItIs, part(x, 100*k, 100*k+400), nil)[0]
		if r.Rows != 400 || r.Used != 400 || r.Start != strconv.Itoa(100*k+1) || r.End != strconv.Itoa(100*k+400) {
			t.Errorf("window %d has %d rows, %s to %s", r.Window, r.Rows, r.Start, r.End)
		}
		if floats.Distance(r.Shares, alone.Shares, 1) > 1e-9 {
			t.Errorf("window %d has the shares %v, and its rows alone %v", r.Window, r.Shares, alone.Shares)
		}
		if want := floats.Distance(r.Shares, fitted, 1); math.Abs(r.Shift-want) > 1e-12 {
			t.Errorf("window %d has moved by %g from the model's shares, want %g", r.Window, r.Shift, want)
		}
		if want := floats.Distance(r.Shares, all[max(0, k-1)].Shares, 1); (k == 0) != (r.Change == nil) || k > 0 && math.Abs(*r.Change-want) > 1e-12 {
			t.Errorf("window %d has changed by %v, want %g", r.Window, r.Change, want)
		}
	}
}

// Of a part with many rows a sample is kept, which counts as all of them beside a part with few.
func TestSampledPartsCountAsAllTheirRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	const many, few = 2 * maxUsed, maxUsed / 2
	x := drawRows(rng, many, []float64{1, 0, 0})
	x.Data = append(x.Data, drawRows(rng, few, []float64{0, 0, 1}).Data...)
	x.Rows = many + few + 1
	x.Data = append(x.Data, 0, 0) // closes the window
	var times []int64
	for i := range x.Rows {
		at := int64(1.7e18)
		if i >= many {
			at += 60e9
		}
		if i == many+few {
			at += 60e9
		}
		times = append(times, at-at%60e9)
	}
	r := watch(t, Options{Window: Span{Time: 2 * time.Minute}, Slide: Span{Time: time.Minute}}, asItIs, x, times)[0]
	if want := []float64{0.8, 0, 0.2}; r.Rows != many+few || r.Used != maxUsed+few || floats.Distance(r.Shares, want, 1) > 0.02 {
		t.Errorf("%d rows, of which %d are used, have the shares %.3f, want %v", r.Rows, r.Used, r.Shares, want)
	}
}

// Intervals are of the level that was asked for, and hold the doubt that the model has of itself.
func TestIntervalsOfWindows(t *testing.T) {
	x := drawRows(rand.New(rand.NewPCG(13, 1)), 1000, prior)
	width := func(level, variance float64) float64 {
		r := watch(t, Options{Window: Span{Rows: 1000}, Level: level, FalseAlarm: 0.01}, func(m *models.Labeller) {
			m.Variance = func(p []float64) []float64 { return []float64{variance, variance, variance} }
		}, x, nil)[0]
		return r.Upper[0] - r.Lower[0]
	}
	usual := width(0.9, 0)
	// The quantiles of the normal distribution are 1.645 and 0.674.
	if got := width(0.5, 0) / usual; math.Abs(got-0.674/1.645) > 0.02 {
		t.Errorf("intervals of 50 %% are %.3f times as wide as those of 90 %%", got)
	}
	if got, want := width(0.9, 0.01), math.Hypot(usual, 2*1.645*0.1); math.Abs(got-want) > 0.01 {
		t.Errorf("with a doubt of 0.1 the interval is %.3f wide, want %.3f", got, want)
	}
}

// Both tests have half of the probability of a false alarm: each p-value is doubled.
func TestTestsShareFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	o := Options{Window: Span{Rows: 200}, Seed: 3}
	w := newWatcher(t, o)
	scores := func(shift float32) (s []float32) {
		x := drawRows(rng, 200, prior)
		for i := range x.Rows {
			s = append(s, 0.5, 0.3, 0.2, x.Data[2*i]+shift, x.Data[2*i+1])
		}
		return s
	}
	n := len(w.names)
	first, second := scores(0), scores(0.7)
	w.test(&Row{}, first)
	var row Row
	w.test(&row, second)
	since := drift.NewTest(first, n, w.weights, o.Seed)
	since.Add(second)
	step := drift.Between(first, second, n, w.weights, 1, o.Seed)
	for what, p := range map[string][2]float64{"since the reference": {*row.DriftP, since.P()}, "since the window before": {*row.ChangeP, step.P}} {
		if !(p[1] > 0 && p[1] < 0.5) {
			t.Fatalf("%s: p is %g: the test shows nothing", what, p[1])
		}
		if p[0] != 2*p[1] {
			t.Errorf("%s: p is %g, want twice %g", what, p[0], p[1])
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
		if _, err := add(w, drawRows(rng, 50_000, prior), nil, nil, write); err != nil {
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

// A state that somebody has changed is refused where it would be read beyond its end.
func TestStatesThatDoNotFit(t *testing.T) {
	w := newWatcher(t, Options{Window: Span{Rows: 20}})
	whole := func() *State {
		p := w.newPane(0)
		w.addRow(p, windows.Row{Row: make([]float32, len(w.Classes)+w.model.Width)})
		return &State{Panes: windows.Panes[*pane]{Open: []*pane{p}}, Recent: []*pane{w.newPane(1)}, Test: drift.NewTest(make([]float32, 4*len(w.names)), len(w.names), nil, 1)}
	}
	if !w.fits(whole()) {
		t.Fatal("a whole state is refused")
	}
	for name, change := range map[string]func(s *State){
		"no pane":     func(s *State) { s.Open[0] = nil },
		"no closed":   func(s *State) { s.Recent[0] = nil },
		"most":        func(s *State) { s.Open[0].Posteriors.Most = 0 },
		"values":      func(s *State) { s.Open[0].Scores.Values = s.Open[0].Scores.Values[:1] },
		"held":        func(s *State) { s.Held = &windows.Row{} },
		"shares":      func(s *State) { s.Shares = []float64{} },
		"test":        func(s *State) { s.Test = &drift.Test{} },
		"wealth":      func(s *State) { s.Test.Wealth[0] = nil },
		"counts":      func(s *State) { s.Test.Bins[0].Counts = nil },
		"many scores": func(s *State) { s.Test.Scores = 2e9 },
	} {
		s := whole()
		if change(s); w.fits(s) {
			t.Errorf("%s: fits", name)
		}
	}
}
