// Package labelshift estimates the class proportions p_T of unlabelled target
// rows, and turns them into the importance weights w†(y) = p_T(y)/p_S(y) of
// labelled source rows.
//
// One estimator a file. Matched is Algorithm 2 of the paper.
package labelshift
