// Package nn holds the networks that the stages train: what they are made of,
// forward and backward side by side, and the optimisers.
//
// A batch is a row-major matrix of float32, one sample a row; images are rows in
// C×H×W order. A Network's parameters lie in one slice, so that an optimiser step,
// an average of weights or a checkpoint is one loop. Everything a forward and
// backward pass needs is allocated once, in a Pass; one Pass serves one goroutine.
//
// Gradients are summed, never averaged: the loss' coefficients carry the scale.
package nn
