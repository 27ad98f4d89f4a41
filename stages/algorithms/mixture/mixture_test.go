package mixture

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// methods are all methods with their defaults, except for the number of starts.
var methods = map[string]func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error){
	"ward": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return Ward(ctx, x, k, WardOptions{MaxRows: maxRows, Seed: 1})
	},
	"kmeans": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return KMeans(ctx, x, k, KMeansOptions{MaxRows: maxRows, Seed: 1, Starts: 3})
	},
	"full": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return GMM(ctx, x, k, GMMOptions{MaxRows: maxRows, Seed: 1, Starts: 3})
	},
	"tied": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return GMM(ctx, x, k, GMMOptions{MaxRows: maxRows, Seed: 1, Starts: 3, Covariance: Tied})
	},
	"diagonal": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return GMM(ctx, x, k, GMMOptions{MaxRows: maxRows, Seed: 1, Starts: 3, Covariance: Diagonal})
	},
	"spherical": func(ctx context.Context, x blas32.General, k, maxRows int) (*Result, error) {
		return GMM(ctx, x, k, GMMOptions{MaxRows: maxRows, Seed: 1, Starts: 3, Covariance: Spherical})
	},
}

// eachMethod runs a test with each method.
func eachMethod(t *testing.T, f func(t *testing.T, fit func(x blas32.General, k, maxRows int) (*Result, error))) {
	for name, fit := range methods {
		t.Run(name, func(t *testing.T) {
			f(t, func(x blas32.General, k, maxRows int) (*Result, error) { return fit(t.Context(), x, k, maxRows) })
		})
	}
}

func TestMethodsFindBlobs(t *testing.T) {
	x, truth := blobs(600, 5, 4, 8, 3)
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		r, err := fit(x, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		samePartition(t, r.Labels, truth)
		if len(r.Warnings) > 0 || !r.Converged || r.Sampled() || r.Fitted != 600 {
			t.Errorf("warnings %q, converged %v, fitted %d", r.Warnings, r.Converged, r.Fitted)
		}
		if !slices.Equal(firstAppearance(r.Labels, 4), []int32{0, 1, 2, 3}) {
			t.Error("components are not numbered by their first row")
		}
		checkConsistent(t, r, x)
	})
}

// checkConsistent checks what must hold between the fields of a result.
func checkConsistent(t *testing.T, r *Result, x blas32.General) {
	t.Helper()
	counts := make([]int, r.K())
	for _, l := range r.Labels {
		counts[l]++
	}
	if !slices.Equal(counts, r.Counts) || r.Counts[r.Smallest] != slices.Min(counts) {
		t.Errorf("counts %v, want %v; smallest %d", r.Counts, counts, r.Smallest)
	}
	total, weights := 0.0, 1.0
	for k, p := range r.Proportions {
		total += p
		closeTo(t, "proportion", p, float64(counts[k])/float64(x.Rows), 1e-15)
	}
	if r.Weights != nil {
		weights = 0
		for _, w := range r.Weights {
			weights += w
		}
	}
	closeTo(t, "sum of proportions", total, 1, 1e-12)
	closeTo(t, "sum of weights", weights, 1, 1e-12)
}

func TestResultsDoNotDependOnThreads(t *testing.T) {
	defer kernel.SetJobs(0)
	narrow, _ := blobs(1500, 12, 5, 0.7, 4)
	wide, _ := blobs(1500, 200, 5, 0.2, 4) // wide enough for Ward to use several threads
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		x := narrow
		if strings.HasSuffix(t.Name(), "/ward") {
			x = wide
		}
		var first *Result
		for _, jobs := range []int{1, 2, 2, 3} {
			kernel.SetJobs(jobs)
			r, err := fit(x, 5, 1400)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			} else if !reflect.DeepEqual(r, first) {
				t.Errorf("the result with %d threads differs from that with one", jobs)
			}
		}
	})
}

func TestSampling(t *testing.T) {
	x, truth := blobs(900, 3, 3, 10, 5)
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		r, err := fit(x, 3, 100)
		if err != nil {
			t.Fatal(err)
		}
		samePartition(t, r.Labels, truth)
		checkConsistent(t, r, x)
		if r.Fitted != 100 || !r.Sampled() {
			t.Errorf("fitted %d rows, sampled %v", r.Fitted, r.Sampled())
		}
		if want := "fitted a sample of 100 of 900 rows"; len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], want) {
			t.Errorf("warnings %q, want %q", r.Warnings, want)
		}
	})
}

