package transport

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Distances between a class and a component, by name.
const (
	Means     = "means"     // the squared Euclidean distance of the means
	Distances = "distances" // the Euclidean distance of the means
	Bures     = "bures"     // the squared Bures–Wasserstein distance of the Gaussians
)

// A Check says how sure a one-to-one matching is, as far as that is possible
// without labels. Proposition 1 says that the matching is right if the true
// pairs of class and component are cyclically monotone. The true pairs are not
// known. The matched pairs are always cyclically monotone under the cost they
// were matched by, because no matching costs less. So a Check says by how much,
// and whether they are cyclically monotone under other distances too.
type Check struct {
	// Cost and Second are the costs of the best and the second-best matching,
	// divided by the number of classes, in units of the cost.
	Cost, Second float64
	// Separation is Second − Cost, divided by the same difference for a matching
	// of the source's classes with themselves: 1 if all classes have moved by
	// the same displacement, 0 if the choice was arbitrary. It does not depend
	// on that common displacement (under Means and Bures) or on units. It is 0
	// if the source's own classes cannot be told apart.
	Separation float64
	// Exchanged lists the classes that have another component in the
	// second-best matching.
	Exchanged []int
	// Classes is the number of classes that were matched, and Nearest the number
	// of those whose component is the nearest one. If the two are equal, the
	// pairs meet the first sufficient condition of Proposition 1.
	Nearest, Classes int
	// Monotone says for each distance, by its name, whether the pairs are
	// cyclically monotone, that is, no permutation of them costs less. It has
	// Bures if the covariances are known.
	Monotone map[string]bool
}

// monotoneTolerance is the excess, as a share of the cost, up to which pairs
// count as cyclically monotone. It allows for rounding.
const monotoneTolerance = 1e-9

// NewCheck checks a matching of classes with components that was made by the
// named cost, Means or Bures. It returns nil if the matching is not one to one
// or there is only one class. Errors are those of the costs and ctx.Err().
func NewCheck(ctx context.Context, m *Matching, classes, components Moments, cost string) (*Check, error) {
	classes = classes.present()
	if !m.OneToOne() || len(classes.Counts) < 2 {
		return nil, nil
	}
	var pairs, rival []int
	var number []int // the index, among all classes, of each class with rows
	for k, component := range m.ComponentOf {
		if component >= 0 {
			pairs, rival, number = append(pairs, component), append(rival, m.Rival[k]), append(number, k)
		}
	}
	c := &Check{Classes: len(pairs), Monotone: map[string]bool{}}
	for i := range pairs {
		if pairs[i] != rival[i] {
			c.Exchanged = append(c.Exchanged, number[i])
		}
	}
	between, err := distances(ctx, classes, components)
	if err != nil {
		return nil, err
	}
	c.compare(between[cost], pairs, rival)
	if err := c.separate(ctx, classes, cost); err != nil {
		return nil, err
	}
	for name, d := range between {
		excess, err := Excess(ctx, d, pairs)
		if err != nil {
			return nil, err
		}
		c.Monotone[name] = excess <= monotoneTolerance*mat.Sum(d)
	}
	return c, nil
}

// distances returns the distances between classes and components, by name.
func distances(ctx context.Context, classes, components Moments) (map[string]*mat.Dense, error) {
	squares, err := classes.squares(ctx, components)
	if err != nil {
		return nil, err
	}
	plain := new(mat.Dense)
	plain.Apply(func(_, _ int, v float64) float64 { return math.Sqrt(v) }, squares)
	all := map[string]*mat.Dense{Means: squares, Distances: plain}
	if classes.Covariances == nil || components.Covariances == nil {
		return all, nil
	}
	all[Bures], err = classes.bures(ctx, components)
	return all, err
}

// compare sets Cost, Second and Nearest.
func (c *Check) compare(cost *mat.Dense, pairs, rival []int) {
	for i, j := range pairs {
		row := cost.RawRowView(i)
		c.Cost += row[j] / float64(c.Classes)
		c.Second += row[rival[i]] / float64(c.Classes)
		if row[j] <= floats.Min(row) {
			c.Nearest++
		}
	}
}

// separate sets Separation.
func (c *Check) separate(ctx context.Context, classes Moments, cost string) error {
	among, err := distances(ctx, classes, classes)
	if err != nil {
		return err
	}
	own, err := Margin(ctx, among[cost])
	if err != nil {
		return err
	}
	if own > 0 {
		c.Separation = max(0, c.Second-c.Cost) * float64(c.Classes) / own
	}
	return nil
}
