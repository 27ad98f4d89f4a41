// Package translate labels target rows by match, translate, retrain: classes are
// found in the target (labelshift.MTE), the source is moved there (translate),
// and a network is trained on the moved rows (adapt, without alignment).
//
// It also gives the estimators of proportions the classifier that they need.
package translate
