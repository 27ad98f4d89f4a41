package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// inside counts the shares of a run that its intervals of 90 % hold.
func inside(r run) (held, all float64) {
	for name := range r {
		class, ok := strings.CutPrefix(name, "interval.lower.")
		if !ok {
			if strings.HasPrefix(name, "inside.") {
				held, all = held+r[name].(float64), all+1
			}
			continue
		}
		lower, _ := r.number(name)
		upper, _ := r.number("interval.upper." + class)
		true_, _ := r.number("proportions.proportions.true." + class)
		all++
		if lower <= true_ && true_ <= upper {
			held++
		}
	}
	return held, all
}

// coverage is the share of all true shares that are inside their intervals.
func coverage(runs []run) string {
	held, all := 0.0, 0.0
	for _, r := range runs {
		h, a := inside(r)
		held, all = held+h, all+a
	}
	return digits(held/all, 3)
}

// width is the mean width of the intervals.
func width(runs []run) string {
	var of []float64
	for _, r := range runs {
		if w, ok := r.number("width"); ok {
			of = append(of, w)
			continue
		}
		var widths []float64
		for name := range r {
			if class, ok := strings.CutPrefix(name, "interval.lower."); ok {
				lower, _ := r.number(name)
				upper, _ := r.number("interval.upper." + class)
				widths = append(widths, upper-lower)
			}
		}
		of = append(of, average(widths))
	}
	return digits(average(of), 3)
}

// A sign is a number of a run of which a greater one is worse.
type sign func(run) float64

func named(name string) sign {
	return func(r run) float64 {
		v, ok := r.number(name)
		if !ok {
			return math.NaN()
		}
		return v
	}
}

// ratio is one number of a run by another.
func ratio(name, floor string) sign {
	return func(r run) float64 { return named(name)(r) / named(floor)(r) }
}

// auroc is the probability that a bad run has the greater sign.
func auroc(runs []run, isBad func(run) bool, of sign) float64 {
	right, pairs := 0.0, 0.0
	for _, a := range runs {
		for _, b := range runs {
			if !isBad(a) || isBad(b) {
				continue
			}
			pairs++
			switch x, y := of(a), of(b); {
			case x > y:
				right++
			case x == y:
				right += 0.5
			}
		}
	}
	return right / pairs
}

// beyond counts the bad runs with a sign above a limit, and of the others.
func beyond(runs []run, isBad func(run) bool, of sign, limit float64) (above, below string) {
	split := func(above bool) string {
		some := slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return of(r) > limit != above })
		return count(some, isBad)
	}
	return split(true), split(false)
}

// count says how many are bad.
func count(runs []run, isBad func(run) bool) string {
	n := 0
	for _, r := range runs {
		if isBad(r) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(runs))
}
