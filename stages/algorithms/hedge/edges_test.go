package hedge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// line is one column of so many values, evenly from one to another.
func line(from, to float32, n int) blas32.General {
	x := dense.New(n, 1)
	for i := range x.Data {
		x.Data[i] = from + (to-from)*float32(i)/float32(n-1)
	}
	return x
}

// wide are rows of so many equal columns.
func wide(x blas32.General, columns int) blas32.General {
	y := dense.New(x.Rows, columns)
	for i := range y.Data {
		y.Data[i] = x.Data[i/columns]
	}
	return y
}

// A target whose columns are in other units, or all alike, is told of, and how much is unknown for that.
func TestUnits(t *testing.T) {
	source := line(0, 100, 101)
	// Half of these values are those of the source, the others reach far.
	half := dense.New(0, 1)
	for i := range 50 {
		dense.Append(&half, []float32{2 * float32(i)})
		dense.Append(&half, []float32{2000 * float32(2+i)})
	}
	less := dense.Clone(half)
	less.Data[0] = -1
	one := dense.New(101, 2)
	for i, v := range source.Data {
		one.Data[2*i] = v
	}
	other := func(n int) string {
		all := make([]string, n)
		for j := range all {
			all[j] = fmt.Sprintf("feature %d seems to be in another unit in the target: its values vary about 1000 times as much as the source's", j+1)
		}
		return strings.Join(all, "; ")
	}
	const advice = ": bring both files to one unit, or leave the column out"
	const equal = "all target rows are equal, as where what wrote them has failed: nothing can be told from them"
	for name, c := range map[string]struct {
		source, target blas32.General
		unknown        float64
		warning        string
	}{
		"as it was":            {source, source, 0, ""},
		"a thousand times":     {source, line(-50_000, 50_000, 101), unitDoubt, other(1) + advice},
		"a thousandth":         {source, line(50, 50.1, 101), unitDoubt, strings.ReplaceAll(other(1), "1000 times", "1/1000") + advice},
		"another zero":         {source, line(400, 410, 101), unitDoubt, "feature 1 lies elsewhere in the target, as with another zero: its median is 405, and the source has values from 0 to 100" + advice},
		"half of it inside":    {source, half, 0, ""},
		"less than half":       {source, less, unitDoubt, ""},
		"five columns":         {wide(source, 5), wide(line(-50_000, 50_000, 101), 5), unitDoubt, other(5) + advice},
		"six columns":          {wide(source, 6), wide(line(-50_000, 50_000, 101), 6), unitDoubt, other(5) + " and 1 column more" + advice},
		"as many as looked at": {wide(source, unitColumns), wide(line(-50_000, 50_000, 101), unitColumns), unitDoubt, other(5) + " and 995 columns more" + advice},
		"more":                 {wide(source, unitColumns+1), wide(line(-50_000, 50_000, 101), unitColumns+1), 0, ""},
		"equal rows":           {one, wide(dense.New(2, 1), 2), 1, equal},
		"one row":              {one, dense.New(1, 2), 0, ""},
		"equal rows of both":   {dense.New(30, 2), dense.New(2, 2), 0, ""},
	} {
		f := &fit{prior: []float64{1}, labels: make([]int32, c.source.Rows), classes: 1}
		f.compareUnits(c.source, c.target, nil)
		if f.unknown != c.unknown || (f.warnings != nil) != (c.unknown > 0) || c.warning != "" && f.warnings[0] != c.warning {
			t.Errorf("%s: %v is unknown, want %v; warnings %q, want %q", name, f.unknown, c.unknown, f.warnings, c.warning)
		}
	}
}

// A factor near a power of ten is that, others are what they are.
func TestRoundFactor(t *testing.T) {
	for factor, want := range map[float64]string{1000: "1000", 970: "1000", 610: "1000", 590: "590", 1600: "1000", 1700: "1700", 21: "21", 61: "100"} {
		if got := roundFactor(factor); got != want {
			t.Errorf("%v is %s, want %s", factor, got, want)
		}
	}
}

