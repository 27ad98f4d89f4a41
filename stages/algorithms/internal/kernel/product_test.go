package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
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
	factors := []float64{0, 1, 1, -1, 0.75}
	size := func() int { return 1 + r.IntN(largest) }
	return productCase{
		m: size(), n: size(), k: size(),
		spareA: r.IntN(4), spareB: r.IntN(4), spareC: r.IntN(4),
		tA: r.IntN(2) == 0, tB: r.IntN(2) == 0,
		alpha: factors[r.IntN(len(factors))], beta: factors[r.IntN(len(factors))],
	}
}

// operand is a matrix as it lies in memory.
type operand[T float] struct {
	data               []T
	rows, cols, stride int
}

func newOperand[T float](r *rand.Rand, space func(n int) []T, rows, cols, spare int) operand[T] {
	o := operand[T]{rows: rows, cols: cols, stride: cols + spare}
	o.data = space((rows-1)*o.stride + cols)
	for i := range o.data {
		o.data[i] = T(r.Float64()*2 - 1)
	}
	return o
}

// double returns the operand in float64, each number changed by f.
func (o operand[T]) double(f func(float64) float64) blas64.General {
	g := blas64.General{Rows: o.rows, Cols: o.cols, Stride: o.stride, Data: make([]float64, len(o.data))}
	for i, v := range o.data {
		g.Data[i] = f(float64(v))
	}
	return g
}

func same(x float64) float64 { return x }

// gonumProduct is op(a)·op(b) by gonum's own code.
func gonumProduct(p productCase, a, b blas64.General) blas64.General {
	c := blas64.General{Rows: p.m, Cols: p.n, Stride: p.n, Data: make([]float64, p.m*p.n)}
	gonum.Implementation{}.Dgemm(transpose(p.tA), transpose(p.tB), p.m, p.n, p.k, 1, a.Data, a.Stride, b.Data, b.Stride, 0, c.Data, c.Stride)
	return c
}

// checkProductCase runs one case and compares every element with gonum's
// result in float64. Each of the k products and sums rounds at most once, and
// so do the scalings: |error| <= (k+3)·unit·(|alpha|·Σ|a||b| + |beta||c|).
func checkProductCase[T float](t testing.TB, r *rand.Rand, p productCase, unit float64, space func(n int) []T, gemm func(p productCase, a, b, c operand[T])) {
	t.Helper()
	rowsA, colsA := oriented(p.tA, p.m, p.k)
	rowsB, colsB := oriented(p.tB, p.k, p.n)
	a, b := newOperand(r, space, rowsA, colsA, p.spareA), newOperand(r, space, rowsB, colsB, p.spareB)
	c := newOperand(r, space, p.m, p.n, p.spareC)
	before := append([]T(nil), c.data...)
	if p.beta == 0 {
		for i := range p.m {
			c.data[i*c.stride] = T(math.NaN()) // must not be read
		}
	}
	gemm(p, a, b, c)
	sums := gonumProduct(p, a.double(same), b.double(same))
	sizes := gonumProduct(p, a.double(math.Abs), b.double(math.Abs))
	for i, got := range c.data {
		row, col := i/c.stride, i%c.stride
		if col >= p.n {
			if got != before[i] {
				t.Fatalf("%v: wrote outside row %d of c", p, row)
			}
			continue
		}
		old := p.beta * float64(before[i])
		want := p.alpha*sums.Data[row*p.n+col] + old
		bound := float64(p.k+3) * unit * (math.Abs(p.alpha)*sizes.Data[row*p.n+col] + math.Abs(old))
		if !(math.Abs(float64(got)-want) <= bound) {
			t.Fatalf("%v: element %d,%d is %v, want %v ± %v", p, row, col, got, want, bound)
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

// Units of rounding. That of float64 is doubled because gonum's sums round too.
const (
	unit32 = 1.0 / (1 << 24)
	unit64 = 1.0 / (1 << 52)
)

func heap[T float](n int) []T { return make([]T, n) }

func checkBoth(t testing.TB, r *rand.Rand, p productCase) {
	t.Helper()
	checkProductCase(t, r, p, unit32, heap, gemm32)
	checkProductCase(t, r, p, unit64, heap, gemm64)
}

func TestGemmRandomShapes(t *testing.T) {
	cases := 40
	if testing.Short() {
		cases = 10
	}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, largest := range []int{8, 40, 130, 300} {
			for range cases {
				checkBoth(t, r, randomCase(r, largest))
			}
		}
	})
}

// trainingShapes are the products of training, and some that are longer than a
// block in every direction.
var trainingShapes = []productCase{
	{m: 128, n: 100, k: 2048}, {m: 2048, n: 100, k: 128, tA: true},
	{m: 128, n: 100, k: 100}, {m: 128, n: 100, k: 100, tB: true},
	{m: 360, n: 200, k: 200}, {m: 200, n: 200, k: 360, tA: true},
	{m: 1024, n: 50, k: 500}, {m: 500, n: 50, k: 1024, tA: true},
	{m: 300, n: 600, k: 100, tB: true}, {m: 513, n: 401, k: 400},
	{m: 97, n: 385, k: 1025, tA: true, tB: true},
}

func TestGemmTrainingShapes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if Level() == "generic" {
			t.Skip("that is gonum's code, which the result would be compared with")
		}
		r := rand.New(rand.NewPCG(3, 4))
		for _, p := range trainingShapes {
			p.alpha, p.beta = -0.5, 1
			checkBoth(t, r, p)
		}
	})
}

