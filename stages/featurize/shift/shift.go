package shift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Counts splits rows over the classes by the largest-remainder method: every
// class gets the whole part of rows·proportion, and the rows left over go to
// the largest fractional parts, the lower class first where they tie. The
// counts sum to rows. It panics if rows is negative or no proportion is positive.
func Counts(rows int, proportions []float64) []int {
	if rows < 0 {
		panic("shift: negative number of rows")
	}
	if !slices.ContainsFunc(proportions, func(p float64) bool { return p > 0 }) {
		panic("shift: no positive proportion")
	}
	counts := make([]int, len(proportions))
	remainder := make([]float64, len(proportions))
	order := make([]int, len(proportions))
	left := rows
	for c, p := range proportions {
		// 1e-9 keeps 0.29·100 = 28.999999999999996 from losing its row to a tie.
		exact := float64(rows)*p + 1e-9
		counts[c] = int(exact)
		remainder[c] = exact - math.Floor(exact)
		order[c] = c
		left -= counts[c]
	}
	sort.SliceStable(order, func(i, j int) bool { return remainder[order[i]] > remainder[order[j]] })
	for i := 0; left > 0; i = (i + 1) % len(order) {
		if proportions[order[i]] > 0 {
			counts[order[i]]++
			left--
		}
	}
	return counts
}

// Largest is the largest number of rows whose Counts the class counts have
// allow; 0 where a class with a positive proportion has no row.
func Largest(have []int, proportions []float64) int {
	bound := 0
	for _, h := range have {
		bound += h
	}
	for c, p := range proportions {
		if p > 0 && have[c] == 0 {
			return 0
		}
		if p > 0 {
			bound = min(bound, int(math.Ceil(float64(have[c]+1)/p)))
		}
	}
	// The method is not monotone in the rows (Alabama paradox), so look downward.
	for n := bound; n > 0; n-- {
		if short(have, Counts(n, proportions)) < 0 {
			return n
		}
	}
	return 0
}

// short is the first class that has fewer rows than wanted, -1 if none.
func short(have, want []int) int {
	for c := range want {
		if have[c] < want[c] {
			return c
		}
	}
	return -1
}

// A Draw says which rows to take. The zero value takes all rows in seeded order.
type Draw struct {
	// Proportions is the share of each class among the rows drawn, summing to
	// 1 within SumTolerance; nil leaves the balance to chance.
	Proportions []float64
	// Rows is how many rows to draw; 0 is the most that the data allow, or MaxRows if
	// that is not 0 and they allow more.
	Rows, MaxRows int
	// Seed decides which rows are drawn and their order.
	Seed uint64
}

// Sample draws rows of labels without replacement and returns their indices in
// seeded random order. labels[i] is the class of row i in [0, len(classes));
// rows with a negative label (unknown) are drawn only where no proportions are
// asked for. classes are the names for messages; proportions are in their
// order. Too few rows, in all or of a class, are an error that says how many
// there are and the most rows that could be drawn.
func Sample(labels []int32, classes []string, d Draw) ([]int, error) {
	if rows := min(d.Rows, d.MaxRows); rows < 0 {
		return nil, fmt.Errorf("rows: %d is negative: ask for at least 1", rows)
	}
	rng := rand.New(rand.NewPCG(d.Seed, 0x5e1ec7))
	if d.Proportions == nil {
		return sampleAny(len(labels), d, rng)
	}
	if len(d.Proportions) != len(classes) {
		return nil, fmt.Errorf("proportions: %d for %d classes (%s): give one a class", len(d.Proportions), len(classes), preview(classes))
	}
	p, err := CheckProportions(d.Proportions)
	if err != nil {
		return nil, err
	}
	byClass := group(labels, len(classes))
	want, err := wanted(byClass, classes, p, d)
	if err != nil {
		return nil, err
	}
	var rows []int
	for c, members := range byClass {
		shuffle(members, rng)
		rows = append(rows, members[:want[c]]...)
	}
	shuffle(rows, rng)
	return rows, nil
}

// rows is how many to draw where at most largest can be.
func (d Draw) rows(largest int) int {
	switch {
	case d.Rows > 0:
		return d.Rows
	case d.MaxRows > 0:
		return min(d.MaxRows, largest)
	}
	return largest
}

func sampleAny(n int, d Draw, rng *rand.Rand) ([]int, error) {
	rows := d.rows(n)
	if rows > n {
		return nil, fmt.Errorf("rows: %d asked for of %d: ask for at most %d", rows, n, n)
	}
	return rng.Perm(n)[:rows], nil
}

// group lists the rows of each class in the order of the data.
func group(labels []int32, classes int) [][]int {
	byClass := make([][]int, classes)
	for i, y := range labels {
		if int(y) >= classes {
			panic("shift: label outside the classes")
		}
		if y >= 0 {
			byClass[y] = append(byClass[y], i)
		}
	}
	return byClass
}

// wanted is the number of rows to draw of each class.
func wanted(byClass [][]int, classes []string, p []float64, d Draw) ([]int, error) {
	have := make([]int, len(byClass))
	for c, members := range byClass {
		have[c] = len(members)
		if p[c] > 0 && have[c] == 0 {
			return nil, fmt.Errorf("class %q has no rows but a proportion of %.4g: give it proportion 0", classes[c], p[c])
		}
	}
	largest := Largest(have, p)
	rows := d.rows(largest)
	want := Counts(rows, p)
	if c := short(have, want); c >= 0 {
		return nil, fmt.Errorf("class %q has %d rows, %d are needed for %d rows with proportion %.4g: ask for at most %d rows",
			classes[c], have[c], want[c], rows, p[c], largest)
	}
	return want, nil
}

func shuffle(rows []int, rng *rand.Rand) {
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}
