//go:build !race

package adapt

// raceDetector says whether tests run under the race detector, which allocates.
const raceDetector = false