// TestGemmStaysInside puts every operand against a page that must not be
// touched, at its beginning or at its end.
func TestGemmStaysInside(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for trial := range 120 {
			p := randomCase(r, 70)
			p.m += trial % 3 / 2 * 512 // so that b is packed as well
			checkProductCase(t, r, p, unit32, fence[float32]{t, trial%2 == 0}.slice, gemm32)
			checkProductCase(t, r, p, unit64, fence[float64]{t, trial%2 == 0}.slice, gemm64)
		}
	})
}

// TestGemmSpecialValues checks that NaN, infinities and zeros give what sums of
// IEEE products give, in every lane of a tile.
func TestGemmSpecialValues(t *testing.T) {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0}
	eachLevel(t, func(t *testing.T) {
		if Level() == "generic" {
			t.Skip("gonum leaves out products with a zero of A, so that 0·NaN is lost")
		}
		r := rand.New(rand.NewPCG(7, 8))
		for range 100 {
			m, n, k := 1+r.IntN(30), 1+r.IntN(70), 1+r.IntN(8)
			a, b := newOperand(r, heap[float32], m, k, 0), newOperand(r, heap[float32], k, n, 0)
			a.data[r.IntN(len(a.data))] = special[r.IntN(4)]
			b.data[r.IntN(len(b.data))] = special[r.IntN(4)]
			c := newOperand(r, heap[float32], m, n, 0)
			Gemm(false, false, 1, general32(a), general32(b), 0, general32(c))
			for i := range m {
				for j := range n {
					var want float64
					for p := range k {
						want += float64(a.data[i*k+p]) * float64(b.data[p*n+j])
					}
					if got := float64(c.data[i*n+j]); class(got) != class(want) {
						t.Fatalf("%dx%dx%d: element %d,%d is %v, want %v", m, n, k, i, j, got, want)
					}
				}
			}
		}
	})
}

// class is NaN, an infinity or "number".
func class(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	return "number"
}

// TestThreadsGiveSameBits runs gonum's API, which splits large products.
func TestThreadsGiveSameBits(t *testing.T) {
	defer SetJobs(0)
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, shape := range [][3]int{{700, 90, 800}, {90, 700, 800}, {333, 333, 333}} {
			a := newOperand(r, heap[float32], shape[0], shape[2], 0)
			b := newOperand(r, heap[float32], shape[2], shape[1], 0)
			var first []float32
			for jobs := 1; jobs <= 4; jobs++ {
				SetJobs(jobs)
				c := newOperand(r, heap[float32], shape[0], shape[1], 0)
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general32(a), general32(b), 0, general32(c))
				if jobs == 1 {
					first = c.data
				}
				for i := range first {
					if c.data[i] != first[i] {
						t.Fatalf("%v: element %d with %d jobs is %v, with one %v", shape, i, jobs, c.data[i], first[i])
					}
				}
			}
		}
	})
}

func TestGemmShapesMustFit(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	x := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float32, 6)}
	Gemm(false, false, 1, x, x, 0, x)
}

func FuzzGemm(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(40), uint8(5), uint8(0))
	f.Add(uint64(2), uint8(13), uint8(33), uint8(100), uint8(255))
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k, flags uint8) {
		was := active
		defer func() { active = was }()
		r := rand.New(rand.NewPCG(seed, 11))
		p := randomCase(r, 1)
		p.m, p.n, p.k = int(m)+1, int(n)+1, int(k)+1
		p.tA, p.tB = flags&1 != 0, flags&2 != 0
		for _, active = range levels() {
			checkBoth(t, r, p)
		}
	})
}
