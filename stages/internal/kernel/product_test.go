package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// eachLevel runs a test at every level that this processor has.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	was := active
	defer func() { active = was }()
	for _, l := range levels() {
		active = l
		t.Run(l.name, test)
	}
}

// productCase is one call of Gemm: shape, spare columns of every operand,
// transposes and factors.
type productCase struct {
	m, n, k                int
	spareA, spareB, spareC int
	tA, tB                 bool
	alpha, beta            float64
}

func (c productCase) String() string {
	return fmt.Sprintf("%dx%dx%d spare %d,%d,%d transposed %t,%t alpha %v beta %v",
		c.m, c.n, c.k, c.spareA, c.spareB, c.spareC, c.tA, c.tB, c.alpha, c.beta)
}

func randomCase(r *rand.Rand, largest int) productCase {
	factors := []float64{0, 1, -1, 0.75}
	size := func() int { return 1 + r.IntN(largest) }
	return productCase{
		m: size(), n: size(), k: size(),
		spareA: r.IntN(4), spareB: r.IntN(4), spareC: r.IntN(4),
		tA: r.IntN(2) == 0, tB: r.IntN(2) == 0,
		alpha: factors[r.IntN(len(factors))], beta: factors[r.IntN(len(factors))],
	}
}

// operand is a random matrix with its values in float64 and where they lie.
type operand[T float] struct {
	data       []T
	rows, cols int
	stride     int
}

func newOperand[T float](r *rand.Rand, space func(n int) []T, transposed bool, rows, cols, spare int) operand[T] {
	rows, cols = oriented(transposed, rows, cols)
	o := operand[T]{rows: rows, cols: cols, stride: cols + spare}
	o.data = space((rows-1)*o.stride + cols)
	for i := range o.data {
		o.data[i] = T(r.Float64()*2 - 1)
	}
	return o
}

func (o operand[T]) at(transposed bool, i, j int) float64 {
	if transposed {
		i, j = j, i
	}
	return float64(o.data[i*o.stride+j])
}

// checkProductCase runs one case and compares every element with the sum in
// float64. Each of the k products and sums rounds once at most, and so do the
// scalings: |error| <= (k+3)·u·(|alpha|·Σ|a||b| + |beta||c|).
func checkProductCase[T float](t *testing.T, r *rand.Rand, p productCase, unit float64, space func(n int) []T, gemm func(p productCase, a, b, c operand[T])) {
	t.Helper()
	a := newOperand(r, space, p.tA, p.m, p.k, p.spareA)
	b := newOperand(r, space, p.tB, p.k, p.n, p.spareB)
	c := newOperand(r, space, false, p.m, p.n, p.spareC)
	before := append([]T(nil), c.data...)
	if p.beta == 0 {
		for i := range p.m {
			c.data[i*c.stride] = T(math.NaN()) // must not be read
		}
	}
	gemm(p, a, b, c)
	for i := range p.m {
		for j := range p.n {
			var sum, size float64
			for k := range p.k {
				product := a.at(p.tA, i, k) * b.at(p.tB, k, j)
				sum += product
				size += math.Abs(product)
			}
			old := float64(before[i*c.stride+j])
			want := p.alpha*sum + p.beta*old
			bound := float64(p.k+3) * unit * (math.Abs(p.alpha)*size + math.Abs(p.beta*old))
			if got := c.at(false, i, j); !(math.Abs(got-want) <= bound) {
				t.Fatalf("%v: element %d,%d is %v, want %v ± %v", p, i, j, got, want, bound)
			}
		}
		for j := p.n; j < c.stride && i+1 < p.m; j++ {
			if c.data[i*c.stride+j] != before[i*c.stride+j] {
				t.Fatalf("%v: wrote outside row %d of c", p, i)
			}
		}
	}
}

func gemm32(p productCase, a, b, c operand[float32]) {
	Gemm(p.tA, p.tB, float32(p.alpha), general32(a), general32(b), float32(p.beta), general32(c))
}

func gemm64(p productCase, a, b, c operand[float64]) {
	Gemm64(p.tA, p.tB, p.alpha, general64(a), general64(b), p.beta, general64(c))
}

func general32(o operand[float32]) blas32.General {
	return blas32.General{Rows: o.rows, Cols: o.cols, Stride: o.stride, Data: o.data}
}

func general64(o operand[float64]) blas64.General {
	return blas64.General{Rows: o.rows, Cols: o.cols, Stride: o.stride, Data: o.data}
}

// Units of rounding, and 2^-53 doubled because the float64 reference rounds as well.
const (
	unit32 = 1.0 / (1 << 24)
	unit64 = 1.0 / (1 << 52)
)

func heap[T float](n int) []T { return make([]T, n) }

func TestGemmRandomShapes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for trial := range 400 {
			p := randomCase(r, []int{8, 40, 130, 300}[trial%4/(1+trial%3)])
			checkProductCase(t, r, p, unit32, heap, gemm32)
			checkProductCase(t, r, p, unit64, heap, gemm64)
		}
	})
}
