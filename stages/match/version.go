package match

import "mars.dev/mars/stages/algorithms/transport"

// Version is of what the stage puts out: its own, which is raised when the same rows, options
// and seed give other results, and those of what it runs.
const Version = 1 + transport.Version
