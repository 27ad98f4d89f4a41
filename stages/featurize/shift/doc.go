// Package shift makes label shift: it draws rows without replacement so that the
// classes have given proportions, as the paper does for its experiments
// (supplementary section "Dataset details" and its table of configurations).
//
// The same labels, proportions, number of rows and seed give the same rows in
// the same order.
package shift
