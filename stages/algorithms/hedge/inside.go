package hedge

// Rows that were chosen by their columns lie where the source has rows, and do not look like the
// source's classes. In few columns, rows that have moved as far seldom do. In many they may: of
// rows that vary less than the source's, as those of USPS beside MNIST's, none is far from a source's.
const (
	firstInside, lastInside = 0, 0.08 // of Novelty, which is about 0.05 if no row is new
	clearMisfit             = 32      // from which on the classes have clearly not stayed
	insideColumns           = 10      // up to which Stays.Inside counts whole
	manyColumns             = 20      // from which on it does not count
)

// inside is Stays.Inside.
func inside(novelty, misfit float64, columns int) float64 {
	return falling(novelty, firstInside, lastInside) * (1 - falling(misfit, lastMisfit, clearMisfit)) * falling(float64(columns), insideColumns, manyColumns)
}
