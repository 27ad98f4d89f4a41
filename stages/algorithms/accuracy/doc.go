// Package accuracy says how often a classifier is right on rows without labels, by its
// posteriors there and by rows with labels, the reference, that it was not trained on.
//
// Fit learns from the reference what the posteriors mean (calibrate.go), and Estimate gives
// the figures of a window of rows under two assumptions:
//
//   - Same: a row of some posteriors has each class as often as in the reference. The mean of
//     calibrated posteriors is then the accuracy (confidence-based performance estimation,
//     CBPE: Białek, Kuberski, Perrakis & Bifet 2024; average confidence with calibration:
//     Guo et al. 2017).
//   - Balance: the classes look as in the reference, and only their proportions differ (label
//     shift). These are found by EM (Saerens, Latinne & Decaestecker 2002) on calibrated
//     posteriors (Alexandari, Kundaje & Shrikumar 2020), which are then corrected.
//
// How much each counts, and what is expected to be off by, says a comparison of how the
// posteriors are spread in the window and in the reference (spread.go): the assumptions that
// explain it count more, and what none explains widens every interval. That labels follow
// another rule than in the reference, or rows are of a class that it lacks, posteriors do not show.
package accuracy
