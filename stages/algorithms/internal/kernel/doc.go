// Package kernel holds the tuned loops of training and clustering: matrix
// products, elementwise loops and reductions on float32 and float64 slices.
//
// Importing the package installs its matrix products under gonum, so
// blas32.Gemm, blas64.Gemm and everything of gonum/mat that is built on them
// run at the speed of the hardware too. Level tells which code is in use.
//
// Every tuned loop has a pure-Go twin, the fields of the table generic; the
// twin is the documentation of the loop, the test of its assembly, and what
// runs on processors without AVX2, on other architectures and under the build
// tag noasm.
//
// Matrices are row-major: element (i, j) of a rows×cols slice y is
// y[i*cols+j]. Slices of one call must not overlap unless the function says
// that they may. Mismatched lengths are a programmer's mistake and panic.
// NaN and infinities pass through every function as IEEE 754 says.
//
// The assembly is written by the program in gen, a module of its own; the
// program in bench, another, measures the products against other libraries.
package kernel

//go:generate go -C gen run .
