//go:build !race

package race

// Detector says whether tests run under the race detector, which takes many times as long, and allocates.
const Detector = false
