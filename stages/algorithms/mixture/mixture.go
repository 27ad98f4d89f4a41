package mixture

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// DefaultMaxRows is how many rows a method fits when MaxRows is 0.
const DefaultMaxRows = 20_000

// Components is the state of a fitted mixture: K components in d dimensions.
// It consists of plain slices, can be saved with one row for each component,
// and is all that an Assigner needs.
type Components struct {
	// Proportions holds the share of all rows that were assigned to each
	// component: the p_u of Algorithm 2. K values that sum to 1.
	Proportions []float64
	// Weights holds the mixing weights of a Gaussian mixture, its soft
	// proportions. K values that sum to 1; nil for other methods.
	Weights []float64
	// Means is K×d.
	Means *mat.Dense
	// Covariances holds K covariances of a Gaussian mixture; nil for other
	// methods. The length of an element gives its form: d·d values are a full
	// matrix (row-major), d values a diagonal, and one value a multiple of the
	// identity. The elements of a tied mixture share their memory.
	Covariances [][]float64
}

// K returns the number of components.
func (c *Components) K() int { return c.Means.RawMatrix().Rows }

// Dim returns the number of dimensions.
func (c *Components) Dim() int { return c.Means.RawMatrix().Cols }

// Result is what every method returns. Components are numbered in the order of
// their first rows, those without rows last. If the caller gave initial values,
// their order is kept.
type Result struct {
	Components
	// Labels holds the component of each of the n rows.
	Labels []int32
	// Counts holds the number of rows of each component.
	Counts []int
	// Smallest is the component with the fewest rows.
	Smallest int
	// Fitted is the number of rows that were fitted: n, or MaxRows if n is
	// greater. Means, weights and covariances are those of the fitted rows; the
	// other rows were only assigned.
	Fitted int
	// Iterations is the number of iterations of the best start, and Converged
	// says whether it reached its tolerance. Ward has 0 and true.
	Iterations int
	Converged  bool
	// LogLikelihood is the mean log-likelihood of a fitted row in the last
	// iteration (scikit-learn's lower_bound_); Gaussian mixtures only.
	LogLikelihood float64
	// Inertia is the sum of squared distances of the fitted rows to the means
	// of their components; Ward and KMeans only.
	Inertia float64
	// Ambiguity is the mean over the fitted rows of one minus the greatest
	// responsibility: the share of rows that, by the mixture itself, are
	// expected in the wrong component; Gaussian mixtures only.
	Ambiguity float64
	// HeightGap is Hierarchy.Gap; Ward only.
	HeightGap float64
	// Failed is the number of starts that failed because a covariance was not
	// positive definite.
	Failed int
	// Warnings say in words why the result may be poor.
	Warnings []string
}

// Sampled reports whether only a sample of the rows was fitted.
func (r *Result) Sampled() bool { return r.Fitted < len(r.Labels) }

// finish completes a result whose components and diagnostics are set. labels
// are the components of the rows in sample; the other rows are assigned.
func (r *Result) finish(ctx context.Context, x blas32.General, sample []int, labels []int32, keepOrder bool) error {
	if err := r.label(ctx, x, sample, labels); err != nil {
		return err
	}
	if !keepOrder {
		r.renumber()
	}
	r.count()
	r.warn()
	return nil
}

// label gives the rows of the sample their labels and assigns the others.
func (r *Result) label(ctx context.Context, x blas32.General, sample []int, labels []int32) error {
	r.Fitted = len(labels)
	if len(labels) == x.Rows {
		r.Labels = labels
		return nil
	}
	assigner, err := r.Assigner(ctx)
	if err != nil {
		return err
	}
	r.Labels = make([]int32, x.Rows)
	if err := assigner.Assign(ctx, r.Labels, x); err != nil {
		return err
	}
	for s, i := range sample {
		r.Labels[i] = labels[s]
	}
	return nil
}

// renumber orders the components by their first row.
func (r *Result) renumber() {
	order := firstAppearance(r.Labels, r.K())
	means := mat.NewDense(r.K(), r.Dim(), nil)
	for old, k := range order {
		means.SetRow(int(k), r.Means.RawRowView(old))
	}
	r.Means = means
	r.Weights = permuted(r.Weights, order)
	r.Covariances = permuted(r.Covariances, order)
	for i, l := range r.Labels {
		r.Labels[i] = order[l]
	}
}

// firstAppearance returns the new number of each of k labels when they are
// numbered in the order of their first appearance. Absent labels come last.
func firstAppearance(labels []int32, k int) []int32 {
	order := make([]int32, k)
	for j := range order {
		order[j] = -1
	}
	next := int32(0)
	number := func(l int32) {
		if order[l] < 0 {
			order[l] = next
			next++
		}
	}
	for _, l := range labels {
		number(l)
	}
	for l := range int32(k) {
		number(l)
	}
	return order
}

// permuted returns x with element i moved to order[i]; nil stays nil.
func permuted[T any](x []T, order []int32) []T {
	if x == nil {
		return nil
	}
	y := make([]T, len(x))
	for i, k := range order {
		y[k] = x[i]
	}
	return y
}

// count sets Counts, Proportions and Smallest from the labels.
func (r *Result) count() {
	r.Counts = make([]int, r.K())
	for _, l := range r.Labels {
		r.Counts[l]++
	}
	r.Proportions = make([]float64, r.K())
	for k, n := range r.Counts {
		r.Proportions[k] = float64(n) / float64(len(r.Labels))
		if n < r.Counts[r.Smallest] {
			r.Smallest = k
		}
	}
}

// warn sets Warnings.
func (r *Result) warn() {
	add := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if r.Sampled() {
		add("fitted a sample of %d of %d rows and assigned the rest", r.Fitted, len(r.Labels))
	}
	if !r.Converged {
		add("not converged after %d iterations", r.Iterations)
	}
	if r.Failed > 0 {
		add("gave up %d starts whose covariances were not positive definite", r.Failed)
	}
	if n := r.Counts[r.Smallest]; n == 0 {
		add("component %d is the most likely one of no row", r.Smallest)
	} else if r.full() && n <= r.Dim() {
		add("component %d has %d rows in %d dimensions: the covariance floor holds it up", r.Smallest, n, r.Dim())
	}
}

// full reports whether each component has a full covariance of its own.
func (r *Result) full() bool {
	d := r.Dim()
	if len(r.Covariances) == 0 || len(r.Covariances[0]) != d*d {
		return false
	}
	return len(r.Covariances) == 1 || &r.Covariances[0][0] != &r.Covariances[1][0]
}
