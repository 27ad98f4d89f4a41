package embed

import (
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/selftrain"
)

// Version is of what the stage puts out: its own, which is raised when the same rows, options
// and seed give other results, and those of what it runs.
const Version = 1 + adapt.Version + selftrain.Version
