// Package peak runs multiply-adds on registers alone, to measure how fast a core can
// compute at most. The benchmark programs compare products and training with that.
package peak
