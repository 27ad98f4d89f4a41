// Package figures draws what the programs say: shares with intervals, confusion, recall,
// calibration, training, scores, transport plans, rows in the plane, and what studies found. Each figure is a file; Figure.Write writes it
// as SVG, PNG or PDF, and package report puts several into a page.
//
// Colours are those of Okabe & Ito (2008), which colour-blind people tell apart, and nothing is
// said by colour alone. A figure has the numbers that it shows as a table, too.
package figures

// Kinds are those of all figures.
var Kinds = []string{"shares", "confusion", "expected", "moved", "recall", "calibration", "confidence", "labels", "losses", "proportions", "critic", "plan", "study", "errors", "ranks", "pca", "tsne", "scores", "accuracy"}
