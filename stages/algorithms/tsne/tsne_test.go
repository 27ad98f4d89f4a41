package tsne

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Neighbours by matrix products are those of all distances in float64, ties by row; also of rows
// that fill a tile, and of as many that a parent in the heap has one child.
func TestNeighbours(t *testing.T) {
	checkNeighbours(t, 1500, 20)
	checkNeighbours(t, tile, 21)
}

func checkNeighbours(t *testing.T, n, k int) {
	t.Helper()
	x := blobs(n, 7, 3, 2, 1)
	copy(dense.Row(x, 5), dense.Row(x, 900)) // two rows alike
	got := make([][]neighbour, x.Rows)
	if err := neighbours(context.Background(), x, k, func(i int, near []neighbour) { got[i] = slices.Clone(near) }); err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		var others []int32
		for j := range x.Rows {
			if j != i {
				others = append(others, int32(j))
			}
		}
		if want := exact(nil, x, i, others)[:k]; !slices.Equal(got[i], want) {
			t.Fatalf("row %d: %v, not %v", i, got[i], want)
		}
	}
	if got[5][0] != (neighbour{900, 0}) {
		t.Errorf("the nearest of a row with a twin is %v", got[5][0])
	}
}

// The similarities of each row have the entropy asked for, whatever the scale.
func TestConditional(t *testing.T) {
	for _, scale := range []float64{1e-30, 1, 1e30} {
		rng := rand.New(rand.NewPCG(1, 0))
		near := make([]neighbour, 90)
		for j := range near {
			near[j].value = scale * (3 + rng.ExpFloat64())
		}
		slices.SortFunc(near, func(a, b neighbour) int { return int(math.Copysign(1, a.value-b.value)) })
		conditional(near, 30)
		entropy, sum := 0.0, 0.0
		for _, b := range near {
			sum += b.value
			entropy -= b.value * math.Log(b.value)
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(math.Exp(entropy)-30) > 1e-3 {
			t.Errorf("scale %g: sum %v, perplexity %v", scale, sum, math.Exp(entropy))
		}
	}
	same := []neighbour{{0, 2}, {1, 2}, {2, 2}}
	conditional(same, 1)
	for _, b := range same {
		if b.value != 1./3 {
			t.Errorf("of three rows equally far one has %v", b.value)
		}
	}
}

func TestAffinitiesAreSymmetric(t *testing.T) {
	x := blobs(300, 5, 3, 2, 2)
	p, err := affinities(context.Background(), x, 10)
	if err != nil {
		t.Fatal(err)
	}
	at, sum := map[[2]int32]float32{}, 0.0
	for i := range int32(300) {
		row := p.column[p.first[i]:p.first[i+1]]
		if !slices.IsSorted(row) || slices.Contains(row, i) {
			t.Fatalf("row %d has the columns %v", i, row)
		}
		for k := p.first[i]; k < p.first[i+1]; k++ {
			at[[2]int32{i, p.column[k]}] = p.value[k]
			sum += float64(p.value[k])
		}
	}
	for ij, v := range at {
		if at[[2]int32{ij[1], ij[0]}] != v {
			t.Fatalf("p%v is %v, and turned %v", ij, v, at[[2]int32{ij[1], ij[0]}])
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("the sum is %v", sum)
	}
}

// layout is points as a descent has them: classes, two points in one place, one far off.
func layout(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 0))
	y := make([]float64, 2*n)
	for i := range n {
		y[2*i] = 20*float64(i%5) + 3*rng.NormFloat64()
		y[2*i+1] = 15*float64(i%3) + 3*rng.NormFloat64()
	}
	copy(y[4:6], y[8:10])
	y[10] = 1e4
	return y
}

// exactRepulsion is what repel approximates: a sum over all pairs.
func exactRepulsion(y []float64) (force []float64, z float64) {
	force = make([]float64, len(y))
	for i := range len(y) / 2 {
		for j := range len(y) / 2 {
			if i != j {
				dx, dy := y[2*i]-y[2*j], y[2*i+1]-y[2*j+1]
				q := 1 / (1 + dx*dx + dy*dy)
				z += q
				force[2*i] += q * q * dx
				force[2*i+1] += q * q * dy
			}
		}
	}
	return force, z
}

