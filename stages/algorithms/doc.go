// Package algorithms holds the numerical methods of MARS, each a package of its own
// that works on plain slices and gonum matrices. They know neither Arrow nor
// commands, so a Go program can use them as a library. Rows are samples: a matrix
// of n rows of d values is n×d, row-major.
//
// From the ground up:
//
//   - scale: columns to mean 0 and standard deviation 1.
//   - mixture: Ward's hierarchical clustering (Ward 1963; nearest-neighbour chain,
//     Murtagh 1983), Gaussian mixtures by EM (Dempster, Laird & Rubin 1977) and
//     k-means (Lloyd 1982; k-means++, Arthur & Vassilvitskii 2007).
//   - transport: assignment (Jonker & Volgenant 1987) and exact optimal transport by
//     the network simplex, matchings of classes with components by means or by the
//     Bures–Wasserstein distance, the second best matching, cyclical monotonicity.
//   - wasserstein: the Wasserstein-1 distance of a weighted source from a target
//     (the paper's Theorem 1), with the distance that sampling alone leaves.
//   - mte: match–translate–EM, which finds classes that have moved.
//   - classmap: how each class has moved, and the map that moves its rows.
//   - labelshift: every estimator of the target's class proportions by name (the
//     paper's Algorithm 2, CC, BBSE, RLLS, EM, IW-WD's), calibration of posteriors,
//     importance weights, and posteriors corrected for other proportions.
//   - adapt: training of the representation, the classifier and the Wasserstein
//     critic (the paper's Algorithm 1), and the methods that it is compared with:
//     DANN, WD_β, IW-WD, self-training.
//   - augment: random changes of rows that keep their class: geometry, strokes, texture,
//     random convolutions (Xu et al. 2021), noise.
//   - translate: match, translate, retrain: labels by a network on moved rows.
//   - selftrain: self-training on augmented rows of both domains, with pseudo-labels that
//     are corrected for the target's proportions.
//   - gmmot: the paper's GMM+OT, labels by a matched mixture.
//   - prepare: the columns of any table as features for distances and networks.
//   - pca: principal components by randomised subspace iteration (Halko, Martinsson &
//     Tropp 2011).
//   - tsne: rows in the plane by Barnes–Hut t-SNE (van der Maaten 2014), and the
//     trustworthiness of a layout (Venna & Kaski 2001).
//   - logistic: multinomial logistic regression by L-BFGS (Liu & Nocedal 1989).
//   - kernelridge: kernel ridge regression of the classes (Saunders, Gammerman &
//     Vovk 1998), with landmarks (Nyström's method, Williams & Seeger 2001) and
//     leave-one-out in closed form (Rifkin & Lippert 2007).
//   - ensemble: logistic regression, kernel ridge regression and a network, tuned and
//     calibrated on the source, and the geometric mean of their posteriors.
//   - hedge: labels and proportions under several assumptions about what has changed,
//     weighted by reverse validation (Zhong, Fan, Yang & Verscheure 2010); p-values of
//     rows by conformal prediction (Vovk, Gammerman & Shafer 2005).
//   - ppi: which rows of a target to label, and what a few labels say of all of them
//     (prediction-powered inference, Angelopoulos et al. 2023).
//   - validate: scores of classifiers without labels of the target: reverse validation,
//     importance weighting, deep embedded validation, soft neighbourhood density, entropy,
//     MixVal.
//   - ranktest: comparisons of methods by ranks (Wilcoxon 1945, Friedman 1937, Demšar
//     2006).
//   - onnx: the file format of models that other programs run.
//   - safetensors: the file format of trained models.
//
// Long computations take a context and return its error soon after it ends. All
// that is random derives from a seed: the same data, options, seed and number of
// threads give the same bytes on the same kind of processor.
package algorithms
