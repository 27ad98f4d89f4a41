package hedge

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mixture"
)

const (
	maxParts     = 3    // of a class
	partAxes     = 6    // principal components in which classes are divided
	meanPartRows = 30   // a class has at least that many rows for each of its parts
	minPartRows  = 10   // in the smallest part
	fullRows     = 100  // a class of more rows has Gaussians of full covariance
	partFloor    = 1e-2 // of covariances, in units of the mean variance
	partSteps    = 30   // of EM
)

// clouds divides the source's rows by class, and classes into parts.
type clouds struct {
	labels []int32 // the cloud of each source row
	class  []int   // of each cloud
}

// divide cuts each class into the number of Gaussians, up to maxParts, whose mixture
// has the least BIC.
func divide(ctx context.Context, z blas32.General, labels []int32, classes int, seed uint64) (*clouds, error) {
	axes, err := principalAxes(ctx, z, partAxes)
	if err != nil {
		return nil, err
	}
	along := axes.apply(z)
	members := make([][]int, classes)
	for i, y := range labels {
		members[y] = append(members[y], i)
	}
	c := &clouds{labels: make([]int32, len(labels))}
	for k, rows := range members {
		part := divideClass(ctx, dense.Gather(along, rows), seed)
		first, n := int32(len(c.class)), int32(1)
		for i, p := range part {
			c.labels[rows[i]] = first + p
			n = max(n, p+1)
		}
		c.class = append(c.class, slices.Repeat([]int{k}, int(n))...)
	}
	return c, ctx.Err()
}

// whole leaves every class in one piece.
func whole(labels []int32, classes int) *clouds {
	c := &clouds{labels: labels, class: make([]int, classes)}
	for k := range c.class {
		c.class[k] = k
	}
	return c
}

// divideClass returns the part of each row, numbered from 0 without gaps.
func divideClass(ctx context.Context, x blas32.General, seed uint64) []int32 {
	parts, least := make([]int32, x.Rows), math.Inf(1)
	o := mixture.GMMOptions{Starts: 1, MaxIterations: partSteps, Floor: partFloor, Seed: seed, Covariance: mixture.Diagonal}
	if x.Rows > fullRows {
		o.Covariance = mixture.Full
	}
	for k := 1; k <= min(maxParts, x.Rows/meanPartRows); k++ {
		fit, err := mixture.GMM(ctx, x, k, o)
		if err != nil {
			continue // the rows have no such division
		}
		if b := bic(fit, x, o.Covariance); b < least && slices.Min(fit.Counts) >= minPartRows {
			least = b
			copy(parts, fit.Labels)
		}
	}
	return parts
}

// bic is the Bayesian information criterion of a mixture (Schwarz 1978).
func bic(fit *mixture.Result, x blas32.General, form mixture.Covariance) float64 {
	n, d := float64(x.Rows), x.Cols
	each := 2 * d
	if form == mixture.Full {
		each = d + d*(d+1)/2
	}
	parameters := float64(fit.K()*each + fit.K() - 1)
	return -2*n*fit.LogLikelihood + parameters*math.Log(n)
}
