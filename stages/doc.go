// Package stages holds the steps of MARS, match and reweight, each as a
// filter over one stream of Arrow record batches.
//
// The flow, in the order of the paper's Algorithms 1 and 2:
//
//  1. featurize turns raw data of two domains into rows: id, domain, label
//     (source rows alone), features.
//  2. embed learns a representation g and a classifier h on the labelled
//     source and adds z = g(x) as embedding.
//  3. cluster fits a mixture to the target embeddings and adds the component
//     of every target row (Algorithm 2, line 1).
//  4. match assigns components to classes by optimal transport between their
//     means and adds the class each target row's component was matched with
//     (Algorithm 2, lines 2 and 3).
//  5. reweight turns the matched proportions into p_T (Algorithm 2, line 4)
//     and adds the importance weight w†(y) = p_T(y)/p_S(y) of every source row.
//  6. train learns g, h and the Wasserstein critic v with those weights
//     (Algorithm 1), goes back to steps 3 to 5 on its own embedding every few
//     epochs, and adds prediction, predicted_class and probability.
//
// predict applies a trained model to more rows; eval compares predictions and
// proportions with the truth where there is one. proportions and label answer
// what a user asks of a stream: the class shares of the target with intervals
// and doubts, and the labels alone. ask chooses the target rows that a person is to label, and the
// two take these labels. export writes a trained model for other programs.
//
// A stage adds columns and schema metadata; everything else passes through
// untouched, in the same order. Each has two modes: fit reads the whole stream,
// learns, then emits the rows; apply maps rows by a state saved earlier, batch
// by batch, in constant memory.
//
// There are three kinds of package. A stage package (embed, cluster, ...) turns
// rows into rows, and never imports another stage. What stages do alike is in
// stages/internal. The packages under algorithms are a library on plain slices
// and gonum matrices, which a Go program can use without Arrow. Below the stages
// stand arrowio, which knows Arrow streams, and tables, which reads the files of
// the field. Above them stand pipeline, which composes stages, and show, which draws
// figures and pages. Imports run down and never back up; a test holds them to that.
package stages
