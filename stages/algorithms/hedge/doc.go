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
// The answer is the mean of what the views say. Where a test finds that the classes have
// stayed, those that move nothing have the weight. Otherwise a view's weight is larger the
// better it brings the source's own labels back, beside other signs: the target is labelled under the
// view, a classifier learns these labels, and labels the (moved) source rows. This
// is reverse validation (Zhong, Fan, Yang & Verscheure 2010), with all classes
// weighted alike so that it does not punish new proportions. Unless the test finds that the classes have
// stayed, no view is dropped: on real data no evidence without labels picks the right one reliably.
//
// A target that is the source with new proportions and noise in some columns, as from
// worse sensors, is known by a test. The source then gets the same noise before all else.
//
// The classifier is that of package ensemble, on rows of package prepare.
package hedge
