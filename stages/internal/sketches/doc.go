// Package sketches holds what is left of a part of a domain after one pass over its rows, in
// bounded memory: counts and exact moments by class, and a uniform sample of rows.
//
// The sample is the k rows with the smallest keys (bottom-k: Cohen & Kaplan, Summarizing Data
// Using Bottom-k Sketches, PODC 2007), and the ClassRows smallest of each class. A key is a
// hash of the row's identity or, where there is none, of its content. So a row has the same
// key in whatever part it is, and a merge of sketches is the sketch of the union of their
// rows: it does not depend on how rows were cut into parts, on the order of merges, or on a
// part being merged twice.
//
// Counts and moments are kept for each part (a Leaf), by its fingerprint, so that they too
// are of a union. They are exact sums (package exact), whose bytes are the same in any order.
package sketches
