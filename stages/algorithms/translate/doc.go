// Package translate labels target rows by match, translate, retrain: classes are
// found in the target (package mte), the source is moved there (package
// classmap), and a network is trained on the moved rows (package adapt, without
// alignment).
//
// It also gives the estimators of proportions the classifier that they need.
package translate
