package train

import (
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/algorithms/unmix"
)

// Version is of what the stage puts out: its own, which is raised when the same rows, options
// and seed give other results, and those of what it runs.
const Version = 1 + adapt.Version + gmmot.Version + hedge.Version + labelshift.Version + mixture.Version + mte.Version + selftrain.Version + translate.Version + transport.Version + unmix.Version
