// Package classmap moves labelled source rows to the places of their classes in
// the target, so that a classifier trained on them fits the target. It is the
// second of three steps: match, translate, retrain.
//
//  1. Match: labelshift.MTE gives the target's proportions p_T and the class
//     responsibilities of its rows.
//  2. Translate: Fit learns from these how each class has moved and how the
//     spread around the classes has changed; Map.Apply moves the source's rows.
//  3. Retrain: any classifier is trained on the moved rows, without weights, so
//     that its posteriors have the source's proportions p_S as their prior; a
//     Decision adjusts them for the most accurate or the most balanced
//     prediction.
package classmap
