package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// checkAll runs the samples and compares. A page that says another thing than its runs is
// an error of TestPages, not of this.
func checkAll(ctx context.Context, o options, out io.Writer) error {
	p, err := build(ctx, o.folder)
	if err != nil {
		return err
	}
	b, err := readBook(runsFolder)
	if err != nil {
		return err
	}
	chosen := studies
	if o.only != "" {
		if chosen, err = o.studies(); err != nil {
			return err
		}
	}
	var failed []error
	for _, s := range chosen {
		kept, ok := b[s.name]
		reason := ""
		switch {
		case !ok:
			reason = "no runs of it are kept: make measured MEASURED=" + s.name
		case s.init != "":
			reason = s.lacksSample(kept)
		}
		if missing := s.missing(); missing != "" {
			if reason = missing; ok {
				reason += fmt.Sprintf("; its runs are of %s, commit %s", kept.Date, kept.Commit)
			}
		}
		if reason != "" {
			fmt.Fprintf(out, "%-20s skipped: %s\n", s.name, reason)
			continue
		}
		now, err := p.run(ctx, s, s.sample, "")
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		c := s.compare(kept.runs, now)
		fmt.Fprintf(out, "%-20s %d runs, %d figures, of which %d moved, by at most %.3g of their spread\n", s.name, len(now), c.figures, c.moved, c.most)
		failed = append(failed, c.failed...)
		if c.figures == 0 {
			failed = append(failed, fmt.Errorf("%s: the sample has no figure that was kept", s.name))
		}
	}
	return errors.Join(failed...)
}

// A comparison is what became of figures.
type comparison struct {
	figures, moved int
	most           float64 // the greatest difference, in units of the spread
	failed         []error
}

// compare compares the numbers of runs with those that were kept.
func (s study) compare(kept, now []run) (c comparison) {
	before := s.byPlace(kept)
	for place, r := range s.byPlace(now) {
		old, ok := before[place]
		if !ok {
			c.failed = append(c.failed, fmt.Errorf("%s: no run of %s is kept", s.name, place))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(r)) {
			v, isNumber := r.number(name)
			by := s.allowed(r, name)
			if !isNumber || by == 0 {
				continue
			}
			c.figures++
			was, ok := old.number(name)
			far := math.Abs(v-was) / by
			if far > 1e-3 {
				c.moved++
			}
			c.most = max(c.most, far)
			if !ok || far > 1 || math.IsNaN(far) {
				c.failed = append(c.failed, fmt.Errorf("%s, %s: %s is %.4g, and the pages rest on %s; it may differ by %g", s.name, place, name, v, old.at(name), by))
			}
		}
	}
	return c
}

// byPlace are the runs by what says which they are.
func (s study) byPlace(runs []run) map[string]run {
	found, count := map[string]run{}, map[string]int{}
	for _, r := range runs {
		var parts []string
		for _, a := range s.axes {
			parts = append(parts, a+" "+r.at(a))
		}
		place := strings.Join(parts, ", ")
		if count[place]++; count[place] > 1 {
			found[fmt.Sprintf("%s, number %d", place, count[place])] = r
		} else {
			found[place] = r
		}
	}
	return found
}

// allowed is how far a number of a run may move.
func (s study) allowed(r run, number string) float64 { return s.spread[s.rule(r, number)] }

// rule is the spread that a number of a run goes by: the longest name that fits. A name
// may begin with a value of an axis.
func (s study) rule(r run, number string) (rule string) {
	for name := range s.spread {
		value, of, ok := strings.Cut(name, " ")
		if !ok {
			of = name
		} else if !slices.ContainsFunc(s.axes, func(axis string) bool { return r.at(axis) == value }) {
			continue
		}
		if len(name) > len(rule) && (number == of || strings.HasPrefix(number, of+".") || strings.HasSuffix(number, "."+of)) {
			rule = name
		}
	}
	return rule
}
