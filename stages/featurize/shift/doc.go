// Package shift makes label shift on demand: it draws rows without replacement
// so that the classes have given proportions, as the paper does for its
// experiments (supplementary section "Dataset details" and its table of
// configurations).
//
// Every draw is seeded: the same labels, proportions, row count and seed give
// the same rows in the same order.
package shift
