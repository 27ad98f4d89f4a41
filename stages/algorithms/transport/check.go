package transport

import (
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

// A Check is what can be said without labels of whether a one-to-one matching
// is right. Proposition 1 says that it is if the true pairs of class and
// component are cyclically monotone. Which are the true pairs is not known, and
// the pairs that were matched are cyclically monotone under the cost they
// were matched by, because no matching costs less; so what is checked is how clearly
// that is so, and whether it is so under other distances too.
type Check struct {
	// Cost and Second are the costs of the best and the second-best matching, a
	// class, in the units of the cost.
	Cost, Second float64
	// Separation is their difference, as a share of what it is when the
	// source's classes are matched with themselves: 1 if all classes have moved
	// by the same displacement, 0 if the choice was arbitrary. It does not
	// depend on that common displacement (under Means and Bures) nor on units.
	// It is 0 if the source's own classes cannot be told apart.
	Separation float64
	// Exchanged lists the classes that have another component in the
	// second-best matching.
	Exchanged []int
	// Nearest is the number of classes whose component is the nearest to them
	// of all, and Classes that of the classes that were matched. If all are,
	// Proposition 1 holds for the pairs by its first sufficient condition.
	Nearest, Classes int
	// Monotone says, by the name of the distance, whether the pairs are
	// cyclically monotone: whether no permutation of them costs less. Bures is there if
	// the covariances are known.
	Monotone map[string]bool
}

// monotoneTolerance is the excess, as a share of the cost, up to which pairs
// count as cyclically monotone: rounding.
const monotoneTolerance = 1e-9

// NewCheck checks a matching of classes with components that was made by the
// named cost, Means or Bures; nil if it is not one to one or there is only one
// class. Errors are those of the costs.
func NewCheck(m *Matching, classes, components Moments, cost string) (*Check, error) {
	classes = classes.present()
	if !m.OneToOne() || len(classes.Counts) < 2 {
		return nil, nil
	}
	var pairs, rival []int
	var number []int // of each class with rows, among all
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
	between, err := distances(classes, components)
	if err != nil {
		return nil, err
	}
	c.compare(between[cost], pairs, rival)
	if err := c.separate(classes, cost); err != nil {
		return nil, err
	}
	for name, d := range between {
		excess, err := Excess(d, pairs)
		if err != nil {
			return nil, err
		}
		c.Monotone[name] = excess <= monotoneTolerance*mat.Sum(d)
	}
	return c, nil
}

// distances are those between classes and components, by name.
func distances(classes, components Moments) (map[string]*mat.Dense, error) {
	squares := classes.squares(components)
	plain := new(mat.Dense)
	plain.Apply(func(_, _ int, v float64) float64 { return math.Sqrt(v) }, squares)
	all := map[string]*mat.Dense{Means: squares, Distances: plain}
	if classes.Covariances == nil || components.Covariances == nil {
		return all, nil
	}
	var err error
	all[Bures], err = classes.bures(components)
	return all, err
}

// compare sets what follows from the costs of the two best matchings.
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
func (c *Check) separate(classes Moments, cost string) error {
	among, err := distances(classes, classes)
	if err != nil {
		return err
	}
	own, err := Margin(among[cost])
	if err != nil {
		return err
	}
	if own > 0 {
		c.Separation = max(0, c.Second-c.Cost) * float64(c.Classes) / own
	}
	return nil
}
