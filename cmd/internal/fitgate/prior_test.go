package main

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// drawn are the tasks of seeds 0 to 199.
var drawn = sync.OnceValue(func() []task {
	tasks := make([]task, 200)
	for seed := range tasks {
		tasks[seed] = draw(uint64(seed))
	}
	return tasks
})

// changesOf are the names of the changes of a seed.
func changesOf(seed int) []string {
	var names []string
	for _, k := range someKinds(rand.New(rand.NewPCG(uint64(seed), 0))) {
		names = append(names, k.name)
	}
	return names
}

func TestDrawIsDeterministic(t *testing.T) {
	for _, seed := range []uint64{0, 7, 31, 1599} {
		if a, b := draw(seed), draw(seed); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gives two tasks", seed)
		}
	}
	if a, b := draw(0), draw(1); reflect.DeepEqual(a.Target, b.Target) {
		t.Error("seeds 0 and 1 give one task")
	}
}

func TestEveryTaskIsValid(t *testing.T) {
	for seed, x := range drawn() {
		if err := x.valid(); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
		if x.Name != "sim-"+strconv.Itoa(seed) || x.Family != "sim-"+strconv.Itoa(seed/10) {
			t.Errorf("seed %d: name %s, family %s", seed, x.Name, x.Family)
		}
		if x.Source.Cols > mostColumns || x.Source.Cols*x.Source.Rows > mostCells || x.Target.Cols != x.Source.Cols {
			t.Errorf("%s: %d×%d and %d×%d", x.Name, x.Source.Rows, x.Source.Cols, x.Target.Rows, x.Target.Cols)
		}
		if plane := seed/10%4 == 3; plane && (x.Source.Cols != 2 || slices.Max(x.Labels) != 1) {
			t.Errorf("%s: %d columns, %d classes in a plane", x.Name, x.Source.Cols, slices.Max(x.Labels)+1)
		}
	}
}

func TestKindsAreAsFrequentAsTheyShould(t *testing.T) {
	n, two := map[string]float64{}, 0.0
	for seed, x := range drawn() {
		n[x.Kind]++
		if len(changesOf(seed)) == 2 {
			two++
		}
	}
	for _, k := range kinds {
		want := 2 * k.weight
		if math.Abs(n[k.name]-want) > 4*math.Sqrt(want) {
			t.Errorf("%s: %v of 200, not about %v", k.name, n[k.name], want)
		}
	}
	if two < 8 || two > 32 {
		t.Errorf("%v of 200 tasks have two changes, not about 20", two)
	}
}

// A class that the source lacks is one that a change of kind new has left out, and the last.
func TestOnlyNewClassesAreMissingFromTheSource(t *testing.T) {
	for seed, x := range drawn() {
		known := int(slices.Max(x.Labels)) + 1
		if slices.Contains(count(x.Labels, known), 0) {
			t.Errorf("%s: a class that is missing is not the last", x.Name)
		}
		is, want := x.Classes > known, slices.Contains(changesOf(seed), "new")
		if is && !want || want && !is && len(changesOf(seed)) == 1 {
			t.Errorf("%s, %v: %d of %d classes are in the source", x.Name, changesOf(seed), known, x.Classes)
		}
	}
}

func TestVanishedClassesAreMissingFromTheTarget(t *testing.T) {
	for seed, x := range drawn() {
		if x.Kind == "vanished" && len(changesOf(seed)) == 1 && !slices.Contains(count(x.Truth, x.Classes), 0) {
			t.Errorf("%s: no class is missing", x.Name)
		}
	}
}

