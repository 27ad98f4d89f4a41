package transport

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Matching says which class of the source each component of the target is.
type Matching struct {
	// Proportions holds p_T, the estimated share of each of the C classes in
	// the target. Its sum is that of the components' proportions. A class
	// without source rows has 0, because nothing can be matched with it.
	Proportions []float64
	// ClassOf holds the class of each of the K components: the one that most
	// of its mass comes from, the first one at a tie.
	ClassOf []int32
	// ComponentOf holds the component of each class, −1 for a class without
	// rows. It is nil if classes and components are not matched one to one.
	ComponentOf []int
	// Plan is the C×K transport plan; it sums to 1.
	Plan *mat.Dense
	// Cost is the sum of plan times cost.
	Cost float64
	// Margin is the cost of the second-best one-to-one matching minus Cost: 0
	// means that the choice was arbitrary. It is +Inf if there is one class and
	// one component, and 0 if classes and components are not matched one to one.
	Margin float64
	// Rival is ComponentOf of the second-best matching, nil if there is none.
	// The classes for which the two differ are the ones most easily mistaken
	// for each other.
	Rival []int
	// Absent lists the classes without source rows.
	Absent []int
}

// OneToOne reports whether each class with rows has a component of its own.
func (m *Matching) OneToOne() bool { return m.ComponentOf != nil }

// MatchPrototypes matches classes with components by their means (lines 2 to
// 4 of Algorithm 2): optimal transport of PrototypeCost between uniform
// marginals. classMeans is C×d, componentMeans K×d, and proportions holds the
// K shares p_u of the components. counts holds the number of source rows of
// each class; classes without rows are left out, with any mean, and get
// the proportion 0.
//
// With as many classes as components the plan P is a permutation divided by C,
// and p_T = C·P·p_u. With unequal numbers, each component's proportion is
// divided among the classes in the same way as its mass in the plan,
//
//	p_T[i] = Σ_j K·P[i][j]·p_u[j],
//
// which is the same when K = C.
//
// It fails if no class has rows or a mean is not finite, returns ctx.Err() if
// ctx ends, and panics if the shapes do not fit.
func MatchPrototypes(ctx context.Context, classMeans *mat.Dense, counts []int, componentMeans *mat.Dense, proportions []float64) (*Matching, error) {
	classes, _ := classMeans.Dims()
	if len(counts) != classes {
		panic("transport: MatchPrototypes: one count a class is needed")
	}
	cost, err := PrototypeCost(ctx, classMeans, counts, componentMeans)
	if err != nil {
		return nil, err
	}
	return MatchCost(ctx, cost, counts, proportions)
}

// PrototypeCost returns the C×K squared Euclidean distances of class means
// (C×d) to component means (K×d), divided by the greatest one. Rows of classes
// without source rows are zero. It fails if a mean is not finite, returns
// ctx.Err() if ctx ends, and panics if the shapes do not fit.
func PrototypeCost(ctx context.Context, classMeans *mat.Dense, counts []int, componentMeans *mat.Dense) (*mat.Dense, error) {
	cost, err := squaredDistances(ctx, classMeans, counts, componentMeans)
	if err != nil {
		return nil, err
	}
	return scaled(cost)
}

// squaredDistances is PrototypeCost before the division.
func squaredDistances(ctx context.Context, classMeans *mat.Dense, counts []int, componentMeans *mat.Dense) (*mat.Dense, error) {
	classes, width := classMeans.Dims()
	components, other := componentMeans.Dims()
	if width != other || len(counts) != classes {
		panic("transport: means differ in width or a class has no count")
	}
	cost := mat.NewDense(classes, components, nil)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range components {
			d := floats.Distance(classMeans.RawRowView(i), componentMeans.RawRowView(j), 2)
			cost.Set(i, j, d*d)
		}
	}
	return cost, nil
}

// scaled divides cost by its greatest value.
func scaled(cost *mat.Dense) (*mat.Dense, error) {
	classes, _ := cost.Dims()
	for i := range classes {
		for j, d := range cost.RawRowView(i) {
			if d-d != 0 {
				return nil, fmt.Errorf("transport: the squared distance of class %d and component %d is %v: give finite means", i, j, d)
			}
		}
	}
	if greatest := mat.Max(cost); greatest > 0 {
		cost.Scale(1/greatest, cost)
	}
	return cost, nil
}

// MatchCost is MatchPrototypes with any C×K cost.
func MatchCost(ctx context.Context, cost *mat.Dense, counts []int, proportions []float64) (*Matching, error) {
	classes, components := cost.Dims()
	if len(counts) != classes || len(proportions) != components {
		panic("transport: MatchCost: one count a class and one proportion a component are needed")
	}
	m := &Matching{Plan: mat.NewDense(classes, components, nil)}
	var present []int
	for i, n := range counts {
		if n > 0 {
			present = append(present, i)
		} else {
			m.Absent = append(m.Absent, i)
		}
	}
	if len(present) == 0 {
		return nil, errors.New("transport: no class has source rows: give labelled source rows")
	}
	reduced := mat.NewDense(len(present), components, nil)
	for k, i := range present {
		reduced.SetRow(k, cost.RawRowView(i))
	}
	solve := m.transport
	if len(present) == components {
		solve = m.permute
	}
	if err := solve(ctx, reduced, present); err != nil {
		return nil, err
	}
	m.distribute(proportions)
	return m, nil
}

// permute matches one to one.
func (m *Matching) permute(ctx context.Context, cost *mat.Dense, present []int) error {
	rowToCol, total, err := Assign(ctx, cost)
	if err != nil {
		return err
	}
	rival, margin, err := SecondBest(ctx, cost)
	if err != nil {
		return err
	}
	n := float64(len(present))
	m.Cost, m.Margin = total/n, margin/n
	classes, _ := m.Plan.Dims()
	m.ComponentOf = none(classes)
	for k, i := range present {
		m.ComponentOf[i] = rowToCol[k]
		m.Plan.Set(i, rowToCol[k], 1/n)
	}
	if rival != nil {
		m.Rival = none(classes)
		for k, i := range present {
			m.Rival[i] = rival[k]
		}
	}
	return nil
}

// transport matches unequal numbers.
func (m *Matching) transport(ctx context.Context, cost *mat.Dense, present []int) error {
	n, k := cost.Dims()
	plan, err := Exact(ctx, dense.Uniform(n), dense.Uniform(k), cost)
	if err != nil {
		return err
	}
	m.Cost = plan.Cost
	for row, i := range present {
		m.Plan.SetRow(i, plan.Mass.RawRowView(row))
	}
	return nil
}

// distribute sets ClassOf and Proportions from the plan.
func (m *Matching) distribute(proportions []float64) {
	classes, components := m.Plan.Dims()
	m.Proportions = make([]float64, classes)
	m.ClassOf = make([]int32, components)
	for j, p := range proportions {
		column := mat.Col(nil, j, m.Plan)
		m.ClassOf[j] = int32(floats.MaxIdx(column))
		whole := floats.Sum(column) // 1/K
		for i, mass := range column {
			m.Proportions[i] += mass / whole * p
		}
	}
}
