// Package nn holds the networks that package adapt trains: their layers, each with its
// forward and backward pass, the architectures by name (ParseArch), the Wasserstein critic
// with its gradient penalty (CriticPass), the losses and the optimisers.
//
// A batch is a row-major matrix of float32, one sample per row; images are rows in
// C×H×W order. A Network's parameters are one slice, so that an optimiser's step,
// an average of weights or a checkpoint is one loop. Everything that a forward and
// backward pass needs is allocated once, in a Pass. One Pass serves one goroutine.
//
// Gradients are summed, never averaged: the coefficients of the loss carry the scale.
package nn
