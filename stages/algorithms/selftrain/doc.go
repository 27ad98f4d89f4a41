// Package selftrain labels target rows by self-training with a label-shift prior: a network
// is trained on augmented source rows (package augment) and then also on augmented target
// rows, with the labels that a moving average of the network gives them. These labels are
// corrected for the target's class proportions, which EM estimates again each time, and
// only confident ones are used.
//
// Training on strongly changed rows with the labels of unchanged ones is that of FixMatch
// (Sohn et al. 2020), the average is the mean teacher of Tarvainen & Valpola (2017), and the
// estimate of the proportions is that of Saerens, Latinne & Decaestecker (2002).
package selftrain
