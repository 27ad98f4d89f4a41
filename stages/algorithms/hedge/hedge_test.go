package hedge

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// problem is three classes in four columns, a Gaussian each, with the target's labels.
// Class k is at centres[k] in the source, and displaced in the target.
type problem struct {
	Problem
	truth []int32
}

var centres = [][]float64{{0, 0, 0, 0}, {5, 0, 0, 0}, {0, 5, 0, 0}}

func newProblem(n int, source, target []float64, displacement [][]float64) problem {
	rng := rand.New(rand.NewPCG(3, 0))
	p := problem{}
	p.Classes = []string{"a", "b", "c"}
	draw := func(shares []float64, by [][]float64) (x blas32.General, labels []int32) {
		x = dense.New(0, 4)
		for k, share := range shares {
			for range int(share*float64(n) + 0.5) {
				row := make([]float32, 4)
				for j := range row {
					row[j] = float32(centres[k][j] + by[k][j] + rng.NormFloat64())
				}
				dense.Append(&x, row)
				labels = append(labels, int32(k))
			}
		}
		return x, labels
	}
	p.Source, p.Labels = draw(source, [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}})
	p.Target, p.truth = draw(target, displacement)
	return p
}

var (
	even     = []float64{1. / 3, 1. / 3, 1. / 3}
	uneven   = []float64{.7, .2, .1}
	nowhere  = [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}
	together = [][]float64{{0, 0, 3, 3}, {0, 0, 3, 3}, {0, 0, 3, 3}}
	apart    = [][]float64{{0, 0, 4, 0}, {2, 1, 4, 0}, {-1, 2, 4, 3}}
)

func accuracy(posteriors blas32.General, truth []int32) float64 {
	right := 0
	for i, k := range dense.ArgmaxRows(posteriors) {
		if k == truth[i] {
			right++
		}
	}
	return float64(right) / float64(len(truth))
}

