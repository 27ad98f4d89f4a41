// Package mte finds the classes of labelled source rows among unlabelled target
// rows by match–translate–EM, an extension of the MARS paper's Algorithm 2 for
// classes that have moved and changed their look:
//
//  1. Features are standardised by the source, clipped at 8 standard
//     deviations, reduced to 50 principal components of the source where there
//     are more, and projected on the C−1 linear discriminants of the source.
//  2. The classes are Gaussians. Their covariances are shrunk to the pooled one.
//  3. Match: EM starts from several displacements of the class means: none, that
//     of the overall mean, and the medians of the displacements to the components
//     that the classes are matched with, of Ward's clustering in C and in 2C
//     clusters and of a Gaussian mixture.
//  4. Translate: from each start EM, with Student's t as the density, estimates
//     p_T and moves the class means by an affine map that they share and, within
//     limits, each in its own way. It scales the axes for all classes alike.
//  5. The estimate is the median over the starts, normalised. The
//     responsibilities are those of the start whose proportions are nearest to it.
//
// Results depend on the data, the options and the seed alone, not on the number
// of threads or on how the target is cut into blocks.
package mte