// With theta near 0 repulsion is that of all pairs; with 0.5 it is off by little.
func TestRepulsion(t *testing.T) {
	y := layout(2000)
	want, wantZ := exactRepulsion(y)
	for _, c := range []struct{ theta, most float64 }{{1e-9, 1e-12}, {0.5, 0.01}} {
		var tree tree
		tree.build(y)
		force := make([]float64, len(y))
		z := tree.repel(force, make([]float64, len(y)/2), c.theta)
		off, all := 0.0, 0.0
		for i, v := range want {
			off += (force[i] - v) * (force[i] - v)
			all += v * v
		}
		if off := math.Sqrt(off / all); off > c.most || math.Abs(z/wantZ-1) > c.most {
			t.Errorf("theta %g: forces are off by %.2g, Z by %.2g", c.theta, off, math.Abs(z/wantZ-1))
		}
	}
}

// The gradient is the slope of the exact divergence.
func TestGradient(t *testing.T) {
	x := blobs(150, 6, 3, 2, 4)
	p, err := affinities(context.Background(), x, 12)
	if err != nil {
		t.Fatal(err)
	}
	y := layout(150)
	y[10] = 5
	divergence := func(exaggeration float64) float64 {
		_, z := exactRepulsion(y)
		sum := 0.0
		for i := range p.first[1:] {
			for k := p.first[i]; k < p.first[i+1]; k++ {
				j := p.column[k]
				dx, dy := y[2*i]-y[2*j], y[2*i+1]-y[2*j+1]
				sum += exaggeration * float64(p.value[k]) * math.Log(1+dx*dx+dy*dy)
			}
		}
		return sum + math.Log(z)
	}
	for _, exaggeration := range []float64{1, 12} {
		d := newDescent(y, p, Options{Theta: 1e-9})
		d.gradient(exaggeration)
		for i := range y {
			const h = 1e-5
			at := y[i]
			y[i] = at + h
			up := divergence(exaggeration)
			y[i] = at - h
			slope := (up - divergence(exaggeration)) / (2 * h)
			y[i] = at
			if math.Abs(slope-d.dy[i]) > 1e-7 {
				t.Errorf("exaggeration %v, coordinate %d: the gradient is %v, and the slope %v", exaggeration, i, d.dy[i], slope)
			}
		}
	}
}

// A descent whose gradient is next to nothing has ended as soon as nothing is exaggerated, in its first
// step already; before that it goes on.
func TestDescentEnds(t *testing.T) {
	p, err := affinities(t.Context(), blobs(4, 3, 1, 1, 8), 1)
	if err != nil {
		t.Fatal(err)
	}
	start := []float64{1e-9, 0, -1e-9, 0, 0, 2e-9, 0, -2e-9}
	for exaggerated, moves := range map[int]bool{0: false, 1: true} {
		d := newDescent(slices.Clone(start), p, Options{Iterations: 1, Exaggerated: exaggerated, Exaggeration: 2, LearningRate: 1, Theta: 0.5})
		if err := d.run(t.Context()); err != nil || slices.Equal(d.y, start) == moves {
			t.Errorf("%d steps exaggerated: the points come to %v, %v", exaggerated, d.y, err)
		}
	}
}

// The layout has the same bytes with any number of threads.
func TestSameBytes(t *testing.T) {
	x := blobs(1200, 60, 4, 2, 5)
	var first []byte
	for _, jobs := range []int{1, 2, 3, 7} {
		kernel.SetJobs(jobs)
		r, err := Fit(context.Background(), x, Options{Iterations: 60})
		kernel.SetJobs(0)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, append(r.Y, r.Divergence)); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("%d threads: other bytes than one thread", jobs)
		}
	}
}

