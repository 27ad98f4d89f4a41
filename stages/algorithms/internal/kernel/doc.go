// Package kernel holds the tuned loops of training and clustering: matrix
// products, elementwise loops and reductions on float32 and float64 slices.
//
// Importing the package installs its matrix products under gonum, so that
// blas32.Gemm, blas64.Gemm and everything in gonum/mat that is built on them
// use them too. Level names the code in use.
//
// Every tuned loop has a pure-Go twin, in the table generic. The twin documents
// the loop and tests its assembly, and it runs on processors without AVX2 and
// on other architectures than amd64 and arm64. Under the build tag noasm it runs on amd64 too; on
// arm64, where programs are built with that tag for Arrow's sake, the assembly stays.
//
// Matrices are row-major: element (i, j) of a rows×cols slice y is
// y[i*cols+j]. Slices of one call must not overlap unless the function says
// that they may. Mismatched lengths are a programmer's mistake and panic.
// NaN and infinities pass through every function as IEEE 754 says.
//
// Parallel splits work over threads, and passes on their panics.
//
// The program in gen writes the assembly, and the program in bench measures the
// products beside other libraries; each is a module of its own. Package peak
// measures the processor's limit.
package kernel

//go:generate go -C gen run .
