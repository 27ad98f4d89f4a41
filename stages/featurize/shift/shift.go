package shift

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Counts divides rows among the classes by the largest-remainder method: every
// class gets the whole part of rows·proportion, and the remaining rows go to the
// largest fractional parts, at a tie to the lower class. The counts sum to rows.
// It panics if rows is negative or no proportion is positive.
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
		// Without 1e-9, 0.29·100 = 28.999999999999996 would have the whole part 28.
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

// Largest returns the largest number of rows for which Counts asks for no more rows
// of a class than have, 0 if a class with a positive proportion has none.
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
	// Counts is not monotone in the rows (Alabama paradox), so try downwards.
	for n := bound; n > 0; n-- {
		if short(have, Counts(n, proportions)) < 0 {
			return n
		}
	}
	return 0
}

// short returns the first class that has fewer rows than it should, −1 if none.
func short(have, want []int) int {
	for c := range want {
		if have[c] < want[c] {
			return c
		}
	}
	return -1
}

// A Draw says which rows to draw. The zero value draws all rows in random order.
type Draw struct {
	// Proportions holds the share of each class among the rows drawn. Their sum
	// is 1 within SumTolerance. nil means any proportions.
	Proportions []float64
	// Rows is the number of rows to draw. 0 means as many as the data allow, but
	// no more than MaxRows if that is not 0.
	Rows, MaxRows int
	// Seed determines which rows are drawn and their order.
	Seed uint64
}

// Sample draws rows without replacement and returns their indices in random
// order. labels[i] is the class of row i, from 0 to len(classes)−1. Rows with a
// negative label (unknown) are drawn only if Proportions is nil. classes are the
// names for messages; proportions are in their order. It fails if there are too
// few rows, in all or of a class; the error says how many there are and how many
// can be drawn. It returns ctx.Err() if ctx ends.
func Sample(ctx context.Context, labels []int32, classes []string, d Draw) ([]int, error) {
	if rows := min(d.Rows, d.MaxRows); rows < 0 {
		return nil, fmt.Errorf("rows: %d is negative: ask for at least 1", rows)
	}
	rng := rand.New(rand.NewPCG(d.Seed, 0x5e1ec7))
	if d.Proportions == nil {
		return sampleAny(ctx, len(labels), d, rng)
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
		if err := Shuffle(ctx, members, rng); err != nil {
			return nil, err
		}
		rows = append(rows, members[:want[c]]...)
	}
	return rows, Shuffle(ctx, rows, rng)
}

// rows returns the number of rows to draw if largest can be drawn.
func (d Draw) rows(largest int) int {
	switch {
	case d.Rows > 0:
		return d.Rows
	case d.MaxRows > 0:
		return min(d.MaxRows, largest)
	}
	return largest
}

func sampleAny(ctx context.Context, n int, d Draw, rng *rand.Rand) ([]int, error) {
	rows := d.rows(n)
	if rows > n {
		return nil, fmt.Errorf("rows: %d asked for of %d: ask for at most %d", rows, n, n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order[:rows], Shuffle(ctx, order, rng)
}

// group returns the rows of each class, in the order of the data.
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

// wanted returns the number of rows to draw of each class.
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

// stepRows is how many rows are shuffled between two checks of the context.
const stepRows = 1 << 16

// Shuffle is rng.Shuffle of values, with the same random numbers, but it stops
// and returns ctx.Err() if ctx ends.
func Shuffle[T any](ctx context.Context, values []T, rng *rand.Rand) error {
	for i := len(values) - 1; i > 0; i-- {
		if i%stepRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		j := rng.Uint64N(uint64(i + 1))
		values[i], values[j] = values[j], values[i]
	}
	return ctx.Err()
}