func fitted(t *testing.T, p problem, o Options) (*Model, blas32.General) {
	t.Helper()
	m, err := Fit(t.Context(), p.Problem, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := m.Predict(t.Context(), m.Prepare(p.Target))
	if err != nil {
		t.Fatal(err)
	}
	return m, q
}

// Whatever has happened, the answer is nearly as good as that of who knows it.
func TestAnswers(t *testing.T) {
	if race.Detector {
		t.Skip("other tests run the same in parallel, and it takes a quarter of a minute")
	}
	for name, test := range map[string]struct {
		shares        []float64
		displacement  [][]float64
		error, labels float64 // at most, at least
	}{
		"nothing":      {even, nowhere, .05, .97},
		"proportions":  {uneven, nowhere, .05, .97},
		"all together": {uneven, together, .1, .95},
		"class alone":  {uneven, apart, .1, .95},
	} {
		p := newProblem(600, even, test.shares, test.displacement)
		m, q := fitted(t, p, Options{Interval: &IntervalOptions{}})
		if e := dense.L1(m.Proportions, test.shares); e > test.error {
			t.Errorf("%s: p_T is off by %.3f, want at most %.2f: %v", name, e, test.error, m.Proportions)
		}
		if a := accuracy(q, p.truth); a < test.labels {
			t.Errorf("%s: accuracy %.3f, want at least %.2f", name, a, test.labels)
		}
		for k, share := range test.shares {
			if share < m.Interval.Lower[k] || share > m.Interval.Upper[k] {
				t.Errorf("%s: %.3f is not between %.3f and %.3f", name, share, m.Interval.Lower[k], m.Interval.Upper[k])
			}
		}
		if doubted := m.Evidence.ExpectedError > labelshift.Threshold || m.Evidence.ExpectedAccuracy < .8; doubted {
			t.Errorf("%s: an easy problem is doubted: %+v", name, m.Evidence)
		}
	}
}

// Nothing is known of a target that lies farther off than any that was learnt from.
func TestFartherThanLearnt(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for by, strange := range map[float64]bool{3: false, 1000: true} {
		p := newProblem(200, even, uneven, [][]float64{{by, by, 0, 0}, {by, by, 0, 0}, {by, by, 0, 0}})
		m, _ := fitted(t, p, Options{Interval: &IntervalOptions{}})
		if m.Strange() != strange || (m.Evidence.Unknown == 1) != strange || (m.Interval.Upper[0] == 1) != strange || strange && m.Evidence.ExpectedError <= labelshift.Threshold {
			t.Errorf("moved by %v: %+v, up to %.3f, %+v", by, m.Problem, m.Interval.Upper[0], m.Evidence)
		}
	}
}

// unmoved is the weight of the views that move no rows.
func unmoved(m *Model) (sum float64) {
	for _, v := range m.Views {
		if !v.moves() {
			sum += v.Weight
		}
	}
	return sum
}

// Label shift alone is known as such, also where a class is gone and where there is one
// that the source lacks. Movement is not.
func TestStays(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for name, test := range map[string]struct {
		shares       []float64
		displacement [][]float64
		strange      int // rows of another class
		stays        bool
	}{
		"nothing":         {even, nowhere, 0, true},
		"proportions":     {uneven, nowhere, 0, true},
		"a class is gone": {[]float64{.6, 0, .4}, nowhere, 0, true},
		"one class":       {[]float64{0, 0, 1}, nowhere, 0, true},
		"a new class":     {[]float64{.6, 0, .4}, nowhere, 60, true},
		"together":        {uneven, together, 0, false},
		"apart":           {uneven, apart, 0, false},
		"by two sigma":    {even, [][]float64{{2, 0, 0, 0}, {0, -2, 0, 0}, {0, 0, 2, 0}}, 0, false},
	} {
		p := newProblem(240, even, test.shares, test.displacement)
		known := p.Target.Rows
		rng := rand.New(rand.NewPCG(5, 0))
		for range test.strange {
			dense.Append(&p.Target, []float32{float32(5 + rng.NormFloat64()), float32(5 + rng.NormFloat64()), float32(rng.NormFloat64()), 4})
		}
		m, q := fitted(t, p, Options{})
		if w := unmoved(m); w > .5 != test.stays {
			t.Errorf("%s: it has the weight %.3f that no class has moved: %+v", name, w, m.Problem)
		}
		if !test.stays {
			continue
		}
		if e := dense.L1(m.Proportions, test.shares); test.strange == 0 && e > .1 {
			t.Errorf("%s: p_T is off by %.3f: %v", name, e, m.Proportions)
		}
		if share := float64(test.strange) / float64(p.Target.Rows); math.Abs(m.Problem.New-share) > .04 {
			t.Errorf("%s: %.3f of the rows are said to be new, and %.3f are", name, m.Problem.New, share)
		}
		typical, err := m.Typicality(t.Context(), m.Prepare(p.Target), q)
		if err != nil {
			t.Fatal(err)
		}
		for what, rows := range map[string][]float32{"known": typical[:known], "new": typical[known:]} {
			low := 0
			for _, v := range rows {
				if v < .02 {
					low++
				}
			}
			if share := float64(low) / float64(max(1, len(rows))); len(rows) > 0 && (share > .5) != (what == "new") {
				t.Errorf("%s: %.3f of the %s rows have a typicality below .02", name, share, what)
			}
		}
	}
}

// Of two classes in two columns, one that moves can land where the other was. A target that looks
// like one class alone is trusted to be it, but where rows that moved together explain it better.
func TestStaysOfTwoClasses(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for name, c := range map[string]struct {
		columns        int
		share          float64 // of the first class in the target
		distance, move float64
	}{
		"proportions":                {2, 0.95, 4, 0},
		"proportions, one column":    {1, 0.95, 3, 0},
		"proportions, less so":       {2, 0.7, 4, 0},
		"proportions, three columns": {3, 0.95, 4, 0},
		"movement":                   {2, 0.5, 2.4, -1.2},
	} {
		rng := rand.New(rand.NewPCG(21, 0))
		p := Problem{Source: dense.New(0, c.columns), Target: dense.New(0, c.columns), Classes: []string{"a", "b"}}
		row := func(y int, move float64) []float32 {
			x := make([]float32, c.columns)
			for j := range x {
				x[j] = float32(rng.NormFloat64())
			}
			x[0] += float32(c.distance*float64(y) + move)
			return x
		}
		const n = 1000
		for i := range n {
			dense.Append(&p.Source, row(i%2, 0))
			p.Labels = append(p.Labels, int32(i%2))
			y := 0
			if float64(i) >= n*c.share {
				y = 1
			}
			dense.Append(&p.Target, row(y, c.move))
		}
		m, _ := fitted(t, problem{Problem: p}, Options{})
		if w := unmoved(m); w > .5 != (c.move == 0) {
			t.Errorf("%s: it has the weight %.3f that no class has moved: %+v", name, w, m.Problem)
		}
		if (m.Problem.Rival > 0) != (c.move != 0) {
			t.Errorf("%s: rows that have moved together are likelier by %.2f deviations", name, m.Problem.Rival)
		}
		if e := dense.L1(m.Proportions, []float64{c.share, 1 - c.share}); e > 0.1 {
			t.Errorf("%s: p_T is off by %.3f, in %+v", name, e, m.Views)
		}
	}
}

// Noise in the target is found, and the source learns with it. Movement, new proportions
// and columns of two values have none.
func TestNoise(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	loud := func(p problem, columns []int) {
		rng := rand.New(rand.NewPCG(6, 0))
		for i := range p.Target.Rows {
			for _, j := range columns {
				dense.Row(p.Target, i)[j] += float32(3 * rng.NormFloat64())
			}
		}
	}
	for name, test := range map[string]struct {
		shares       []float64
		displacement [][]float64
		columns      []int
		assume       []string
		found        bool
	}{
		"all columns":     {uneven, nowhere, []int{0, 1, 2, 3}, nil, true},
		"one column":      {uneven, nowhere, []int{1}, nil, true},
		"no class b":      {[]float64{.6, 0, .4}, nowhere, []int{0, 1}, nil, true},
		"under stay":      {uneven, nowhere, []int{1}, []string{"balance"}, true},
		"under move":      {uneven, nowhere, []int{1}, []string{"classes", "parts"}, false},
		"no noise":        {uneven, nowhere, nil, nil, false},
		"all moved":       {uneven, together, nil, nil, false},
		"each moved":      {uneven, apart, nil, nil, false},
		"moved and noisy": {uneven, apart, []int{0, 1, 2, 3}, nil, false},
	} {
		p := newProblem(600, even, test.shares, test.displacement)
		loud(p, test.columns)
		m, q := fitted(t, p, Options{Interval: &IntervalOptions{}, Assume: test.assume})
		if found := m.Noise != nil; found != test.found {
			t.Errorf("%s: noise %+v, misfit %.1f", name, m.Noise, m.Problem.Misfit)
			continue
		}
		if !test.found {
			continue
		}
		if n := m.Noise; n.Columns < len(test.columns) || !slices.Contains(test.columns, n.Loudest) || math.Abs(n.Ratio-3) > .6 {
			t.Errorf("%s: noise of 3 deviations in columns %v is taken for %+v", name, test.columns, n)
		}
		if e := dense.L1(m.Proportions, test.shares); e > .3 || e > m.Evidence.ExpectedError+.1 {
			t.Errorf("%s: p_T is off by %.3f, %.3f were expected: %v", name, e, m.Evidence.ExpectedError, m.Proportions)
		}
		// The best rule for noise of 3 deviations in all columns.
		best := 0
		for i, k := range p.truth {
			score := func(c int) float64 {
				s := math.Log(max(test.shares[c], 1e-9))
				for j, v := range dense.Row(p.Target, i) {
					variance := 1.0
					if slices.Contains(test.columns, j) {
						variance += 9
					}
					d := float64(v) - centres[c][j]
					s -= d * d / 2 / variance
				}
				return s
			}
			if dense.Argmax([]float64{score(0), score(1), score(2)}) == int(k) {
				best++
			}
		}
		if a, best := accuracy(q, p.truth), float64(best)/float64(len(p.truth)); a < best-.08 {
			t.Errorf("%s: accuracy %.3f, and the best rule has %.3f", name, a, best)
		}
	}
}

// A column of the target that has two values has no noise, however it varies.
func TestNoiseOfTwoValues(t *testing.T) {
	p := newProblem(600, even, even, nowhere)
	for i := range p.Target.Rows {
		row := dense.Row(p.Target, i)
		row[2], row[3] = 5*row[2], float32(10*(i%2))
	}
	f := &fit{classes: len(p.Classes), labels: p.Labels}
	n, err := f.noise(t.Context(), p.Source, p.Target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n == nil || n.Loudest != 2 || n.deviations[2] < 4 || n.deviations[3] != 0 {
		t.Errorf("column 2 has noise, and column 3 two values: %+v", n)
	}
}

// Equal rows of the target count once, unless the source has equal rows too.
func TestEffectiveRows(t *testing.T) {
	rows := func(values ...float32) (z blas32.General, index []int) {
		z = dense.New(0, 1)
		for i, v := range values {
			dense.Append(&z, []float32{v})
			index = append(index, i)
		}
		return z, index
	}
	distinct, d := rows(1, 2, 3, 4, 5, 6)
	equal, e := rows(1, 1, 2, 2, 3, 3)
	for name, got := range map[string]int{
		"drawn again":   effectiveRows(equal, e, distinct, d),
		"distinct":      effectiveRows(distinct, d, distinct, d),
		"of few values": effectiveRows(equal, e, equal, e),
	} {
		if want := map[string]int{"drawn again": 3, "distinct": 6, "of few values": 6}[name]; got != want {
			t.Errorf("%s: %d rows, want %d", name, got, want)
		}
	}
}

// A problem without an answer is doubted: the classes lie on one another in the target.
func TestDoubt(t *testing.T) {
	on := [][]float64{{2, 2, 0, 0}, {-3, 2, 0, 0}, {2, -3, 0, 0}}
	m, _ := fitted(t, newProblem(300, even, uneven, on), Options{})
	if m.Evidence.ExpectedError < labelshift.Care {
		t.Errorf("an error of only %.3f is expected", m.Evidence.ExpectedError)
	}
}

// What the user assumes gets all the weight.
func TestAssume(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	p := newProblem(600, even, uneven, apart)
	for _, test := range []struct{ assume, weighted []string }{
		{nil, []string{"same", "balance", "together", "classes"}},
		{[]string{"balance"}, []string{"balance"}},
		{[]string{"classes", "parts"}, []string{"classes"}},
		{[]string{"parts"}, []string{"classes"}}, // no class has parts
	} {
		m, _ := fitted(t, p, Options{Assume: test.assume})
		sum := 0.0
		for _, v := range m.Views {
			if sum += v.Weight; (v.Weight > 0) != slices.Contains(test.weighted, v.Name) {
				t.Errorf("assumed %v: %s has weight %v", test.assume, v.Name, v.Weight)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("assumed %v: weights sum to %v", test.assume, sum)
		}
	}
}

// A saved model gives the same bits, whatever parts it has.
func TestFile(t *testing.T) {
	p := newProblem(200, even, uneven, apart)
	for name, o := range map[string]Options{"all": {}, "one": {Assume: []string{"balance"}, Classifiers: []string{"logistic"}}} {
		m, want := fitted(t, p, o)
		balanced := labelshift.Balanced
		m.Vectors, m.Decision, m.Provenance = "embedding", &balanced, "[]"
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		loaded, err := Load(strings.NewReader(text), "m")
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := loaded.Predict(t.Context(), loaded.Prepare(p.Target))
		if err != nil || !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s: posteriors change on the way through a file (%v)", name, err)
		}
		a, _ := m.Typicality(t.Context(), m.Prepare(p.Target), want)
		b, _ := loaded.Typicality(t.Context(), loaded.Prepare(p.Target), want)
		if !slices.Equal(a, b) {
			t.Errorf("%s: typicality changes on the way through a file", name)
		}
		var again bytes.Buffer
		if err := loaded.Save(&again); err != nil || again.String() != text {
			t.Errorf("%s: a loaded model is not saved as it was (%v)", name, err)
		}
		for _, cut := range []string{text[:len(text)/2], strings.Replace(text, `\"prior\":[0.3`, `\"prior\":[0.4`, 1), strings.Replace(text, `"mars.classes":"[`, `"mars.classes":"[\"z\",`, 1),
			strings.Replace(text, `\"name\":\"balance\"`, `\"name\":\"valance\"`, 1)} {
			if _, err := Load(strings.NewReader(cut), "m"); err == nil || !strings.HasPrefix(err.Error(), "m: ") {
				t.Errorf("%s: a damaged file: %v", name, err)
			}
		}
	}
}

// Posteriors carry p_T; a decision changes that.
func TestDecide(t *testing.T) {
	accurate, balanced := labelshift.Accuracy, labelshift.Balanced
	for _, test := range []struct {
		decision *labelshift.Decision
		want     []float32 // of a row whose posteriors are p_T: that is, without evidence
	}{
		{&accurate, []float32{.6, .4}},
		{&balanced, []float32{.5, .5}},
		{nil, []float32{.2, .8}},
	} {
		m := &Model{Proportions: []float64{.6, .4}, prior: []float64{.2, .8}, Use: adapt.Use{Decision: test.decision}}
		q := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{.6, .4}}
		if err := m.Decide(q); err != nil {
			t.Fatal(err)
		}
		for k, v := range q.Data {
			if math.Abs(float64(v-test.want[k])) > 1e-6 {
				t.Errorf("%v: %v, want %v", test.decision, q.Data, test.want)
			}
		}
	}
}

// Of rows of the source's classes few are untypical, moved or not; of others most are.
func TestTypicality(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for name, displacement := range map[string][][]float64{"nowhere": nowhere, "apart": apart} {
		p := newProblem(600, even, uneven, displacement)
		strange := dense.New(0, 4)
		rng := rand.New(rand.NewPCG(5, 0))
		for range 50 {
			dense.Append(&strange, []float32{float32(-9 + rng.NormFloat64()), float32(9 + rng.NormFloat64()), -9, -9})
		}
		m, _ := fitted(t, p, Options{})
		untypical := func(x blas32.General) float64 {
			z := m.Prepare(x)
			q, err := m.Predict(t.Context(), z)
			if err != nil {
				t.Fatal(err)
			}
			values, err := m.Typicality(t.Context(), z, q)
			if err != nil {
				t.Fatal(err)
			}
			n := 0.0
			for _, v := range values {
				if v < .05 {
					n++
				}
			}
			return n / float64(len(values))
		}
		if rate := untypical(p.Target); rate > .1 {
			t.Errorf("%s: %.3f of the known rows are untypical, want about 0.05", name, rate)
		}
		if rate := untypical(strange); rate < .95 {
			t.Errorf("%s: only %.3f of the strange rows are untypical", name, rate)
		}
	}
}

// Rows of a class that the source lacks have p-values below 1/100 also where each class of
// the source has only 60 rows, and few others do.
func TestTypicalityOfSmallClasses(t *testing.T) {
	p := newProblem(180, even, even, nowhere)
	known := p.Target.Rows
	rng := rand.New(rand.NewPCG(6, 0))
	for range 60 {
		dense.Append(&p.Target, []float32{float32(5 + rng.NormFloat64()), float32(5 + rng.NormFloat64()), 6, 6})
	}
	m, q := fitted(t, p, Options{})
	typical, err := m.Typicality(t.Context(), m.Prepare(p.Target), q)
	if err != nil {
		t.Fatal(err)
	}
	marked := [2]int{}
	for i, v := range typical {
		if v < .01 {
			if i < known {
				marked[0]++
			} else {
				marked[1]++
			}
		}
	}
	if marked[0] > 6 || marked[1] < 50 {
		t.Errorf("below 0.01 are %d of %d known rows and %d of 60 new ones", marked[0], known, marked[1])
	}
}

// The seed decides, the number of threads does not.
func TestDeterministic(t *testing.T) {
	defer kernel.SetJobs(0)
	p := newProblem(150, even, uneven, apart)
	files := map[string]bool{}
	for _, jobs := range []int{1, 2, 1} {
		kernel.SetJobs(jobs)
		m, err := Fit(t.Context(), p.Problem, Options{Seed: 4, Interval: &IntervalOptions{}})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		files[file.String()] = true
	}
	if len(files) != 1 {
		t.Error("models differ with the number of threads")
	}
}

// crowd is classes of so many source rows each, of which the target has more of the first ones.
func crowd(classes, rows, target int) problem {
	rng := rand.New(rand.NewPCG(6, 0))
	const columns = 6
	means := make([]float64, classes*columns)
	for i := range means {
		means[i] = 4 * rng.NormFloat64()
	}
	p := problem{Problem: Problem{Source: dense.New(0, columns), Target: dense.New(0, columns)}}
	add := func(x *blas32.General, k int) {
		row := make([]float32, columns)
		for j := range row {
			row[j] = float32(means[k*columns+j] + rng.NormFloat64())
		}
		dense.Append(x, row)
	}
	for k := range classes {
		p.Classes = append(p.Classes, fmt.Sprint("c", k))
		for range rows {
			add(&p.Source, k)
			p.Labels = append(p.Labels, int32(k))
		}
	}
	for range target {
		k := min(rng.IntN(classes), rng.IntN(classes))
		add(&p.Target, k)
		p.truth = append(p.truth, int32(k))
	}
	return p
}

// Many classes of few rows each get an answer, and few lines of warnings, whether a linear
// discriminant learns them or not.
func TestCrowd(t *testing.T) {
	for _, classes := range []int{80, 401} {
		p := crowd(classes, 5, 300)
		m, q := fitted(t, p, Options{Interval: &IntervalOptions{Replicates: 20}})
		if a := accuracy(q, p.truth); a < .85 {
			t.Errorf("%d classes: %.3f of the labels are right", classes, a)
		}
		truth, err := labelshift.Shares(p.truth, classes)
		if err != nil {
			t.Fatal(err)
		}
		if d := dense.L1(m.Proportions, truth); d > .25 {
			t.Errorf("%d classes: the proportions are off by %.3f", classes, d)
		}
		want := fmt.Sprintf("%d classes have few source rows (from 5 to 5): little is known of c0, c1, c2, c3, c4 and %d more", classes, classes-5)
		if len(m.Warnings) > 3 || !slices.Contains(m.Warnings, want) {
			t.Errorf("%d classes: warnings %q", classes, m.Warnings)
		}
	}
}

// Movements of thin classes are not looked for where the source's classes explain the target where
// they are, and the answer is nearly what it is if they are.
func TestSettled(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	p := crowd(80, 5, 300)
	few, answer := fitted(t, p, Options{})
	all, same := fitted(t, p, Options{KeepAll: true})
	if len(few.Views) != 2 || len(all.Views) < 4 {
		t.Fatalf("%d views, and %d if all are kept: %+v", len(few.Views), len(all.Views), few.Problem)
	}
	if d := dense.L1(few.Proportions, all.Proportions); d > .05 {
		t.Errorf("the proportions differ by %.3f", d)
	}
	if a, b := accuracy(answer, p.truth), accuracy(same, p.truth); math.Abs(a-b) > .02 {
		t.Errorf("accuracy %.3f, and %.3f if all views are kept", a, b)
	}
}

// So many classes that nobody would wait for them are refused at once, with what to assume instead.
func TestTooManyClasses(t *testing.T) {
	p := crowd(2_100, 3, 30)
	_, err := Fit(t.Context(), p.Problem, Options{Assume: []string{"classes", "parts"}})
	if err == nil || !strings.Contains(err.Error(), `each of 2100 classes`) || !strings.Contains(err.Error(), `assume "together"`) {
		t.Errorf("error %v", err)
	}
}

func TestContextOfCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := crowd(401, 2, 30)
	contexttest.Stops(t, 40, func(ctx context.Context) error {
		_, err := Fit(ctx, p.Problem, Options{Assume: []string{"same", "balance"}, Interval: &IntervalOptions{Replicates: 2}})
		return err
	})
}

