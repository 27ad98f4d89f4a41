// Package labelshift estimates the class proportions p_T of unlabelled target
// rows, and turns them into the importance weights w†(y) = p_T(y)/p_S(y) of
// labelled source rows.
//
// One estimator a file, and one type, Estimate, for what they return:
//
//   - Matched is Algorithm 2 of the paper: clusters of the target matched with
//     the classes of the source.
//   - MTE, match–translate–EM, starts where Algorithm 2 ends and lets the
//     classes move and change their look. It is the one to use if there are
//     features (docs/measured/estimators.md).
//   - CC, BBSE, RLLS and EM work on the posteriors of a classifier, and are
//     right where the classes look the same in both domains; Calibrate makes
//     posteriors fit for EM.
//   - Refit is EM on a classifier that was retrained after MTE.
//
// No estimate is always right. Consult asks a Panel of four estimators, whose
// disagreement knows most failures, and Panel.Interval says how far off the
// proportions may be.
//
// Results depend on the data, the options and the seed alone, not on the number
// of threads (kernel.SetJobs) or how the target is cut into blocks.
package labelshift
