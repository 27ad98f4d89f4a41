package labelshift

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Region is an ellipsoid of proportions in additive log-ratios (Aitchison 1982),
//
//	y_k = log(p_k / p_Reference),  k in Classes,
//
// whose squared Mahalanobis distance from Mean under Covariance is at most
// Radius².
type Region struct {
	// Reference is the class of the greatest share, and Classes are the others
	// that have source rows.
	Reference int
	Classes   []int
	// Mean holds one log-ratio for each of Classes, and Covariance theirs.
	Mean       []float64
	Covariance *mat.SymDense
	// Radius is the root of the quantile of the χ² distribution.
	Radius float64
	// Least is what a share counts as if it is less: that of half a target row.
	Least float64
}

// region puts what the opinions differ by around the estimate.
func (s *spread) region(level float64) *Region {
	reference := floats.MaxIdx(s.center)
	r := &Region{Reference: s.present.Class[reference], Least: 0.5 / float64(s.rows)}
	for k, class := range s.present.Class {
		if k != reference {
			r.Classes = append(r.Classes, class)
		}
	}
	logs := func(rows [][]float64) [][]float64 {
		ratios := make([][]float64, len(rows))
		for i, p := range rows {
			ratios[i] = r.logRatios(s.present.All(p))
		}
		return ratios
	}
	r.Mean = r.logRatios(s.present.All(s.center))
	r.Covariance = shrunk(covariance(logs(s.replicates)), len(s.replicates))
	n := len(r.Classes)
	for _, y := range logs(s.peers) {
		floats.Sub(y, r.Mean)
		r.Covariance.SymRankOne(r.Covariance, 1/float64(len(s.peers)), mat.NewVecDense(n, y))
	}
	r.addFloor(s.present.All(s.center))
	r.Radius = math.Sqrt(distuv.ChiSquared{K: float64(n)}.Quantile(level))
	return r
}

// shrunk returns the covariance c of the given number of rows, shrunk towards its
// diagonal with the strength of as many rows as it has columns. Rows that are few
// beside the columns say little of correlations, or even leave the ellipsoid flat.
func shrunk(c *mat.SymDense, rows int) *mat.SymDense {
	n := c.SymmetricDim()
	for i := range n {
		for j := i + 1; j < n; j++ {
			c.SetSym(i, j, c.At(i, j)*float64(rows)/float64(rows+n))
		}
	}
	return c
}

// addFloor adds modelFloor in the scale of log-ratios.
func (r *Region) addFloor(p []float64) {
	variance := func(k int) float64 {
		share := max(p[k], r.Least)
		return modelFloor(share) / (share * share)
	}
	reference := variance(r.Reference)
	for i, k := range r.Classes {
		for j := range r.Classes[:i] {
			r.Covariance.SetSym(i, j, r.Covariance.At(i, j)+reference)
		}
		r.Covariance.SetSym(i, i, r.Covariance.At(i, i)+reference+variance(k))
	}
}

func (r *Region) logRatios(p []float64) []float64 {
	y := make([]float64, len(r.Classes))
	for i, k := range r.Classes {
		y[i] = math.Log(max(p[k], r.Least)) - math.Log(max(p[r.Reference], r.Least))
	}
	return y
}

// Contains reports whether proportions of all C classes are in the region. A
// class without source rows is not looked at.
func (r *Region) Contains(p []float64) bool {
	var cholesky mat.Cholesky
	if !cholesky.Factorize(r.Covariance) {
		return false
	}
	n := len(r.Mean)
	return stat.Mahalanobis(mat.NewVecDense(n, r.logRatios(p)), mat.NewVecDense(n, r.Mean), &cholesky) <= r.Radius
}
