// Package labelshift estimates the class proportions p_T of unlabelled target
// rows, and turns them into the importance weights w†(y) = p_T(y)/p_S(y) of
// labelled source rows.
//
// Estimate is the way to every estimator by name, and Result is what all of them
// return:
//
//   - Matched is Algorithm 2 of the paper: clusters of the target matched with
//     the classes of the source (marsc, marsg).
//   - Match–translate–EM (package mte) starts where Algorithm 2 ends and lets the
//     classes move and change their look. Refit is EM on a classifier that is
//     retrained after it.
//   - CC, BBSE, RLLS and EM work on the posteriors of a classifier, and are
//     right where the classes look the same in both domains; Calibrate makes
//     posteriors fit for EM.
//
// No estimate is always right. Consult asks a Panel of four estimators, whose
// disagreement finds most failures, and Panel.Interval says how far off the
// proportions may be.
//
// Weights are what proportions are for in training, and a Decision corrects
// posteriors for them in prediction.
//
// Results depend on the data, the options and the seed alone, not on the number
// of threads or on how the target is cut into blocks.
package labelshift