// Numbers in names are compared as numbers, whatever is behind them, and with letters as text.
func TestCompareNames(t *testing.T) {
	rising := []string{"", "1", "a", "pc1", "pc2", "pc2a", "pc2b", "pc10", "pca"}
	for i, a := range rising {
		for j, b := range rising {
			if got, want := compareNames(a, b), min(1, max(-1, i-j)); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

// A zero is a zero, whatever its sign, where rows are put in order.
func TestOrderOfZeros(t *testing.T) {
	x := dense.New(40, 2)
	for i := range x.Rows {
		x.Data[2*i] = float32(i)
	}
	want := rowOrder(x, []int{0, 1}, nil, 0)
	for i := range x.Rows {
		x.Data[2*i+1] = float32(math.Copysign(0, -1))
	}
	if got := rowOrder(x, []int{0, 1}, nil, 0); !slices.Equal(got, want) {
		t.Errorf("rows of −0 come as %v, those of 0 as %v", got, want)
	}
}

// A class has a second part if that has minPartRows rows, and not if it has fewer.
func TestLeastPart(t *testing.T) {
	for _, few := range []int{minPartRows - 1, minPartRows} {
		rng := rand.New(rand.NewPCG(4, 0))
		x := dense.New(70+few, 2)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
			if i/2 < few {
				x.Data[i] += 30
			}
		}
		if got, want := slices.Max(divideClass(t.Context(), x, 0)), int32(few-minPartRows+1); got != want {
			t.Errorf("%d rows far off: the last part is %d, want %d", few, got, want)
		}
	}
}

// As many pairs of a row and a class as are allowed are looked at, and not one row's more.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		rows, classes int
		assume        []string
		finds         bool
		error         string
	}{
		{maxCrowdedPairs / 1000, 1000, nil, true, ""},
		{maxCrowdedPairs/1000 + 1, 1000, nil, false, ""},
		{maxPairs / 1000, 1000, []string{"classes"}, true, ""},
		{maxPairs/1000 + 1, 1000, []string{"parts"}, true,
			`hedge: whether each of 1000 classes has moved by itself cannot be found in useful time from 2500 source rows, with 2.5 of a class on average: assume "together", or nothing, or give fewer classes`},
		{maxPairs/1000 + 1, 1000, []string{"together"}, false, ""},
	} {
		f := &fit{Options: Options{Assume: c.assume}, classes: c.classes, labels: make([]int32, c.rows), distinct: 2500, crowded: true}
		found := ""
		if err := f.checkPairs(); err != nil {
			found = err.Error()
		}
		if f.findsClasses() != c.finds || found != c.error {
			t.Errorf("%+v: classes are looked for: %v; error %q", c, f.findsClasses(), found)
		}
	}
}

