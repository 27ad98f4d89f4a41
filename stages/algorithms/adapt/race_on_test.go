//go:build race

package adapt

// raceDetector says that tests run under the race detector, which allocates.
const raceDetector = true