// deviations are the differences of a class's column means between the sides, in standard errors.
// The logarithm of values keeps heavy tails out.
func deviations(x task) (z []float64) {
	for k := range int32(x.Classes) {
		for j := range x.Source.Cols {
			a, b := valuesOf(x.Source, x.Labels, k, j), valuesOf(x.Target, x.Truth, k, j)
			if len(a) < 20 || len(b) < 20 {
				continue
			}
			ab := append(a, b...)
			meanA, _ := moments(len(a), func(i int) float64 { return a[i] })
			meanB, _ := moments(len(b), func(i int) float64 { return b[i] })
			_, both := moments(len(ab), func(i int) float64 { return ab[i] }) // not each: a column of few values may have one on one side
			if both > 1e-9 {
				z = append(z, math.Abs(meanA-meanB)/(both*math.Sqrt(1/float64(len(a))+1/float64(len(b)))))
			}
		}
	}
	return z
}

func valuesOf(x blas32.General, labels []int32, k int32, j int) (v []float64) {
	for i, l := range labels {
		if l == k {
			v = append(v, math.Asinh(float64(x.Data[i*x.Stride+j])))
		}
	}
	return v
}

func TestClassesStayOrMoveAsTheKindSays(t *testing.T) {
	var stay, moves, small float64
	for seed, x := range drawn() {
		if len(changesOf(seed)) == 2 {
			continue
		}
		z := deviations(x)
		switch x.Kind {
		case "same", "label", "vanished":
			for _, v := range z {
				stay++
				if v > 3 {
					small++
				}
			}
		case "moved":
			if len(z) > 0 {
				moves++
				if slices.Max(z) < 5 {
					moves -= 2
				}
			}
		}
	}
	if small > .01*stay {
		t.Errorf("%v of %v means of a class and column differ by more than 3 standard errors where no class moves", small, stay)
	}
	if moves <= 0 {
		t.Error("in most tasks of kind moved no class has moved")
	}
}

func TestSharesChangeAsTheKindSays(t *testing.T) {
	change, n := map[string]float64{}, map[string]float64{}
	for seed, x := range drawn() {
		if len(changesOf(seed)) == 2 {
			continue
		}
		source, target := count(x.Labels, x.Classes), count(x.Truth, x.Classes)
		var l1, noise float64
		for k := range source {
			p, q := float64(source[k])/float64(len(x.Labels)), float64(target[k])/float64(len(x.Truth))
			l1 += math.Abs(p - q)
			noise += math.Sqrt(p*(1-p)/float64(len(x.Labels)) + q*(1-q)/float64(len(x.Truth)))
		}
		if x.Kind == "same" && l1 > 3*noise {
			t.Errorf("%s: nothing is to change, but shares do by %.3f, which is %.1f deviations", x.Name, l1, l1/noise)
		}
		change[x.Kind] += l1
		n[x.Kind]++
	}
	for _, kind := range []string{"label", "vanished", "split", "new"} {
		if mean := change[kind] / n[kind]; mean < .2 {
			t.Errorf("%s: shares change by %.3f in the mean", kind, mean)
		}
	}
}

// A snapshot is what a draft's rows were before a change: labels and values by the identity of
// the row's columns.
func snapshot(rows []row) map[*float64]row {
	s := map[*float64]row{}
	for _, r := range rows {
		key := &r.x[0]
		r.x = slices.Clone(r.x)
		s[key] = r
	}
	return s
}

