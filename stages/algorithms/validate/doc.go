// Package validate scores a classifier of a target without a label of the target, to choose
// among trainings:
//
//   - Back and BalancedAccuracy: reverse and circular validation (Zhong, Fan, Yang &
//     Verscheure 2010; Bruzzone & Marconcini 2010). What is trained on the target with the
//     labels that it was given has to bring back the labels of the source.
//   - Importance: the accuracy on source rows, weighted by how likely each is in the target
//     (Sugiyama, Krauledat & Müller 2007).
//   - Deep: deep embedded validation, the same of the loss, with weights from a classifier
//     of the domains and less variance (You, Wang, Long & Jordan 2019).
//   - Density: soft neighbourhood density (Saito, Kim, Teterwak, Sclaroff, Darrell & Saenko
//     2021).
//   - Entropy of the predictions (Morerio, Cavazza & Murino 2018).
//   - Mixed: MixVal, consistency on mixtures of target rows (Hu, Luo, Liang & Foo 2023).
//
// All are better when they are higher: losses have their sign changed. The numbers are those
// of skada.metrics, but for Deep: by default skada 0.6.0 multiplies the losses of all rows with
// the weights of all. None can tell how right a classifier is: Entropy, Density and Mixed look
// at the target alone, and may like one that gives all rows one label; Importance and Deep
// suppose that a row has the same label wherever it comes from, which fails if classes move;
// labels that come back say that two trainings agree. The source rows of Importance and Deep
// should be ones that the classifier was not trained on.
package validate
