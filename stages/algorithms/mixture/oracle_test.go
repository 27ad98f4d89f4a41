package mixture

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// The tables of this file were made by testdata/oracle/mixture/generate.py
// with scipy and scikit-learn.
const oracleFolder = "../../../testdata/oracle/mixture"

// blobCase describes data that both generate.py and rows can make.
type blobCase struct {
	Name    string
	N, D, K int
	Spread  float64
	Seed    uint64
	Offset  float64
	Grid    bool
}

func readOracle(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(oracleFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// oracleNormal is normal of generate.py.
func oracleNormal(seed uint64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		for u := range 12 {
			z := (uint64(12*i+u) + seed<<32) * 0x9E3779B97F4A7C15
			z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			x[i] += float64((z^z>>31)>>40) / (1 << 24)
		}
		x[i] -= 6
	}
	return x
}

// rows is rows of generate.py.
func (c blobCase) rows() blas32.General {
	centres, noise := oracleNormal(c.Seed, c.K*c.D), oracleNormal(c.Seed+1, c.N*c.D)
	x := blas32.General{Rows: c.N, Cols: c.D, Stride: c.D, Data: make([]float32, c.N*c.D)}
	for i := range c.N {
		blob := i * i % c.K
		for j := range c.D {
			scale := 1.0
			if c.D > 1 {
				scale += float64(j) / float64(c.D-1)
			}
			v := c.Spread*centres[blob*c.D+j]*scale + noise[i*c.D+j] + c.Offset
			if c.Grid {
				v = math.RoundToEven(v)
			}
			x.Data[i*c.D+j] = float32(v)
		}
	}
	return x
}

// closeTo compares with a tolerance that is relative or absolute.
func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !scalar.EqualWithinAbsOrRel(got, want, tolerance, tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// samePartition checks that labels are equal except for their numbers.
func samePartition(t *testing.T, got, want []int32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d labels, want %d", len(got), len(want))
	}
	to, from := map[int32]int32{}, map[int32]int32{}
	for i, g := range got {
		w := want[i]
		if x, ok := to[g]; ok && x != w {
			t.Fatalf("row %d: cluster %d is both %d and %d", i, g, x, w)
		}
		if x, ok := from[w]; ok && x != g {
			t.Fatalf("row %d: cluster %d of the oracle is both %d and %d", i, w, x, g)
		}
		to[g], from[w] = w, g
	}
}

func TestWardAgreesWithScipy(t *testing.T) {
	var cases []struct {
		blobCase
		Merges  [][3]int
		Heights []float64
		Labels  map[int][]int32
	}
	readOracle(t, "ward.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			tree, err := Linkage(t.Context(), c.rows())
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range tree.Merges {
				closeTo(t, fmt.Sprint("height ", i), m.Height, c.Heights[i], 1e-9)
				if got := [3]int{m.A, m.B, m.Size}; !c.Grid && got != c.Merges[i] {
					t.Errorf("merge %d: %v, want %v", i, got, c.Merges[i])
				}
			}
			for k, want := range c.Labels {
				r, err := Ward(t.Context(), c.rows(), k, WardOptions{})
				if err != nil {
					t.Fatal(err)
				}
				samePartition(t, r.Labels, want)
			}
		})
	}
}

// With distances in float32, near-ties in this many rows would give other merges
// than scipy's.
func TestWardAgreesWithScipyOnTenThousandRows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f, err := os.Open(filepath.Join(oracleFolder, "ward10000.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []float64
	if err := npy.Read(f, &want); err != nil {
		t.Fatal(err)
	}
	x := blobCase{N: 10_000, D: 100, K: 12, Spread: 0.5, Seed: 70}.rows()
	tree, err := Linkage(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, m := range tree.Merges {
		if !scalar.EqualWithinRel(m.Height, want[i], 1e-10) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d heights differ", wrong, len(want))
	}
}

func TestKMeansAgreesWithScikitLearn(t *testing.T) {
	var cases []struct {
		blobCase
		Initial, Centres [][]float64
		Labels           []int32
		Inertia          float64
		Iterations       int
	}
	readOracle(t, "kmeans.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			r, err := KMeans(t.Context(), c.rows(), c.K, KMeansOptions{Initial: denseOf(c.Initial)})
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "inertia", r.Inertia, c.Inertia, 1e-9)
			if r.Iterations != c.Iterations {
				t.Errorf("%d iterations, want %d", r.Iterations, c.Iterations)
			}
			if got, want := r.Means, denseOf(c.Centres); !mat.EqualApprox(got, want, 1e-9) {
				t.Errorf("means\n%v, want\n%v", mat.Formatted(got), mat.Formatted(want))
			}
			samePartition(t, r.Labels, c.Labels)
		})
	}
}

