// Package peak runs multiply-adds that never leave the registers, to measure the most
// that a core can do: what the benchmark programs compare products and training with.
package peak
