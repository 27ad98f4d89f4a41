//go:build !race

package hedge

// raceDetector says whether tests run under the race detector, which takes many times as long.
const raceDetector = false
