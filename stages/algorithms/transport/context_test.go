package transport

import (
	"context"
	"errors"
	"testing"
	"time"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

func TestFunctionsStopWithTheirContext(t *testing.T) {
	rng := newRand(41)
	cost := randomCost(rng, 30, 30)
	x, labels := cloud(rng, 1000, 3, 0, []float64{1, 2}, 20)
	classes, components := NewGaussians(20, 3), NewGaussians(20, 3)
	for _, g := range []*Gaussians{classes, components} {
		if err := g.Add(t.Context(), x, labels); err != nil {
			t.Fatal(err)
		}
	}
	source, target := classes.Moments(), components.Moments()
	matching, err := MatchPrototypes(t.Context(), source.Means, source.Counts, target.Means, dense.Uniform(20))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		least int // calls of ctx.Err
		f     func(ctx context.Context) error
	}{
		"Assign":     {30, func(ctx context.Context) error { _, _, err := Assign(ctx, cost); return err }},
		"SecondBest": {60, func(ctx context.Context) error { _, _, err := SecondBest(ctx, cost); return err }},
		"Margin":     {60, func(ctx context.Context) error { _, err := Margin(ctx, cost); return err }},
		"Excess":     {30, func(ctx context.Context) error { _, err := Excess(ctx, cost, rng.Perm(30)); return err }},
		"Exact": {30, func(ctx context.Context) error {
			_, err := Exact(ctx, dense.Uniform(30), dense.Uniform(30), cost)
			return err
		}},
		"Prototypes.Add": {4, func(ctx context.Context) error { return NewPrototypes(20, 3).Add(ctx, x, labels) }},
		"Gaussians.Add":  {24, func(ctx context.Context) error { return NewGaussians(20, 3).Add(ctx, x, labels) }},
		"MatchCost": {60, func(ctx context.Context) error {
			_, err := MatchCost(ctx, cost, filled(30, 1), dense.Uniform(30))
			return err
		}},
		"MatchPrototypes": {60, func(ctx context.Context) error {
			_, err := MatchPrototypes(ctx, source.Means, source.Counts, target.Means, dense.Uniform(20))
			return err
		}},
		"BuresCost": {400, func(ctx context.Context) error { _, err := BuresCost(ctx, source, target); return err }},
		"NewCheck": {900, func(ctx context.Context) error {
			_, err := NewCheck(ctx, matching, source, target, Bures)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) { contexttest.Stops(t, c.least, c.f) })
	}
}

// An eigendecomposition cannot be stopped, but BuresCost does not wait for it.
func TestBuresReturnsDuringADecomposition(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	const d = 600
	x, labels := cloud(newRand(42), 2*d, d, 0, []float64{1, 2}, 1)
	g := NewGaussians(1, d)
	if err := g.Add(t.Context(), x, labels); err != nil {
		t.Fatal(err)
	}
	m := g.Moments()
	began := time.Now()
	if _, err := BuresCost(t.Context(), m, m); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began = time.Now()
	_, err := BuresCost(ctx, m, m)
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > whole/2 {
		t.Errorf("after %v of %v, its error is %v", took, whole, err)
	}
}