func TestGMMAgreesWithScikitLearn(t *testing.T) {
	var cases []struct {
		blobCase
		gmmOracle
	}
	readOracle(t, "gmm.json", &cases)
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s, %s, tolerance %v", c.Name, c.Form, c.Tolerance), func(t *testing.T) {
			x := c.rows()
			form := map[string]Covariance{"full": Full, "tied": Tied, "diag": Diagonal, "spherical": Spherical}[c.Form]
			r, err := GMM(t.Context(), x, c.K, GMMOptions{
				Covariance: form, Tolerance: c.Tolerance, MaxIterations: c.Most,
				Initial: initialOf(x, c.K, form),
			})
			if err != nil {
				t.Fatal(err)
			}
			c.compare(t, r, x)
		})
	}
}

// gmmOracle is scikit-learn's result for a case.
type gmmOracle struct {
	Form             string
	Tolerance        float64
	Most             int
	Weights          []float64
	Means            [][]float64
	Covariances      json.RawMessage
	LogLikelihood    float64
	Iterations       int
	Converged        bool
	Labels           []int32
	Responsibilities [][]float64
}

// initialOf returns the initial parameters of fit_gmm in generate.py.
func initialOf(x blas32.General, k int, form Covariance) *Components {
	d := x.Cols
	c := &Components{Means: mat.NewDense(k, d, nil)}
	for i := range k {
		widen(c.Means.RawRowView(i), dense.Row(x, i))
		c.Weights = append(c.Weights, float64(i+1)/float64(k*(k+1)/2))
		variance := float64(1 + i)
		if form == Tied {
			variance = 2
		}
		covariance := []float64{variance}
		switch form {
		case Full, Tied:
			covariance = make([]float64, d*d)
			for j := range d {
				covariance[j*d+j] = variance
			}
		case Diagonal:
			covariance = make([]float64, d)
			for j := range d {
				covariance[j] = variance
			}
		}
		c.Covariances = append(c.Covariances, covariance)
	}
	return c
}

func (c *gmmOracle) compare(t *testing.T, r *Result, x blas32.General) {
	t.Helper()
	const tolerance = 1e-8
	closeTo(t, "log-likelihood", r.LogLikelihood, c.LogLikelihood, tolerance)
	if r.Iterations != c.Iterations || r.Converged != c.Converged {
		t.Errorf("%d iterations, converged %v, want %d and %v", r.Iterations, r.Converged, c.Iterations, c.Converged)
	}
	for k, w := range c.Weights {
		closeTo(t, fmt.Sprint("weight ", k), r.Weights[k], w, tolerance)
	}
	if want := denseOf(c.Means); !mat.EqualApprox(r.Means, want, tolerance) {
		t.Errorf("means\n%v, want\n%v", mat.Formatted(r.Means), mat.Formatted(want))
	}
	for k, want := range c.covariances(t, r.K()) {
		for i, v := range want {
			closeTo(t, fmt.Sprintf("covariance %d value %d", k, i), r.Covariances[k][i], v, tolerance)
		}
	}
	for i, l := range c.Labels {
		if r.Labels[i] != l {
			t.Errorf("row %d: label %d, want %d", i, r.Labels[i], l)
		}
	}
	assigner, err := r.Assigner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := x
	first.Rows = len(c.Responsibilities)
	got := mat.NewDense(first.Rows, r.K(), nil)
	if err := assigner.Responsibilities(t.Context(), got, first); err != nil {
		t.Fatal(err)
	}
	if want := denseOf(c.Responsibilities); !mat.EqualApprox(got, want, 1e-7) {
		t.Errorf("responsibilities\n%v, want\n%v", mat.Formatted(got), mat.Formatted(want))
	}
}

// covariances returns the oracle's covariances, flattened, one for each component.
func (c *gmmOracle) covariances(t *testing.T, k int) [][]float64 {
	t.Helper()
	read := func(into any) {
		if err := json.Unmarshal(c.Covariances, into); err != nil {
			t.Fatal(err)
		}
	}
	all := make([][]float64, k)
	switch c.Form {
	case "full":
		var full [][][]float64
		read(&full)
		for i, m := range full {
			all[i] = denseOf(m).RawMatrix().Data
		}
	case "tied":
		var tied [][]float64
		read(&tied)
		for i := range all {
			all[i] = denseOf(tied).RawMatrix().Data
		}
	case "diag":
		read(&all)
	default:
		var variances []float64
		read(&variances)
		for i, v := range variances {
			all[i] = []float64{v}
		}
	}
	return all
}

// dense returns a matrix of the given rows.
func denseOf(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}