// Classes that are far apart come to lie apart: each point's nearest is of its class.
func TestClassesStayApart(t *testing.T) {
	x := blobs(600, 20, 4, 5, 6)
	r, err := Fit(context.Background(), x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 {
		best, at := math.Inf(1), 0
		for j := range 600 {
			if d := math.Hypot(r.Y[2*i]-r.Y[2*j], r.Y[2*i+1]-r.Y[2*j+1]); j != i && d < best {
				best, at = d, j
			}
		}
		if i%4 != at%4 {
			t.Errorf("row %d of class %d has a neighbour of class %d", i, i%4, at%4)
		}
	}
}

// Few rows, few columns, rows alike and huge values are laid out; nothing is NaN.
func TestOddRows(t *testing.T) {
	alike, two, huge := dense.New(50, 3), blobs(50, 3, 2, 1, 7), blobs(50, 3, 2, 1, 7)
	for i := 10; i < 50; i++ {
		copy(dense.Row(two, i), dense.Row(two, i%2))
	}
	for i := range huge.Data {
		huge.Data[i] *= 1e37
	}
	for name, x := range map[string]blas32.General{"four rows": blobs(4, 3, 1, 1, 8), "one column": blobs(40, 1, 2, 3, 9),
		"rows alike": alike, "many twins": two, "huge": huge} {
		r, err := Fit(context.Background(), x, Options{Iterations: 300})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !dense.Finite(append(r.Y, r.Divergence)) || len(r.Y) != 2*x.Rows {
			t.Errorf("%s: %v", name, r)
		}
		sum := [2]float64{}
		for i, v := range r.Y {
			sum[i%2] += v
		}
		if math.Hypot(sum[0], sum[1]) > 1e-6 {
			t.Errorf("%s: not centred: %v", name, sum)
		}
	}
}

func TestRefuses(t *testing.T) {
	x := blobs(40, 3, 2, 1, 10)
	nan := dense.Clone(x)
	nan.Data[7] = float32(math.NaN())
	for _, c := range []struct {
		x    blas32.General
		o    Options
		says string
	}{
		{dense.Rows(x, 0, 3), Options{}, "3 rows of 3 columns: it takes at least 4"},
		{nan, Options{}, "tsne: row 2, column 1 is NaN"},
		{x, Options{Perplexity: 14}, "a perplexity of 14: 40 rows allow 1 to 13"},
		{x, Options{Perplexity: math.NaN()}, "a perplexity of NaN"},
		{x, Options{Theta: 2}, "theta is 2"},
		{x, Options{LearningRate: 1e300}, "diverges"},
		{x, Options{Exaggeration: .5}, "an exaggeration of 0.5"},
		{x, Options{Iterations: -1}, "negative"},
		{x, Options{Exaggerated: -1}, "negative"},
		{x, Options{Components: -1}, "negative"},
	} {
		if _, err := Fit(context.Background(), c.x, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v does not say %q", c.o, err, c.says)
		}
	}
	if _, err := Fit(context.Background(), x, Options{Iterations: 1}); err != nil { // a quarter of which is no step
		t.Errorf("one step: %v", err)
	}
	if _, err := Trustworthiness(context.Background(), x, make([]float64, 80), 20); err == nil {
		t.Error("the trustworthiness of half of the rows as neighbours has no error")
	}
}

func TestContextEnds(t *testing.T) {
	x := blobs(40, 3, 2, 1, 11)
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := Fit(ctx, x, Options{Iterations: 20})
		return err
	})
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := affinities(ended, x, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("affinities: error %v, want %v", err, context.Canceled)
	}
}

// testdata/oracle/tsne/generate.py made these files with scikit-learn.
type oracle struct {
	Rows, Columns, K            int
	Trustworthiness, Divergence float64
	Some, Plane                 []float64
	Known                       []struct {
		K     int
		Value float64
	}
}

func readOracle(t *testing.T) (oracle, blas32.General) {
	t.Helper()
	const folder = "../../../testdata/oracle/tsne"
	text, err := os.ReadFile(filepath.Join(folder, "tsne.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, "digits.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := io.ReadAll(z)
	if err != nil || len(pixels) != o.Rows*o.Columns {
		t.Fatal(len(pixels), err)
	}
	x := dense.New(o.Rows, o.Columns)
	for i, v := range pixels {
		x.Data[i] = float32(v)
	}
	return o, x
}

func TestTrustworthinessIsScikitLearns(t *testing.T) {
	o, _ := readOracle(t)
	x := dense.New(60, 5)
	for i, v := range o.Some {
		x.Data[i] = float32(v)
	}
	for _, k := range o.Known {
		got, err := Trustworthiness(context.Background(), x, o.Plane, k.K)
		if err != nil || math.Abs(got-k.Value) > 1e-12 {
			t.Errorf("k = %d: %v, not %v (%v)", k.K, got, k.Value, err)
		}
	}
}

// The layout of the digits keeps neighbours as well as scikit-learn's.
func TestDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a second or more")
	}
	o, x := readOracle(t)
	r, err := Fit(context.Background(), x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	trust, err := Trustworthiness(context.Background(), x, r.Y, o.K)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("trustworthiness %.4f (scikit-learn %.4f), divergence %.4f (%.4f)", trust, o.Trustworthiness, r.Divergence, o.Divergence)
	if trust < o.Trustworthiness-0.02 || r.Divergence > o.Divergence+0.05 {
		t.Errorf("trustworthiness %.4f against scikit-learn's %.4f, divergence %.4f against %.4f", trust, o.Trustworthiness, r.Divergence, o.Divergence)
	}
}
