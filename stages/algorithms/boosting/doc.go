// Package boosting learns classes by gradient boosted trees: histogram gradient boosting
// (Friedman 2001; Ke et al. 2017, "LightGBM").
//
// A model is a sum of small trees. Each round adds a tree for every class, which is fitted to the
// gradient of the multinomial logarithmic loss by Newton's method:
//
//  1. Each column is cut into at most 255 bins by Cuts, and a bin for missing values (NaN).
//  2. The root holds all rows. Of all leaves, that is split which gains most, until there are as many
//     as asked for. A leaf's histogram holds, for each column and bin, the sums of gradients and
//     second derivatives; the larger child's is the parent's less the smaller child's.
//  3. Missing values go to the side on which they gain more; to that of most rows if there were none.
//
// Sums are of whole numbers, so that a model does not depend on the number of threads, and the
// subtraction is exact.
package boosting
