package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// TestSyrkAgainstGonum compares each triangle, and checks that the other one is
// left alone.
func TestSyrkAgainstGonum(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for trial := range 40 {
			n, k := 1+r.IntN(250), 1+r.IntN(120)
			rows, cols := oriented(trial%2 == 0, n, k)
			a, c := newOperand(r, heap[float64], rows, cols, 2), newOperand(r, heap[float64], n, n, 3)
			uplo := []blas.Uplo{blas.Upper, blas.Lower}[trial/2%2]
			beta := []float64{0, 1, 0.5}[trial%3]
			want := append([]float64(nil), c.data...)
			gonum.Implementation{}.Dsyrk(uplo, transpose(trial%2 == 0), n, k, 0.7, a.data, a.stride, beta, want, c.stride)
			implementation{}.Dsyrk(uplo, transpose(trial%2 == 0), n, k, 0.7, a.data, a.stride, beta, c.data, c.stride)
			requireNear(t, c.data, want, 1e-12)
			got32, want32 := single(c.data), single(c.data)
			gonum.Implementation{}.Ssyrk(uplo, transpose(trial%2 == 0), n, k, 1, single(a.data), a.stride, float32(beta), want32, c.stride)
			implementation{}.Ssyrk(uplo, transpose(trial%2 == 0), n, k, 1, single(a.data), a.stride, float32(beta), got32, c.stride)
			requireNear(t, got32, want32, 1e-4)
		}
	})
}

func single(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func requireNear[T float](t *testing.T, got, want []T, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= tolerance) {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestGemvAgainstGonum(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for trial := range 60 {
			m, n := 1+r.IntN(90), 1+r.IntN(90)
			a := newOperand(r, heap[float64], m, n, trial%3)
			lengthY, lengthX := oriented(trial%2 == 0, m, n)
			x, y := newOperand(r, heap[float64], 1, lengthX, 0), newOperand(r, heap[float64], 1, lengthY, 0)
			beta := []float64{0, 1, 0.5}[trial%3]
			tA := transpose(trial%2 == 0)
			want := append([]float64(nil), y.data...)
			got32, want32 := single(y.data), single(y.data)
			gonum.Implementation{}.Dgemv(tA, m, n, 0.7, a.data, a.stride, x.data, 1, beta, want, 1)
			implementation{}.Dgemv(tA, m, n, 0.7, a.data, a.stride, x.data, 1, beta, y.data, 1)
			requireNear(t, y.data, want, 1e-12)
			gonum.Implementation{}.Sgemv(tA, m, n, 0.7, single(a.data), a.stride, single(x.data), 1, float32(beta), want32, 1)
			implementation{}.Sgemv(tA, m, n, 0.7, single(a.data), a.stride, single(x.data), 1, float32(beta), got32, 1)
			requireNear(t, got32, want32, 1e-4)
		}
	})
}

// TestInstalledUnderMat goes through gonum/mat, which must reach this package.
func TestInstalledUnderMat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x := mat.NewDense(150, 100, nil)
	x.Apply(func(i, j int, v float64) float64 { return r.NormFloat64() }, x)
	var gram, product mat.Dense
	gram.Mul(x.T(), x)
	for i := range 100 {
		for j := range 100 {
			want := mat.Dot(x.ColView(i), x.ColView(j))
			if math.Abs(gram.At(i, j)-want) > 1e-11 {
				t.Fatalf("element %d,%d is %v, want %v", i, j, gram.At(i, j), want)
			}
		}
	}
	product.Mul(&gram, x.T())
	if rows, cols := product.Dims(); rows != 100 || cols != 150 {
		t.Fatalf("product is %d×%d", rows, cols)
	}
}

// TestMisuseIsGonums checks that wrong arguments give gonum's own messages.
func TestMisuseIsGonums(t *testing.T) {
	defer func() {
		if message := recover(); message != "blas: bad leading dimension of A" {
			t.Errorf("panic %v", message)
		}
	}()
	implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, make([]float64, 4), 1, make([]float64, 4), 2, 0, make([]float64, 4), 2)
}
