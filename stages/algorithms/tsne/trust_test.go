package tsne

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Trustworthiness says how far the k nearest points of each row in the layout y (n×2) are
// near it in x (n×d) too: 1 if all are among its k nearest rows, less the further down
// their ranks are (Venna & Kaski 2001). k is below n/2. The time grows with n².
func Trustworthiness(ctx context.Context, x blas32.General, y []float64, k int) (float64, error) {
	n := x.Rows
	if len(y) != 2*n || k < 1 || 2*k >= n {
		return 0, fmt.Errorf("tsne: the trustworthiness of %d neighbours in %d rows and %d points: there must be more than twice as many rows as neighbours, and as many points",
			k, n, len(y)/2)
	}
	if err := dense.CheckFinite("tsne:", x, 0); err != nil {
		return 0, err
	}
	lost := make([]float64, n)
	err := kernel.Each(n, func(i int) error {
		lost[i] = strangers(x, y, i, k)
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	nf, kf := float64(n), float64(k)
	return 1 - 2/(nf*kf*(2*nf-3*kf-1))*dense.Sum(lost), nil
}

// strangers sums up by how much the ranks of the k nearest points of i are above k.
func strangers(x blas32.General, y []float64, i, k int) float64 {
	n := x.Rows
	near, far := make([]neighbour, 0, n-1), make([]float64, n)
	for j := range n {
		sum := 0.0
		for c, v := range dense.Row(x, j) {
			d := float64(v) - float64(x.Data[i*x.Stride+c])
			sum += d * d
		}
		far[j] = sum
		if j != i {
			near = append(near, neighbour{int32(j), math.Hypot(y[2*j]-y[2*i], y[2*j+1]-y[2*i+1])})
		}
	}
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.row, b.row))
	})
	lost := 0.0
	for _, b := range near[:k] {
		rank := 1
		for j, v := range far {
			if j != i && (v < far[b.row] || v == far[b.row] && j < int(b.row)) {
				rank++
			}
		}
		lost += float64(max(rank-k, 0))
	}
	return lost
}
