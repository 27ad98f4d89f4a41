//go:build race

// Package race says whether tests run under the race detector.
package race

// Detector says so: it takes many times as long, and allocates.
const Detector = true
