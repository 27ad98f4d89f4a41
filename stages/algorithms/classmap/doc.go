// Package classmap moves labelled source rows to where the classes of the
// target are, so that a classifier trained on them fits the target: match,
// translate, retrain.
//
//  1. Match: labelshift.MTE gives the target's proportions p_T and the class
//     responsibilities of its rows.
//  2. Translate: Fit learns from them how each class has moved and how rows
//     lie around their class; Map.Apply moves the source's rows.
//  3. Retrain: any classifier is trained on the moved rows, unweighted, so that
//     its posteriors carry the source's proportions p_S; a Decision changes them
//     for the most accurate or the most balanced prediction.
package classmap