// A state that is rebuilt from plain slices assigns rows as the fit did, with
// batches of any size.
func TestAssignerFromSlices(t *testing.T) {
	x, _ := blobs(700, 3, 4, 1, 6)
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		r, err := fit(x, 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		state := Components{
			Proportions: slices.Clone(r.Proportions), Weights: slices.Clone(r.Weights),
			Means: mat.NewDense(4, 3, slices.Clone(r.Means.RawMatrix().Data)),
		}
		for _, c := range r.Covariances {
			state.Covariances = append(state.Covariances, slices.Clone(c))
		}
		assigner, err := state.Assigner(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		labels := make([]int32, 700)
		for lo := 0; lo < 700; lo += 33 {
			hi := min(lo+33, 700)
			part := blas32.General{Rows: hi - lo, Cols: 3, Stride: 3, Data: x.Data[lo*3 : hi*3]}
			if err := assigner.Assign(t.Context(), labels[lo:hi], part); err != nil {
				t.Fatal(err)
			}
		}
		whole := make([]int32, 700)
		if err := assigner.Assign(t.Context(), whole, x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(labels, whole) {
			t.Error("labels depend on the batches")
		}
		if r.Inertia == 0 && !slices.Equal(labels, r.Labels) {
			t.Error("a Gaussian mixture does not assign its rows as it labelled them")
		}
	})
}

func TestAssignIsNearest(t *testing.T) {
	x, _ := blobs(300, 4, 3, 1, 7)
	r, err := KMeans(t.Context(), x, 3, KMeansOptions{Starts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range r.Labels {
		for k := range 3 {
			if squaredDistance(dense.Row(x, i), r.Means.RawRowView(k)) < squaredDistance(dense.Row(x, i), r.Means.RawRowView(int(l))) {
				t.Errorf("row %d is nearer to %d than to %d", i, k, l)
			}
		}
	}
}

func TestStrideIsRespected(t *testing.T) {
	x, _ := blobs(200, 3, 3, 3, 8)
	wide := blas32.General{Rows: 200, Cols: 3, Stride: 5, Data: make([]float32, 200*5-2)}
	for i := range wide.Data {
		wide.Data[i] = float32(math.NaN())
	}
	for i := range 200 {
		copy(dense.Row(wide, i), dense.Row(x, i))
	}
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		narrow, err := fit(x, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fit(wide, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, narrow) {
			t.Error("results with and without a stride differ")
		}
	})
}

func TestBadData(t *testing.T) {
	matrix := func(cols int, data ...float32) blas32.General {
		return blas32.General{Rows: len(data) / max(cols, 1), Cols: cols, Stride: cols, Data: data}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	cases := []struct {
		x    blas32.General
		want string
	}{
		{matrix(1, 1), "mixture: 1 rows for 2 components: give more rows or ask for fewer components"},
		{matrix(2), "mixture: 0 rows for 2 components"},
		{blas32.General{Rows: 3}, "mixture: rows have no columns"},
		{matrix(2, 1, 2, 3, nan), "mixture: row 1, column 1 is NaN: remove or repair"},
		{matrix(1, 1, 2, inf), "mixture: row 2, column 0 is -Inf"},
		{matrix(2, 1, 2, 1, 2, 1, 2), "mixture: all 3 rows are equal: constant data has no 2 components"},
	}
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		for _, c := range cases {
			_, err := fit(c.x, 2, 0)
			checkError(t, err, c.want)
		}
	})
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestBadState(t *testing.T) {
	means := mat.NewDense(1, 2, []float64{0, 0})
	cases := []struct {
		c    Components
		want string
	}{
		{Components{Means: mat.NewDense(1, 1, []float64{math.NaN()})}, "mixture: components: a mean is NaN"},
		{Components{Means: means, Covariances: [][]float64{{1}}}, "mixture: components: 1 means, 0 weights and 1 covariances"},
		{Components{Means: means, Weights: []float64{1}, Covariances: [][]float64{{1, 2, 3}}}, "mixture: components: covariance 0 has 3 values: give 1, 2 or 4"},
		{Components{Means: means, Weights: []float64{-1}, Covariances: [][]float64{{1}}}, "mixture: components: weight 0 is -1"},
		{Components{Means: means, Weights: []float64{1}, Covariances: [][]float64{{1, 2, 2, 1}}}, "mixture: component 0: the covariance is not positive definite"},
		{Components{Means: means, Weights: []float64{1}, Covariances: [][]float64{{1, 0}}}, "mixture: component 0: the covariance is not positive definite"},
	}
	for _, c := range cases {
		_, err := c.c.Assigner(t.Context())
		checkError(t, err, c.want)
	}
}

func TestFewDistinctRows(t *testing.T) {
	x := blas32.General{Rows: 9, Cols: 1, Stride: 1, Data: []float32{1, 1, 1, 1, 5, 5, 5, 5, 5}}
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		r, err := fit(x, 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		checkConsistent(t, r, x)
		if r.Labels[0] == r.Labels[8] {
			t.Error("1 and 5 have one label")
		}
	})
}

func TestOneComponent(t *testing.T) {
	x, _ := blobs(50, 2, 1, 0, 9)
	eachMethod(t, func(t *testing.T, fit func(blas32.General, int, int) (*Result, error)) {
		r, err := fit(x, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := dense.ColumnMeans(x)
		for j, v := range r.Means.RawRowView(0) {
			closeTo(t, fmt.Sprint("mean ", j), v, want[j], 1e-12)
		}
	})
}

func TestMethodsStopWithTheirContext(t *testing.T) {
	x, _ := blobs(700, 3, 4, 1, 6)
	for name, fit := range methods {
		t.Run(name, func(t *testing.T) {
			contexttest.Stops(t, 40, func(ctx context.Context) error {
				_, err := fit(ctx, x, 4, 600)
				return err
			})
		})
	}
}
