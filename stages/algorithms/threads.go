package algorithms

import "mars.dev/mars/stages/algorithms/internal/kernel"

// SetJobs sets the number of threads that algorithms compute with; 0 keeps the default, all
// that the process may use.
func SetJobs(n int) {
	if n > 0 {
		kernel.SetJobs(n)
	}
}

// KernelLevel names the instruction set that the numerical loops use:
// "avx512", "avx2", "neon" or "generic".
func KernelLevel() string { return kernel.Level() }

// CheckKernel returns an error if the environment variable MARS_KERNEL asks for code
// that this processor cannot run.
func CheckKernel() error { return kernel.CheckLevel() }

// Jobs is the number of threads that algorithms compute with.
func Jobs() int { return kernel.Jobs() }

// Each calls f for 0 to n−1, as many at a time as there are threads, and returns the error
// of the first of them that fails, after which no more are begun.
func Each(n int, f func(i int) error) error { return kernel.Each(n, f) }

// Zip writes columns side by side to the beginnings of rows: dst[i*width+k] = columns[k][i].
func Zip(dst []float32, width int, columns [4][]float32) { kernel.Zip(dst, width, columns) }

// Stream copies src to dst, of the same length, past the processor's caches.
func Stream(dst, src []float32) { kernel.Stream(dst, src) }
