package main

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// search changes one knob after the other, and keeps the value that the rule takes.
func (l *lab) search(ctx context.Context, m method) (candidate, error) {
	now := start(m)
	for i, knob := range m.knobs {
		var tried []trial
		for _, value := range knobs[knob] {
			c := slices.Clone(now)
			c[i] = value
			results, err := l.try(ctx, m, c, choosingTasks)
			if err != nil {
				return nil, err
			}
			tried = append(tried, trial{c, results})
		}
		now = cheapest(tried).candidate
	}
	return now, nil
}

// A trial is what came of a candidate on each task.
type trial struct {
	candidate
	results []result
}

// cheapest is the trial of the fewest processor seconds among those that are no more than a
// standard error (of the differences by task) behind the best.
func cheapest(tried []trial) trial {
	best := slices.MaxFunc(tried, func(a, b trial) int { return compare(a.score(), b.score()) })
	var good []trial
	for _, t := range tried {
		if t.behind(best) {
			good = append(good, t)
		}
	}
	return slices.MinFunc(good, func(a, b trial) int { return compare(a.seconds(), b.seconds()) })
}

// behind says whether a trial is within a standard error of the best.
func (t trial) behind(best trial) bool {
	n, mean, squares := float64(len(t.results)), best.score()-t.score(), 0.0
	for i, r := range t.results {
		d := best.results[i].Reverse - r.Reverse - mean
		squares += d * d
	}
	return mean <= math.Sqrt(squares/(n-1)/n)
}

func (t trial) score() float64   { return t.mean(func(r result) float64 { return r.Reverse }) }
func (t trial) seconds() float64 { return t.mean(func(r result) float64 { return r.Seconds }) }

func (t trial) mean(of func(result) float64) float64 {
	sum := 0.0
	for _, r := range t.results {
		sum += of(r)
	}
	return sum / float64(len(t.results))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// try runs a candidate on tasks, as many at once as there are places.
func (l *lab) try(ctx context.Context, m method, c candidate, tasks []task) ([]result, error) {
	results, failed := make([]result, len(tasks)), make([]error, len(tasks))
	done := make(chan struct{})
	for i, t := range tasks {
		go func() {
			l.places <- struct{}{}
			results[i], failed[i] = l.result(ctx, m, c, t)
			<-l.places
			done <- struct{}{}
		}()
	}
	for range tasks {
		<-done
	}
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("%s (%s) on %s: %w", m.name, c, tasks[i], err)
		}
	}
	return results, nil
}