// Where classes are not looked for one by one, a warning says of how many.
func TestWarnsOfClassesNotLookedFor(t *testing.T) {
	p := newProblem(60, even, even, nowhere).Problem
	f := begun(t, p)
	f.classes, f.crowded = maxCrowdedPairs, true
	if _, err := f.moved(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("of %d classes, with 0.0 source rows each on average, nobody has looked whether each has moved by itself", maxCrowdedPairs)
	if !slices.Contains(f.warnings, want) {
		t.Errorf("warnings %q", f.warnings)
	}
}

// So many classes of few rows are named one by one, and more together; a class without rows is none of them.
func TestFewRowsOfClasses(t *testing.T) {
	for _, few := range []int{0, 1, spelling.MaxNamed, spelling.MaxNamed + 1} {
		f := &fit{}
		for k := range few {
			f.names, f.prior = append(f.names, fmt.Sprint("c", k)), append(f.prior, 2)
		}
		f.names, f.prior = append(f.names, "none", "many"), append(f.prior, 0, 100)
		rows := int(dense.Sum(f.prior))
		f.labels = make([]int32, rows)
		for k := range f.prior {
			f.prior[k] /= float64(rows)
		}
		f.warnUnstudied(fewRows)
		want := make([]string, few)
		for k := range want {
			want[k] = fmt.Sprintf("class c%d has few source rows (2): little is known of it", k)
		}
		if few > spelling.MaxNamed {
			want = []string{fmt.Sprintf("%d classes have few source rows (from 2 to 2): little is known of %s", few, spelling.List(f.names[:few]))}
		}
		if !slices.Equal(f.warnings, want) {
			t.Errorf("%d classes: warnings %q, want %q", few, f.warnings, want)
		}
	}
}

// Where nearly all rows are of one class that has moved to where others were, that much is unknown.
func TestLoneClass(t *testing.T) {
	for share, unknown := range map[float64]float64{0.95: .4, 0.85: 0} {
		f := &fit{classes: 2, target: dense.New(4, 1), prior: []float64{.5, .5}, distinct: 100}
		m := &Model{Classes: []string{"a", "b"}, Proportions: []float64{1 - share, share}, disagree: [][]float64{{0, .8}, {.8, 0}}}
		for _, name := range []string{"same", "classes"} {
			m.Views = append(m.Views, View{Name: name, Weight: .5, Proportions: m.Proportions})
		}
		certain := dense.New(4, 2)
		for i := range 4 {
			certain.Data[2*i+1] = 1
		}
		m.judge(f, []blas32.General{certain, certain})
		if math.Abs(m.Evidence.Unknown-unknown) > 1e-12 || (len(f.warnings) == 1) != (unknown > 0) {
			t.Errorf("a class of %v: %v is unknown, want %v: %q", share, m.Evidence.Unknown, unknown, f.warnings)
		}
	}
}

// From a share of distinct rows on the source counts as one whose rows are distinct by nature: then equal rows of the target
// were drawn again.
func TestDistinctRows(t *testing.T) {
	target := dense.New(4, 1)
	for repeated, want := range map[int]int{0: 1, 1: 1, 2: 4} {
		source := line(0, 100, 50)
		copy(source.Data[1:], source.Data[:repeated])
		clear(source.Data[:repeated+1])
		all := make([]int, source.Rows)
		for i := range all {
			all[i] = i
		}
		if got := effectiveRows(target, all[:4], source, all); got != want {
			t.Errorf("%d of 50 rows are there again: 4 equal rows count as %d, want %d", repeated, got, want)
		}
	}
}

// A target that is worth one row is compared with the source, and one that is worth none is not.
func TestStaysOfOneRow(t *testing.T) {
	f := begun(t, newProblem(120, even, even, nowhere).Problem)
	f.target = dense.Gather(f.source, slices.Repeat([]int{0}, 60))
	near, err := f.near(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(near.targetFar, true) {
		t.Fatal("the row lies where the source has none")
	}
	for _, far := range []bool{false, true} {
		near.targetFar[0] = far
		if got, err := f.testStays(t.Context(), near); err != nil || got.tested == far {
			t.Errorf("of 60 equal rows one is far (%v): compared %v, %v", far, got.tested, err)
		}
	}
}

// Rows that are all alike have frequencies too.
func TestFrequenciesOfEqualRows(t *testing.T) {
	f := &fit{source: dense.New(20, 3), distinct: 20}
	if w := f.frequencies(); !dense.Finite(w.Data) || slices.Max(w.Data) <= 0 {
		t.Errorf("frequencies up to %v", slices.Max(w.Data))
	}
}

// The sums begin where the source's shares are if no view needs a fixed point, and a point is checked against the model.
func TestStartOfStillViews(t *testing.T) {
	p := newProblem(60, even, even, nowhere).Problem
	m := hedged(t, p, "same")
	m.Views = m.Views[:1]
	point, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CheckPoint(point); err != nil || !slices.Equal(point[0], m.prior) {
		t.Errorf("the point is %v (%v)", point, err)
	}
	s := m.NewSums()
	for _, rows := range []int{0, 60} {
		if err := m.Respond(t.Context(), s, point, m.Prepare(dense.Rows(p.Target, 0, rows))); err != nil || s.Rows() != int64(rows) {
			t.Errorf("%d rows count as %d (%v)", rows, s.Rows(), err)
		}
	}
	a, err := m.Answer(s, point, 0)
	if err != nil || a.Interval.Level != 0.9 {
		t.Errorf("the level is %v where none was given (%v)", a, err)
	}
}

// Rows are labelled in blocks, and get the same labels alone.
func TestBlocks(t *testing.T) {
	p := newProblem(60, even, even, nowhere).Problem
	m := hedged(t, p, "balance")
	some := m.Prepare(p.Target)
	z := dense.New(0, some.Cols)
	for i := range 2*blockRows + 1 {
		dense.Append(&z, dense.Row(some, i%some.Rows))
	}
	alone, err := m.Predict(t.Context(), some)
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.Predict(t.Context(), z)
	if err != nil {
		t.Fatal(err)
	}
	for i := range z.Rows {
		if !slices.Equal(dense.Row(all, i), dense.Row(alone, i%some.Rows)) {
			t.Fatalf("row %d: %v, and %v alone", i, dense.Row(all, i), dense.Row(alone, i%some.Rows))
		}
	}
}

// Numbers of a file that lie one beyond the last are refused.
func TestNumbersBeyondTheLast(t *testing.T) {
	good := func() *Model {
		return &Model{Classes: []string{"a", "b"}, Proportions: []float64{.5, .5}, prior: []float64{.5, .5}, Groups: [][]int{{0, 1}}, GroupSampling: [][]float64{{0, 0}},
			Views: []View{{Name: "same", Weight: 1, Proportions: []float64{.5, .5}}}}
	}
	for want, change := range map[string]func(m *Model){
		"": func(m *Model) { m.Views[0].Classifier = len(Views) - 1 },
		"metadata mars.hedge: view same has classifier 5":  func(m *Model) { m.Views[0].Classifier = len(Views) },
		"metadata mars.hedge: view same has classifier -1": func(m *Model) { m.Views[0].Classifier = -1 },
		"metadata mars.hedge: level 1 of groups is not one of each of 2 classes, with a variance each": func(m *Model) {
			m.Groups, m.GroupSampling = [][]int{{0, 2}}, [][]float64{{0, 0, 0}}
		},
	} {
		m := good()
		change(m)
		got := ""
		if err := m.check(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	}
}

// The same source is learnt from once, another one again.
func TestFieldIsLearntOnce(t *testing.T) {
	p := persons(3, LeftRows).Problem
	field := &Field{}
	for i, want := range []int64{3, 0, 3} {
		if i == 2 {
			p.Source.Data[0]++
		}
		var n atomic.Int64
		if err := field.learn(t.Context(), p, Options{Classifiers: []string{"logistic"}}, func() { n.Add(1) }); err != nil || n.Load() != want {
			t.Errorf("time %d: %d batches were left out, want %d (%v)", i+1, n.Load(), want, err)
		}
		if field.gate == gate.Default() || len(field.left) != 3 {
			t.Errorf("time %d: the field has %d batches", i+1, len(field.left))
		}
	}
}

// A class without rows changes nothing of the noise that is found.
func TestNoiseWithoutRowsOfAClass(t *testing.T) {
	p := newProblem(60, even, even, nowhere)
	for i := range p.Target.Rows {
		dense.Row(p.Target, i)[2] *= 5
	}
	var found [2]*Noise
	for i := range found {
		f := &fit{classes: 3 + i, labels: p.Labels}
		var err error
		if found[i], err = f.noise(t.Context(), p.Source, p.Target, nil); err != nil || found[i] == nil {
			t.Fatalf("%d classes: %+v, %v", f.classes, found[i], err)
		}
	}
	if a, b := found[0], found[1]; a.Loudest != 2 || !slices.Equal(a.deviations, b.deviations) {
		t.Errorf("noise %+v, and with another class %+v", a, b)
	}
}

// The variance of values is that of a sample, times the part of the rows that were looked at.
func TestVariancesOf(t *testing.T) {
	if got := variancesOf([][]float64{{1, 3}, {2, 2}}, 0.5); !slices.Equal(got, []float64{1, 0}) {
		t.Errorf("variances %v, want 2·½ and 0", got)
	}
}
