// Package drift tests whether the rows of an endless stream go on as its reference rows
// were, window after window, with one level for the whole life of the stream.
//
// Test is a conformal test martingale (Vovk, Nouretdinov & Gammerman 2003, Testing
// exchangeability on-line; Vovk, Gammerman & Shafer 2022, Algorithmic Learning in a Random
// World, chapter 8). Each row has some scores; the smoothed rank of a score among all
// before it is a p-value, and as long as rows are exchangeable, whatever their
// distribution, these are independent and uniform. Bets at fair odds that they are not
// then have an expected wealth of at most 1, and by Ville's inequality (1939) the wealth ever
// reaches 1/α with probability α at most. So a test of level α may look after every row,
// for ever. Sample keeps rows of a window in bounded memory.
//
// Ranks are those of Bins, whose edges come from rows that are not ranked: the memory does
// not grow, and the p-values stay exact.
package drift
