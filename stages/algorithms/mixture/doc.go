// Package mixture estimates the components of a mixture from unlabelled rows:
// line 1 of the paper's Algorithm 2. Ward clusters by agglomeration (MARSc),
// GMM fits Gaussians by expectation–maximisation (MARSg) and KMeans is the
// plain alternative.
//
// Rows are blas32.General matrices of n×d float32 values. Whatever is compared
// or converges (distances at ties, likelihoods, inertias, means) is summed in
// float64. The methods return one type, Result, whose Components are all that
// is needed to assign new rows with an Assigner.
//
// Results depend on the data, the options and the seed alone: the number of
// threads (kernel.SetJobs) does not change a byte of them.
package mixture
