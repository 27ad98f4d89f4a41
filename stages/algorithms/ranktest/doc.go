// Package ranktest compares methods on the same tasks by ranks: Wilcoxon's signed-rank test
// (1945; zeros as Pratt 1959 has them), Holm's correction (1979), the test of Friedman (1937)
// with the statistic of Iman and Davenport (1980), and the critical difference of Nemenyi
// (1963), as Demšar (2006) puts them together.
package ranktest