func TestWhatAChangeTouches(t *testing.T) {
	for _, c := range []struct {
		kind                            string
		apply                           func(*draft)
		moves, relabels, drops, strange bool
	}{
		{kind: "moved", apply: moved, moves: true},
		{kind: "together", apply: together, moves: true},
		{kind: "noise", apply: noise, moves: true},
		{kind: "rule", apply: otherRule, relabels: true},
		{kind: "chosen", apply: chosen, drops: true},
		{kind: "split", apply: split, drops: true},
	} {
		for family := range uint64(12) {
			d := newDraft(rand.New(rand.NewPCG(family, 99)), familyProgram(family, 0))
			source, target := snapshot(d.source), snapshot(d.target)
			rows := len(d.target)
			c.apply(d)
			for _, r := range d.source {
				if was, ok := source[&r.x[0]]; !ok || !slices.Equal(was.x, r.x) || was.label != r.label {
					t.Fatalf("%s, family %d: a row of the source is another", c.kind, family)
				}
			}
			var moved, relabelled float64
			for _, r := range d.target {
				was, ok := target[&r.x[0]]
				if !ok || !slices.Equal(was.x, r.x) {
					moved++
				}
				if ok && was.label != r.label {
					relabelled++
				}
			}
			if is := moved > 0; is != c.moves {
				t.Errorf("%s, family %d: %v of %d rows have moved", c.kind, family, moved, rows)
			}
			if is := relabelled > 0; is != c.relabels {
				t.Errorf("%s, family %d: %v of %d rows have another label", c.kind, family, relabelled, rows)
			}
			if is := len(d.target) < rows; is != c.drops {
				t.Errorf("%s, family %d: %d of %d rows are left", c.kind, family, len(d.target), rows)
			}
		}
	}
}

// A split leaves a column, root or node along which all of the source is below all of the target,
// or above.
func TestSplitSeparates(t *testing.T) {
	for family := range uint64(20) {
		d := newDraft(rand.New(rand.NewPCG(family, 98)), familyProgram(family, 0))
		split(d)
		if len(d.source) == 0 || len(d.target) == 0 {
			continue // is drawn again
		}
		if !slices.ContainsFunc(append(sides(d, func(r row) []float64 { return r.x }), sides(d, func(r row) []float64 { return r.latent })...),
			func(apart bool) bool { return apart }) {
			t.Errorf("family %d: nothing separates source and target", family)
		}
	}
}

// sides tells for each value of rows whether it separates source and target.
func sides(d *draft, of func(row) []float64) []bool {
	apart := make([]bool, len(of(d.source[0])))
	for j := range apart {
		value := func(a, b row) int {
			if of(a)[j] < of(b)[j] {
				return -1
			}
			return 1
		}
		low, high := of(slices.MinFunc(d.source, value))[j], of(slices.MaxFunc(d.source, value))[j]
		below, above := of(slices.MinFunc(d.target, value))[j], of(slices.MaxFunc(d.target, value))[j]
		apart[j] = high <= below && low < above || above <= low && below < high
	}
	return apart
}

func TestMostTablesCanBeLearnt(t *testing.T) {
	var sum float64
	const families = 30
	for family := range uint64(families) {
		gain := familyProgram(family, 0).learnable(rand.New(rand.NewPCG(family, 97)))
		if gain < -.2 {
			t.Errorf("family %d: a classifier is worse than the largest class by %.2f", family, -gain)
		}
		sum += gain
	}
	if mean := sum / families; mean < .45 || mean > .9 {
		t.Errorf("between the largest class and all right, a plain classifier is at %.2f in the mean", mean)
	}
}

func TestDirichletSharesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, concentration := range []int{1, 5} {
		var square float64
		const draws = 2000
		for range draws {
			p := dirichlet(rng, concentration, 4)
			if sum := p[0] + p[1] + p[2] + p[3]; math.Abs(sum-1) > 1e-12 {
				t.Fatalf("shares %v add to %v", p, sum)
			}
			square += (p[0] - .25) * (p[0] - .25) / draws
		}
		// Of n shares with concentration a each, a share has the variance (n−1)/(n²(an+1)).
		if want := 3 / (16 * float64(4*concentration+1)); math.Abs(square-want) > .15*want {
			t.Errorf("concentration %d: variance %.4f, not %.4f", concentration, square, want)
		}
	}
}

func TestUsageNamesEverySubCommand(t *testing.T) {
	for _, args := range [][]string{nil, {"dance"}, {"simulate", "3"}, {"simulate", "3", "3", "x"}, {"simulate", "-1", "3", "x"}} {
		if err := run(args); err == nil {
			t.Errorf("%v is no error", args)
		} else if len(args) < 3 && !strings.Contains(err.Error(), "fitgate simulate FROM TO FOLDER") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
