// Package mixture estimates the components of a mixture from unlabelled rows:
// line 1 of the paper's Algorithm 2. Ward clusters by agglomeration (MARSc),
// GMM fits Gaussians by expectation–maximisation (MARSg), and KMeans is the
// simple alternative.
//
// Rows are blas32.General matrices of n×d float32 values. Sums that are
// compared or that converge (distances at ties, likelihoods, inertias, means)
// are float64. All methods return a Result, whose Components are all that an
// Assigner needs to assign new rows.
//
// Results depend only on the data, the options and the seed: the number of
// threads (kernel.SetJobs) does not change a byte of them. All methods return
// ctx.Err() soon after their context ends.
package mixture