func TestContext(t *testing.T) {
	p := newProblem(60, even, even, nowhere)
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := Fit(ctx, p.Problem, Options{Classifiers: []string{"logistic"}, Interval: &IntervalOptions{Replicates: 2}})
		return err
	})
}

func TestMistakes(t *testing.T) {
	good := func() Problem { return newProblem(60, even, even, nowhere).Problem }
	for want, change := range map[string]func(p *Problem, o *Options){
		"no target rows":         func(p *Problem, _ *Options) { p.Target = dense.New(0, 4) },
		"target row 1, column 2": func(p *Problem, _ *Options) { p.Target.Data[6] = float32(math.NaN()) },
		"source row 0":           func(p *Problem, _ *Options) { p.Source.Data[0] = float32(math.Inf(1)) },
		"no view \"moves\"":      func(_ *Problem, o *Options) { o.Assume = []string{"moves"} },
		"no classifier":          func(_ *Problem, o *Options) { o.Classifiers = []string{"tree"} },
		"level":                  func(_ *Problem, o *Options) { o.Interval = &IntervalOptions{Level: 2} },
		"classes": func(p *Problem, _ *Options) {
			clear(p.Labels)
		},
	} {
		p, o := good(), Options{}
		change(&p, &o)
		if _, err := Fit(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Three target rows are too few to find classes in: those views are left out, with a word.
func TestFewRows(t *testing.T) {
	p := newProblem(60, even, even, nowhere)
	p.Target = dense.Rows(p.Target, 0, 2)
	m, err := Fit(t.Context(), p.Problem, Options{Interval: &IntervalOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Views) == 5 || len(m.Warnings) == 0 {
		t.Errorf("%d views, warnings %v", len(m.Views), m.Warnings)
	}
	if _, err := Fit(t.Context(), p.Problem, Options{Assume: []string{"classes"}}); err == nil {
		t.Error("there is an answer where no class can be found")
	}
}
