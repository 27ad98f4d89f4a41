// Package hedge labels a target and estimates its class proportions when nobody
// knows how it differs from the source. It makes five assumptions, which it calls
// views, and fits a classifier to the source under each:
//
//	same      nothing has changed
//	balance   the proportions have changed, the classes have not (label shift)
//	together  all rows have moved by one affine map
//	classes   each class has moved by itself (package mte)
//	parts     each part of a class, one Gaussian, has moved by itself
//
// The answer is the weighted mean of what the views say. Their weights, and what is expected of the
// answer, are those of package gate, which was fitted to tasks whose truth is known. No view is
// dropped: on real data no evidence without labels picks the right one reliably.
//
// A target that is the source with new proportions and noise in some columns, as from
// worse sensors, is known by a test. The source then gets the same noise before all else.
//
// The classifier is that of package ensemble, on rows of package prepare.
package hedge
