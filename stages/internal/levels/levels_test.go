package levels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// grown is a random tree of three levels, by rows of its classes of which some cells are empty.
func grown(t *testing.T, rng *rand.Rand) (*Tree, []string) {
	t.Helper()
	var classes []string
	for k := range 2 + rng.IntN(12) {
		classes = append(classes, fmt.Sprintf("c%02d", k))
	}
	up, top := map[string]string{}, map[string]string{}
	for _, class := range classes {
		up[class] = string(rune('a' + rng.IntN(5)))
	}
	for class := 'a'; class < 'f'; class++ {
		top[string(class)] = string("ab"[rng.IntN(2)]) // names that the next level has too
	}
	cells := make([][]string, 3)
	for i := range 5 * len(classes) {
		class := classes[i%len(classes)]
		row := []string{top[up[class]], up[class], class}
		if i >= len(classes) && rng.IntN(2) == 0 {
			row[rng.IntN(2)] = ""
		}
		for l, cell := range row {
			cells[l] = append(cells[l], cell)
		}
	}
	tree, err := New([]string{"top", "middle", "fine"}, cells, classes, func(i int) string { return fmt.Sprint(i) })
	if err != nil {
		t.Fatal(err)
	}
	for k, class := range classes {
		if got := tree.Levels[1].Classes[tree.Levels[1].Of[k]]; got != up[class] {
			t.Fatalf("%s is part of %s, want %s", class, got, up[class])
		}
	}
	return tree, classes
}

// Whatever the tree and the posteriors are, classes of all levels agree, sums add up, the class of the
// first level is that of the greatest sum, and what is more likely than not is chosen at each level.
func TestDecide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		tree, classes := grown(t, rng)
		p := make([]float32, len(classes))
		sum := float32(0)
		for k := range p {
			p[k] = float32(math.Pow(rng.ExpFloat64(), 3))
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		chosen, sums := tree.Decide(p)
		fine := chosen[2]
		for l, level := range tree.Levels {
			all := Sums(level, p)
			if level.Of[fine] != chosen[l] || all[chosen[l]] != sums[l] {
				t.Fatalf("level %d: class %d and sum %v do not agree with %d and %v", l, chosen[l], sums[l], level.Of[fine], all)
			}
			if l == 0 && slices.Max(all) != sums[0] {
				t.Fatalf("the first level has %v of %v", sums[0], all)
			}
			if i := slices.IndexFunc(all, func(v float32) bool { return v > 0.5001 }); i >= 0 && i != chosen[l] {
				t.Fatalf("level %d: class %d has %v, and %d is chosen", l, i, all[i], chosen[l])
			}
			if l > 0 && sums[l] > sums[l-1]+1e-6 {
				t.Fatalf("posteriors rise from %v to %v", sums[l-1], sums[l])
			}
		}
	}
}

// Classes that nobody has placed are classes of their own at each level, and the tree they are added to stays as it was.
func TestWiderTree(t *testing.T) {
	tree := &Tree{[]Level{{"kind", []string{"x", "y"}, []int{1, 0, 1}}, {"type", []string{"a", "b", "c"}, []int{0, 1, 2}}}}
	wide := tree.With([]string{"a", "b", "c", "new", "newer"})
	want := &Tree{[]Level{{"kind", []string{"x", "y", "new", "newer"}, []int{1, 0, 1, 2, 3}}, {"type", []string{"a", "b", "c", "new", "newer"}, []int{0, 1, 2, 3, 4}}}}
	if !reflect.DeepEqual(wide, want) {
		t.Errorf("got %+v", wide)
	}
	if same := tree.With([]string{"a", "b", "c"}); same != tree || len(tree.Levels[0].Of) != 3 || len(tree.Levels[0].Classes) != 2 {
		t.Errorf("the tree is %+v now", tree)
	}
	if got := (*Tree)(nil).With([]string{"a"}); got != nil {
		t.Errorf("no tree is %+v with a class", got)
	}
	if got := Sums(wide.Levels[0], []float64{1, 2, 4, 8, 16}); !slices.Equal(got, []float64{2, 5, 8, 16}) {
		t.Errorf("the sums are %v", got)
	}
	if got := tree.Last(); got.Name != "type" {
		t.Errorf("the last level is %s", got.Name)
	}
	// Posteriors that are alike: the first class of a level, and the first of its parts.
	if chosen, sums := wide.Decide([]float32{.25, .25, 0, .25, .25}); !slices.Equal(chosen, []int{1, 0}) || !slices.Equal(sums, []float32{.25, .25}) {
		t.Errorf("of equal ones %v with %v", chosen, sums)
	}
}

// A tree comes back as it was written, and takes classes that nobody has placed.
func TestText(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		tree, classes := grown(t, rng)
		again, err := Parse(string(tree.Text()), classes)
		if err != nil || !reflect.DeepEqual(again, tree) {
			t.Fatalf("got %v %v, want %v", again, err, tree)
		}
		wide := tree.With(append(slices.Clone(classes), "new"))
		for l, level := range wide.Levels {
			if at := level.Of[len(classes)]; level.Classes[at] != "new" || len(level.Classes) != len(tree.Levels[l].Classes)+1 {
				t.Fatalf("level %d has %v", l, level)
			}
		}
	}
	if none, err := Parse("", []string{"a"}); none != nil || err != nil || none.Text() != nil || none.Groups() != nil || none.Fields() != nil {
		t.Errorf("no tree is %v, %v", none, err)
	}
}

// What is no tree is refused by name.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		names, cells string // by row
		want         string
	}{
		{"k t", "a x,a x,b x,a y", `the class "x" of level "t" is part of "a" in 2 rows and of "b" in 1 row (the first is row 3), at level "k"`},
		{"k t", "a x,- y,- y", `no row says of which class of level "k" the class "y" of level "t" is a part`},
		{"k m t", "a p x,b p y", `the class "p" of level "m" is part of "a" in 1 row and of "b" in 1 row (the first is row 2), at level "k"`},
		{"t t", "a x", `two levels are called "t"`},
		{"level t", "a x", `a level cannot be called "level"`},
	} {
		names := strings.Fields(test.names)
		cells := make([][]string, len(names))
		for row := range strings.SplitSeq(test.cells, ",") {
			for l, cell := range strings.Fields(row) {
				cells[l] = append(cells[l], strings.Trim(cell, "-"))
			}
		}
		classes := []string{"x", "y"}
		if !strings.Contains(test.cells, "y") {
			classes = classes[:1]
		}
		if _, err := New(names, cells, classes, func(i int) string { return fmt.Sprintf("row %d", i+1) }); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.cells, err, test.want)
		}
	}
	for _, text := range []string{"{", `[{"name":"a","of":["x"]},{"name":"b"}]`, `[{"name":"a"},{"name":"b"}]`} {
		if _, err := Parse(text, []string{"p", "q"}); err == nil || !strings.Contains(err.Error(), "mars.levels") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Rows of classes that are left out say nothing.
func TestLeftOut(t *testing.T) {
	tree, err := New([]string{"k", "t"}, [][]string{{"a", "b", "c"}, {"x", "y", "y"}}, []string{"x"}, nil)
	if err != nil || !slices.Equal(tree.Levels[0].Classes, []string{"a"}) {
		t.Errorf("got %v, %v", tree, err)
	}
}
