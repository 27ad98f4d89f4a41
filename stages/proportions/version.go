package proportions

import (
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/algorithms/unmix"
)

// Version is of what the stage puts out: its own, which is raised when the same rows, options
// and seed give other results, and those of what it runs.
const Version = 2 + hedge.Version + labelshift.Version + mte.Version + translate.Version + transport.Version + unmix.Version
